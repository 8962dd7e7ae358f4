"""A mechanism in motion as one SVG element: the browser moves it, so it needs no network and no library.

Lines are polylines whose points are animated (SMIL); a few lines of script add a button and a slider. Where scripts are
not allowed, the mechanism moves all the same.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

import numpy as np

from vinculum.present.drawing import Scene, Stroke
from vinculum.present.html import Html, joined, tag
from vinculum.present.shapes import MUTED, colored, ranges, spread

_WIDTH, _TALLEST = 560.0, 420.0  # pixels
_SHORTEST, _LONGEST = 3.0, 20.0  # seconds of the animation
_ELEVATION, _AZIMUTH = np.radians(22.0), np.radians(-50.0)  # of the eye, in space
_SCRIPT = """
(function () {
  const box = document.getElementById("%s"), svg = box.querySelector("svg");
  const [play, time] = [box.querySelector("button"), box.querySelector("input")], lasts = %s;
  let runs = true;
  play.onclick = () => {
    runs = !runs;
    if (runs) svg.unpauseAnimations(); else svg.pauseAnimations();
    play.textContent = runs ? "Pause" : "Play";
  };
  time.oninput = () => { svg.setCurrentTime(time.value * lasts); if (runs) play.onclick(); };
  setInterval(() => { if (runs) time.value = (svg.getCurrentTime() %% lasts) / lasts; }, 100);
  box.querySelector("p").hidden = false;
})();
"""


def moving_svg(scene: Scene) -> Html:
    """A scene with its paths; it lasts as long as the motion, within 3 to 20 seconds."""
    seen = _flat(scene)
    place = _Frame(seen)
    lasts = min(max(abs(float(seen.t[-1] - seen.t[0])), _SHORTEST), _LONGEST)
    own = f"vinculum-{secrets.token_hex(6)}"
    colors = dict(zip(map(id, seen.strokes), colored(seen), strict=True))
    parts = [_path(place, path) for path in seen.paths.values()]
    parts += [part for s in seen.strokes for part in _stroke(place, s, colors[id(s)], lasts, own)]
    svg = tag(
        "svg", *parts, viewBox=f"0 0 {_WIDTH:.0f} {place.height:.0f}", width=f"{_WIDTH:.0f}",
        height=f"{place.height:.0f}", style="background:white;max-width:100%", role="img",
        aria_label=f"The mechanism from t = {seen.t[0]:.4g} to {seen.t[-1]:.4g}",
    )  # fmt: skip
    slider = tag("input", type="range", min="0", max="1", step="any", value="0", aria_label="Time", style="width:70%")
    controls = tag("p", tag("button", "Pause", type="button"), " ", slider, hidden="")
    return tag("div", svg, controls, tag("script", Html(_SCRIPT % (own, lasts))), id=own)


def _flat(scene: Scene) -> Scene:
    """The scene in its plane, or projected onto the plane of the picture."""
    if scene.dimension == 2:
        return scene
    right = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
    up = np.array([-np.sin(_ELEVATION) * np.cos(_AZIMUTH), -np.sin(_ELEVATION) * np.sin(_AZIMUTH), np.cos(_ELEVATION)])
    view = np.stack([right, up], axis=1)  # (3, 2)
    strokes = tuple(Stroke(s.name, s.kind, s.places @ view) for s in scene.strokes)
    return Scene(scene.t, strokes, {name: path @ view for name, path in scene.paths.items()})


class _Frame:
    """From the coordinates of a scene to pixels, with equal units."""

    def __init__(self, scene: Scene) -> None:
        (x0, x1), (y0, y1) = ranges(scene.box)
        self.scale = min(_WIDTH / (x1 - x0), _TALLEST / (y1 - y0))
        self.height = self.scale * (y1 - y0)
        self.left, self.top = (x0 + x1) / 2 - _WIDTH / 2 / self.scale, y1

    def points(self, places: np.ndarray) -> str:
        """x,y x,y ... in pixels."""
        pixels = np.stack([places[:, 0] - self.left, self.top - places[:, 1]], axis=1) * self.scale
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in pixels[np.isfinite(pixels).all(axis=1)])


def _path(place: _Frame, path: np.ndarray) -> Html:
    return tag("polyline", points=place.points(path[spread(len(path), 400)]), fill="none", stroke=MUTED, stroke_width=1)


def _stroke(place: _Frame, stroke: Stroke, color: str, lasts: float, own: str) -> Iterable[Html]:
    """A line, and dots at the joints of a bar."""
    filled = "none" if stroke.kind not in ("disc", "ring") else color
    look = {
        "fill": filled, "fill_opacity": 0.12, "stroke": color, "stroke_linecap": "round", "stroke_linejoin": "round",
        "stroke_width": {"bar": 5, "line": 1.5, "point": 9}.get(stroke.kind, 2.5),
    }  # fmt: skip
    places = stroke.places if stroke.kind != "point" else np.repeat(stroke.places, 2, axis=1)
    yield _moving("polyline", "points", [place.points(p) for p in places], lasts, **look)
    if stroke.kind == "bar":
        for k in range(stroke.places.shape[1]):
            dot = np.repeat(stroke.places[:, k : k + 1], 2, axis=1)
            white = {"fill": "none", "stroke": "white", "stroke_linecap": "round", "stroke_width": 3}
            yield _moving("polyline", "points", [place.points(p) for p in dot], lasts, **white)


def _moving(name: str, attribute: str, values: list[str], lasts: float, **look: object) -> Html:
    """An element with one attribute that changes from frame to frame."""
    given = {attribute: values[0], **look}
    if len(set(values)) == 1:
        return tag(name, **given)
    change = tag("animate", attributeName=attribute, values=";".join(values), dur=f"{lasts}s", repeatCount="indefinite")
    return joined([tag(name, change, **given)])
