"""Example (26) of Mukharlyamov and Kirgizbaev, corrected: b = 1/(q1² + 16 q2²), u = k y."""

from __future__ import annotations

from functools import cache

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

q1, q2 = dynamicsymbols("q1 q2")
u = sp.Symbol("u")
y = q1**2 / 2 + 2 * q2**2 - 2
START = {q1: 2.0, q2: 0.0}


def system(printed: bool = False) -> vn.AffineSystem:
    """q1' = -4 q2 - q1 b u, q2' = q1 - 4 q2 b u, holding y = 0; ``printed`` with the b of the paper."""
    b = 1 / (q1**2 + (1 if printed else 16) * q2**2)
    return vn.AffineSystem(
        [q1, q2], [-4 * q2, q1], [u], [[-q1 * b], [-4 * q2 * b]], {"ellipse": y}, name="example (26)"
    )


@cache
def program(k: float) -> vn.ProgramEquations:
    """dy/dt = -k y."""
    return vn.derive(system(), form="program", rates=k)
