"""Figures 1 and 2 of the paper, and the admissible gains over the step."""

from __future__ import annotations

from typing import Any

import numpy as np

import vinculum as vn
from vinculum.papers.program.ellipse import run, y
from vinculum.papers.record import Figure

COLORS = ("#2563eb", "#ea580c", "#16a34a", "#dc2626")


def forgotten() -> Any:
    """y = v₀ t e^{-kt}, its peak v₀/(ke) at t = 1/k."""
    from plotly.subplots import make_subplots

    gains = (0.4, 1.0, 2.0)
    figure = make_subplots(rows=1, cols=3, shared_yaxes=True, subplot_titles=[f"k = {k:g}" for k in gains])
    t = np.linspace(0, 8, 161)
    for column, k in enumerate(gains, start=1):
        for v0, color in zip((1, 2, 3, 4), COLORS, strict=True):
            line = {"color": color, "width": 1.5}
            figure.add_scatter(
                x=t,
                y=v0 * t * np.exp(-k * t),
                mode="lines",
                name=f"v₀ = {v0}",
                line=line,
                legendgroup=str(v0),
                showlegend=column == 1,
                row=1,
                col=column,
            )
        figure.update_xaxes(title_text="t", row=1, col=column)
    return figure.update_layout(yaxis_title="y")


def deviations() -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    for k, color in zip((50.0, 300.0, 2050.0), COLORS, strict=False):
        motion = run(k)
        pick = np.unique(np.linspace(0, len(motion.t) - 1, 800).astype(int))
        values = np.abs(motion[y][pick]) + 1e-12
        figure.add_scatter(
            x=motion.t[pick], y=values, mode="lines", name=f"k = {k:g}", line={"color": color, "width": 1}
        )
    figure.add_hline(y=1e-3, line={"dash": "dot", "color": "#94a3b8"}, annotation_text="ε = 0.001")
    axis = {"title": "|y|", "type": "log", "range": [-7, 1.3], "exponentformat": "power"}
    return figure.update_layout(xaxis_title="t", yaxis=axis)


def gains() -> Any:
    """Between the lines of one color Euler's method keeps |y| ≤ ε."""
    import plotly.graph_objects as go

    figure, steps = go.Figure(), np.geomspace(1e-4, 1e-2, 41)
    for epsilon, color in zip((1e-3, 1e-4, 4e-5), COLORS, strict=False):
        found = [(t, vn.gain_interval("euler", t, epsilon, curvature=16)) for t in steps]
        band = np.array([(t, i.low, i.high) for t, i in found if i]).T
        line = {"color": color}
        figure.add_scatter(x=band[0], y=band[1], mode="lines", line=line, showlegend=False)
        figure.add_scatter(x=band[0], y=band[2], mode="lines", line=line, name=f"ε = {epsilon:g}", fill="tonexty")
    figure.add_scatter(
        x=[1e-3, 1e-3],
        y=[200, 1800],
        mode="markers",
        name="printed 200 and 1800",
        marker={"color": "#64748b", "size": 9},
    )
    log = {"type": "log", "exponentformat": "power"}
    return figure.update_layout(xaxis=log | {"title": "step τ"}, yaxis=log | {"title": "k"})


FIGURES = [
    Figure(
        "Figure 1",
        "y = v₀ t e^{-kt}: a velocity error of the start is not forgotten at once; the peak is v₀/(ke) at t = 1/k.",
        "The same curves for v₀ = 1, 2, 3, 4 and k = 0.4, 1, 2.",
        forgotten,
    ),
    Figure(
        "Figure 2",
        "|y| of example (26), corrected, by Euler's method with the step 0.001.",
        "Deviations for k = 50 (slowly held), k = 300 (held), k = 2050 (growing).",
        deviations,
    ),
    Figure(
        "interval of k",
        "Admissible gains over the step by the corrected theorem; not in the paper.",
        "The text gives 200 < k < 1800 for the step 0.001.",
        gains,
    ),
]
