"""Systems with free positions: chains, carts, rings, valleys, charges in magnetic fields."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy as sp

import vinculum as vn
from laws.verdicts.cases import (
    M_,
    STABLE,
    UNSTABLE,
    Case,
    Draw,
    b,
    c,
    coordinates,
    form_of,
    g,
    k,
    l,
    m,
    phi,
    psi,
    t,
    theta,
    x,
    y,
    z,
)


def drifting(seed: int) -> Case:
    draw = Draw(seed, "drifting")
    makers = (
        _chain,
        _free_mass,
        _cart_pole,
        _rotors,
        _magnetic,
        _ring,
        _valley,
        _mixed_drift,
        _one_way,
        _thrust,
        _crossing,
    )
    return makers[seed % len(makers)](draw)


def _chain(draw: Draw) -> Case:
    """Masses with springs and perhaps dampers between them; dampers to the ground stop the drift."""
    n, dampers, ground = draw.whole(2, 4), draw.chance(), draw.chance()
    q = coordinates(n)
    pairs = list(pairwise(q))
    T = sum(draw.number() * e.diff(t) ** 2 for e in q) / 2
    V = sum(draw.number() * (e - f) ** 2 for e, f in pairs) / 2
    D = sum(draw.number() * (e - f).diff(t) ** 2 for e, f in pairs) / 2 if dampers else 0
    D += draw.number() * q[0].diff(t) ** 2 / 2 if ground else 0
    return Case("unanchored chain", vn.System(q, T, V, dissipation=D), STABLE if ground else UNSTABLE)


def _free_mass(draw: Draw) -> Case:
    damped, hanging = draw.chance(), draw.chance()
    T, V = m * x.diff(t) ** 2 / 2, sp.S.Zero
    q = [x]
    if hanging:
        q, T, V = [x, y], T + m * y.diff(t) ** 2 / 2, k * y**2 / 2
    D = c * x.diff(t) ** 2 / 2 if damped else 0
    values = {m: draw.number(), c: draw.number(), k: draw.number()}
    used = {p: values[p] for p in values if sp.sympify(T + V + D).has(p)}
    return Case("free mass", vn.System(q, T, V, dissipation=D, parameters=used), STABLE if damped else UNSTABLE)


def _cart_pole(draw: Draw) -> Case:
    upright, cart, joint = draw.chance(0.3), draw.chance(), draw.chance()
    X = x + l * sp.sin(theta)
    Y = -l * sp.cos(theta)
    T = M_ * x.diff(t) ** 2 / 2 + m * (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2
    D = (c * x.diff(t) ** 2 / 2 if cart else 0) + (b * theta.diff(t) ** 2 / 2 if joint else 0)
    values = {M_: draw.number(), m: draw.number(), l: draw.number(), g: 9.81, c: draw.number(), b: draw.number()}
    V = m * g * Y
    used = {p: v for p, v in values.items() if (T + V + D).has(p)}
    truth = UNSTABLE if upright or not cart else STABLE
    system = vn.System([x, theta], sp.trigsimp(T) if draw.chance() else T, V, dissipation=D, parameters=used)
    return Case("cart and pendulum", system, truth, {x: draw.number(), theta: np.pi if upright else 0.0})


def _rotors(draw: Draw) -> Case:
    """Two flywheels on an elastic shaft with a gear ratio; a brake on one of them stops the drift."""
    ratio, brake = draw.whole(2, 7) / draw.whole(1, 5), draw.chance()
    q = coordinates(2)
    v = [e.diff(t) for e in q]
    T, V = (draw.number() * v[0] ** 2 + draw.number() * v[1] ** 2) / 2, draw.number() * (ratio * q[0] - q[1]) ** 2 / 2
    D = draw.number() * v[draw.whole(0, 1)] ** 2 / 2 if brake else 0
    return Case("geared flywheels", vn.System(q, T, V, dissipation=D), STABLE if brake else UNSTABLE)


def _magnetic(draw: Draw) -> Case:
    """A free charge in a magnetic field runs on small circles; an electric field is not an equilibrium."""
    B, form = draw.number(), draw.chance()
    v = [e.diff(t) for e in (x, y)]
    T = sum(e**2 for e in v) / 2 + (B * (x * v[1] - y * v[0]) / 2 if form else 0)
    forces = {} if form else {x: B * v[1], y: -B * v[0]}
    return Case("charge in a magnetic field", vn.System([x, y], T, forces=forces), STABLE)


def _ring(draw: Draw) -> Case:
    """A circle of equilibria: the point runs around; with damping it stays near."""
    R, damped = draw.number(), draw.chance()
    T = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    D = draw.number() * T if damped else 0
    V = draw.number() * (x**2 + y**2 - sp.Rational(str(R)) ** 2) ** 2 / 4
    return Case("ring", vn.System([x, y], T, V, dissipation=D), STABLE if damped else UNSTABLE, {x: R, y: 0.0})


def _valley(draw: Draw) -> Case:
    """A curved valley of equilibria y = κx²."""
    kappa, damped = draw.number(), draw.chance()
    T = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    D = draw.number() * T if damped else 0
    V = draw.number() * (y - kappa * x**2) ** 2 / 2
    return Case("valley", vn.System([x, y], T, V, dissipation=D), STABLE if damped else UNSTABLE)


def _mixed_drift(draw: Draw) -> Case:
    """Springs that leave an integer direction free, with or without a damper across it."""
    n = draw.whole(2, 4)
    free = draw.random.integers(-3, 4, n).astype(float)
    free[0] = 1.0
    q = coordinates(n)
    V = sum(draw.number() * (e - int(f) * q[0]) ** 2 for e, f in zip(q[1:], free[1:], strict=True)) / 2
    D = draw.number() * q[0].diff(t) ** 2 / 2 if draw.chance() else 0
    system = vn.System(q, form_of(draw.positive(n), [e.diff(t) for e in q]), V, dissipation=D)
    return Case("free direction", system, STABLE if D else UNSTABLE)


def _thrust(draw: Draw) -> Case:
    """A damped mass pushed by the square of a conserved spin: it runs away slowly, of second order."""
    held = draw.chance()
    T = (draw.number() * x.diff(t) ** 2 + draw.number() * phi.diff(t) ** 2) / 2
    force = -draw.number() * x.diff(t) + draw.number() * phi.diff(t) ** 2 - (x if held else 0)
    return Case("thrust", vn.System([x, phi], T, forces={x: force}), STABLE if held else UNSTABLE, drop=(phi,))


def _crossing(draw: Draw) -> Case:
    """Lines of equilibria that cross, x y = 0: no smooth family, and motions run away along the diagonal."""
    e = draw.number()
    choices = [
        ([e * x * y, e * x * y], UNSTABLE),
        ([e * x * y, e * x * y, -z], UNSTABLE),
        ([e * x * z, -y, sp.S.Zero], UNSTABLE),
        ([x * y, -e * y, sp.S.Zero], STABLE),
        ([x**2 * y, -e * y], STABLE),
        ([z**2 - e * x, -y, sp.S.Zero], STABLE),
    ]
    F, truth = choices[draw.whole(0, len(choices) - 1)]
    return Case("lines of equilibria", vn.AffineSystem([x, y, z][: len(F)], sp.Matrix(F)), truth)


def _one_way(draw: Draw) -> Case:
    """A position driven by a shape that turns: ẋ = shape squared adds up, ẋ = shape does not."""
    quadratic = draw.chance()
    F = sp.Matrix([theta**2 if quadratic else theta, psi, -draw.number() * theta])
    system = vn.AffineSystem([x, theta, psi], F, name="one way")
    return Case("driven position", system, UNSTABLE if quadratic else STABLE)
