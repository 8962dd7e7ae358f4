"""Figures 1 and 2 of the paper, and the admissible gains over the step."""

from __future__ import annotations

import numpy as np

import vinculum as vn
from papers.drawing import Panel, Part, curve, picture, points, printed
from papers.program.ellipse import run, y
from papers.record import Figure
from vinculum.present.svg import Axis


def forgotten() -> list[Panel]:
    """y = v₀ t e^{-kt}, its peak v₀/(ke) at t = 1/k."""
    t = np.linspace(0, 8, 161)
    panels = []
    for k in (0.4, 1.0, 2.0):
        lines = [curve(t, v0 * t * np.exp(-k * t), f"v₀ = {v0}", i) for i, v0 in enumerate((1, 2, 3, 4))]
        panels.append((f"k = {k:g}", picture(lines, "t", Axis("y", span=(0, 4)), 240)))
    return panels


def deviations() -> list[Panel]:
    lines = []
    for i, k in enumerate((50.0, 300.0, 2050.0)):
        motion = run(k)
        lines.append(curve(motion.t, np.abs(motion[y]) + 1e-12, f"k = {k:g}", i, width=1))
    lines.append(printed(1e-3, (0, 20), "ε = 0.001"))
    return [("", picture(lines, "t", Axis("|y|", log=True, span=(1e-7, 20))))]


def gains() -> list[Panel]:
    """Between the lines of one color Euler's method keeps |y| ≤ ε."""
    lines: list[Part] = []
    steps = np.geomspace(1e-4, 1e-2, 41)
    for i, epsilon in enumerate((1e-3, 1e-4, 4e-5)):
        found = [(t, vn.simulation.gain_interval("euler", t, epsilon, curvature=16)) for t in steps]
        band = np.array([(t, interval.low, interval.high) for t, interval in found if interval]).T
        lines += [curve(band[0], band[1], "", i), curve(band[0], band[2], f"ε = {epsilon:g}", i)]
    lines.append(points([1e-3, 1e-3], [200, 1800], "printed: 200 and 1800", 7))
    return [("", picture(lines, Axis("step τ", log=True), Axis("k", log=True)))]


FIGURES = [
    Figure(
        "Figure 1",
        "y = v₀ t exp(-kt): an initial velocity error does not decay at once. The peak is v₀/(ke) at t = 1/k.",
        "The same curves for v₀ = 1, 2, 3, 4 and k = 0.4, 1, 2.",
        forgotten,
    ),
    Figure(
        "Figure 2",
        "|y| of example (26), corrected, by Euler's method with the step 0.001.",
        "Deviations over time for k = 50, k = 300 and k = 2050.",
        deviations,
    ),
    Figure(
        "Interval of k",
        "Admissible gains over the step by the corrected theorem: between the two lines of a color.",
        "No figure; the text gives 200 < k < 1800 for the step 0.001.",
        gains,
    ),
]
