"""Random constrained systems: every kind of term a `System` may have, well-conditioned, from a seed.

T = |L(q) q̇|²/2 + b(q, t)·q̇ + c(q, t),  V(q, t),  D = Σ k (row·q̇)²/2,  forces with inputs,
f(q, t) = 0,  φ(q, q̇, t) = 0 linear and nonlinear in q̇
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from vinculum import Holonomic, Nonholonomic, System

State = dict[sp.Expr, float]

FORMS = ("multipliers", "lyapunov")  # the forms whose state is all coordinates and all velocities

t = dynamicsymbols._t


@dataclass
class Maker:
    """Random pieces of a system with n coordinates. Every number in it is a parameter, named p1, p2, ..."""

    random: np.random.Generator
    n: int

    def __post_init__(self) -> None:
        self.q = [dynamicsymbols(f"q{i + 1}") for i in range(self.n)]
        self.v = [q.diff(t) for q in self.q]
        self.parameters: dict[sp.Symbol, float] = {}

    def number(self, low: float, high: float) -> sp.Symbol:
        parameter = sp.Symbol(f"p{len(self.parameters) + 1}")
        self.parameters[parameter] = float(self.random.uniform(low, high))
        return parameter

    def coordinate(self) -> sp.Expr:
        return self.q[self.random.integers(self.n)]

    def wave(self, time: bool = False) -> sp.Expr:
        """A bounded function of two coordinates and perhaps of time."""
        angle = self.coordinate() + self.number(0.5, 2) * self.coordinate()
        return (sp.sin, sp.cos)[self.random.integers(2)](angle + (self.number(0.5, 1.5) * t if time else 0))

    def row(self, length: int, leading: int) -> list[sp.Expr]:
        """Coefficients c_j(q): one near 1 at the leading place, two smaller ones elsewhere."""
        row = [sp.S.Zero] * length
        for place in self.random.choice(length, size=min(2, length), replace=False):
            row[place] += self.number(-0.4, 0.4) * self.wave()
        row[leading] += self.number(1, 2)
        return row

    def combination(self, leading: int) -> sp.Expr:
        """A linear function of the velocities with coefficients that depend on position."""
        return sum(c * v for c, v in zip(self.row(self.n, leading), self.v, strict=True))

    # -- energies and forces -----------------------------------------------------------------------------------

    def kinetic_energy(self) -> sp.Expr:
        quadratic = sum(self.combination(i) ** 2 for i in range(self.n)) / 2
        linear = sum(self.wave(time=True) * self.v[i] for i in self.random.integers(self.n, size=2))
        return quadratic + self.number(0.2, 1) * linear + self.number(0.2, 1) * self.wave(time=True)

    def potential_energy(self) -> sp.Expr:
        springs = sum(self.number(0.5, 3) * q**2 / 2 for q in self.q)
        return springs + self.number(1, 5) * self.wave() + self.number(0.1, 1) * self.wave(time=True)

    def dissipation(self) -> sp.Expr:
        return self.number(0.1, 1) * self.combination(0) ** 2 / 2 + self.number(0.1, 1) * self.v[-1] ** 4 / 4

    def forces(self, inputs: Sequence[sp.Symbol]) -> dict[sp.Expr, sp.Expr]:
        return {
            self.q[0]: inputs[0] * (2 + self.wave()),
            self.q[-1]: self.wave(time=True) * inputs[1] - self.v[0] * self.v[-1],
        }

    # -- constraints; each has its own leading coordinate, so that they are independent ------------------------

    def holonomic(self, leading: int) -> sp.Expr:
        q = self.q
        straight = self.number(1, 2) * q[leading] + self.number(-0.3, 0.3) * q[leading - 1]
        return straight + self.number(0.1, 0.3) * self.wave(time=bool(self.random.integers(2))) - self.number(-0.3, 0.3)

    def nonholonomic(self, leading: int) -> sp.Expr:
        """Linear and homogeneous, linear with a given speed, homogeneous and nonlinear, or neither."""
        straight, v = self.combination(leading), self.v
        kind = self.random.integers(4)
        if kind == 0:
            return straight
        if kind == 1:
            return straight - self.number(0.1, 0.5) * sp.cos(t)
        if kind == 2:
            return 2 * straight - self.number(0.2, 0.5) * sp.sqrt(v[0] ** 2 + v[-1] ** 2)
        return (
            3 * straight
            + self.number(0.1, 0.3) * v[0] * v[-1]
            + self.number(0.1, 0.3) * sp.sin(v[leading])
            - self.wave()
        )

    def constraints(self, holonomic: int, nonholonomic: int) -> list[Holonomic | Nonholonomic]:
        leading = self.random.permutation(self.n)
        return [Holonomic(self.holonomic(i), name=f"holds{i + 1}") for i in leading[:holonomic]] + [
            Nonholonomic(self.nonholonomic(i), name=f"rolls{i + 1}")
            for i in leading[holonomic : holonomic + nonholonomic]
        ]


@cache
def random_system(
    seed: int, n: int | None = None, holonomic: int | None = None, nonholonomic: int | None = None
) -> System:
    """A random system with n from 2 to 6 coordinates; the numbers of constraints leave one freedom at least."""
    random = np.random.default_rng(seed)
    n = n or 2 + seed % 5
    holonomic = int(random.integers(0, n)) if holonomic is None else holonomic
    nonholonomic = int(random.integers(0, n - holonomic)) if nonholonomic is None else nonholonomic
    make, inputs = Maker(random, n), sp.symbols("u1 u2")
    return System(
        coordinates=make.q,
        kinetic_energy=make.kinetic_energy(),
        potential_energy=make.potential_energy(),
        dissipation=make.dissipation(),
        forces=make.forces(inputs),
        constraints=make.constraints(holonomic, nonholonomic),
        parameters=make.parameters,
        inputs=inputs,
        name=f"random {seed}",
    )


def changed(system: System, **changes: object) -> System:
    """Another system that differs in the fields named."""
    return replace(system, **changes)


def without_time(expression: sp.Expr) -> sp.Expr:
    """The expression with t = 0 where it stands by itself; q(t) stays q(t)."""
    functions = expression.atoms(sp.Derivative) | expression.atoms(sp.core.function.AppliedUndef)
    kept = {function: sp.Dummy() for function in functions}
    return expression.xreplace(kept).xreplace({t: sp.S.Zero}).xreplace({dummy: f for f, dummy in kept.items()})


def has_time(expression: sp.Expr) -> bool:
    """Whether t enters by itself."""
    return without_time(expression) != expression


# -- states ----------------------------------------------------------------------------------------------------


def random_state(system: System, random: np.random.Generator) -> State:
    """Values for coordinates, velocities, inputs and time, anywhere; parameters are those of the system."""
    free = [*system.coordinates, *system.velocities, *system.inputs]
    state = {key: float(value) for key, value in zip(free, random.normal(0, 0.7, len(free)), strict=True)}
    return state | {system.time: float(random.uniform(0, 2))}


def consistent_state(system: System, random: np.random.Generator) -> State:
    """A random state that meets the constraints on position and on velocity."""
    state = random_state(system, random) | dict(system.parameters)
    for unknowns, conditions in zip((system.coordinates, system.velocities), residuals(system), strict=True):
        state = meeting(conditions, unknowns, state)
    return {key: value for key, value in state.items() if key not in system.parameters}


@cache
def residuals(system: System) -> tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]:
    """f of the holonomic constraints; ḟ and φ of all."""
    positions = tuple(c.expression for c in system.constraints if isinstance(c, Holonomic))
    rates = tuple(c.expression.diff(t, c.differentiations - 1) for c in system.constraints)
    return positions, rates


def meeting(conditions: tuple[sp.Expr, ...], unknowns: tuple[sp.Expr, ...], state: State) -> State:
    """The state with the unknowns moved by Newton's method until the conditions hold to rounding."""
    for _ in range(50 if conditions else 0):
        residual = values(conditions, state)
        step = np.linalg.lstsq(slopes(conditions, unknowns, state), residual, rcond=None)[0]
        state = state | {x: state[x] - float(d) for x, d in zip(unknowns, step, strict=True)}
        if np.abs(step).max() < 1e-15:
            break
    if np.abs(values(conditions, state)).max(initial=0) > 1e-13:
        raise ArithmeticError("Newton's method did not reach the constraints of a random system")
    return state


def slopes(conditions: tuple[sp.Expr, ...], unknowns: tuple[sp.Expr, ...], state: State) -> np.ndarray:
    """∂f_i/∂x_j at a state."""
    return values(_derivatives(conditions, unknowns), state).reshape(len(conditions), len(unknowns))


@cache
def _derivatives(conditions: tuple[sp.Expr, ...], unknowns: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    return tuple(condition.diff(x) for condition in conditions for x in unknowns)


# -- numbers from SymPy ------------------------------------------------------------------------------------------


def values(expressions: Iterable[sp.Expr], state: Mapping[object, float]) -> np.ndarray:
    """SymPy expressions at a state; keys that are not symbols, such as names of constraints, are left out."""
    known = {key: value for key, value in state.items() if isinstance(key, sp.Basic)}
    return np.array([float(x) for x in _function(tuple(expressions), tuple(known))(*known.values())])


@cache
def _function(expressions: tuple[sp.Expr, ...], arguments: tuple[sp.Expr, ...]) -> Callable[..., list[float]]:
    return sp.lambdify(arguments, list(expressions), "numpy", cse=True)
