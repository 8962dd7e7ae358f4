"""A mechanism in motion as a Plotly figure with play, pause and a slider, in the plane or in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from vinculum.errors import VinculumError
from vinculum.extras import extra
from vinculum.model.model import Drawing, Led, Model, Segment
from vinculum.present import shapes
from vinculum.present.drawing import Scene, drawing_of, flattened, scene

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory

Point = Sequence[sp.Expr | float]


def animation(
    motion: Trajectory, what: Sequence[Any], frames: int = 120, trace: bool = True, arrows: bool = False
) -> Any:
    """Animate a drawing, a model or lines [(x, y), ...], to scale; ``trace`` also draws the paths of the points, and
    ``arrows`` the forces and torques of the drawing.
    """
    go = extra("plotly.graph_objects", "plots")

    from vinculum.present.moving_svg import moving_svg
    from vinculum.present.shown_figure import ShownFigure

    drawn = scene_of(motion, what, frames, arrows)
    paths = shapes.path_traces(drawn) if trace else []
    seen = drawn if trace else replace(drawn, paths={})
    figure = ShownFigure(data=[*paths, *shapes.moving_traces(drawn, 0)], instead=lambda: moving_svg(seen))
    moving = list(range(len(paths), len(paths) + len(drawn.strokes)))
    kind = {"type": "scatter" if drawn.dimension == 2 else "scatter3d"}
    figure.frames = [
        go.Frame(data=[kind | c for c in shapes.coordinates(drawn, i)], name=f"{instant:.4g}", traces=moving)
        for i, instant in enumerate(drawn.t)
    ]
    names = [frame.name for frame in figure.frames]
    figure.update_layout(title={"text": drawn.note, "font": {"size": 13}})
    return figure.update_layout(**shapes.layout(drawn.box), **_controls(names, redraw=drawn.dimension == 3))


def scene_of(motion: Trajectory, what: Sequence[Any] = (), frames: int = 240, arrows: bool = False) -> Scene:
    """What `drawing_for` gives, along the motion; bodies that stay in a plane are drawn in it."""
    found = scene(motion, drawing_for(motion, what), frames, arrows)
    return flattened(found) if _from_bodies(what) else found


def drawing_for(motion: Trajectory, what: Sequence[Any] = ()) -> Drawing:
    """The drawing: given directly or by a model, as lines through points, or from the bodies of the system."""
    if _from_bodies(what):
        return _of_bodies(motion, what[0].led if what else None)
    drawing = what[0].drawing if isinstance(what[0], Model) else what[0]
    return drawing if isinstance(drawing, Drawing) else _lines(what)


def _from_bodies(what: Sequence[Any]) -> bool:
    return not what or (isinstance(what[0], Model) and what[0].drawing is None)


def _of_bodies(motion: Trajectory, led: Led | None) -> Drawing:
    system = None if motion.problem is None else getattr(motion.problem.equations, "system", None)
    tree = getattr(system, "bodies", None)
    if tree is None:
        raise VinculumError(
            "There is nothing to draw. Write motion.animate([(0, 0), (x, y)], ...), one list of points per line, or "
            "motion.animate(drawing). Only a system made from bodies is drawn automatically."
        )
    return drawing_of(tree, led)


def _lines(lines: Sequence[Sequence[Point]]) -> Drawing:
    """Lines through unnamed points; the path of the last point of each is drawn."""
    points = {f"{i}.{k}": point for i, line in enumerate(lines) for k, point in enumerate(line)}
    segments = [Segment([f"{i}.{k}" for k in range(len(line))], name=f"line {i + 1}") for i, line in enumerate(lines)]
    return Drawing(points, segments, traces=[s.points[-1] for s in segments])


def _controls(names: list[str], redraw: bool) -> dict[str, Any]:
    play = {"frame": {"duration": 40, "redraw": redraw}, "fromcurrent": True, "transition": {"duration": 0}}
    stop = {"frame": {"duration": 0, "redraw": redraw}, "mode": "immediate", "transition": {"duration": 0}}
    buttons = [
        {"label": "play", "method": "animate", "args": [None, play]},
        {"label": "pause", "method": "animate", "args": [[None], stop]},
    ]
    steps = [{"label": name, "method": "animate", "args": [[name], stop]} for name in names]
    return {
        "template": "plotly_white",
        "showlegend": False,
        "updatemenus": [{"type": "buttons", "buttons": buttons, "direction": "left", "x": 0, "y": -0.12}],
        "sliders": [{"steps": steps, "currentvalue": {"prefix": "t = "}, "x": 0.25, "len": 0.75, "y": -0.05}],
    }
