"""Skates, sleighs and rolling discs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

import vinculum as vn
from laws.verdicts.cases import (
    ASYMPTOTIC,
    STABLE,
    UNSTABLE,
    Case,
    Draw,
    by_roots,
    companion,
    coordinates,
    phi,
    psi,
    t,
    theta,
    x,
    y,
    z,
)


def nonholonomic(seed: int) -> Case:
    draw = Draw(seed, "nonholonomic")
    makers = (_sleigh, _skate, _skate_damped, _disc_upright, _skate_drift, _bracket, _disc_spinning, _disc_circle)
    return makers[seed % len(makers)](draw)


def _knife() -> vn.Nonholonomic:
    return vn.Nonholonomic(y.diff(t) * sp.cos(theta) - x.diff(t) * sp.sin(theta), name="knife")


def _sleigh(draw: Draw) -> Case:
    """Chaplygin's sleigh: the root is -m a v/(I + m a²); forward stable, backward unstable."""
    mass, inertia, arm, forward = draw.number(), draw.number(), draw.number(), draw.chance()
    X, Y = x + arm * sp.cos(theta), y + arm * sp.sin(theta)
    T = mass * (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2 + inertia * theta.diff(t) ** 2 / 2
    system = vn.System([x, y, theta], T, constraints=[_knife()])
    speed = draw.number() * (1 if forward else -1)
    at = {x: 0.0, y: 0.0, theta: 0.0, x.diff(t): speed, y.diff(t): 0.0, theta.diff(t): 0.0}
    return Case("sleigh", system, STABLE if forward else UNSTABLE, at)


def _springs(stiffness, side, twist, mixed, damping=0.0) -> vn.System:
    T = (x.diff(t) ** 2 + y.diff(t) ** 2 + theta.diff(t) ** 2) / 2
    V = stiffness * x**2 / 2 - side * y + twist * theta**2 / 2 + mixed * x * theta
    return vn.System([x, y, theta], T, V, dissipation=damping * T, constraints=[_knife()])


def _skate(draw: Draw) -> Case:
    """K = [[k, d - F], [d, c]]: flutter or divergence from potential forces."""
    stiffness, twist, mixed = draw.number(), draw.number(), draw.number(-1, 1)
    side = draw.number(1, 5) * np.sign(mixed or 1) + mixed
    K = np.array([[stiffness, mixed - side], [mixed, twist]])
    found = np.linalg.eigvals(K)
    if np.abs(found.imag).max() < 0.05 and found.real.min() > -0.05:
        return _skate(draw)
    return Case("skate with side load", _springs(stiffness, side, twist, mixed), UNSTABLE)


def _skate_damped(draw: Draw) -> Case:
    """All three damped: the roots of λ² + dλ + K, and a line of rests."""
    stiffness, twist, mixed, side = draw.number(1, 4), draw.number(1, 4), draw.number(-1, 1), draw.number(-4, 4)
    damping = draw.number(0.2, 2)
    K = np.array([[stiffness, mixed - side], [mixed, twist]])
    truth = by_roots(companion(np.eye(2), damping * np.eye(2), K))
    truth = STABLE if truth == ASYMPTOTIC else truth
    return Case("damped skate with side load", _springs(stiffness, side, twist, mixed, damping), truth)


def _skate_drift(draw: Draw) -> Case:
    """Equal frequencies: ẏ = ẋ tan θ has a mean of the order of the amplitude squared, and y runs away."""
    stiffness = draw.number()
    if draw.chance():
        return Case("skate in resonance", _springs(stiffness, 0.0, stiffness, 0.0), UNSTABLE)
    dropped = Case("skate in resonance without y", _springs(stiffness, 0.0, stiffness, 0.0), STABLE)
    return replace(dropped, drop=(y,))


def _bracket(draw: Draw) -> Case:
    """ẏ = s₁ṡ₂ - s₂ṡ₁, V = k s²/2 - F y: K_P = [[k, F], [-F, k]], flutter; F = 0 in resonance: y runs away."""
    stiffness, side, damping = draw.number(1, 4), draw.number(0.3, 2), draw.number(0.1, 1.5)
    s = coordinates(2, "s")
    tie = vn.Nonholonomic(y.diff(t) - s[0] * s[1].diff(t) + s[1] * s[0].diff(t), name="area")
    T = (s[0].diff(t) ** 2 + s[1].diff(t) ** 2 + y.diff(t) ** 2) / 2
    V = stiffness * (s[0] ** 2 + s[1] ** 2) / 2 - side * y
    damped = draw.chance(0.7)
    D = damping * (s[0].diff(t) ** 2 + s[1].diff(t) ** 2) / 2 if damped else 0
    K = np.array([[stiffness, side], [-side, stiffness]])
    truth = by_roots(companion(np.eye(2), (damping if damped else 0) * np.eye(2), K))
    truth = STABLE if truth == ASYMPTOTIC else truth
    return Case("load on an area constraint", vn.System([*s, y], T, V, dissipation=D, constraints=[tie]), truth)


def disc(mass: float, radius: float, A: float, C: float) -> vn.System:
    """The rolling disc: place of its center, heading ψ, lean θ (π/2 upright), rolling φ; spin w = φ̇ - ψ̇ cos θ."""
    spin = phi.diff(t) - psi.diff(t) * sp.cos(theta)
    T = mass * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2 + C * spin**2 / 2
    T += A * (theta.diff(t) ** 2 + psi.diff(t) ** 2 * sp.sin(theta) ** 2) / 2
    aside = radius * sp.sin(theta) * theta.diff(t)
    rolls = [
        vn.Holonomic(z - radius * sp.sin(theta), name="floor"),
        vn.Nonholonomic(x.diff(t) * sp.cos(psi) + y.diff(t) * sp.sin(psi) - radius * spin, name="ahead"),
        vn.Nonholonomic(x.diff(t) * sp.sin(psi) - y.diff(t) * sp.cos(psi) - aside, name="aside"),
    ]
    return vn.System([x, y, z, psi, theta, phi], T, mass * 9.81 * z, constraints=rolls)


def _disc_at(radius: float, lean: float, turning: float, spin: float) -> dict[sp.Expr, float]:
    """The steady motion with heading along x."""
    rates = {psi.diff(t): turning, phi.diff(t): spin + turning * float(np.cos(lean)), x.diff(t): radius * spin}
    return dict.fromkeys((psi, phi, x, y), 0.0) | {theta: lean, z: radius * float(np.sin(lean))} | rates


def _disc_numbers(draw: Draw) -> tuple[float, float, float, float]:
    mass, radius = draw.number(), draw.number(0.1, 0.5)
    return mass, radius, mass * radius**2 / 4, mass * radius**2 / 2


def _disc_upright(draw: Draw) -> Case:
    """Rolling upright: stable iff w² > A m g r/(C (C + m r²))."""
    mass, radius, A, C = _disc_numbers(draw)
    critical = (A * mass * 9.81 * radius / (C * (C + mass * radius**2))) ** 0.5
    fast = draw.chance()
    w = critical * (1.3 if fast else 0.7)
    at = _disc_at(radius, np.pi / 2, 0.0, w)
    return Case("disc rolling upright", disc(mass, radius, A, C), STABLE if fast else UNSTABLE, at)


def _disc_spinning(draw: Draw) -> Case:
    """Spinning about a diameter: stable iff ψ̇² > m g r/(A + m r²)."""
    mass, radius, A, C = _disc_numbers(draw)
    critical = (mass * 9.81 * radius / (A + mass * radius**2)) ** 0.5
    fast = draw.chance()
    at = _disc_at(radius, np.pi / 2, critical * (1.3 if fast else 0.7), 0.0)
    return Case("disc spinning upright", disc(mass, radius, A, C), STABLE if fast else UNSTABLE, at)


def _disc_circle(draw: Draw) -> Case:
    """Circling with lean: λ² = F_θ + F_e·a from the equations of the disc by hand."""
    mass, radius, A, C = _disc_numbers(draw)
    lean, turning = draw.number(0.8, 1.5), draw.number(1, 4)
    th, p, w = sp.symbols("th p w")
    s, co, N = sp.sin(th), sp.cos(th), mass * radius**2
    F = (A * p**2 * s * co + (C + N) * p * w * s - mass * 9.81 * radius * co) / (A + N)
    pd, wd = -(2 * A * p * co + C * w) / (A * s), -N * p * s / (C + N)  # divided by the rate of θ
    W = float((mass * 9.81 * radius * np.cos(lean) - A * turning**2 * np.sin(lean) * np.cos(lean))
              / ((C + N) * turning * np.sin(lean)))  # fmt: skip
    square = float((F.diff(th) + F.diff(p) * pd + F.diff(w) * wd).subs({th: lean, p: turning, w: W}))
    if abs(square) < 0.5:
        return _disc_circle(draw)
    at = _disc_at(radius, lean, turning, W)
    return Case("disc circling", disc(mass, radius, A, C), STABLE if square < 0 else UNSTABLE, at)
