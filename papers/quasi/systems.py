"""Chaplygin's sleigh and the gyroscope in gimbals, the paper's two examples."""

from __future__ import annotations

from functools import cache

import sympy as sp
from sympy import cos, sin, sqrt
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

e1, e2, e3 = dynamicsymbols("e1 e2 e3")

# -- the sleigh: contact point (ξ, η), heading φ, center of mass (α, β) in the axes of the body -----------------------

xi, eta, phi = dynamicsymbols("xi eta phi")
M, alpha, beta, k, tau = sp.symbols("M alpha beta k tau")
slip = xi.diff() * sin(phi) - eta.diff() * cos(phi)
SLEIGH = {M: 1.3, alpha: 0.3, beta: -0.2, k: 0.4}
SPEEDS = {e1: phi.diff(), e2: sqrt(xi.diff() ** 2 + eta.diff() ** 2)}  # (11), without the constraint e3


@cache
def sleigh() -> vn.System:
    """Steered by a torque τ that is to hold the knife edge."""
    along = xi.diff() - phi.diff() * (alpha * sin(phi) + beta * cos(phi))
    across = eta.diff() + phi.diff() * (alpha * cos(phi) - beta * sin(phi))
    return vn.System(
        [xi, eta, phi],
        M * (along**2 + across**2 + k**2 * phi.diff() ** 2) / 2,
        forces={phi: tau},
        inputs=[tau],
        constraints=[vn.Servo(slip, through=[tau], name="knife")],
        parameters=SLEIGH,
        name="sleigh",
    )


@cache
def ideal_sleigh() -> vn.System:
    """The knife edge as an ideal reaction."""
    return vn.servo.idealized(sleigh())


@cache
def sleigh_equations(ideal: bool, rate: float | None = None) -> vn.EquationsOfMotion:
    """(8) for the ideal reaction (Chetaev) or for the steering torque (Beghin), released with ξ̇ = -κ ξ."""
    system = ideal_sleigh() if ideal else sleigh()
    rates = None if rate is None else {"knife": rate}
    return vn.derive(system, "hamel", characteristics=SPEEDS, release={"knife": e3}, rates=rates)


# -- the gyroscope: outer ring α, inner ring β, rotor γ -------------------------------------------------------------

outer, inner, rotor = dynamicsymbols("alpha beta gamma")
A, A1, A2, B1, C, C1 = sp.symbols("A A1 A2 B1 C C1")
spin = rotor.diff() + outer.diff() * sin(inner)
GYROSCOPE = {A: 1.0, A1: 0.5, A2: 0.7, B1: 0.4, C: 2.0, C1: 0.8}
MOTORS = {"outer ring": outer, "inner ring": inner, "rotor": rotor}


@cache
def gyroscope(motor: str = "rotor") -> vn.System:
    u = sp.Symbol("u")
    rings = (A2 + (A1 + A) * cos(inner) ** 2 + C1 * sin(inner) ** 2) * outer.diff() ** 2 + (A + B1) * inner.diff() ** 2
    return vn.System(
        [outer, inner, rotor],
        (rings + C * spin**2) / 2,
        forces={MOTORS[motor]: u},
        inputs=[u],
        constraints=[vn.Servo(spin, through=[u], name="spin")],
        parameters=GYROSCOPE,
        name=f"gyroscope with a motor on the {motor}",
    )


# -- a point with a given speed: |v| = v(t), nonlinear and rheonomic -------------------------------------------------

x, y = dynamicsymbols("x y")
t = dynamicsymbols._t
GIVEN = 1 + sin(t) / 2


@cache
def point() -> vn.System:
    """A unit mass in a plane field, its speed prescribed."""
    speed = vn.Nonholonomic(sqrt(x.diff() ** 2 + y.diff() ** 2) - GIVEN, name="speed")
    field = x**2 / 2 + sp.Rational(3, 2) * y**2 + x * y / 2
    return vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, field, constraints=[speed], name="point")
