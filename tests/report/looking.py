"""What a test can see of an open page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

DRAWN = """name => {
    const scene = vinculum.description.scene, shape = scene.shapes.find(s => s.name === name);
    return shape.points.map(point => vinculum.stage.seen.places[point]);
}"""
PLACED = """([name, k]) => {  // where the canvas has it, in pixels
    const shape = vinculum.description.scene.shapes.find(s => s.name === name), seen = vinculum.stage.seen;
    return seen.at(seen.places[shape.points[k]]);
}"""
PAUSED = """() => new Promise(done => {  // at once when it has moved: on a busy machine a short film would be over
    const button = document.getElementById("play"), begin = vinculum.time;
    const look = () => {
        if (vinculum.time === begin) return requestAnimationFrame(look);
        const words = button.textContent;
        button.click();
        done(words);
    };
    look();
})"""
INK = """selector => {  // the number of colors on a canvas
    const canvas = document.querySelector(selector), seen = new Set();
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < data.length; i += 40) seen.add(data.slice(i, i + 4).join());
    return seen.size;
}"""
CURVES = """figure => Object.fromEntries([...document.querySelectorAll(figure + " path")].map(p => [p.dataset.key,
    p.getAttribute("d").slice(1).split("L").map(pair => pair.split(",").map(Number))]))"""
COLORS = """selector => {
    const own = document.querySelector(selector);
    let behind = own;
    while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    return [getComputedStyle(own).color, getComputedStyle(behind).backgroundColor];
}"""
TOO_WIDE = """[...document.querySelectorAll("main > *, section > *")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className)"""
CONTROLS = """[...document.querySelectorAll("button, select, input")].filter(e => e.offsetParent)
    .map(e => e.getBoundingClientRect().height)"""
EMPTY_FORMULAS = """[...document.querySelectorAll("math")].filter(m => {
    const box = m.getBoundingClientRect();
    return box.width < 2 || box.height < 2;
}).map(m => m.textContent)"""


def clock(page: Any) -> float:
    """The time the player shows."""
    found = re.search(r"t = (\u2212?[\d.]+)", page.inner_text("#clock"))
    assert found is not None
    return float(found[1].replace("\u2212", "-"))


def drawn(page: Any, name: str) -> np.ndarray:
    """The points of a shape on the stage: (points, 2 or 3)."""
    return np.array(page.evaluate(DRAWN, name))


def go_to(page: Any, share: float) -> float:
    """Drag the slider to a fraction of the motion; gives the time back."""
    page.eval_on_selector(
        "#time", "(slider, share) => { slider.value = share; slider.dispatchEvent(new Event('input')); }", share
    )
    return float(page.evaluate("vinculum.time"))


def luminance(color: str) -> float:
    """Relative luminance of rgb(...) as the Web Content Accessibility Guidelines define it."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(page: Any, selector: str) -> float:
    """The contrast of a text to what is behind it, 1 to 21."""
    dark, bright = sorted(luminance(color) for color in page.evaluate(COLORS, selector))
    return (bright + 0.05) / (dark + 0.05)
