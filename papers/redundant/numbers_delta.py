"""The reference numbers of the Delta robot, computed again."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import sympy as sp

import vinculum as vn
from papers.record import Number, Table
from papers.redundant import delta
from papers.redundant.anywhere import motion_anywhere
from papers.redundant.delta import HEIGHT, TORQUE_WEIGHTS, X, Y, Z, platform, theta, u

PLATFORM = dict(zip(platform, (-0.2, 0.15, -0.85), strict=True))
SPEEDS = dict(zip((q.diff() for q in theta), (0.5, -0.3, 0.2), strict=True))


def unit() -> list[Number]:
    """The angles are solved on the constraints, of which nine digits are given."""
    equations = delta.equations()
    near = dict(zip(theta, (0.41, -0.32, 0.14), strict=True))
    start = vn.consistent_state(equations, PLATFORM | SPEEDS, guess=near)
    inputs = dict(zip(u, (-10.0, -20.0, 5.0), strict=True))
    found = equations.recover({key: start[key] for key in equations.states} | inputs)
    text = "2.20547234, 0.757434868, 12.295332793, 1.22706097, 4.308111426, -1.682502927"
    return [
        Number("θ", "0.409743738, -0.31871036, 0.137842462", [start[q] for q in theta]),
        Number("q̈", text, [found[q.diff().diff()] for q in (*theta, *platform)], units=1.0),
        Number("λ of (5)", "-4.856221911, -18.070940857, 3.677180829", [found[f"forearm {i}"] for i in (1, 2, 3)]),
    ]


def equilibrium() -> list[Number]:
    current = vn.motors.charge_of(delta.system(), u[0]).diff()
    return [
        Number("θ [rad]", "0.114629", delta.rest()[theta[0]]),
        Number("u₀ [N m]", "-15.541373", delta.rest()[u[0]]),
        Number("i₀ [A]", "-0.403672", delta.rest(True)[current]),
    ]


def pairs(model: vn.linear.LinearModel) -> tuple[float, float]:
    return float(model.roots.real.max()), float(model.roots.imag.max())


@cache
def angles_dependent() -> vn.linear.LinearModel:
    return vn.linearize(vn.derive(delta.system(), "shulgin", dependent=theta), at=delta.rest())


def open_loop() -> list[Number]:
    blind = sorted(delta.linear().without_curvature().roots.imag)
    slow = delta.linear(True).roots[:3].real
    return [
        Number("constant torques", "±1.475694, ±2.556382i (double)", pairs(delta.linear())),
        Number("structural zero roots", "3", delta.linear().critical),
        Number("C^B dropped: falsely stable", "±0.911687i, ±0.732084i (double)", (blind[-1], blind[-2])),
        Number("angles dependent", "±1.475694, ±2.556382i (double)", pairs(angles_dependent())),
        Number(
            "the same by the printed (24), without P^B: wrong",
            "±2.738717 (double), ±2.204962i",
            pairs(angles_dependent().as_printed()),
        ),
        Number("with motors, slow roots", "0.001449, -0.006742, -0.006742", list(slow)),
        Number(
            "minimum number of motors and of encoders",
            "2, 2",
            [vn.linear.minimum_actuators(delta.linear()), len(vn.linear.sufficient_outputs(delta.linear(), theta)[0])],
        ),
        Number(
            "slowest pole of an observer with two encoders [1/s]",
            "-0.0055",
            vn.observe(delta.linear(True), theta[:2]).roots[0].real,
            "It depends on the weights of the observer, which the reference does not state.",
        ),
    ]


def feedback() -> list[Number]:
    torque, voltage = delta.law(), delta.law(True)
    diagonals = [float(part[0, 0]) for part in np.split(voltage.gain, 3, axis=1)]
    fast = voltage.roots[np.lexsort((-voltage.roots.imag, voltage.roots.real))]
    return [
        Number(
            "torques: first row of K",
            "-93.096502, -4.811898, -4.811898, -20.209745, 0.707617, 0.707617",
            list(torque.gain[0]),
        ),
        Number(
            "torques: closed loop",
            "-7.623702 ± 4.799509i, -5.471063 ± 4.773396i (double)",
            [*halves(torque.roots[-1]), *halves(torque.roots[0])],
        ),
        Number("voltages: diagonals of K for θ, θ̇, i", "-386.653183, -2.678926, -2.556345", diagonals),
        Number(
            "voltages: closed loop, fast",
            "-332.2 ± 371.6i, -330.0 ± 226.4i (double)",
            [*halves(fast[0]), *halves(fast[2])],
        ),
        Number(
            "voltages: closed loop, slow", "-9.7394 (double), -9.73614", [voltage.roots[1].real, voltage.roots[0].real]
        ),
        *weaker(),
    ]


def halves(root: complex) -> tuple[float, float]:
    return float(root.real), float(abs(root.imag))


def weaker() -> list[Number]:
    """Two motors, and laws designed without the curvature of the constraints."""
    robot, held = delta.system(), delta.rest()[u[2]]
    pair = vn.derive(
        replace(robot, forces={**robot.forces, theta[2]: sp.Float(held)}, inputs=u[:2]), "shulgin", dependent=platform
    )
    two = vn.stabilize(vn.linearize(pair, at=delta.at_height(pair)), **TORQUE_WEIGHTS)
    blind = vn.stabilize(delta.linear().without_curvature(), **TORQUE_WEIGHTS)
    off = 100 * np.abs(blind.gain - delta.law().gain).max() / np.abs(delta.law().gain).max()
    careless = delta.linear().without_curvature()
    weak = [true_root(vn.stabilize(careless, 0.01 * np.eye(6), cost * np.eye(3))) for cost in (0.01, 100.0)]
    return [
        Number("two motors, the third at constant torque", "-0.698735 ± 2.355016i", halves(two.roots[0])),
        Number("strong law designed without C^B: error of the gains in percent", "6", off),
        Number("weak laws designed without C^B: root of the true loop", "0.90, 1.47", weak),
    ]


def true_root(law: vn.feedback.FeedbackLaw) -> float:
    model = delta.linear()
    return float(np.linalg.eigvals(model.system_matrix + model.input_matrix @ law.gain).real.max())


def forearms() -> list[Number]:
    """Masses at the ends of the forearms in place of rods."""
    found = []
    for share in (1 / 2, 2 / 3):
        equations = vn.derive(delta.lumped(share), "shulgin", dependent=platform)
        found.append(pairs(vn.linearize(equations, at=delta.at_height(equations))))
    return [
        Number("halves: imaginary root", "2.45347", found[0][1]),
        Number("thirds: real and imaginary root", "1.328593, 2.386849", found[1]),
    ]


def settling(motors: bool, offset: float) -> tuple[float, float, float]:
    """Time to 2 % of a platform moved aside, the distance left after four seconds, the largest input."""
    equations, rest = delta.equations(motors), delta.rest(motors)
    place = {X: offset, Y: 0.0, Z: HEIGHT} | {q.diff(): 0.0 for q in platform}
    start = vn.consistent_state(equations, place, guess=dict.fromkeys(theta, 0.1))
    run = vn.simulate(vn.close_loop(equations, delta.law(motors)), start, np.linspace(0, 4, 801))
    away = np.sqrt(sum((run[q] - rest[q]) ** 2 for q in platform))
    inputs = map(vn.motors.voltage_of, u) if motors else u
    peak = max(float(np.abs(run[k]).max()) for k in inputs)
    return float(run.t[np.flatnonzero(away > 0.02 * offset)[-1]]), float(away[-1]), peak


PEAKS = "The reference does not say for which law and along which directions; here torques, along X."


def loops() -> list[Number]:
    rows = [
        (name, *settling(motors, offset))
        for name, motors in (("torques", False), ("voltages", True))
        for offset in (0.05, 0.37)
    ]
    numbers = [
        Number(f"{rows[k][0]}: settling time (2 %) from 5 cm and from 37 cm [s]", text, (rows[k][1], rows[k + 1][1]))
        for k, text in ((0, "0.8, 0.8"), (2, "0.4, 0.4"))
    ]
    off, change = stays_off()
    return [
        *numbers,
        Number("torques: peak from 5 cm and from 37 cm [N m]", "30, 390", (rows[0][3], rows[1][3]), PEAKS),
        Number("largest distance left [m]", "< 1e-8", max(row[2] for row in rows)),
        Number("unmodelled payload of 6 kg, voltages: sag [mm]", "0.9", payload()),
        Number("start 5 mm off the constraints: final distance [mm]", "4.99", off),
        Number("the same: change of F", "< 1e-9", change),
    ]


def payload() -> float:
    equations, rest = delta.equations(True), delta.rest(True)
    start = {q: rest[q] for q in theta} | {q.diff(): 0.0 for q in theta}
    heavier = {delta.m_p: 8.916}
    run = vn.simulate(vn.close_loop(equations, delta.law(True)), start, (0, 3), guess={Z: HEIGHT}, parameters=heavier)
    return float(1000 * (HEIGHT - run[Z][-1]))


def stays_off() -> tuple[float, float]:
    """The platform started 5 mm too high: where it ends [mm], and the change of F."""
    closed, rest = vn.close_loop(delta.equations(), delta.law()), delta.rest()
    start = {key: rest[key] for key in (*closed.system.coordinates, *closed.system.velocities)}
    end, change = motion_anywhere(closed, start | {Z: HEIGHT + 0.005}, 6.0, "DOP853")
    return 1000 * float(np.linalg.norm([end[X], end[Y], end[Z] - HEIGHT])), change


TABLES = [
    Table("Delta robot: one state", unit, "X = (-0.2, 0.15, -0.85), θ̇ = (0.5, -0.3, 0.2), u = (-10, -20, 5)."),
    Table("Delta robot: equilibrium at X = (0, 0, -0.9)", equilibrium),
    Table("Delta robot: open loop", open_loop),
    Table(
        "Delta robot: laws and closed loops",
        feedback,
        "Torques: Q = diag(100, 100, 100, 1, 1, 1), R = 0.01; voltages: Q = diag(1500 ×3, 1 ×3, 0.1 ×3), R = 0.01.",
    ),
    Table("Delta robot: lumped forearms", forearms),
    Table("Delta robot: the full nonlinear loop", loops),
]
