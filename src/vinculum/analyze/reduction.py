"""Rates on the velocity constraints, and the closed set of states that a steady motion holds constant.

Velocity constraints that are linear in the velocities are solved for the dependent ones, v_D = B(q) v_I + b(q, t), and
q̈ is eliminated. What remains,

    q̇ = v(q, v_I, t),    v̇_I = a(q, v_I, u, t),

shows which states matter. A set S of states is closed if the rates of S depend on S (and u) alone. The smallest closed
set that contains all velocities v_I decides the motion; the other coordinates are ignorable: driven, not felt. Whether
a rate depends on a coordinate is decided by an exact test, never by a tolerance: the heading ψ of a rolling disc stays
in the expressions through cos²ψ + sin²ψ, but no rate depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from vinculum.analyze.descriptor import Descriptor
from vinculum.analyze.tangent import column_sizes, dependent_states, slopes
from vinculum.derivation.forms.multipliers import eliminate_multipliers
from vinculum.derivation.mechanics.explicit import best_columns, independent_rows, unit_rows
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import VinculumError
from vinculum.graph import ZERO, Node, SingularMatrix, evaluate, jacobian, solve, substitute, symbol, symbols, vector
from vinculum.graph.exact import vanishing

_CHARTS = 12  # choices of dependent velocities that are compared
_SINGULAR = 1e-6  # relative singular value below which the dependent velocities are not determined


@dataclass(frozen=True, eq=False)
class ClosedSet:
    """States whose rates depend on these states alone, and the velocities that are eliminated."""

    states: frozenset[Node]  # S
    dependent: tuple[int, ...]  # velocities that follow from the others, as numbers of their coordinates
    rates: Mapping[Node, Node]  # of all coordinates and independent velocities
    timed: bool  # whether a rate of S depends on the time explicitly

    def ignorable(self, form: Descriptor) -> tuple[Node, ...]:
        """States outside S, dependent velocities left out."""
        return tuple(x for x in self.rates if x not in self.states)


def closed_set(
    form: Descriptor, values: Values, dependent: Sequence[int] | None = None, at: Values | None = None
) -> ClosedSet:
    """The smallest closed set that contains all independent velocities, over several choices of these.

    ``dependent`` are the dependent velocities, if they are chosen already; they must be regular ``at`` a point.
    """
    best: ClosedSet | None = None
    charts = [tuple(dependent)] if dependent is not None else islice(velocity_charts(form, values), _CHARTS)
    for chart in charts:
        rates = reduced_rates(form, values, chart) if at is None or _regular(form, at, chart) else None
        if rates is None:
            continue
        seeds = [x for x in rates if x not in form.states[: form.coordinates]] or list(rates)
        inside = _closure(rates, seeds, form, values)
        found = ClosedSet(frozenset(inside - {form.time}), chart, rates, form.time in inside)
        if best is None or _size(found) < _size(best):
            best = found
    if best is None:
        raise VinculumError(f"The velocities of {form.name!r} cannot be divided into dependent and independent ones.")
    return best


def best_frame(form: Descriptor, values: Values) -> tuple[Descriptor, ClosedSet]:
    """The equations in the frame in which the fewest states matter, and their closed set."""
    from vinculum.analyze.frames import candidates, framed

    best = form, closed_set(form, values)
    for frame in candidates(form, best[1].states):
        turned = framed(form, frame)
        speeds = [turned.states[form.states.index(v)] for v in turned.turned]
        found = closed_set(turned, {**values, **dict.fromkeys(speeds, 0.5)})
        if _size(found) < _size(best[1]):
            best = turned, found
    return best


def _size(found: ClosedSet) -> tuple[bool, int]:
    return found.timed, len(found.states)


def velocity_charts(form: Descriptor, values: Values) -> Iterator[tuple[int, ...]]:
    """Choices of dependent velocities: first those of coordinates that appear in no force, inertia or constraint."""
    rows = velocity_rows(form)
    if not rows:
        yield ()
        return
    n = form.coordinates
    J = _velocity_slopes(form, rows, values)
    J = J[independent_rows([J])]
    present = symbols([*form.balance, *rows])
    absent = [i for i in range(n) if form.states[i] not in present]
    seen = set()
    for preferred in (absent, [], *([i for i in absent if i != j] for j in absent)):
        weights = np.where(np.isin(np.arange(n), preferred), 1e3, 1.0)
        chart = best_columns(J * weights)
        if chart not in seen:
            seen.add(chart)
            yield chart
    yield from _exchanges(J, absent, seen)


def _velocity_slopes(form: Descriptor, rows: Sequence[Node], values: Values) -> np.ndarray:
    """The slopes of rows with respect to the velocities, in the metric of the kinetic energy, as unit rows."""
    sizes = column_sizes(form, values)[: form.coordinates]
    return unit_rows(numbers(jacobian(rows, form.velocities), values) / sizes)


def _regular(form: Descriptor, at: Values, chart: Sequence[int]) -> bool:
    """Whether the velocity constraints determine the velocities of a chart at a point."""
    rows = velocity_rows(form)
    if not rows or not len(chart):
        return True
    J = _velocity_slopes(form, rows, at)
    singular = np.linalg.svd(J[:, list(chart)], compute_uv=False)
    return bool(singular[len(chart) - 1] > _SINGULAR * np.linalg.norm(J, 2))


def _exchanges(J: np.ndarray, absent: Sequence[int], seen: set[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Charts that differ from the first ones by one column."""
    for base in list(seen):
        for old in base:
            for new in range(J.shape[1]):
                chart = tuple(sorted({*base, new} - {old}))
                singular = np.linalg.svd(J[:, list(chart)], compute_uv=False)
                if len(chart) == len(base) and chart not in seen and singular[-1] > _SINGULAR * singular[0]:
                    seen.add(chart)
                    yield chart


