"""The wheel with a pendulum in a gutter, its reactions and the rate of α as unknown controls; the data of section 4."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, z, theta, phi, alpha = dynamicsymbols("x z theta phi alpha")
xd, zd, thetad, phid = (q.diff() for q in (x, z, theta, phi))
M, m, r, l, g = sp.symbols("M m r l g")
Rx, Rz, U = sp.symbols("Rx Rz U")  # reaction at the contact, α̇
NUMBERS = {M: 1.0, m: 0.5, r: 7 / 40, l: 7 / 50, g: 9.81}  # g is not given in the paper
STATES = (x, xd, z, zd, theta, thetad, phi, phid, alpha)
_s = sp.Dummy("s")
s, c = sp.sin(phi), sp.cos(phi)
BOB = (x + l * s, z - l * c)
KINETIC = M / 2 * (xd**2 + zd**2 + r**2 * thetad**2) + m / 2 * ((xd + l * phid * c) ** 2 + (zd + l * phid * s) ** 2)
POTENTIAL = M * g * z + m * g * (z - l * c)


def gutter(at: sp.Expr, order: int = 0) -> sp.Expr:
    """p and its derivatives, with the brackets that the paper lost: h = z - p(x)."""
    p = _s**4 + sp.Rational(13, 100) * _s**3 - _s**2 / 2 - sp.Rational(13, 100) * _s - sp.Rational(1, 2)
    return p.diff(_s, order).subs(_s, at)


CONTACT = (x + r * sp.cos(alpha), z + r * sp.sin(alpha))  # (x_a, z_a)
HX, HXX = -gutter(CONTACT[0], 1), -gutter(CONTACT[0], 2)  # of h; h_z = 1
RESIDUALS = {
    "contact": CONTACT[1] - gutter(CONTACT[0]),  # (18)
    "rolling": -xd * sp.sin(alpha) + zd * sp.cos(alpha) + r * thetad,  # (19)
    "tangency": HX * sp.sin(alpha) - sp.cos(alpha),  # (20)
}
A = (1 + m / M * c**2, m / M * s * c, 1 + m / M * s**2)  # a, b, c of (17)
SECOND = (  # (16)
    (A[0] * Rx + A[1] * Rz + m * l * phid**2 * s) / (M + m),
    (A[1] * Rx + A[2] * Rz - m * l * phid**2 * c) / (M + m) - g,
    (-sp.sin(alpha) * Rx + sp.cos(alpha) * Rz) / (M * r),
    (-c * Rx - s * Rz) / (M * l),
)


def wheel() -> vn.AffineSystem:
    """Ẋ = F + B N with N = (Rx, Rz, U)."""
    rates = [xd, SECOND[0], zd, SECOND[1], thetad, SECOND[2], phid, SECOND[3], U]
    drift = [rate.subs({Rx: 0, Rz: 0, U: 0}) for rate in rates]
    B = [[sp.expand(rate).coeff(n) for n in (Rx, Rz, U)] for rate in rates]
    energy = KINETIC + POTENTIAL
    return vn.AffineSystem(STATES, drift, [Rx, Rz, U], B, RESIDUALS, NUMBERS, energy=energy, name="wheel")


@cache
def program(rate: float | None = 1500.0) -> vn.program.ProgramEquations:
    return vn.derive(wheel(), form="program", rates=rate)


@cache
def start() -> dict[sp.Expr, float]:
    """x_a = 0.5, ẋ = 1.05, φ = 3.4, φ̇ = -11.5, the rest on the constraints."""
    slope = float(gutter(sp.Rational(1, 2), 1))
    place = {x: 0.5 - NUMBERS[r] * slope / (1 + slope**2) ** 0.5, alpha: float(sp.atan(slope) - sp.pi / 2)}
    guess = {xd: 1.05, z: -0.436, zd: -0.034, theta: 0.0, thetad: -6.0, phi: 3.4, phid: -11.5}
    return vn.consistent_state(program(1.0), guess | place, fixed=[x, alpha, xd, theta, phi, phid])


@cache
def long_run() -> vn.Trajectory:
    """[0, 200] by Taylor series, λ = 1: what the figures show."""
    return vn.simulate(program(1.0), start(), np.linspace(0, 200, 20_001), progress=False)


@cache
def adams(method: str, duration: float, step: float = 1e-5) -> vn.Trajectory:
    """The scheme of the paper, λ = 1500."""
    return vn.simulate(program(1500.0), start(), (0, duration), method, step=step, progress=False)


def largest(motion: vn.Trajectory) -> dict[str, float]:
    """The largest |f| of every constraint."""
    return {name: value for (name, level), value in motion.largest_residuals.items() if level == "position"}
