"""The numbers of example (26) and the largest gains of methods."""

from __future__ import annotations

import numpy as np

import vinculum as vn
from papers.program import ellipse
from papers.program.ellipse import STEP, largest, last_gain, q1, q2, run, y
from papers.record import Number, Table
from vinculum.simulation import RungeKutta
from vinculum.simulation.integrators import METHODS
from vinculum.simulation.stabilization.residual_bounds import fixed_step

ACCURACIES = {1e-3: ("8, 1992", "8.1"), 1e-4: ("80, 1920", "81"), 4e-5: ("200, 1800", "201")}


def euler() -> list[Number]:
    short = vn.simulate(
        ellipse.program(300.0), ellipse.START, (0, 0.05), "euler", step=STEP, dense=True, progress=False
    )
    mapped = ellipse.exact_map(short[q1], short[q2], 300.0)
    return [
        Number("y after 20000 steps, k = 50", "1.60182312085e-4", run(50.0)[y][-1]),
        Number("y after 20000 steps, k = 300", "2.6696633448e-5", run(300.0)[y][-1]),
        Number("y against the exact map of one step", "< 1e-15", np.abs(short[y][1:] - mapped[:-1]).max()),
        Number("largest |y|, k = 2050", "4.9", largest(2050.0)),
    ]


def intervals() -> list[Number]:
    found = []
    for epsilon, (text, measured) in ACCURACIES.items():
        interval = vn.simulation.gain_interval("euler", STEP, epsilon, curvature=16)
        found.append(Number(f"ε = {epsilon:g}: k by the theorem", text, (interval.low, interval.high)))
        low = last_gain(epsilon, 1.1 * interval.low, 0.9 * interval.low)
        found.append(Number(f"ε = {epsilon:g}: smallest k measured", measured, low, units=1.0))
    high = last_gain(1e-3, 1990.0, 2050.0)
    narrow = vn.simulation.gain_interval("euler", STEP, 1e-3, curvature=16)
    return [
        *found,
        Number("ε = 0.001: largest k measured", "2000", high, units=2.0),
        Number(
            "ε = 0.001: interval of k",
            "200, 1800",
            (narrow.low, narrow.high),
            "The printed interval belongs to ε = 4e-5.",
            in_paper=True,
        ),
        Number(
            "b and u as printed, ε = 0.001: k that hold",
            "3.6, 70",
            (last_gain(1e-3, 10.0, 1.0, printed=True), last_gain(1e-3, 20.0, 200.0, printed=True)),
            units=1.0,
        ),
        Number("b and u as printed, k = 300: |y| is not held and grows to", "1.7", largest(300.0, printed=True)),
    ]


def stages() -> list[Number]:
    """Continuous feedback acts on the stages of RK4; sampled feedback does not. Step 0.01, k = 100."""
    predicted = 16 * 0.01**2 * (-1 / 96) / (1 - 0.375)
    held, continuous = run(100.0, "rk4", 0.01, sampled=True), run(100.0, "rk4", 0.01)[y]
    settled = float(continuous[len(continuous) // 2 :].mean())
    return [
        Number("RK4, continuous: predicted stationary y", "-2.667e-5", predicted),
        Number(
            "RK4, continuous: y measured",
            "-2.659e-5",
            settled,
            "y swings by 4 % over a turn; here the mean of ten seconds.",
        ),
        Number("RK4, sampled: largest y", "< 1e-9", held.largest_residuals["ellipse", "position"]),
    ]


def defects() -> list[Number]:
    """R(-z) and P(z) at z = 1, and where |R| is smallest."""
    z = np.linspace(0, 3, 300_001)
    found = []
    for name, R, P, best in (
        ("euler", "0", "0.5", "1"),
        ("midpoint", "0.5", "-0.125", "1"),
        ("rk4", "0.375", "-0.010417", "1.5961"),
    ):
        method = RungeKutta(name)
        values = method.growth(1.0), method.stage_defect(1.0), z[np.abs(method.growth(z)).argmin()]
        found.append(
            Number(f"{name.upper()}: R(-1), P(1), z of the least |R|", f"{R}, {P}, {best}", [float(v) for v in values])
        )
    return found


def limits() -> list[Number]:
    texts = {
        "euler": "2",
        "midpoint": "2",
        "rk4": "2.78529",
        "ab2": "1",
        "ab3": "0.54545",
        "ab4": "0.3",
        "ab5": "0.16334",
        "abm2": "2.0",
        "abm3": "1.729",
        "abm4": "1.285",
    }
    return [
        Number(name.upper(), text, fixed_step(METHODS[name]).stability_limit())
        for name, text in texts.items()
        if name in METHODS
    ]


TABLES = [
    Table("Example (26) by Euler's method, corrected", euler, "Step 0.001 from (2, 0)."),
    Table("Admissible gains", intervals, "20000 steps for every gain tried."),
    Table("Feedback in the stages of RK4", stages, "Step 0.01, k = 100."),
    Table("What the stages of a method leave", defects, "η⁺ = R(-z) η + γτ²P(z) with z = kτ."),
    Table("Largest kτ at which the residual equation is stable", limits),
]
