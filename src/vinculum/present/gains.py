"""The admissible gains of constraint stabilization over the step, one band for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vinculum.simulation.stabilization.gain_interval import gain_interval

_COLORS = ("31,119,180", "255,127,14", "44,160,44", "214,39,40", "148,103,189", "140,86,75", "227,119,194")


def plot_gain_intervals(
    epsilon: float,
    steps: Sequence[float],
    methods: Sequence[str] = ("euler", "midpoint", "rk4", "ab2", "ab4"),
    *,
    curvature: float,
    errors: Mapping[str, float] | None = None,
    sampled: bool = False,
) -> Any:
    """k against the step: between the two lines of a method |η| ≤ ε is guaranteed (see `gain_interval`).

    ``errors`` {method: D} are the constants of D τ^{p+1}; methods that are not named have zero.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, color in zip(methods, _COLORS * len(methods), strict=False):
        error = (errors or {}).get(name, 0.0)
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
