"""Systems driven in time: hoops, accelerated and rotating frames, and questions to refuse."""

from __future__ import annotations

import numpy as np
import sympy as sp

import vinculum as vn
from laws.verdicts.cases import (
    ASYMPTOTIC,
    REFUSED,
    STABLE,
    UNSTABLE,
    W_,
    Case,
    Draw,
    by_roots,
    companion,
    l,
    phi,
    t,
    theta,
    x,
    y,
)


def timed(seed: int) -> Case:
    draw = Draw(seed, "timed")
    return (_hoop, _hoop_constraint, _accelerated, _rotating_plane, _refused, _galilean)[seed % 6](draw)


def _hoop(draw: Draw) -> Case:
    """A pendulum in a plane turned at W, from Cartesian coordinates with cos Wt: stable iff W² < g/l; damping."""
    length, damped, fast = draw.number(), draw.chance(), draw.chance()
    W = round((9.81 / length) ** 0.5 * (1.3 if fast else 0.6), 2)
    X = l * sp.sin(theta) * sp.cos(W_ * t), l * sp.sin(theta) * sp.sin(W_ * t), -l * sp.cos(theta)
    T = sum(e.diff(t) ** 2 for e in X) / 2
    T = sp.expand(T) if draw.chance() else T
    D = 0.3 * theta.diff(t) ** 2 if damped else 0
    system = vn.System([theta], T, 9.81 * X[2], dissipation=D, parameters={W_: W, l: length})
    return Case("hoop", system, UNSTABLE if fast else ASYMPTOTIC if damped else STABLE)


def _hoop_constraint(draw: Draw) -> Case:
    """The same with the turning angle as a coordinate and the drive as a constraint, at the bent rest cos θ = g/lW²."""
    length, damped = draw.number(), draw.chance()
    W = round((9.81 / length) ** 0.5 * 1.4, 2)
    T = length**2 * (theta.diff(t) ** 2 + sp.sin(theta) ** 2 * phi.diff(t) ** 2) / 2
    drive = vn.Holonomic(phi - W_ * t, name="drive")
    D = 0.3 * theta.diff(t) ** 2 if damped else 0
    system = vn.System(
        [theta, phi], T, -9.81 * length * sp.cos(theta), dissipation=D, constraints=[drive], parameters={W_: W}
    )
    bent = float(np.arccos(9.81 / (length * W**2)))
    if draw.chance():
        return Case("driven hoop, low", system, UNSTABLE, {theta: 0.0, phi: 0.0, phi.diff(t): W})
    truth = ASYMPTOTIC if damped else STABLE
    return Case("driven hoop, bent", system, truth, {theta: bent, phi: 0.0, phi.diff(t): W})


def _accelerated(draw: Draw) -> Case:
    """A pendulum on a support with constant acceleration: t cancels in the equations."""
    length, acceleration, damped, up = draw.number(), draw.number(), draw.chance(), draw.chance(0.3)
    X, Y = acceleration * t**2 / 2 + length * sp.sin(theta), -length * sp.cos(theta)
    T = sp.expand((X.diff(t) ** 2 + Y.diff(t) ** 2) / 2)
    D = 0.3 * theta.diff(t) ** 2 if damped else 0
    rest = -float(np.arctan(acceleration / 9.81)) + (np.pi if up else 0.0)
    truth = UNSTABLE if up else ASYMPTOTIC if damped else STABLE
    return Case("accelerated support", vn.System([theta], T, 9.81 * Y, dissipation=D), truth, {theta: rest})


def _galilean(draw: Draw) -> Case:
    """A support with constant speed."""
    length, speed, up = draw.number(), draw.number(), draw.chance(0.3)
    X, Y = speed * t + length * sp.sin(theta), -length * sp.cos(theta)
    T = (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2
    system = vn.System([theta], T, 9.81 * Y)
    return Case("moving support", system, UNSTABLE if up else STABLE, {theta: np.pi if up else 0.0})


def _rotating_plane(draw: Draw) -> Case:
    """Springs k₁, k₂ in a turning plane: stable iff W² is below both; between: unstable; above: gyroscopic."""
    k1, k2 = 1.0, draw.number(2, 3)
    W = [0.6, 1.2, 3.0][draw.whole(0, 2)]
    damped = draw.chance()
    cos, sin = sp.cos(W_ * t), sp.sin(W_ * t)
    X, Y = x * cos - y * sin, x * sin + y * cos
    T = (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2
    D = 0.2 * (x.diff(t) ** 2 + y.diff(t) ** 2) if damped else 0
    system = vn.System([x, y], T, (k1 * x**2 + k2 * y**2) / 2, dissipation=D, parameters={W_: W})
    G, O = 2 * W * np.array([[0.0, -1.0], [1.0, 0.0]]), np.zeros((2, 2))
    C = G + (0.4 * np.eye(2) if damped else O)
    return Case(
        "turning plane", system, by_roots(companion(np.eye(2), C, np.diag([k1, k2]) - W**2 * np.eye(2)), STABLE)
    )


def _refused(draw: Draw) -> Case:
    """The time does not cancel."""
    T, V = x.diff(t) ** 2 / 2, x**2 / 2
    shaken = ((sp.sin(theta) + sp.cos(2 * t) / 5).diff(t) ** 2 + sp.cos(theta).diff(t) ** 2) / 2
    choices = [
        vn.System([x], T, V * (1 + sp.cos(2 * t) / 2)),
        vn.System([x], T, V, forces={x: sp.cos(t)}),
        vn.System([x], T, V, forces={x: -x.diff(t) * sp.exp(-t)}),
        vn.System([x], T * (1 + t), V),
        vn.System([x], T, V, forces={x: -t * x**3}),
        vn.System([theta], shaken, -9.81 * sp.cos(theta)),
        vn.System([x, y], T + y.diff(t) ** 2 / 2, V, constraints=[vn.Holonomic(y - x * sp.sin(t), name="guide")]),
        vn.System([x], T, V, dissipation=sp.sin(t) ** 2 * x.diff(t) ** 2),
    ]
    return Case("explicit time", choices[draw.whole(0, len(choices) - 1)], REFUSED)
