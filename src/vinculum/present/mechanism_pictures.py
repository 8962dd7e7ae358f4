"""The mechanism drawn with Matplotlib: in several positions on one picture, or as an animation (GIF, MP4)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.errors import VinculumError
from vinculum.model.model import Drawing, Model
from vinculum.present.animation import scene_of
from vinculum.present.drawing import Scene, Stroke
from vinculum.present.paper import COLUMN, STYLE
from vinculum.present.shapes import colored, ranges, spread

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory

SIZE, DOTS = (4.8, 3.6), 150  # of an animation: inches, and dots per inch
_RATES = {"gif": 25, "mp4": 60}  # frames per second
_SHORTEST, _LONGEST = 3.0, 20.0  # seconds of an animation whose speed was not given
_POSITIONS = 6  # of the mechanism on one picture
_PATH, _STILL = "#9aa3ad", "#5b6570"
_MOST = 20_000  # frames


def animated(
    motion: Trajectory,
    drawing: Any,
    kind: str,
    size: tuple[float, float],
    dots: int,
    speed: float | None,
    arrows: bool = False,
) -> bytes:
    """The motion as the content of a file; ``speed`` is seconds of the motion per second of the animation."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    rate, pace = _RATES[kind], _speed(motion, speed)
    frames = max(2, round(abs(float(motion.t[-1] - motion.t[0])) / pace * rate))
    if frames > _MOST:
        raise VinculumError(f"The animation would have {frames} frames, more than {_MOST}. Use a larger speed.")
    with rc_context(STYLE | _encoder(kind)), tempfile.TemporaryDirectory() as folder:
        seen = scene_of(motion, _what(drawing), frames, arrows)
        figure, axes = _stage(seen, size)
        FigureCanvasAgg(figure)
        place = Path(folder) / f"animation.{kind}"
        _write(figure, axes, seen, place, rate, dots, pace)
        return place.read_bytes()


def positions(motion: Trajectory, drawing: Any, size: tuple[float, float] | None = None, arrows: bool = False) -> Any:
    """The mechanism in several positions, the later the darker, with the paths of its points."""
    seen = scene_of(motion, _what(drawing), 1000, arrows)
    figure, axes = _stage(seen, size or (COLUMN, 0.75 * COLUMN))
    axes.set_title(seen.note, loc="left", fontsize=7)
    chosen = spread(len(seen.t), _POSITIONS)
    _paths(axes, seen)
    for number, frame in enumerate(chosen, start=1):
        _mechanism(axes, seen, int(frame), alpha=(number / len(chosen)) ** 1.5)
    return figure


def _what(drawing: Any) -> Sequence[Any]:
    """What to draw, as `scene_of` takes it: a drawing, a model, or a list of lines."""
    if drawing is None:
        return ()
    if isinstance(drawing, (Drawing, Model)):
        return (drawing,)
    if not isinstance(drawing, (list, tuple)):
        raise VinculumError(
            f"drawing must be a model, a drawing or a list of lines [[(0, 0), (x, y)], ...]; got {drawing!r}."
        )
    return drawing


def _speed(motion: Trajectory, speed: float | None) -> float:
    """The given speed, or one at which the animation lasts a sensible time."""
    lasts = abs(float(motion.t[-1] - motion.t[0])) or 1.0
    if speed is None:
        return float(f"{lasts / min(max(lasts, _SHORTEST), _LONGEST):.2g}")
    if isinstance(speed, bool) or not isinstance(speed, (int, float)) or not 0 < speed < np.inf:
        raise VinculumError(f"speed must be positive; got {speed!r}. Use speed=0.5 for half speed.")
    return float(speed)


def _encoder(kind: str) -> dict[str, str]:
    """Matplotlib's setting for the program that writes MP4: from the package imageio-ffmpeg, or of the system."""
    if kind != "mp4":
        return {}
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        found = shutil.which("ffmpeg")
        if found is None:
            raise VinculumError(
                "MP4 files are written by ffmpeg, which was not found. Type pip install 'vinculum[video]', or choose a "
                "name that ends in .gif."
            ) from None
        return {"animation.ffmpeg_path": found}
    return {"animation.ffmpeg_path": get_ffmpeg_exe()}


def _write(figure: Any, axes: Any, seen: Scene, place: Path, rate: int, dots: int, pace: float) -> None:
    """Draw the frames one by one; only what moves is drawn again."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]  # what every player reads
    writer = PillowWriter(rate) if place.suffix == ".gif" else FFMpegWriter(rate, codec="libx264", extra_args=even)
    _paths(axes, seen)
    slow = "" if pace == 1 else f"   ×{pace:g}"
    with writer.saving(figure, str(place), dots):
        for frame, t in enumerate(seen.t):
            drawn = _mechanism(axes, seen, frame)
            axes.set_title(f"$t$ = {t:.2f} s{slow}{seen.note and f'   {seen.note}'}", loc="left", fontsize=8)
            writer.grab_frame()
            for line in drawn:
                line.remove()


# -- lines -----------------------------------------------------------------------------------------------------------


def _stage(seen: Scene, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure with axes of equal units around everything, without ticks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes: Any = figure.add_subplot(projection="3d" if seen.dimension == 3 else None)
    limits = ranges(seen.box)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    if seen.dimension == 2:
        axes.set_aspect("equal")
        axes.axis("off")
        return figure, axes
    axes.set_zlim(*limits[2])
    axes.set_box_aspect([high - low for low, high in limits])
    axes.set_proj_type("ortho")
    axes.view_init(elev=22, azim=-50)
    axes.tick_params(labelsize=5, pad=-3)
    return figure, axes


def _paths(axes: Any, seen: Scene) -> None:
    for path in seen.paths.values():
        axes.plot(*path[spread(len(path), 1500)].T, color=_PATH, linewidth=0.6, zorder=1)


def _mechanism(axes: Any, seen: Scene, frame: int, alpha: float = 1.0) -> list[Any]:
    """The lines of one instant."""
    colors = colored(seen, muted=_STILL)
    return [
        line
        for stroke, color in zip(seen.strokes, colors, strict=True)
        for line in _stroke(axes, stroke, stroke.places[frame], color, 1.0 if stroke.still else alpha)
    ]


def _stroke(axes: Any, stroke: Stroke, places: np.ndarray, color: str, alpha: float) -> list[Any]:
    """One body: a bar with its joints, a filled disc with a spoke, a ring, a point, or thin scenery."""
    look: dict[str, Any] = {"color": color, "alpha": alpha, "solid_capstyle": "round", "solid_joinstyle": "round"}
    if stroke.kind == "point":
        return axes.plot(*places.T, "o", markersize=4, color=color, alpha=alpha, zorder=4)
    if stroke.kind == "bar":
        joints = {"marker": "o", "markersize": 4, "markerfacecolor": "white", "markeredgewidth": 1.0}
        return axes.plot(*places.T, linewidth=2.2, zorder=3, **joints, **look)
    if stroke.kind == "arrow":
        return axes.plot(*places.T, linewidth=1.4, zorder=5, **look)
    drawn = axes.plot(*places.T, linewidth=0.8 if stroke.kind == "line" else 1.2, zorder=2, **look)
    if stroke.kind == "disc" and places.shape[1] == 2:
        drawn += axes.fill(*places[1:].T, color=color, alpha=0.15 * alpha, linewidth=0)
    return drawn
