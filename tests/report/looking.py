"""What a test can see of an open page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

DRAWN = """name => {
    const trace = document.getElementById("stage").data.find(t => t.name === name && t.mode !== "markers");
    return ["x", "y", "z"].filter(k => trace[k]).map(k => Array.from(trace[k]));
}"""
MOVED = """(slider, frame) => {
    slider.value = frame;
    slider.dispatchEvent(new Event("input"));
    slider.dispatchEvent(new Event("change"));
}"""
PAUSED = """() => new Promise(done => {  // at once when it has moved: on a busy machine a short film would be over
    const button = document.getElementById("play"), stage = document.getElementById("stage");
    const look = () => {
        if (Number(stage.dataset.frame) < 3) return requestAnimationFrame(look);
        const words = button.textContent;
        button.click();
        done(words);
    };
    look();
})"""
PLANE = """["xaxis", "yaxis"].map(name => {
    const axis = document.getElementById("stage")._fullLayout[name];
    return axis._length / Math.abs(axis.range[1] - axis.range[0]);
})"""
SPACE = """["x", "y", "z"].map(name => {
    const scene = document.getElementById("stage")._fullLayout.scene, range = scene[name + "axis"].range;
    return scene.aspectratio[name] / (range[1] - range[0]);
})"""
WHEEL = """(() => {
    const paths = [...document.querySelectorAll("#stage .js-line")].map(p => p.getBBox());
    const least = box => Math.min(box.width, box.height);
    const wheel = paths.reduce((a, b) => (least(b) > least(a) ? b : a));
    return [wheel.width, wheel.height];
})()"""
COLORS = """selector => {
    const own = document.querySelector(selector);
    let behind = own;
    while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    return [getComputedStyle(own).color, getComputedStyle(behind).backgroundColor];
}"""
TOO_WIDE = """[...document.querySelectorAll("main > *, section > *")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className)"""
CONTROLS = """[...document.querySelectorAll("button, select, input")].map(e => e.getBoundingClientRect().height)"""
EMPTY_FORMULAS = """[...document.querySelectorAll("math")].filter(m => {
    const box = m.getBoundingClientRect();
    return box.width < 2 || box.height < 2;
}).map(m => m.textContent)"""
STILL_COLORS = """(async () => {
    const image = document.getElementById("still");
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 200, height: 140 });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 200, 140);
    const data = context.getImageData(0, 0, 200, 140).data, seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 4).join());
    return seen.size;
})()"""
LINES = """selector => Object.fromEntries(
    document.querySelector(selector)._fullData.map(t => [t.name, Array.from(t.y)]))"""


def clock(page: Any) -> float:
    """The time the player shows."""
    found = re.search(r"t = (\u2212?[\d.]+)", page.inner_text("#clock"))
    assert found is not None
    return float(found[1].replace("\u2212", "-"))


def drawn(page: Any, name: str) -> np.ndarray:
    """The points of a line on the stage, as the browser has them: (points, 2 or 3)."""
    return np.array(page.evaluate(DRAWN, name)).T


def move_slider(page: Any, frame: int) -> None:
    """Drag the slider to a frame and wait until it is shown."""
    page.eval_on_selector("#time", MOVED, frame)
    page.wait_for_function(f"document.getElementById('stage').dataset.frame === '{frame}'")


def figure(page: Any, selector: str) -> str:
    """Bring a figure into view and wait until it is drawn; gives the selector back."""
    page.locator(selector).first.scroll_into_view_if_needed()
    page.wait_for_function("selector => document.querySelector(selector)._fullData", arg=selector)
    return selector


def luminance(color: str) -> float:
    """Relative luminance of rgb(...) as the Web Content Accessibility Guidelines define it."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(page: Any, selector: str) -> float:
    """The contrast of a text to what is behind it, 1 to 21."""
    dark, bright = sorted(luminance(color) for color in page.evaluate(COLORS, selector))
    return (bright + 0.05) / (dark + 0.05)
