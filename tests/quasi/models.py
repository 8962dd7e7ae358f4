"""Systems for quasi-velocities and servo constraints: the examples, and random characteristics for random systems."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import (
    appell_hamel,
    gyroscope_in_gimbals,
    overhead_crane,
    particle_with_given_speed,
    sleigh_with_servo,
    snakeboard,
)
from laws.random_systems import Maker, State, consistent_state
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.derivation.quasi.characteristics import build_characteristics
from vinculum.graph import symbol

EXAMPLES = {
    "sleigh": (
        vn.servo.idealized(sleigh_with_servo.system()),
        {"characteristics": sleigh_with_servo.characteristics()},
    ),
    "sleigh with servo": (sleigh_with_servo.system(), {"characteristics": sleigh_with_servo.characteristics()}),
    "gyroscope": (
        vn.servo.idealized(gyroscope_in_gimbals.system()),
        {"characteristics": gyroscope_in_gimbals.characteristics()},
    ),
    "gyroscope with servo": (
        gyroscope_in_gimbals.system(),
        {"characteristics": gyroscope_in_gimbals.characteristics()},
    ),
    "particle": (
        particle_with_given_speed.system(),
        {
            "characteristics": particle_with_given_speed.characteristics(),
            "inverse": particle_with_given_speed.inverse(),
            "release": {"speed": particle_with_given_speed.xi},
        },
    ),
    "weight": (appell_hamel.system(), {"characteristics": appell_hamel.characteristics()}),
    "snakeboard": (snakeboard.system(), {"characteristics": snakeboard.characteristics()}),
    "crane": (overhead_crane.system(), {"characteristics": overhead_crane.characteristics()}),
}
NEAR = {
    "crane": {overhead_crane.l: 0.9, overhead_crane.theta: 0.0}
}  # where random states are drawn, if not around zero


@cache
def with_multipliers(name: str) -> vn.EquationsOfMotion:
    return vn.derive(EXAMPLES[name][0])


def forward_state(name: str, random: np.random.Generator) -> State:
    """A random state on the constraints of an example, with x growing where the chart needs it."""
    system, equations = EXAMPLES[name][0], with_multipliers(name)
    near, spread = NEAR.get(name, {}), 0.1 if name in NEAR else 0.6
    for _ in range(200):
        draw = {q: float(x) + near.get(q, 0.0)
                for q, x in zip(system.coordinates, random.uniform(-spread, spread, 9), strict=False)}  # fmt: skip
        draw |= {v: float(x) for v, x in zip(system.velocities, random.uniform(0.3, 1.5, 9), strict=False)}
        try:
            instant = float(random.uniform(0.2, 1.5))
            state = vn.consistent_state(equations, draw, fixed=[], time=instant)
        except vn.errors.ConstraintError:
            continue
        if "sleigh" not in name or forward(state) > 0.1:
            return state | {system.time: instant}
    raise ArithmeticError(f"no state found for {name}")


def forward(state: State) -> float:
    s = sleigh_with_servo
    return state[s.xi.diff()] * np.cos(state[s.phi]) + state[s.eta.diff()] * np.sin(state[s.phi])


def random_characteristics(system: vn.System, seed: int, curved: bool) -> dict[sp.Expr, sp.Expr]:
    """As many as the constraints leave free; at the place where all begins they are across the constraints, so that
    e determines the velocities well in its neighborhood.
    """
    random = np.random.default_rng(seed)
    n = len(system.coordinates)
    make = Maker(random, n)
    make.q, make.v = list(system.coordinates), list(system.velocities)
    t = system.time
    result = {}
    for i, row in enumerate(across(system)):
        e = sum(float(c) * v for c, v in zip(row, make.v, strict=True))
        e += 0.1 * sp.sin(make.coordinate() + t) * make.v[i] + 0.2 * sp.cos(make.coordinate() + 2 * t)
        if curved:
            e += 0.1 * sp.sin(make.v[i]) * make.v[-1] + 0.05 * make.v[i] ** 2 * sp.cos(make.coordinate())
        result[dynamicsymbols(f"e{i + 1}")] = e
    return result


def arbitrary_characteristics(system: vn.System, seed: int, curved: bool) -> dict[sp.Expr, sp.Expr]:
    """Characteristics with random coefficients, whatever their condition turns out to be."""
    random = np.random.default_rng(seed)
    n, t = len(system.coordinates), system.time
    make = Maker(random, n)
    make.q, make.v = list(system.coordinates), list(system.velocities)
    result = {}
    for i in range(n - len(system.constraints)):
        e = sum(float(c) * v for c, v in zip(random.normal(size=n), make.v, strict=True))
        e += float(random.normal()) * sp.sin(make.coordinate() + t) * make.v[i] + sp.cos(make.coordinate() + 2 * t) / 5
        if curved:
            e += float(random.normal()) * sp.sin(make.v[i]) * make.v[-1] / 2
            e += float(random.normal()) * make.v[i] ** 2 * sp.cos(make.coordinate()) / 3
        result[dynamicsymbols(f"e{i + 1}")] = e
    return result


def condition(equations: vn.EquationsOfMotion, chosen: dict[sp.Expr, sp.Expr], state: State) -> float:
    """The condition number of ∂e/∂q̇, rows of unit length, at a state."""
    system = equations.system
    of = build_characteristics(equations.mechanics, chosen, None, None, None, equations.samples)
    known = {system.time: 0.0, **system.parameters, **state}
    slopes = numbers(of.slopes, {symbol(key): float(value) for key, value in known.items()})
    return float(np.linalg.cond(slopes / np.linalg.norm(slopes, axis=1, keepdims=True)))


def across(system: vn.System) -> np.ndarray:
    """Orthonormal directions that the constraints leave free at one of their states."""
    equations = vn.derive(system)
    J = numbers(equations.mechanics.J, reference_state(equations))
    return np.linalg.svd(J)[2][len(J) :] if len(J) else np.eye(len(system.coordinates))


def random_states(system: vn.System, seed: int, count: int = 3) -> list[State]:
    random = np.random.default_rng(seed)
    return [consistent_state(system, random) for _ in range(count)]
