"""Steady motions: Routh, conical pendulum, tops, governor, gyrostat."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.verdicts.cases import (
    ASYMPTOTIC,
    BORDER,
    I_,
    J_,
    P_,
    STABLE,
    UNSTABLE,
    Case,
    Draw,
    alpha,
    beta,
    coordinates,
    form_of,
    g,
    l,
    m,
    phi,
    psi,
    t,
    theta,
    x,
)


def steady(seed: int) -> Case:
    draw = Draw(seed, "steady")
    return (_routh, _conical, _sleeping, _precession, _governor, _routh_two, _gyrostat)[seed % 7](draw)


def _routh(draw: Draw) -> Case:
    """One shape variable: the sign of W_R'' of W_R = V + p²/2I, for I = I₀ + I₁r + I₂r², V = V₁r + V₂r²/2 + V₃r³/6."""
    I0, I1, I2 = 2 + draw.number(), draw.number(-1, 1), draw.number(0.1, 1)
    V2, V3, W, damped = draw.number(-3, 3), draw.number(-1, 1), draw.number(0.5, 2), draw.chance()
    V1 = I1 * W**2 / 2  # steady at r = 0
    p = I0 * W
    r = sp.Symbol("r")
    inertia = I0 + I1 * r + I2 * r**2
    reduced = sp.Rational(str(V1)) * r + V2 * r**2 / 2 + V3 * r**3 / 6 + p**2 / (2 * inertia)
    curvature = float(sp.diff(reduced, r, 2).subs(r, 0))
    if abs(curvature) < 0.05:
        return _routh(draw)
    coupling = draw.number(-0.5, 0.5) * x
    T = (x.diff(t) ** 2 + inertia.subs(r, x) * phi.diff(t) ** 2) / 2 + coupling * x.diff(t) * phi.diff(t) / 2
    V = V1 * x + V2 * x**2 / 2 + V3 * x**3 / 6
    D = draw.number() * x.diff(t) ** 2 / 2 if damped else 0
    at = {x: 0.0, phi: 0.0, phi.diff(t): W}
    return Case("Routh", vn.System([x, phi], T, V, dissipation=D), STABLE if curvature > 0 else UNSTABLE, at)


def _routh_two(draw: Draw) -> Case:
    """Two shape variables without first-order terms: W_R'' > 0 stable, one negative direction unstable."""
    I0, W = 2 + draw.number(), draw.number(0.5, 2)
    bend, K = draw.positive(2) * draw.sign() * 0.5, draw.positive(2)
    q = coordinates(2)
    T = (q[0].diff(t) ** 2 + q[1].diff(t) ** 2 + (I0 + 2 * form_of(bend, q)) * phi.diff(t) ** 2) / 2
    T += draw.number(-0.5, 0.5) * q[0] * q[1].diff(t) * phi.diff(t)
    hessian = np.linalg.eigvalsh(K - W**2 * bend)
    if np.abs(hessian).min() < 0.05 or (hessian < 0).all():
        return _routh_two(draw)
    truth = STABLE if hessian.min() > 0 else UNSTABLE
    at = {q[0]: 0.0, q[1]: 0.0, phi: 0.0, phi.diff(t): W}
    return Case("Routh with two shape variables", vn.System([*q, phi], T, form_of(K, q)), truth, at)


def _conical(draw: Draw) -> Case:
    """The conical pendulum is stable at every angle."""
    angle, length, weight = draw.number(0.2, 1.4), draw.number(), draw.number()
    T = m * l**2 * (theta.diff(t) ** 2 + sp.sin(theta) ** 2 * phi.diff(t) ** 2) / 2
    system = vn.System([theta, phi], T, -m * g * l * sp.cos(theta), parameters={m: weight, l: length, g: 9.81})
    W = float(np.sqrt(9.81 / (length * np.cos(angle))))
    if draw.chance():
        return Case("conical pendulum", system, STABLE, given={theta: angle}, near={phi.diff(t): W * 1.1})
    return Case("conical pendulum", system, STABLE, {theta: angle, phi: 0.3, phi.diff(t): W})


def _top(values: Mapping[sp.Symbol, float]) -> vn.System:
    """The symmetric top in Cardan angles, which are regular at the vertical."""
    T = I_ * (alpha.diff(t) ** 2 * sp.cos(beta) ** 2 + beta.diff(t) ** 2) / 2
    T += J_ * (phi.diff(t) + alpha.diff(t) * sp.sin(beta)) ** 2 / 2
    return vn.System([alpha, beta, phi], T, P_ * sp.cos(alpha) * sp.cos(beta), parameters=values)


def _sleeping(draw: Draw) -> Case:
    """Stable iff (C w)² > 4 A m g l (Lagrange)."""
    A, C, weight = draw.number(), draw.number(), draw.number()
    critical = 2 * (A * weight) ** 0.5 / C
    factor = [0.6, 0.95, 1.05, 2.0, 1.0][draw.whole(0, 4)]
    truth = BORDER if factor == 1.0 else STABLE if factor > 1 else UNSTABLE
    at = {alpha: 0.0, beta: 0.0, phi: 0.0, phi.diff(t): critical * factor}
    return Case(f"sleeping top at {factor} of the critical spin", _top({I_: A, J_: C, P_: weight}), truth, at)


def _precession(draw: Draw) -> Case:
    """Regular precession of Lagrange's top in Euler's angles: always stable in (θ, θ̇, ψ̇, φ̇)."""
    A, C, weight, angle, turning = (
        draw.number(),
        draw.number(),
        draw.number(),
        draw.number(0.3, 1.3),
        draw.number(0.5, 3),
    )
    T = I_ * (theta.diff(t) ** 2 + psi.diff(t) ** 2 * sp.sin(theta) ** 2) / 2
    T += J_ * (phi.diff(t) + psi.diff(t) * sp.cos(theta)) ** 2 / 2
    system = vn.System([theta, psi, phi], T, P_ * sp.cos(theta), parameters={I_: A, J_: C, P_: weight})
    # A ψ̇² cos θ - C n ψ̇ + P = 0 with n = φ̇ + ψ̇ cos θ
    n = (A * turning**2 * np.cos(angle) + weight) / (C * turning)
    at = {theta: angle, psi: 0.0, phi: 0.0, psi.diff(t): turning, phi.diff(t): n - turning * np.cos(angle)}
    return Case("regular precession", system, STABLE, at)


def _governor(draw: Draw) -> Case:
    """Vyshnegradsky-Pontryagin: x' = v, v' = w² sin x cos x - sin x - e v, w' = a (cos x - b): e b^(-3/2) > 2a."""
    drive, cosine = draw.number(0.3, 1.5), draw.number(0.4, 0.9)
    critical = 2 * drive * cosine**1.5
    loss = round(critical * draw.number(0.5, 1.6), 3)
    if abs(loss / critical - 1) < 0.02:
        return _governor(draw)
    angle, v, w = dynamicsymbols("angle v w")
    F = sp.Matrix(
        [v, w**2 * sp.sin(angle) * sp.cos(angle) - sp.sin(angle) - loss * v, drive * (sp.cos(angle) - cosine)]
    )
    at = {angle: float(np.arccos(cosine)), v: 0.0, w: cosine**-0.5}
    truth = ASYMPTOTIC if loss > critical else UNSTABLE
    return Case("governor with engine", vn.AffineSystem([angle, v, w], F), truth, at)


def _gyrostat(draw: Draw) -> Case:
    """Euler's equations: the middle axis is unstable, the others are stable."""
    inertia = sorted([draw.number(0.5, 1), draw.number(1.2, 2), draw.number(2.2, 3)])
    axis = draw.whole(0, 2)
    w = coordinates(3, "w")
    F = sp.Matrix([(inertia[i - 2] - inertia[i - 1]) / inertia[i] * w[i - 2] * w[i - 1] for i in range(3)])
    at = {e: (draw.number() if i == axis else 0.0) for i, e in enumerate(w)}
    return Case("free rotation", vn.AffineSystem(w, F), UNSTABLE if axis == 1 else STABLE, at)
