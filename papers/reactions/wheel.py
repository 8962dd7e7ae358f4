"""The wheel with a pendulum in a gutter, as examples/ defines it, and the abbreviations of section 4."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

import vinculum as vn
from examples import wheel_with_reactions
from examples.wheel_in_gutter import system
from examples.wheel_with_reactions import (
    NUMBERS,
    STATES,
    M,
    Rx,
    Rz,
    U,
    alpha,
    contact,
    g,
    l,
    m,
    phi,
    phid,
    program,
    r,
    theta,
    thetad,
    wheel,
    x,
    xd,
    z,
    zd,
)

_s = sp.Dummy("s")
s, c = sp.sin(phi), sp.cos(phi)
BOB = (x + l * s, z - l * c)
KINETIC, POTENTIAL = system().kinetic_energy, system().potential_energy
RESIDUALS = contact()  # (18), (19), (20)


def gutter(at: sp.Expr, order: int = 0) -> sp.Expr:
    """p and its derivatives, with the brackets that the paper lost: h = z - p(x)."""
    return wheel_with_reactions.gutter(_s).diff(_s, order).subs(_s, at)


HX, HXX = (-gutter(x + r * sp.cos(alpha), order) for order in (1, 2))  # of h at the contact; h_z = 1
A = (1 + m / M * c**2, m / M * s * c, 1 + m / M * s**2)  # a, b, c of (17)
SECOND = (  # (16)
    (A[0] * Rx + A[1] * Rz + m * l * phid**2 * s) / (M + m),
    (A[1] * Rx + A[2] * Rz - m * l * phid**2 * c) / (M + m) - g,
    (-sp.sin(alpha) * Rx + sp.cos(alpha) * Rz) / (M * r),
    (-c * Rx - s * Rz) / (M * l),
)


@cache
def start() -> dict[sp.Expr, float]:
    """x_a = 0.5, ẋ = 1.05, φ = 3.4, φ̇ = -11.5, the rest on the constraints."""
    return wheel_with_reactions.start(program(1.0))


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
