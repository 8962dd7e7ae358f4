"""Plotly figures: quantities over time, regions of stability, admissible gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.analyze.hurwitz import Region
from vinculum.extras import extra
from vinculum.names import name_of
from vinculum.present.thinning import thinned
from vinculum.simulation.stabilization.gain_interval import gain_interval

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory

_COLORS = ("31,119,180", "255,127,14", "44,160,44", "214,39,40", "148,103,189", "140,86,75", "227,119,194")


def over_time(motion: Trajectory, keys: Sequence[sp.Expr | str]) -> Any:
    """One line for each quantity; without keys, all coordinates. Long runs are `thinned`."""
    from vinculum.present.shown_figure import ShownFigure

    chosen = list(keys) or coordinates(motion)
    figure = ShownFigure()
    for key in chosen:
        name = key if isinstance(key, str) else name_of(key)
        times, values = thinned(motion.t, motion[key])
        figure.add_scatter(x=times, y=values, name=name, mode="lines")
    return figure.update_layout(
        template="plotly_white", xaxis_title="t", showlegend=True, margin={"l": 50, "r": 20, "t": 20, "b": 45}
    )


def coordinates(motion: Trajectory) -> list[Any]:
    """The coordinates of the system by their symbols, or of a file by their names."""
    if motion.live is None:
        return list(motion.run.shown)
    return [node.value for node in motion.live.problem.integrable.roles.shown]


def region(found: Region) -> Any:
    """The largest real part of the roots over two parameters, with a bold line at the stability boundary."""
    go = extra("plotly.graph_objects", "plots")

    from vinculum.present.shown_figure import ShownFigure

    limit = float(np.nanmax(np.abs(found.rightmost)))
    values = {"x": found.first, "y": found.second, "z": found.rightmost.T}
    figure = ShownFigure(go.Heatmap(**values, zmid=0, zmin=-limit, zmax=limit, colorscale="RdBu_r"))
    border = {"start": 0, "end": 0, "size": 1, "coloring": "lines", "showlabels": False}
    figure.add_contour(**values, contours=border, showscale=False, line_width=3)
    return figure.update_layout(
        template="plotly_white",
        xaxis_title=name_of(found.parameters[0]),
        yaxis_title=name_of(found.parameters[1]),
        title="largest real part of the roots",
    )


def plot_gain_intervals(
    epsilon: float,
    steps: Sequence[float],
    methods: Sequence[str] = ("euler", "midpoint", "rk4", "ab2", "ab4"),
    *,
    curvature: float,
    errors: Mapping[str, float] | None = None,
    sampled: bool | None = None,
) -> Any:
    """k against the step: between the two lines of a method |η| ≤ ε is guaranteed (see `gain_interval`).

    ``errors`` {method: E} are the constants of E τ^{p+1}; every method but Euler's needs one.
    """
    from vinculum.present.shown_figure import ShownFigure

    figure = ShownFigure()
    for name, color in zip(methods, _COLORS * len(methods), strict=False):
        error = (errors or {}).get(name)
        found = [
            gain_interval(name, step, epsilon, curvature=curvature, error=error, sampled=sampled) for step in steps
        ]
        good = [(step, interval.low, interval.high) for step, interval in zip(steps, found, strict=True) if interval]
        if good:
            kept, low, high = np.array(good).T
            line = {"color": f"rgb({color})"}
            figure.add_scatter(x=kept, y=np.maximum(low, 1e-3), line=line, legendgroup=name, showlegend=False)
            figure.add_scatter(x=kept, y=high, line=line, fill="tonexty", fillcolor=f"rgba({color},0.15)", name=name)
    return figure.update_layout(
        template="plotly_white",
        xaxis={"title": "step τ", "type": "log"},
        yaxis={"title": f"gain k that keeps |η| ≤ {epsilon:g}", "type": "log"},
    )
