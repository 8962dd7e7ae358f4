"""Chaplygin's sleigh and the gyroscope in gimbals, the paper's two examples, as examples/ defines them."""

from __future__ import annotations

from functools import cache

import sympy as sp
from sympy import sin
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import gyroscope_in_gimbals, particle_with_given_speed, sleigh_with_servo
from examples.gyroscope_in_gimbals import A1, A2, B1, C1, A, C, spin
from examples.gyroscope_in_gimbals import NUMBERS as GYROSCOPE
from examples.gyroscope_in_gimbals import alpha as outer
from examples.gyroscope_in_gimbals import beta as inner
from examples.gyroscope_in_gimbals import gamma as rotor
from examples.particle_with_given_speed import x, y
from examples.sleigh_with_servo import NUMBERS as SLEIGH
from examples.sleigh_with_servo import M, alpha, beta, e1, e2, e3, eta, k, phi, slip, tau, xi
from papers.variants import with_numbers

# -- the sleigh: contact point (ξ, η), heading φ, center of mass (α, β) in the axes of the body ----------------------

SPEEDS = sleigh_with_servo.characteristics()  # (11), without the constraint e3


@cache
def sleigh() -> vn.System:
    """Steered by a torque τ that is to hold the knife edge."""
    return sleigh_with_servo.system()


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


@cache
def gyroscope(motor: str = "rotor") -> vn.System:
    """With a servo motor on one of its three axes."""
    return gyroscope_in_gimbals.system(motor)


# -- a point with a given speed: |v| = v(t), nonlinear and rheonomic -------------------------------------------------

t = dynamicsymbols._t
GIVEN = 1 + sin(t) / 2


@cache
def point() -> vn.System:
    """A unit mass in a plane field, its speed prescribed."""
    field = x**2 / 2 + sp.Rational(3, 2) * y**2 + x * y / 2
    particle, mass = particle_with_given_speed.system(GIVEN), particle_with_given_speed.m
    return with_numbers(particle, {mass: 1}, potential_energy=field, name="point")
