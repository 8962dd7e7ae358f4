"""The reference numbers of the ball and beam, computed again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import vinculum as vn
from papers.record import Number, Table
from papers.redundant import ball_and_beam as bb
from papers.redundant.ball_and_beam import PLACE, alpha, r, theta, u

EQUILIBRIA = ("E1, θ = 0", "E2, θ = 2.498")
CURRENT = vn.motors.charge_of(bb.system(), u).diff()


def parts(root: complex) -> tuple[float, float]:
    return float(root.real), float(abs(root.imag))


def rows(
    name: str, labels: Sequence[str], texts: Sequence[str], values: Sequence[float | Sequence[float]]
) -> list[Number]:
    return [Number(f"{name}: {label}", text, x) for label, text, x in zip(labels, texts, values, strict=True)]


def unit() -> list[Number]:
    """One state: the angle α solved on the constraint, of which nine digits are given."""
    moving = {r: 0.25, theta: 0.4, r.diff(): 0.1, theta.diff(): -2.0}
    start = vn.consistent_state(bb.with_torque(), moving, guess={alpha: 0.04})
    found = bb.with_torque().recover({key: start[key] for key in bb.with_torque().states} | {u: 0.05})
    return [
        Number("α", "0.038866672", start[alpha]),
        Number(
            "r̈, θ̈, α̈", "-0.264176193, -55.678471744, -5.264726224", [found[q.diff().diff()] for q in (r, theta, alpha)]
        ),
        Number("λ of (5)", "6.477340312", found["lever"]),
    ]


def equilibria() -> list[Number]:
    texts = (("0.07106364", "0.11348031", "2.145913"), ("-0.08882955", "-0.14185039", "-2.682391"))
    found = [Number("θ of the second equilibrium", "2.498091545", bb.rests()[1][theta])]
    for k, name in enumerate(EQUILIBRIA):
        values = bb.rests()[k][u], bb.rests(True)[k][CURRENT], bb.rests(True)[k][bb.VOLTAGE]
        found += rows(name, ("torque u₀ [N m]", "current i₀ [A]", "voltage e₀ [V]"), texts[k], values)
    return found


def matrices() -> list[Number]:
    texts = (
        ("0.1", "diag(0.0398, 3.0941e-4)", "0.00000000", "0.00000000"),
        ("-0.125", "diag(0.0398, 4.15953e-4)", "-0.00832777", "-0.01171875"),
    )
    weight = float((PLACE * bb.DATA[bb.m] + bb.DATA[bb.M] * bb.DATA[bb.L] / 2) * bb.DATA[bb.g])
    found: list[Number] = []
    for k, name in enumerate(EQUILIBRIA):
        model = bb.linear(k)
        bend = float(model.CB[1, 1])
        values = (float(model.B[0, 1]), list(model.A.diagonal()), bend, bend / weight)
        found += rows(name, ("B = dα/dθ", "A*", "C^B (θ, θ)", "d²α/dθ²"), texts[k], values)
    return [*found, Number("E1: d³α/dθ³", "-0.099", third_derivative())]


def third_derivative() -> float:
    """From the slope of B along the constraint."""
    h = 1e-2

    def slope(angle: float) -> float:
        known = {r: PLACE, theta: angle, r.diff(): 0.0, theta.diff(): 1.0}
        return vn.consistent_state(bb.with_torque(), known, guess={alpha: 0.0})[alpha.diff()]

    return (-slope(2 * h) + 16 * slope(h) - 30 * slope(0) + 16 * slope(-h) - slope(-2 * h)) / (12 * h**2)


def pair_of(model: vn.linear.LinearModel) -> tuple[float, float]:
    """The real and the imaginary root of a mechanism with ±a, ±bi."""
    return float(model.roots.real.max()), float(model.roots.imag.max())


def open_loop() -> list[Number]:
    found = []
    texts = (("±2.807726, ±2.807726i", "±2.807726, ±2.807726i"), ("±4.810630, ±1.766699i", "±2.915293, ±2.915293i"))
    for k, name in enumerate(EQUILIBRIA):
        strict, blind = bb.linear(k), bb.linear(k).without_curvature()
        found += [
            Number(f"{name}: constant torque", texts[k][0], pair_of(strict)),
            Number(f"{name}: the same with θ dependent", texts[k][0], pair_of(bb.linear(k, theta))),
            Number(f"{name}: C^B dropped, as a linear constraint would", texts[k][1], pair_of(blind)),
            Number(
                f"{name}: printed (24), θ dependent, P^B missing",
                texts[k][1],
                pair_of(bb.linear(k, theta).as_printed()),
            ),
        ]
    wrong = [b / a for a, b in zip(pair_of(bb.linear(1)), pair_of(bb.linear(1).without_curvature()), strict=True)]
    return [*found, Number("E2: error of the roots, in percent", "39, 65", [100 * abs(x - 1) for x in wrong])]


def motor() -> list[Number]:
    texts = (
        "-1821.416, -69.5844, -0.485221 ± 0.848439i, 0.970634",
        "-1839.755, -51.6441, -0.435159 ± 0.971191i, 1.269326",
    )
    zeros = [Number("structural zero roots", "1", bb.linear(0, motor=True).critical)]
    return zeros + [
        Number(f"{name}: roots", text, by_size(bb.linear(k, motor=True).roots), units=1.0)
        for k, (name, text) in enumerate(zip(EQUILIBRIA, texts, strict=True))
    ]


def by_size(roots: np.ndarray) -> list[float]:
    """From the leftmost root on, a pair once, its imaginary part after the real one."""
    found: list[float] = []
    for root in roots[::-1]:
        if abs(root.imag) < 1e-9:
            found.append(float(root.real))
        elif root.imag > 0:
            found += parts(root)
    return found


def gains() -> list[Number]:
    texts = (
        (
            "101.275486, -26.297118, 93.157895, -1.640375, -9.795187",
            "-2701.434, -156.7212, -9.496172, -1.433776 ± 1.201521i",
        ),
        (
            "-101.582125, -27.676294, -85.990523, -1.705393, -9.531830",
            "-2715.479, -115.9721, -9.460421, -1.635895 ± 1.309537i",
        ),
    )
    found = []
    for k, name in enumerate(EQUILIBRIA):
        found.append(Number(f"{name}: K of e = K(r, θ, ṙ, θ̇, i)", texts[k][0], list(bb.law(k).gain[0])))
        found.append(Number(f"{name}: closed loop", texts[k][1], by_size(bb.law(k).roots)))
    blind = [vn.stabilize(bb.linear(k, motor=True).without_curvature(), **bb.WEIGHTS) for k in (0, 1)]
    off = [100 * (1 - blind[k].gain[0, 1] / bb.law(k).gain[0, 1]) for k in (0, 1)]
    model, simple = bb.linear(1, motor=True), vn.stabilize(bb.assumed(1), **bb.WEIGHTS)
    loop = np.linalg.eigvals(model.system_matrix + model.input_matrix @ simple.gain)
    return [
        *found,
        Number("error of the θ-gain designed without C^B, E1 and E2, in percent", "0.0, 1.4", off),
        Number("E2: law of α = (d/L)(θ - θ₀), rightmost root of the true loop", "3.242348", loop.real.max()),
        Number("both choices of the dependent coordinate, difference of the laws", "< 1e-9", other_coordinate()),
    ]


def other_coordinate() -> float:
    """K_B T against K_A with the cost transformed by η_B = T η_A, at both equilibria."""
    worst = 0.0
    for k in (0, 1):
        model, second = bb.linear(k, motor=True), bb.linear(k, theta, motor=True)
        T = np.array([model.measured[key] for key in second.states])
        back = np.linalg.inv(T)
        cost = back.T @ np.diag(bb.WEIGHTS["state_weights"]) @ back
        gain = vn.stabilize(second, cost, bb.WEIGHTS["input_weights"]).gain @ T
        worst = max(worst, float(np.abs(gain / bb.law(k).gain - 1).max()))
    return worst


TABLES = [
    Table("Ball and beam: one state", unit, "r = 0.25, θ = 0.4, ṙ = 0.1, θ̇ = -2, u = 0.05, α on the constraint."),
    Table("Ball and beam: equilibria and holding torques", equilibria),
    Table("Ball and beam: matrices of the first approximation", matrices),
    Table("Ball and beam: open loop", open_loop),
    Table("Ball and beam: open loop with motor", motor),
    Table(
        "Ball and beam: laws and closed loops",
        gains,
        "Weights diag(100, 4, 11.1111, 0.04, 4) of r, θ, ṙ, θ̇, i and 0.01 of the voltage.",
    ),
]
