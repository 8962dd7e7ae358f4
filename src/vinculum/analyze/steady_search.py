"""The equations of an equilibrium or a steady motion, and the search for their solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import sympy as sp

from vinculum.analyze.descriptor import Analyzed, Descriptor, descriptor, reference, servo_inputs
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.reduction import ClosedSet, best_frame, closed_set, position_rows, with_resting
from vinculum.analyze.scaled_newton import ScaledNewton, Solution
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.derivation.mechanics.singular import refuse_negative_inertia
from vinculum.errors import Finding, ModelError, VinculumError, Word, call
from vinculum.graph import ZERO, Node, evaluate, jacobian, substitute, symbol, symbols
from vinculum.names import listed, name_of, suggestion


class Search:
    """Equilibria (``moving`` empty) or steady motions (``moving`` None: every ignorable coordinate may run)."""

    def __init__(
        self,
        equations: Analyzed,
        given: dict[sp.Expr, float],
        parameters: dict[sp.Symbol, float],
        moving: Sequence[sp.Expr] | None,
        near: Mapping[sp.Expr, float] | None = None,
    ) -> None:
        self.equations, self.given, self.moving, self.near = equations, given, moving, dict(near or {})
        self.form = descriptor(equations)
        self.momenta: Mapping[sp.Expr, Node] = getattr(equations, "definitions", {})
        self.refuse_unknown(given)
        self.parameters = {p.value: x for p, x in self.form.parameters.items()} | parameters
        self.numbers = {symbol(p): float(x) for p, x in self.parameters.items()} | {self.form.time: 0.0}
        self.known = {symbol(key): float(value) for key, value in given.items()}
        if not self.rests and self.form.coordinates:
            self.form, self.closed = best_frame(self.form, self.sample, self.expected)
            refuse_time(self.form, self.closed)
        self.rows, self.unknowns = self._equations()
        self.newton = ScaledNewton(self.rows, self.unknowns, self.numbers | self.known, self.form.memory)

    # -- the equations ------------------------------------------------------------------------------------------

    @property
    def timed(self) -> bool:
        """Whether the time appears anywhere."""
        return self.form.time in self.form.present

    @cached_property
    def sample(self) -> dict[Node, float]:
        """A state at which charts are chosen."""
        values = reference(self.equations)
        generic = np.random.default_rng(3).normal(0.3, 0.5, len(self.form.states) + len(self.form.inputs))
        drawn = dict(zip((*self.form.states, *self.form.inputs), generic, strict=True))
        return drawn | dict(values or {}) | self.numbers

    @property
    def expected(self) -> dict[Node, float]:
        """The state at which the search starts."""
        near = {symbol(key): float(value) for key, value in self.near.items()}
        return dict.fromkeys((*self.form.states, *self.form.inputs), 0.0) | near | self.known | self.numbers

    @cached_property
    def closed(self) -> ClosedSet:
        """The states that a steady motion holds constant."""
        found = closed_set(self.form, self.sample, at=self.expected)
        refuse_time(self.form, found)
        return found

    @property
    def rests(self) -> bool:
        """Whether nothing may move."""
        return self.moving is not None and not self.moving

    def _equations(self) -> tuple[list[Node], list[Node]]:
        form = self.form
        if self.rests and not self.timed:
            return self._at_rest()
        constant = self._constant()
        rates = dict(zip(form.states, form.rates, strict=True))
        rows = [rates[x] for x in constant]
        momenta = [self.momenta[p] - value for p, value in self.given.items() if p in self.momenta]
        turned = [node - self.given[v.value] for v, node in form.turned.items() if v.value in self.given]
        rows = [*rows, *form.balance, *form.residuals, *substitute(momenta, form.turned), *turned]
        self.known |= dict.fromkeys((x for x in self._running() if x not in self.known), 0.0)
        return rows, [x for x in (*form.states, *form.algebraic, *form.inputs) if x not in self.known]

    def _running(self) -> list[Node]:
        """Ignorable coordinates that no position constraint contains: any value will do."""
        form = self.form
        position = symbols(position_rows(form))
        return [q for q in form.states[: form.coordinates] if q not in self.closed.states and q not in position]

    def _at_rest(self) -> tuple[list[Node], list[Node]]:
        """g and z with velocities (not currents) and accelerations zero; of a first-order system, all rates too."""
        form, n = self.form, self.form.coordinates
        rows = [*form.rates[2 * n :], *form.balance, *form.residuals]
        moving = [v for v in form.velocities if v in form.currents]
        still = dict.fromkeys((*(v for v in form.velocities if v not in moving), *form.algebraic[:n]), ZERO)
        self.known |= dict.fromkeys((q for q in form.ignored if q not in self.known), 0.0)
        unknowns = (*form.states[:n], *moving, *form.states[2 * n :], *form.algebraic[n:], *form.inputs)
        return substitute(rows, still), [x for x in unknowns if x not in self.known]

    def _constant(self) -> list[Node]:
        """The states whose rates vanish."""
        form, n = self.form, self.form.coordinates
        inside = [x for x in form.states if x in self.closed.states]
        if self.moving is None:
            return inside
        runs = {symbol(q) for q in self.moving} | set(self._driven()) | form.ignored
        self._refuse_felt(runs & set(inside))
        followers = {form.states[i] for i in self.closed.dependent}
        held = [q for q in form.states[:n] if q not in runs and q not in followers]
        return [*held, *(x for x in inside if x not in held)]

    def _driven(self) -> list[Node]:
        """Coordinates that constraints move: their velocities do not vanish with the independent ones."""
        free = dict.fromkeys((x for x in self.closed.rates if x in self.form.velocities), ZERO)
        rates = substitute(list(self.closed.rates.values()), free)
        pairs = zip(self.closed.rates, rates, strict=True)
        return [x for x, rate in pairs if x in self.form.states[: self.form.coordinates] and rate is not ZERO]

    def _refuse_felt(self, felt: set[Node]) -> None:
        if felt:
            names = listed(x.value for x in felt)
            raise ModelError(
                "Invalid moving coordinates",
                [f"The motion depends on {names}, so {names} cannot run in a steady motion. Leave it out of moving."],
            )

    # -- the search ---------------------------------------------------------------------------------------------

    def run(self, starts: int) -> Equilibrium:
        """All solutions found, the first from ``near``."""
        begin = self.start(self.near)
        found: list[Solution] = []
        for x in self._starts(begin, starts):
            solution = self._within_a_turn(self.newton.solve(x))
            if solution.reached and not any(self._same(solution, other) for other in found):
                found.append(solution)
        if not found:
            raise VinculumError(self._nothing_found(begin))
        self._refuse_open(found[0])
        records = [self.record(solution) for solution in found]
        return replace(records[0], others=tuple(records[1:]))

    def start(self, near: Mapping[sp.Expr, float]) -> np.ndarray:
        """The first start."""
        unknown = {x.value: i for i, x in enumerate(self.unknowns)}
        extra = [key for key in near if key not in unknown]
        if extra:
            shown = listed(x.value for x in self.unknowns if x not in self.form.algebraic)
            problem = f"{listed(extra)} is not an unknown. The unknowns are {shown or 'none'}."
            raise ModelError("Invalid starting point near=", [problem])
        x = np.zeros(len(self.unknowns))
        for key, value in near.items():
            x[unknown[key]] = float(value)
        return self._with_momenta(x, near)

    def _with_momenta(self, x: np.ndarray, near: Mapping[sp.Expr, float]) -> np.ndarray:
        """Velocities that give the given momenta, p = I v, for a start."""
        values = dict(zip(self.unknowns, x, strict=True)) | self.numbers | self.known
        for p in (p for p in self.momenta if p in self.given):
            moving = [v for v in self.form.velocities if v in self.unknowns and v.value not in near]
            inertia = numbers(jacobian([self.momenta[p]], moving), values)[0] if moving else np.zeros(0)
            if np.any(inertia):
                i = int(np.argmax(np.abs(inertia)))
                x[self.unknowns.index(moving[i])] = self.given[p] / inertia[i]
        return x

    def _starts(self, begin: np.ndarray, count: int) -> list[np.ndarray]:
        """The first start, then random ones around it at the natural scale of each unknown."""
        if not count:
            return [begin]
        random = np.random.default_rng(0)
        sizes = self._spread(begin)
        return [begin, *(begin + random.normal(0, 1.5, len(begin)) * sizes for _ in range(count))]

    def _spread(self, begin: np.ndarray) -> np.ndarray:
        """The scale of each unknown: one for angles, else its size at the start or its natural size nearby."""
        random = np.random.default_rng(5)
        nearby = begin + random.normal(0, 0.3, len(begin)) * np.where(self._angles, 1.0, np.abs(begin))
        natural = self.newton.natural_sizes(nearby)
        known = np.where(np.abs(begin) > 0, np.abs(begin), np.where(natural > 0, natural, 1.0))
        return np.where(self._angles, 1.0, np.minimum(known, 1e6 * np.where(begin != 0, np.abs(begin), 1.0)))

    @cached_property
    def _angles(self) -> np.ndarray:
        """Which unknowns are angles: adding 2π leaves the equations unchanged, at a few random points."""
        coordinates = set(self.form.states[: self.form.coordinates])
        return np.array([x in coordinates and self._is_angle(i) for i, x in enumerate(self.unknowns)], dtype=bool)

    def _is_angle(self, i: int) -> bool:
        random = np.random.default_rng(1)
        if not any(self.unknowns[i] in symbols([row]) for row in self.rows):
            return False
        for _ in range(3):
            x = random.normal(size=len(self.unknowns))
            here, there = self.newton.numbers(x), self.newton.numbers(x + 2 * np.pi * (np.arange(len(x)) == i))
            if here is None or there is None or np.any(np.abs(here[0] - there[0]) > 1e-9 * (here[1] + there[1])):
                return False
        return True

    @cached_property
    def _asked(self) -> np.ndarray:
        """Which unknowns must be determined: inputs and the states that are constant."""
        form, plain = self.form, self.rests and not self.timed
        asked = {*form.inputs, *(form.states if plain else self.closed.states)}
        return np.array([x in asked for x in self.unknowns], dtype=bool)

    def _within_a_turn(self, solution: Solution) -> Solution:
        """The solution with angles in (-π, π], solved again because the reduction adds rounding errors."""
        x = self._wrapped(solution.x)
        x = np.where(np.abs(x) <= 1e-14 * np.abs(solution.x), 0.0, x)
        if not solution.reached or np.allclose(x, solution.x, rtol=0.0, atol=1.0):
            return replace(solution, x=x)
        again = self.newton.solve(x)
        return again if again.reached and np.allclose(again.x, x, rtol=1e-6, atol=1e-6) else replace(solution, x=x)

    def _wrapped(self, x: np.ndarray) -> np.ndarray:
        """Angles reduced to (-π, π]."""
        return np.where(self._angles, np.pi - np.mod(np.pi - x, 2 * np.pi), x)

    def _same(self, a: Solution, b: Solution) -> bool:
        """Whether two solutions are the same; angles are compared modulo 2π, free unknowns not at all."""
        felt = self._asked & (np.maximum(a.sizes, b.sizes) > 0)
        scale = np.where(self._angles, 1.0, np.maximum(np.abs(a.x) + np.abs(b.x), np.minimum(a.sizes, b.sizes)))
        return bool(np.all(np.abs(self._wrapped(a.x - b.x))[felt] <= 1e-6 * scale[felt]))

    # -- results ------------------------------------------------------------------------------------------------

    def _refuse_open(self, solution: Solution) -> None:
        """Raise an error that names the unknowns that can change without leaving the steady motion."""
        scale = np.where(solution.sizes > 0, solution.sizes, 1.0)
        directions = [np.abs(direction / scale) for direction in solution.free]
        moves = [self._asked & (size > 1e-6 * size.max(initial=1e-300)) for size in directions]
        moves = [moved for moved in moves if moved.any()]
        if moves:
            loose = [x.value for x, part in zip(self.unknowns, np.any(moves, axis=0), strict=True) if part]
            what = "equilibrium" if self.rests else "steady motion"
            problem = f"{listed(loose)} can change together without leaving {what}."
            given = {key: Word("value") for key in loose[: len(moves)]}
            advice = (
                f"Specify {len(moves) if len(moves) > 1 else 'one'} of them, as in ",
                call("equilibrium", given=given),
                ".",
            )
            raise ModelError(f"The {what} is not determined", [Finding(problem, advice)])

    def _nothing_found(self, x: np.ndarray) -> Finding:
        what = "equilibrium" if self.rests else "steady motion"
        state = self.newton.numbers(x)
        labels = [*("rate" for _ in range(len(self.rows) - len(self.form.labels))), *self.form.labels]
        pairs = [] if state is None else list(zip(labels, state[0], strict=True))
        worst = ", ".join(f"{name}: {value:.3g}" for name, value in pairs if value and name != "rate")
        near = call(what.split()[0], near={Word("coordinate"): Word("value")})
        given = ", ".join(f"{name_of(key)} = {value:.6g}" for key, value in self.given.items()) or "nothing given"
        return Finding(
            f"No {what} with {given} was found. Residuals at the first start: {worst or 'not defined there'}.",
            ["Give other values, leave an input or a coordinate free, or start elsewhere with ", near, "."],
        )

    def values(self, solution: Solution) -> dict[Node, float]:
        """The values of all symbols in a solution."""
        form = self.form
        values = dict.fromkeys((*form.states, *form.algebraic, *form.inputs), 0.0) | self.numbers | self.known
        return values | dict(zip(self.unknowns, map(float, solution.x), strict=True))

    def record(self, solution: Solution) -> Equilibrium:
        """A solution as the user sees it."""
        form, values = self.form, self.values(solution)
        if form.mechanics is not None and not form.turned:
            refuse_negative_inertia(form.mechanics, values, {p: values[symbol(p)] for p in self.parameters})
        shown = {x.value: values[x] for x in (*form.states, *form.inputs)}
        velocities = dict(zip(form.turned, evaluate(list(form.turned.values()), values), strict=True))
        values |= velocities
        shown |= {v.value: x for v, x in velocities.items()} | {u: values[w] for u, w in servo_inputs(form).items()}
        shown |= {p: evaluate([node], values)[0] for p, node in self.momenta.items()}
        moves = not self.rests or (self.timed and any(values[v] for v in form.velocities))
        closed = with_resting(self.closed, form, self.sample) if moves and self.rests else None
        closed = closed or (self.closed if moves else None)
        inside = [x for x in form.states if closed is not None and x in closed.states]
        outside = () if closed is None else closed.ignorable(form)
        return Equilibrium(
            shown,
            {name: values[node] for name, node in form.reactions.items()},
            solution.residual,
            self.parameters,
            constant=tuple(x.value for x in inside),
            ignorable=tuple(x.value for x in outside),
            frame=() if form.frame is None else tuple(form.frame),
        )

    def refuse_unknown(self, given: Mapping[sp.Expr, float]) -> None:
        """Refuse values of symbols that the system does not have."""
        form = self.form
        known = [x.value for x in (*form.states, *form.inputs)] + list(self.momenta)
        problems = [
            f"{name_of(key)} is not a coordinate or input of the system.{suggestion(name_of(key), map(name_of, known))}"
            for key in given
            if key not in known
        ]
        problems += [f"{name_of(key)} is {value}." for key, value in given.items() if not np.isfinite(float(value))]
        if problems:
            raise ModelError("Invalid given values", problems)


def refuse_time(form: Descriptor, found: ClosedSet) -> None:
    """Raise if the time does not cancel."""
    if not found.timed:
        return
    where = [x.value for x in found.states if x in found.rates and form.time in symbols([found.rates[x]])]
    raise ModelError(
        f"The equations of {form.name!r} depend on time explicitly",
        [
            Finding(
                f"The rate of {listed(where[:4])} contains t, so the system has neither an equilibrium nor a steady "
                "motion, and its stability is not that of the system with the time frozen.",
                ["Use coordinates in which the time cancels, or look at a motion: ", call("simulate"), "."],
            )
        ],
    )
