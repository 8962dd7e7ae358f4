"""Quantities over time as Plotly figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory


def over_time(motion: Trajectory, keys: Sequence[sp.Expr | str]) -> Any:
    """One line for each quantity; without keys, all coordinates."""
    import plotly.graph_objects as go

    chosen = list(keys) or coordinates(motion)
    figure = go.Figure()
    for key in chosen:
        name = key if isinstance(key, str) else name_of(key)
        figure.add_scatter(x=motion.t, y=motion[key], name=name, mode="lines")
    return figure.update_layout(
        template="plotly_white", xaxis_title="t", showlegend=True, margin={"l": 50, "r": 20, "t": 20, "b": 45}
    )


def coordinates(motion: Trajectory) -> list[Any]:
    """The coordinates of the system, or of a file: the stored states that are not velocities."""
    if motion.problem is not None:
        return list(motion.problem.equations.shown)
    return [name for name in motion.own_columns if f"{name}_dot" in motion.own_columns]