def velocity_rows(form: Descriptor) -> list[Node]:
    """The residuals that contain velocities."""
    v = set(form.velocities)
    return [z for z in form.residuals if symbols([z]) & v]


def reduced_rates(form: Descriptor, values: Values, dependent: Sequence[int]) -> dict[Node, Node] | None:
    """q̇ and v̇_I as functions of q, v_I, u and t; None where the constraints are not linear in the velocities."""
    n = form.coordinates
    if not n:
        return dict(zip(form.states, form.rates, strict=True))
    following = _dependent_velocities(form, values, dependent)
    if following is None:
        return None
    v, independent = form.velocities, [i for i in range(n) if i not in dependent]
    accelerations = dict(zip(form.algebraic[:n], _accelerations(form, values), strict=True))
    moving = (*range(n), *(n + i for i in independent), *range(2 * n, len(form.states)))
    rates = substitute(substitute([form.rates[i] for i in moving], accelerations), following)
    keys = (*form.states[:n], *(v[i] for i in independent), *form.states[2 * n :])
    return dict(zip(keys, rates, strict=True))


def _dependent_velocities(
    form: Descriptor, values: Values, dependent: Sequence[int]
) -> dict[Node, Node] | None:  # fmt: skip
    """v_D from the velocity constraints J v + c = 0."""
    rows, v = velocity_rows(form), form.velocities
    if not rows:
        return {}
    J = jacobian(rows, v)
    if symbols(J.ravel()) & set(v):
        return None
    kept = independent_rows([unit_rows(numbers(J, values))])
    if len(kept) != len(dependent):
        return None
    D, free = list(dependent), [i for i in range(len(v)) if i not in dependent]
    still = substitute([rows[i] for i in kept], {v[i]: ZERO for i in D})
    matrix = J[np.ix_(kept, D)]
    try:
        solution = solve(matrix, -vector(still)[:, None], numbers(matrix, values)[None]).solution[:, 0]
    except SingularMatrix:
        return None
    return {v[i]: node for i, node in zip(D, solution, strict=True)} if free or D else {}


def _accelerations(form: Descriptor, values: Values) -> list[Node]:
    """q̈ as nodes of q, v, u and t, on the exact motion and with the laws of a closed loop."""
    mechanics = form.mechanics
    assert mechanics is not None
    known = {**values, **dict(zip(form.turned, evaluate(list(form.turned.values()), values), strict=True))}
    found = mechanics.without_corrections(eliminate_multipliers(mechanics, [known]).accelerations)
    return substitute(substitute(found, form.laws), form.turned)


def _closure(rates: Mapping[Node, Node], seeds: Sequence[Node], form: Descriptor, values: Values) -> set[Node]:
    """Everything on which the rates of the seeds depend, directly or through other rates."""
    influence = _Influence(rates, form, values)
    inside, waiting = set(seeds), list(seeds)
    while waiting:
        state = waiting.pop()
        for other in influence.of(state) - inside:
            inside.add(other)
            if other in rates:
                waiting.append(other)
    return inside


class _Influence:
    """Which states and whether the time influence a rate; tested exactly, each symbol for all rates at once."""

    def __init__(self, rates: Mapping[Node, Node], form: Descriptor, values: Values) -> None:
        self.rates, self.values = rates, values
        self.tested = (*form.states, form.time)
        self.present = {key: symbols([rate]) for key, rate in rates.items()}
        self.independent: dict[Node, set[Node]] = {}  # by symbol: states whose rates do not depend on it

    def of(self, state: Node) -> set[Node]:
        """All that influences the rate of a state."""
        return {x for x in self.tested if x in self.present[state] and state not in self._independent_of(x)}

    def _independent_of(self, x: Node) -> set[Node]:
        if x not in self.independent:
            keys = [key for key in self.rates if x in self.present[key]]
            self.independent[x] = {key for key, same in zip(keys, self._unchanged(keys, x), strict=True) if same}
        return self.independent[x]

    def _unchanged(self, keys: Sequence[Node], x: Node) -> list[bool]:
        """Whether f(x) - f(x') vanishes identically."""
        other = symbol(("another value of", x.value))
        nodes = [self.rates[key] for key in keys]
        changed = substitute(nodes, {x: other})
        branch = {**self.values, other: self.values[x]}
        return vanishing([a - b for a, b in zip(nodes, changed, strict=True)], branch)


def influences(form: Descriptor, values: Values, q: Node) -> set[Node]:
    """The states, other than q itself, whose rates depend on a coordinate q."""
    if q not in symbols([*form.rates, *form.balance, *form.residuals]):
        return set()
    rates = reduced_rates(form, values, chart_at(form, values))
    if rates is None:
        return {x for x in form.states if x is not q}
    influence = _Influence(rates, form, values)
    return {x for x in rates if x is not q and q in influence.of(x)}


def chart_at(form: Descriptor, values: Values) -> tuple[int, ...]:
    """The dependent velocities that are best conditioned at a point, as numbers of their coordinates."""
    n = form.coordinates
    Z = slopes(form.residuals, form.states, values).value
    return tuple(i - n for i in dependent_states(form, Z, values) if n <= i < 2 * n)
