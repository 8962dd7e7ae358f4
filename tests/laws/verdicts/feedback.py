"""Systems positioned by feedback: PD, PID, motors, a cart with pendulum."""

from __future__ import annotations

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.verdicts.cases import (
    ASYMPTOTIC,
    J_,
    L_,
    R_,
    STABLE,
    UNSTABLE,
    Case,
    Draw,
    by_roots,
    companion,
    k,
    t,
    theta,
    x,
)


def feedback(seed: int) -> Case:
    draw = Draw(seed, "feedback")
    return (_pd, _motor, _pid, _cart_pole_held, _motor_speed)[seed % 5](draw)


def _pd(draw: Draw) -> Case:
    """An inverted pendulum held by a torque -Kp θ - Kd θ̇."""
    kp, kd = draw.number(0.5, 1.6), draw.number(-0.5, 1.0)
    if abs(kp - 1) < 0.05 or abs(kd) < 0.05:
        kp, kd = 1.3, 0.4
    weight = draw.number()
    system = vn.System(
        [theta],
        draw.number() * theta.diff(t) ** 2 / 2,
        weight * sp.cos(theta),
        forces={theta: -kp * weight * theta - kd * theta.diff(t)},
    )
    return Case("inverted pendulum with PD", system, ASYMPTOTIC if kp > 1 and kd > 0 else UNSTABLE)


def _motor(draw: Draw) -> Case:
    """L J s³ + R J s² + (K² + K Kd) s + K Kp, by Hurwitz."""
    values = {J_: draw.number(), L_: draw.number(), R_: draw.number(), k: draw.number()}
    kp, kd = draw.number(0.1, 6), draw.number(0, 2)
    q = dynamicsymbols("charge")
    system = vn.System(
        [theta, q],
        J_ * theta.diff(t) ** 2 / 2 + L_ * q.diff(t) ** 2 / 2,
        forces={
            theta: k * q.diff(t),
            q: -R_ * q.diff(t) - k * theta.diff(t) - kp * theta - kd * theta.diff(t),
        },
        parameters=values,
        ignored=[q],
    )
    J, L, R, K = values.values()
    A = sp.Matrix([[0, 1, 0], [0, 0, K / J], [-kp / L, -(K + kd) / L, -R / L]])
    return Case("motor with position control", system, by_roots(A))


def _motor_speed(draw: Draw) -> Case:
    """Without position control the angle stays where it is: stable, not asymptotically."""
    q = dynamicsymbols("charge")
    J, L, R, K = (draw.number() for _ in range(4))
    system = vn.System(
        [theta, q],
        J * theta.diff(t) ** 2 / 2 + L * q.diff(t) ** 2 / 2,
        forces={theta: K * q.diff(t), q: -R * q.diff(t) - K * theta.diff(t)},
        ignored=[q],
    )
    return Case("short-circuited motor", system, STABLE)


def _pid(draw: Draw) -> Case:
    """m s³ + Kd s² + Kp s + Ki."""
    mass, kd, kp, ki = draw.number(), draw.number(), draw.number(), draw.number(0.05, 6)
    s, v = dynamicsymbols("s v")
    system = vn.AffineSystem([x, v, s], sp.Matrix([v, (-kd * v - kp * x - ki * s) / mass, x]), name="PID")
    if abs(kd * kp / (mass * ki) - 1) < 0.01:
        return _pid(draw)
    return Case("mass with PID", system, ASYMPTOTIC if kd * kp > mass * ki else UNSTABLE)


def _cart_pole_held(draw: Draw) -> Case:
    """The inverted pendulum on a cart under a random state feedback."""
    gains = [draw.number(-20, 60) * s for s in (0.3, 2.0, 0.4, 0.5)]
    mass, load, length = draw.number(), draw.number(), draw.number()
    force = gains[0] * x + gains[1] * theta + gains[2] * x.diff(t) + gains[3] * theta.diff(t)
    T = (mass + load) * x.diff(t) ** 2 / 2 + load * length * sp.cos(theta) * x.diff(t) * theta.diff(t)
    T += load * length**2 * theta.diff(t) ** 2 / 2
    system = vn.System([x, theta], T, load * 9.81 * length * sp.cos(theta), forces={x: force})
    Mass = np.array([[mass + load, load * length], [load * length, load * length**2]])
    C = np.array([[-gains[2], -gains[3]], [0.0, 0.0]])
    K = np.array([[-gains[0], -gains[1]], [0.0, -load * 9.81 * length]])
    return Case("cart and pendulum under feedback", system, by_roots(companion(Mass, C, K)))
