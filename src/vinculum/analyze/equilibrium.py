"""Equilibria and steady motions (Krasinskiy 2025, (17); Routh).

At rest, or with constant velocities of the ignorable coordinates,  Q - h + Jᵀλ = 0  and  F = 0.  The unknowns are
the remaining coordinates and inputs, the velocities of ignorable coordinates (currents, rotors) and λ. Newton's method
with least-squares steps runs from several starts; every solution it finds is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from vinculum.analyze.ignorable import ignorable
from vinculum.analyze.servo import refuse_servo
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.mechanics.lagrange import product
from vinculum.derivation.mechanics.sample_states import newton, numbers
from vinculum.errors import DomainError, Finding, ModelError, VinculumError, Word, call
from vinculum.graph import ZERO, Node, evaluate, jacobian, substitute, symbol
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, number

_ROUNDING, _NOTHING = 1e-14, 1e-16  # relative and absolute; smaller values are displayed as zero


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Mapping):
    """An equilibrium or steady motion: values of coordinates, velocities and inputs, by symbol.

    ``reactions`` are λ by constraint name; ``others`` are the other solutions found.
    """

    values_by_symbol: Mapping[sp.Expr, float]
    reactions: Mapping[str, float]
    residual: float  # largest |residual| of the equations
    parameters: Mapping[sp.Symbol, float] = field(default_factory=dict)
    others: tuple[Equilibrium, ...] = ()

    def __getitem__(self, key: sp.Expr) -> float:
        return self.values_by_symbol[key]

    def __iter__(self) -> Iterator[sp.Expr]:
        return iter(self.values_by_symbol)

    def __len__(self) -> int:
        return len(self.values_by_symbol)

    @property
    def shown(self) -> dict[str, float]:
        """Values by name for display: rounding errors as zero, velocities only if nonzero."""
        values = {key: self.clean(value) for key, value in self.items()}
        return {name_of(k): value for k, value in values.items() if value or not isinstance(k, sp.Derivative)}

    def clean(self, value: float) -> float:
        """A value or a reaction for display: zero if it is a rounding error relative to the largest one."""
        largest = max(map(abs, (*self.values(), *self.reactions.values())), default=0.0)
        return 0.0 if abs(value) <= max(_ROUNDING * largest, _NOTHING) else float(value)

    def __repr__(self) -> str:
        rows = [(name, number(value, 10)) for name, value in self.shown.items()]
        rows += [(name, f"{number(self.clean(value), 10)}  (reaction)") for name, value in self.reactions.items()]
        found = f", {len(self.others)} more found" if self.others else ""
        return labelled_rows(f"Equilibrium{found}", rows)

    _repr_html_ = html


def equilibrium(
    equations: EquationsOfMotion,
    given: Mapping[sp.Expr, float] | None = None,
    *,
    near: Mapping[sp.Expr, float] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    starts: int = 40,
) -> Equilibrium:
    """Find the equilibrium or steady motion with the given coordinates, inputs, velocities or momenta.

    Given coordinates determine the holding inputs; given inputs determine the coordinates. The search starts at
    ``near`` (default: zero), then at random points. It is an error if the given values leave a variable undetermined.
    """
    refuse_servo(equations.system)
    search = _Search(equations, dict(given or {}), dict(parameters or {}))
    begin = search.start(near or {})
    random = np.random.default_rng(0)
    spread = np.where(np.abs(begin) > 0, np.abs(begin), 1.0)
    points = [begin] + [begin + random.normal(0, 1.5, len(begin)) * spread for _ in range(starts)]
    found: list[np.ndarray] = []
    for x in points:
        solution = search.solve(x)
        if solution is not None and not any(search.same(solution, other) for other in found):
            found.append(solution)
    if not found:
        raise VinculumError(search.nothing_found(begin))
    search.refuse_open(found[0])
    records = [search.record(x) for x in found]
    first = records[0]
    return Equilibrium(first.values_by_symbol, first.reactions, first.residual, first.parameters, tuple(records[1:]))


class _Search:
    """The equilibrium equations for one set of given values."""

    def __init__(
        self, equations: EquationsOfMotion, given: dict[sp.Expr, float], parameters: dict[sp.Symbol, float]
    ) -> None:
        system, mechanics = equations.system, equations.mechanics
        self.equations, self.given = equations, given
        turning = [c.diff(system.time) for c in ignorable(equations)]
        _refuse_unknown(equations, given, turning)
        self.parameters = dict(system.parameters) | parameters
        self.still = [q for q in ignorable(equations) if q not in given]
        self.unknown = [
            key for key in (*system.coordinates, *turning, *system.inputs) if key not in given and key not in self.still
        ]
        self.turning = turning
        rest = {v: ZERO for v, key in zip(system.nodes.v, system.velocities, strict=True) if key not in turning}
        balance = mechanics.Q - mechanics.h + product(mechanics.J.T, mechanics.multipliers)
        momenta = [node - symbol(p) for p, node in equations.definitions.items() if p in given]
        constraints = list(system.nodes.constraints)
        self.rows: list[Node] = substitute([*balance, *constraints, *momenta], rest)
        self.symbols = [symbol(key) for key in self.unknown] + list(mechanics.multipliers)
        self.slopes = jacobian(self.rows, self.symbols)
        self.known = {symbol(key): float(v) for key, v in (given | self.parameters).items()}
        self.known |= {symbol(system.time): 0.0} | {symbol(q): 0.0 for q in self.still}
        self.periodic = [key in system.coordinates and self.is_angle(key) for key in self.unknown]

    def start(self, near: Mapping[sp.Expr, float]) -> np.ndarray:
        extra = [key for key in near if key not in self.unknown]
        if extra:
            problem = f"{listed(extra)} is not an unknown. The unknowns are {listed(self.unknown) or 'none'}."
            raise ModelError("Invalid starting point near=", [problem])
        m = len(self.equations.system.constraints)
        x = np.array([float(near.get(key, 0.0)) for key in self.unknown] + [0.0] * m)
        for p, c in zip(self.equations.definitions, ignorable(self.equations), strict=False):
            velocity = c.diff(self.equations.system.time)
            if p in self.given and velocity in self.unknown and velocity not in near:
                inertia = self.at(jacobian([self.equations.definitions[p]], [symbol(velocity)]), x)[0, 0]
                x[self.unknown.index(velocity)] = self.given[p] / inertia if inertia else 0.0
        return x

    def at(self, nodes: np.ndarray | Sequence[Node], x: np.ndarray) -> np.ndarray:
        array = np.asarray(nodes, dtype=object)
        try:
            return numbers(array, self.known | dict(zip(self.symbols, x, strict=True)))
        except DomainError:
            return np.full(array.shape, np.nan)

    def solve(self, x: np.ndarray) -> np.ndarray | None:
        x, reached = newton(lambda x: self.at(self.rows, x), lambda x: self.at(self.slopes, x), x)
        return self.wrapped(x) if reached else None

    def wrapped(self, x: np.ndarray) -> np.ndarray:
        """Angles reduced to (-π, π]."""
        angle = np.array(self.periodic + [False] * (len(x) - len(self.periodic)))
        return np.where(angle, np.pi - np.mod(np.pi - x, 2 * np.pi), x)

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Whether two solutions are the same; angles are compared modulo 2π."""
        n = len(self.unknown)
        return bool(np.all(np.abs(self.wrapped(a - b)[:n]) <= 1e-6 * (1 + np.abs(b[:n]))))

    def is_angle(self, key: sp.Expr) -> bool:
        """Whether adding 2π to a coordinate leaves the equations unchanged, at a few random points."""
        random = np.random.default_rng(1)
        for _ in range(3):
            x = random.normal(size=len(self.symbols))
            further = x + 2 * np.pi * (np.array(self.symbols) == symbol(key))
            if not np.allclose(
                self.at(self.rows, x), self.at(self.rows, further), rtol=1e-9, atol=1e-9, equal_nan=True
            ):
                return False
        return True

    def refuse_open(self, x: np.ndarray) -> None:
        """Raise an error that names the unknowns that can change without leaving equilibrium."""
        J = self.at(self.slopes, x)
        if not self.unknown:
            return
        scale = np.maximum(np.abs(J).max(axis=1, keepdims=True, initial=0.0), 1e-300)
        _, singular, vectors = np.linalg.svd(J / scale)
        free = vectors[np.sum(singular > 1e-9 * max(singular.max(initial=0.0), 1e-300)) :]
        turning = np.array([key in self.turning for key in self.unknown])
        for vector in free:
            moved = np.abs(vector[: len(self.unknown)]) > 1e-6
            if moved.any() and not turning[moved].all():
                names = listed(key for key, part in zip(self.unknown, moved, strict=True) if part)
                raise ModelError(
                    "The equilibrium is not determined",
                    [f"{names} can change together without leaving equilibrium. Specify one of them."],
                )

    def nothing_found(self, x: np.ndarray) -> Finding:
        left = self.at(self.rows, x)
        system = self.equations.system
        names = [*map(name_of, system.coordinates), *(c.name for c in system.constraints)]
        worst = ", ".join(f"{name}: {value:.3g}" for name, value in zip(names, left, strict=False) if value)
        near = call("equilibrium", near={Word("coordinate"): Word("value")})
        return Finding(
            f"No equilibrium with {_shown(self.given)} was found. Residuals at the first start: {worst}.",
            ["Give other values, leave an input or a coordinate free, or start elsewhere with ", near, "."],
        )

    def record(self, x: np.ndarray) -> Equilibrium:
        system = self.equations.system
        known = self.known | dict(zip(self.symbols, x, strict=True))
        values = dict.fromkeys(system.velocities, 0.0) | dict.fromkeys(self.still, 0.0)
        values |= {key: known[symbol(key)] for key in (*self.given, *self.unknown)}
        ordered = (*system.coordinates, *system.velocities, *system.inputs)
        complete = {symbol(key): value for key, value in values.items()} | known
        momenta = {p: evaluate([node], complete)[0] for p, node in self.equations.definitions.items()}
        reactions = x[len(self.unknown) :]
        return Equilibrium(
            {key: values[key] for key in ordered} | momenta,
            {c.name: float(value) for c, value in zip(system.constraints, reactions, strict=True)},
            float(np.abs(self.at(self.rows, x)).max(initial=0.0)),
            self.parameters,
        )


def _refuse_unknown(equations: EquationsOfMotion, given: Mapping[sp.Expr, float], turning: Sequence[sp.Expr]) -> None:
    system = equations.system
    known = (*system.coordinates, *turning, *system.inputs, *equations.definitions)
    problems = [
        f"{name_of(key)} is not a coordinate or input of the system.{suggestion(name_of(key), map(name_of, known))}"
        for key in given
        if key not in known
    ]
    problems += [f"{name_of(key)} is {value}." for key, value in given.items() if not np.isfinite(float(value))]
    if problems:
        raise ModelError("Invalid given values", problems)


def _shown(given: Mapping[sp.Expr, float]) -> str:
    return ", ".join(f"{name_of(key)} = {value:.6g}" for key, value in given.items()) or "nothing given"
