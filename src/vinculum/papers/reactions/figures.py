"""Figures 1 to 5 of the paper. Figure 6 is a photograph."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from vinculum.papers.reactions import wheel as w
from vinculum.papers.record import Figure

BLUE, ORANGE, GREEN, RED = "#2563eb", "#ea580c", "#16a34a", "#dc2626"


def sketch() -> Any:
    """The gutter, the wheel and the pendulum at the start."""
    import plotly.graph_objects as go

    start = w.start()
    radius, length = w.NUMBERS[w.r], w.NUMBERS[w.l]
    s = sp.Symbol("s")
    place, turn = np.linspace(-0.95, 0.95, 191), np.linspace(0, 2 * np.pi, 61)
    heights = sp.lambdify(s, w.gutter(s))(place)
    x, z, swing, contact = (start[key] for key in (w.x, w.z, w.phi, w.alpha))
    figure = go.Figure()
    figure.add_scatter(x=place, y=heights, mode="lines", name="gutter", line={"color": "#64748b", "width": 3})
    figure.add_scatter(
        x=x + radius * np.cos(turn), y=z + radius * np.sin(turn), mode="lines", name="wheel", line={"color": BLUE}
    )
    rod = ([x, x + length * np.sin(swing)], [z, z - length * np.cos(swing)])
    figure.add_scatter(x=rod[0], y=rod[1], mode="lines+markers", name="pendulum", line={"color": ORANGE})
    touch = (x + radius * np.cos(contact), z + radius * np.sin(contact))
    figure.add_scatter(x=[touch[0]], y=[touch[1]], mode="markers", name="contact", marker={"color": RED, "size": 9})
    return figure.update_layout(xaxis_title="x", yaxis={"title": "z", "scaleanchor": "x"})


def places() -> Any:
    import plotly.graph_objects as go

    run = w.long_run()
    t, pick = thinned(run.t, 3000)
    figure = go.Figure()
    for key, name, color in ((w.x, "x", BLUE), (w.z, "z", ORANGE)):
        figure.add_scatter(x=t, y=run[key][pick], mode="lines", name=name, line={"color": color, "width": 1})
    for level, name in ((-0.67, "-0.67"), (-0.13, "-0.13"), (0.75, "0.75")):
        figure.add_hline(
            y=level, line={"dash": "dot", "color": "#94a3b8", "width": 1}, annotation_text=f"printed {name}"
        )
    return figure.update_layout(xaxis_title="t", yaxis_title="x, z")


def bob() -> Any:
    import plotly.graph_objects as go

    run = w.long_run()
    _, pick = thinned(run.t, 6000)
    figure = go.Figure()
    path = (run[w.BOB[0]][pick], run[w.BOB[1]][pick])
    figure.add_scatter(x=path[0], y=path[1], mode="lines", line={"color": BLUE, "width": 0.6}, name="pendulum mass")
    return figure.update_layout(xaxis_title="x", yaxis={"title": "z", "scaleanchor": "x"}, showlegend=False)


def angle() -> Any:
    import plotly.graph_objects as go

    run = w.long_run()
    t, pick = thinned(run.t, 3000)
    figure = go.Figure()
    figure.add_scatter(x=t, y=run[w.phi][pick], mode="lines", line={"color": BLUE, "width": 1}, name="φ")
    return figure.update_layout(xaxis_title="t", yaxis_title="φ", showlegend=False)


def errors() -> Any:
    """|f₁|, |f₂|, |f₃| and |E - E(0)| by the second-order Adams method with the step of the paper."""
    import plotly.graph_objects as go

    run = w.adams("ab2", 20.0)
    t, pick = thinned(run.t, 1500)
    figure = go.Figure()
    lines = [(run.residuals[name, "position"], label) for name, label in
             (("contact", "f₁"), ("rolling", "f₂"), ("tangency", "f₃"))]  # fmt: skip
    lines.append((run.energy - run.energy[0], "E - E(0)"))
    for (values, label), color in zip(lines, (BLUE, ORANGE, GREEN, RED), strict=True):
        figure.add_scatter(
            x=t, y=np.abs(values[pick]) + 1e-16, mode="lines", name=label, line={"color": color, "width": 1}
        )
    for level, name in ((5e-10, "printed 5e-10 for f"), (2e-8, "printed 2e-8 for E")):
        figure.add_hline(y=level, line={"dash": "dot", "color": "#94a3b8"}, annotation_text=name)
    return figure.update_layout(
        xaxis_title="t", yaxis={"title": "absolute value", "type": "log", "exponentformat": "power"}
    )


def thinned(t: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """At most so many of the instants, and their places."""
    pick = np.unique(np.linspace(0, len(t) - 1, count).astype(int))
    return t[pick], pick


FIGURES = [
    Figure(
        "Fig. 1",
        "The gutter with its brackets restored, wheel and pendulum at the start.",
        "Kinematic and dynamic sketches: wheel in the gutter, reaction R, angles θ, φ, α.",
        sketch,
    ),
    Figure(
        "Fig. 2",
        "x and z over [0, 200] by Taylor series; the printed ends of the two segments are dotted.",
        "x(t) and z(t); x alternates between [-0.67, 0.75] and [-0.13, 0.75].",
        places,
    ),
    Figure(
        "Fig. 3", "The path of the pendulum mass over [0, 200].", "The same, a chaotic curve above the gutter.", bob
    ),
    Figure(
        "Fig. 4",
        "φ over [0, 200]: full turns (slopes) and swings (level parts) take turns.",
        "φ(t) with rising, falling and level segments.",
        angle,
    ),
    Figure(
        "Fig. 5",
        "Residuals and energy error of AB2 with the step 1e-5 over [0, 20], a tenth of the printed time.",
        "Energy error below 2e-8, f₁ and f₂ below 5e-10; f₃ is not shown.",
        errors,
    ),
]
