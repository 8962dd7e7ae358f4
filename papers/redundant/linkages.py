"""Systems on which printed formulas are tried: small, but with every kind of term the formulas speak of."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import sympy as sp
from sympy import cos, sin
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples.four_bar import alpha as crank
from examples.four_bar import beta as coupler
from examples.four_bar import gamma as rocker
from examples.four_bar import system as four_bar_of_the_examples

theta, phi = dynamicsymbols("theta1 theta2"), dynamicsymbols("phi1 phi2")  # driven and passive bars
u = sp.symbols("u1 u2")
x, y = dynamicsymbols("x y")


@cache
def five_bar() -> vn.System:
    """A five-bar robot lying on a turntable: Coriolis terms, centrifugal potential, friction and circulatory forces on
    driven and passive bars, and a constant torque on a passive one.
    """
    arm, bar, ground, density, tool, turning = 0.25, 0.35, 0.2, 0.8, 0.5, 3
    T, ends = sp.S.Zero, []
    for side in (0, 1):
        start = (0.05 + ground * side, 0.1)
        for length, angle in ((arm, theta[side]), (bar, phi[side])):
            along = (length * cos(angle), length * sin(angle))
            center = tuple(a + b / 2 for a, b in zip(start, along, strict=True))
            T += density * length * (_square(center, turning) + length**2 / 12 * (angle.diff() + turning) ** 2) / 2
            start = tuple(a + b for a, b in zip(start, along, strict=True))
        ends.append(start)
    (x1, y1), (x2, y2) = ends
    return vn.System(
        [*theta, *phi],
        T + tool * _square(ends[0], turning) / 2,
        0.4 * cos(theta[0] - phi[1]) + 0.3 * sin(theta[1]) * phi[0],
        forces=_pulls(),
        constraints=[vn.Holonomic(x1 - x2, name="tool x"), vn.Holonomic(y1 - y2, name="tool y")],
        inputs=u,
        name="five-bar robot on a turntable",
    )


def _square(place: tuple[sp.Expr, ...], turning: float) -> sp.Expr:
    """|v|² of a point given in axes that turn."""
    return (place[0].diff(t) - turning * place[1]) ** 2 + (place[1].diff(t) + turning * place[0]) ** 2


def _pulls() -> dict[sp.Expr, sp.Expr]:
    """f q̇ + p q + constants, with f and p full and not symmetric."""
    v1, v2, w1, w2 = (q.diff() for q in (*theta, *phi))
    return {
        theta[0]: u[0] - 0.06 * v1 + 0.02 * w1 + 0.1 * theta[1] - 0.3 * phi[0],
        theta[1]: u[1] - 0.04 * v2 - 0.03 * w2 - 0.2 * theta[0] + 0.1 * phi[1],
        phi[0]: 0.8 - 0.05 * w1 + 0.01 * v2 + 0.2 * theta[0] + 0.3 * phi[1],
        phi[1]: -0.6 - 0.02 * w2 + 0.03 * v1 - 0.1 * phi[0] + 0.25 * theta[1],
    }


SHAPE = {theta[0]: 2.5, theta[1]: 0.9, phi[0]: 0.9, phi[1]: 2.2}  # near a place of the tool, elbows out


@cache
def five_bar_rest() -> vn.linear.Equilibrium:
    """With θ held at 2.5 and 0.9."""
    equations = vn.derive(five_bar(), "shulgin", dependent=phi)
    given = {q: SHAPE[q] for q in theta}
    return vn.equilibrium(equations, given, near={q: SHAPE[q] for q in phi}, starts=0)


@cache
def five_bar_model() -> vn.linear.LinearModel:
    return vn.linearize(vn.derive(five_bar(), "shulgin", dependent=phi), at=five_bar_rest())


@cache
def four_bar() -> vn.System:
    """Uniform rods in a vertical plane: one degree of freedom, two dependent angles; numbers in place of parameters."""
    system = four_bar_of_the_examples()
    numbers = dict(system.parameters)
    return replace(
        system,
        kinetic_energy=system.kinetic_energy.subs(numbers),
        potential_energy=system.potential_energy.subs(numbers),
        forces={q: force.subs(numbers) for q, force in system.forces.items()},
        constraints=[vn.Holonomic(c.expression.subs(numbers), name=c.name) for c in system.constraints],
        parameters={},
    )


@cache
def pendulum(friction: float) -> vn.System:
    """A unit mass on a rod of unit length, by its two coordinates, with friction along x."""
    rod = vn.Holonomic((x**2 + y**2 - 1) / 2, name="rod")
    T = (x.diff() ** 2 + y.diff() ** 2) / 2
    return vn.System([x, y], T, sp.Float(9.81) * y, {x: -friction * x.diff()}, constraints=[rod], name="pendulum")
