"""One constraint, one start, two motions: the sleigh of Chetaev and of Beghin; what can hold the gyroscope."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import sympy as sp

import vinculum as vn
from papers.quasi import systems as of
from papers.record import Number, Table

START = {of.e1: 0.9, of.e2: 1.6}
PLACE = (of.xi, of.eta, of.phi)


@cache
def run(ideal: bool, released: bool = False) -> vn.Trajectory:
    """Five seconds on the knife edge, or from e₃ = 0.4 towards it with κ = 3."""
    equations = of.sleigh_equations(ideal, 3.0 if released else None)
    return vn.simulate(equations, START | ({of.e3: 0.4} if released else {}), np.linspace(0, 5, 251))


def end(motion: vn.Trajectory) -> list[float]:
    return [motion[q][-1] for q in PLACE]


def on_the_edge() -> list[Number]:
    chetaev, beghin = run(True), run(False)
    return [
        Number("Chetaev: ξ, η, φ at t = 5", "8.42108039, 3.33609233, 0.41269429", end(chetaev)),
        Number("Chetaev: energy at the start and at the end", "2.191085, 2.191085", chetaev.energy[[0, -1]].tolist()),
        Number("Chetaev: λ at t = 0", "-1.332864", chetaev.reactions["knife"][0]),
        Number("Beghin: ξ, η, φ at t = 5", "8.87339885, 1.30274714, 0.15053785", end(beghin)),
        Number("Beghin: energy at the start and at the end", "2.191085, 2.106845", beghin.energy[[0, -1]].tolist()),
        Number("Beghin: torque μ₁ at t = 0", "-1.110720", beghin[of.tau][0]),
    ]


def towards_the_edge() -> list[Number]:
    chetaev, beghin = run(True, True), run(False, True)
    return [
        Number("Chetaev: ξ, η, φ at t = 5", "8.3501685, 1.55665895, 0.20374682", end(chetaev)),
        Number("Beghin: ξ, η, φ at t = 5", "8.66180448, -0.62807245, -0.07503826", end(beghin)),
        Number("e₃ at t = 5", "1.2236e-7", chetaev[of.slip][-1]),
    ]


def determinant(motor: str) -> float:
    """det(ψ_q̇ M⁻¹ b): whether a motor can hold the constraint, zero where it is refused."""
    try:
        return vn.servo.realizability(of.gyroscope(motor)).determinant
    except vn.errors.ConstraintError:
        return 0.0


def gyroscope() -> list[Number]:
    texts = {"rotor": "0.5", "outer ring": "0.0", "inner ring": "0.0"}
    return [
        Number(f"motor on the {name}: ψ_q̇ M⁻¹ b (1/C = 0.5)", text, determinant(name)) for name, text in texts.items()
    ]


def point() -> list[Number]:
    """|v| = v(t): characteristics heading and speed, against multipliers."""
    heading, surplus = sp.symbols("theta xi", cls=sp.Function)
    a, s = heading(of.t), surplus(of.t)
    angle = {a: sp.atan2(of.y.diff(), of.x.diff())}
    inverse = {of.x.diff(): (of.GIVEN + s) * sp.cos(a), of.y.diff(): (of.GIVEN + s) * sp.sin(a)}
    choices: dict[str, Any] = {"characteristics": angle, "inverse": inverse, "release": {"speed": s}}
    start = {of.x: 0.2, of.y: -0.1, of.x.diff(): np.cos(0.3), of.y.diff(): np.sin(0.3)}
    times = np.linspace(0, 3, 61)
    full = vn.simulate(vn.derive(of.point()), start, times)
    worst = 0.0
    for kind in ("voronets-hamel", "chaplygin-type"):
        motion = vn.simulate(vn.derive(of.point(), "hamel", kind=kind, **choices), start, times)
        worst = max(worst, *(float(np.abs(motion[q] - full[q]).max()) for q in (of.x, of.y)))
    return [Number("(7) and (8) against multipliers, t ≤ 3", "< 2e-11", worst)]


TABLES = [
    Table(
        "The sleigh on its knife edge",
        on_the_edge,
        "M = 1.3, α = 0.3, β = -0.2, k = 0.4, e = (0.9, 1.6, 0) at the start.",
    ),
    Table("The sleigh towards its knife edge", towards_the_edge, "The same, e₃ = 0.4 at the start and ė₃ = -3 e₃."),
    Table("The gyroscope: what can hold γ̇ + α̇ sin β = 0", gyroscope),
    Table(
        "A point with the given speed |v| = 1 + sin(t)/2",
        point,
        "A constraint nonlinear in the velocities and in time.",
    ),
]
