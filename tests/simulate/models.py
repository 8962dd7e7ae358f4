"""Small systems with known behavior, and ways to run them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import cartesian_pendulum

t = dynamicsymbols._t
x, y, z, s, theta, r = dynamicsymbols("x y z s theta r")
m, g, l, k, c, omega = sp.symbols("m g l k c omega")

GRAVITY = 9.81
START_ANGLE = 1.0
RUNGE_KUTTA = ("euler", "midpoint", "rk4")
ADAMS = ("ab2", "ab3", "ab4", "ab5", "abm2", "abm3", "abm4")
FIXED_STEP = (*RUNGE_KUTTA, *ADAMS)
NUMBERS = {m: 1.0, g: GRAVITY, l: 1.0}


# -- pendulums -------------------------------------------------------------------------------------------------


@cache
def angle_pendulum() -> vn.EquationsOfMotion:
    """A pendulum in its angle from below."""
    kinetic = m * l**2 * theta.diff() ** 2 / 2
    return vn.derive(vn.System([theta], kinetic, -m * g * l * sp.cos(theta), parameters=NUMBERS, name="pendulum"))


def rod() -> vn.Holonomic:
    """x² + y² = l², with a reaction λ (x, y): the tension is -λ l."""
    return cartesian_pendulum.system().constraints[0]


def cartesian_system(**changes: object) -> vn.System:
    """A pendulum in x to the right and y upwards, with a unit mass and length."""
    fields = {"parameters": NUMBERS, "name": "pendulum in x and y"}
    return replace(cartesian_pendulum.system(), **fields | changes)


@cache
def pendulum(form: str = "multipliers") -> vn.EquationsOfMotion:
    """The Cartesian pendulum in a form."""
    return vn.derive(cartesian_system(), form)


def hanging(angle: float = START_ANGLE, speed: float = 0.0) -> dict[sp.Expr, float]:
    """The Cartesian pendulum at an angle, with an angular velocity."""
    sine, cosine = float(np.sin(angle)), float(np.cos(angle))
    return {x: sine, y: -cosine, x.diff(): speed * cosine, y.diff(): speed * sine}


# -- other systems ---------------------------------------------------------------------------------------------


@cache
def particle(potential: sp.Expr = sp.S.Zero) -> vn.EquationsOfMotion:
    """A unit mass on a line in a potential of x, m and g."""
    known = dict.fromkeys(sorted(potential.free_symbols - {t}, key=str), 1.0)
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, potential, parameters=known, name="particle"))


@cache
def skate(form: str = "multipliers") -> vn.EquationsOfMotion:
    """A knife edge on an inclined plane: linear nonholonomic, φ̈ = 0, known in closed form."""
    kinetic = m * (x.diff() ** 2 + y.diff() ** 2) / 2 + m * k**2 * theta.diff() ** 2 / 2
    edge = vn.Nonholonomic(sp.sin(theta) * x.diff() - sp.cos(theta) * y.diff(), name="edge")
    return vn.derive(
        vn.System(
            [x, y, theta],
            kinetic,
            -m * g * x,
            constraints=[edge],
            parameters={m: 2.0, g: 1.5, k: 0.7},
            name="skate",
        ),
        form,
    )


SKATE_START = {x: 0.1, y: -0.2, theta: 0.4, x.diff(): float(np.cos(0.4)), theta.diff(): 0.9}


@cache
def constant_speed(form: str = "multipliers") -> vn.EquationsOfMotion:
    """A particle in the field of gravity, held at the speed c: nonlinear in the velocities, and it takes power."""
    speed = vn.Nonholonomic((x.diff() ** 2 + y.diff() ** 2 - c**2) / 2, name="speed")
    kinetic = m * (x.diff() ** 2 + y.diff() ** 2) / 2
    return vn.derive(
        vn.System([x, y], kinetic, m * g * y, constraints=[speed], parameters={m: 1.3, g: 2.0, c: 1.5}), form
    )


@cache
def turning_rod(form: str = "multipliers") -> vn.EquationsOfMotion:
    """A bead on a straight wire that turns with the angle ωt: r = r₀ cosh ωt from ṙ = 0."""
    wire = vn.Holonomic(x * sp.sin(omega * t) - y * sp.cos(omega * t), name="wire")
    kinetic = m * (x.diff() ** 2 + y.diff() ** 2) / 2
    return vn.derive(
        vn.System([x, y], kinetic, constraints=[wire], parameters={m: 1.0, omega: 1.1}, name="turning wire"), form
    )


WIRE_START = {x: 0.6, y: 0.0, x.diff(): 0.1}
SPEED_START = {x: 0.0, y: 0.0, x.diff(): 1.5}
KINDS = {  # a system for each kind of constraint, and where it starts
    "rod": (pendulum, hanging(speed=0.5)),
    "edge": (skate, SKATE_START),
    "moving wire": (turning_rod, WIRE_START),
    "given speed": (constant_speed, SPEED_START),
}


@cache
def spinner(count: int = 1) -> vn.EquationsOfMotion:
    """x with a mass carries massless (a, b) = (cos x, sin x): the constraint gradients for a and b turn with x.

    The matrix of the equations is regular everywhere, but every choice of pivots goes bad somewhere. With the
    potential b the angle x moves as a pendulum does: ẍ = -cos x.
    """
    coordinates, constraints, kinetic, potential = [], [], 0, 0
    for i in range(count):
        angle, a, b = dynamicsymbols(f"x{i} a{i} b{i}")
        coordinates += [angle, a, b]
        kinetic, potential = kinetic + angle.diff() ** 2 / 2, potential + b
        along = sp.cos(angle) * a + sp.sin(angle) * b - 1
        across = -sp.sin(angle) * a + sp.cos(angle) * b
        constraints += [vn.Holonomic(along, name=f"along{i}"), vn.Holonomic(across, name=f"across{i}")]
    return vn.derive(vn.System(coordinates, kinetic, potential, constraints=constraints, name="spinner"))


@cache
def spinning_angle() -> vn.EquationsOfMotion:
    """What the angle of `spinner` does."""
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, sp.sin(x)))


# -- running ---------------------------------------------------------------------------------------------------


def run(equations: vn.EquationsOfMotion, initial: dict, times: object, method: str = "taylor", **options: object):
    """`simulate` without a progress bar; fails where the run did not end well."""
    motion = vn.simulate(equations, initial, times, method, progress=False, **options)
    assert motion.outcome, str(motion.outcome)
    return motion


def largest(motion: vn.Trajectory) -> float:
    """The largest residual of all constraints over every step."""
    return max(motion.largest_residuals.values())


def coordinates_and_velocities(motion: vn.Trajectory) -> tuple[sp.Expr, ...]:
    """The user's own variables, whatever the form integrates."""
    system = motion.problem.equations.system
    return (*system.coordinates, *system.velocities)


def end(motion: vn.Trajectory) -> dict[sp.Expr, float]:
    """The state at the last sample."""
    return {key: float(motion[key][-1]) for key in coordinates_and_velocities(motion)}


def difference(first: vn.Trajectory, second: vn.Trajectory) -> float:
    """The largest difference of two motions of one system in any coordinate or velocity at any sample."""
    np.testing.assert_allclose(first.t, second.t, rtol=0, atol=1e-12)
    return max(float(np.abs(first[key] - second[key]).max()) for key in coordinates_and_velocities(first))
