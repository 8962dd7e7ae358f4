"""Systems on which printed formulas are tried: mechanisms of examples/ with every kind of term in the formulas."""

from __future__ import annotations

from functools import cache

import sympy as sp
from sympy import cos, sin

import vinculum as vn
from examples import cartesian_pendulum
from examples import five_bar as five_bar_robot
from examples.cartesian_pendulum import g, l, m, x, y
from examples.five_bar import phi, theta, u  # driven and passive bars, torques
from examples.four_bar import alpha as crank
from examples.four_bar import beta as coupler
from examples.four_bar import gamma as rocker
from examples.four_bar import system as four_bar_of_the_examples
from papers.variants import with_numbers


@cache
def five_bar() -> vn.System:
    """The five-bar robot lying on a turntable: Coriolis terms, centrifugal potential, friction and circulatory forces
    on driven and passive bars, and a constant torque on a passive one.
    """
    return with_numbers(
        five_bar_robot.system(turning=3, corner=(0.05, 0.1)),
        potential_energy=0.4 * cos(theta[0] - phi[1]) + 0.3 * sin(theta[1]) * phi[0],
        forces=_pulls(),
        name="five-bar robot on a turntable",
    )


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
    return with_numbers(four_bar_of_the_examples())


@cache
def pendulum(friction: float) -> vn.System:
    """A unit mass on a rod of unit length, by its two coordinates, with friction along x."""
    forces = {x: -friction * x.diff()}
    return with_numbers(cartesian_pendulum.system(), {m: 1, g: 9.81, l: 1}, forces=forces, name="pendulum")
