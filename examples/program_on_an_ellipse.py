"""A control holds a point on an ellipse y = 0 and drives it along: example (26) of Mukharlyamov and Kirgizbaev.

    q1' = -4 q2 - q1 b u,   q2' = q1 - 4 q2 b u,   y = q1²/2 + 2 q2² - 2,   dy/dt = -k y for u = k y,

with b = 1/(q1² + 16 q2²), which the paper prints as 1/(q1² + q2²). On the ellipse q1 = 2 cos 2t, q2 = sin 2t.
"""

from __future__ import annotations

from functools import cache

import numpy as np
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
def program(k: float) -> vn.program.ProgramEquations:
    """dy/dt = -k y."""
    return vn.derive(system(), form="program", rates=k)


def run():
    """The motion, and {quantity: (found, exact)}."""
    motion = vn.simulate(program(2.0), START, (0, 5))
    deviation = max(abs(motion[q1] - 2 * np.cos(2 * motion.t)).max(), abs(motion[q2] - np.sin(2 * motion.t)).max())
    euler = vn.simulate(program(50.0), START, (0, 20), "euler", step=1e-3)
    return motion, {
        "greatest distance from the exact motion": (deviation, 0.0),
        "y after 20000 Euler steps, k = 50": (euler[y][-1], 1.6018231208514422e-4),
    }


def picture(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for k in (50.0, 300.0, 2050.0):
        motion = vn.simulate(program(k), START, (0, 5), "euler", step=1e-3)
        axes.semilogy(motion.t, np.abs(motion[y]) + 1e-12, label=f"k = {k:g}")
    axes.set(xlabel="t", ylabel="|y|, Euler's method, step 1e-3", ylim=(1e-6, 10))
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
