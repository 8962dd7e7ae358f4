"""Figure 1 of the paper: the scheme of the stand, drawn from the model itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.papers.record import Figure
from vinculum.papers.redundant import ball_and_beam as bb
from vinculum.papers.truth import numbers

COLORS = ("#2563eb", "#dc2626")


def scheme() -> Any:
    """Beam OA, lever AB, wheel and ball in both equilibria."""
    import plotly.graph_objects as go

    figure = go.Figure()
    L, d, l = (bb.DATA[p] for p in (bb.L, bb.d, bb.l))
    turn = np.linspace(0, 2 * np.pi, 73)
    figure.add_scatter(
        x=L - d + d * np.cos(turn), y=-l + d * np.sin(turn), mode="lines", line={"color": "#94a3b8"}, name="wheel"
    )
    for rest, color in zip(bb.rests(), COLORS, strict=True):
        known = bb.DATA | {q: rest[q] for q in (bb.r, bb.theta, bb.alpha)}
        x_A, y_A, x_B, y_B = numbers([*bb.PINS[0], *bb.PINS[1]], known)
        bars = ([0, x_A, x_B, L - d], [0, y_A, y_B, -l])
        figure.add_scatter(
            x=bars[0],
            y=bars[1],
            mode="lines+markers",
            line={"color": color, "width": 3},
            name=f"θ = {rest[bb.theta]:.3f}",
        )
        figure.add_scatter(
            x=[rest[bb.r]], y=[3 * bb.DATA[bb.R]], mode="markers", marker={"size": 18, "color": color}, showlegend=False
        )
    for name, place in (("O", (0, 0.03)), ("A", (L, 0.03)), ("B", (L, -l - 0.02))):
        figure.add_annotation(x=place[0], y=place[1], text=name, showarrow=False)
    return figure.update_layout(xaxis_title="x [m]", yaxis={"title": "y [m]", "scaleanchor": "x"})


FIGURES = [
    Figure(
        "Figure 1",
        "The stand in its two equilibria with the ball at 0.2 m: beam OA, lever AB, wheel; both are level.",
        "The scheme: beam OA = L on its pivot O, ball C, lever AB = l, output wheel of radius d.",
        scheme,
    ),
]
