"""Figure 1 of the paper: the scheme of the stand, drawn from the model itself."""

from __future__ import annotations

import numpy as np

from papers.drawing import Panel, Part, curve, plane, points
from papers.record import Figure
from papers.redundant import ball_and_beam as bb
from papers.truth import numbers


def scheme() -> list[Panel]:
    """Beam OA, lever AB, wheel and ball in both equilibria."""
    L, d, l = (bb.DATA[p] for p in (bb.L, bb.d, bb.l))
    turn = np.linspace(0, 2 * np.pi, 73)
    lines: list[Part] = [curve(L - d + d * np.cos(turn), -l + d * np.sin(turn), "wheel", 7)]
    for i, rest in enumerate(bb.rests()):
        x_A, y_A, x_B, y_B = numbers(
            [*bb.PINS[0], *bb.PINS[1]], bb.DATA | {q: rest[q] for q in (bb.r, bb.theta, bb.alpha)}
        )
        bars = ([0, x_A, x_B, L - d], [0, y_A, y_B, -l])
        lines.append(
            curve(*bars, f"O A B, θ = {rest[bb.theta]:.3f}", i, width=4 - 2 * i, dash="solid" if i == 0 else "dash")
        )
        lines.append(points([0, x_A, x_B], [0, y_A, y_B], color=i, size=7))
    lines.append(points([bb.PLACE], [2 * bb.DATA[bb.R]], "ball C", 2, 18))
    return [("", plane(lines, "x [m]", "y [m]", 300))]


FIGURES = [
    Figure(
        "Figure 1",
        "The stand in its two equilibria with the ball at 0.2 m: the beam is level in both.",
        "The scheme: beam OA of length L on its pivot O, ball C, lever AB of length l, output wheel of radius d.",
        scheme,
    ),
]
