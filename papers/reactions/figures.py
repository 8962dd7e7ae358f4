"""Figures 1 to 5 of the paper. Figure 6 is a photograph."""

from __future__ import annotations

import numpy as np
import sympy as sp

from papers.drawing import Panel, Part, curve, picture, plane, points, printed
from papers.reactions import wheel as w
from papers.record import Figure
from vinculum.present.svg import Axis


def sketch() -> list[Panel]:
    """The gutter, the wheel and the pendulum at the start."""
    start, radius, length = w.start(), w.NUMBERS[w.r], w.NUMBERS[w.l]
    s = sp.Symbol("s")
    place, turn = np.linspace(-0.95, 0.95, 191), np.linspace(0, 2 * np.pi, 61)
    x, z, swing, contact = (start[key] for key in (w.x, w.z, w.phi, w.alpha))
    bob = (x + length * np.sin(swing), z - length * np.cos(swing))
    lines: list[Part] = [
        curve(place, sp.lambdify(s, w.gutter(s))(place), "gutter", 7, width=3),
        curve(x + radius * np.cos(turn), z + radius * np.sin(turn), "wheel", 0),
        curve([x, bob[0]], [z, bob[1]], "pendulum", 1),
        points([bob[0]], [bob[1]], color=1),
        points([x + radius * np.cos(contact)], [z + radius * np.sin(contact)], "contact", 2),
    ]
    return [("", plane(lines, "x", "z"))]


def places() -> list[Panel]:
    run, ends = w.long_run(), (0, 200)
    lines = [curve(run.t, run[key], name, i, width=1) for i, (key, name) in enumerate(((w.x, "x"), (w.z, "z")))]
    lines += [printed(level, ends, f"x = {level:g}") for level in (-0.67, -0.13, 0.75)]
    return [("", picture(lines, "t", "x, z"))]


def bob() -> list[Panel]:
    run = w.long_run()
    return [("", plane([curve(run[w.BOB[0]], run[w.BOB[1]], most=20_001, width=0.4)], "x", "z", 420))]


def angle() -> list[Panel]:
    run = w.long_run()
    return [("", picture([curve(run.t, run[w.phi], width=1)], "t", "φ"))]


def errors() -> list[Panel]:
    """|f₁|, |f₂|, |f₃| and |E - E(0)| by the second-order Adams method with the step of the paper."""
    run, ends = w.adams("ab2", 20.0), (0, 20)
    names = {"contact": "f₁", "rolling": "f₂", "tangency": "f₃"}
    sizes = {label: run.residuals[name, "position"] for name, label in names.items()}
    sizes["E - E(0)"] = run.energy - run.energy[0]
    lines = [curve(run.t, np.abs(y) + 1e-16, name, i, width=1) for i, (name, y) in enumerate(sizes.items())]
    lines += [printed(5e-10, ends, "5e-10 for f"), printed(2e-8, ends, "2e-8 for E")]
    return [("", picture(lines, "t", Axis("size", log=True, span=(1e-14, 1e-6))))]


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
        "x(t) above and z(t) below; x keeps to [-0.67, 0.75] or to [-0.13, 0.75].",
        places,
    ),
    Figure(
        "Fig. 3",
        "The path of the pendulum mass over [0, 200].",
        "The same path, a chaotic curve above the gutter.",
        bob,
    ),
    Figure(
        "Fig. 4",
        "φ over [0, 200]: full turns (slopes) and swings (level parts) alternate.",
        "φ(t) with rising, falling and level segments.",
        angle,
    ),
    Figure(
        "Fig. 5",
        "Residuals and energy error of AB2 with the step 1e-5 over [0, 20], a tenth of the printed time.",
        "Energy error (curve 3) below 2e-8, f₁ and f₂ (curves 1 and 2) below 5e-10; f₃ is not shown.",
        errors,
    ),
]
