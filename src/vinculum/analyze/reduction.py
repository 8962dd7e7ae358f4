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
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from vinculum.analyze.descriptor import Descriptor
from vinculum.analyze.felt import slopes_at_points
from vinculum.analyze.tangent import dependent_states, slopes
from vinculum.derivation.forms.multipliers import eliminate_multipliers
from vinculum.derivation.mechanics.explicit import best_columns, independent_rows, unit_rows
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import DomainError, VinculumError
from vinculum.graph import ZERO, Node, SingularMatrix, evaluate, jacobian, solve, substitute, symbol, symbols, vector
from vinculum.graph.exact import independent

_CHARTS = 12  # choices of dependent velocities that are compared


@dataclass(frozen=True, eq=False)
class ClosedSet:
    """States whose rates depend on these states alone, and the velocities that are eliminated."""

    states: frozenset[Node]  # S
    dependent: tuple[int, ...]  # velocities that follow from the others, as numbers of their coordinates
    rates: Mapping[Node, Node]  # of all coordinates and independent velocities
    timed: bool  # whether a rate of S depends on the time explicitly
    coordinates: int = 0  # the first rates are those of the coordinates

    @property
    def foreign(self) -> int:
        """The number of independent velocities of coordinates outside S."""
        q = list(self.rates)[: self.coordinates]
        return sum(x not in self.states for i, x in enumerate(q) if i not in self.dependent)

    def ignorable(self, form: Descriptor) -> tuple[Node, ...]:
        """States outside S, without dependent velocities and coordinates that constraints determine from S."""
        position = [symbols([z]) - set(form.parameters) for z in form.residuals]
        determined = {x for found in position for x in found - self.states if len(found - self.states) == 1}
        return tuple(x for x in self.rates if x not in self.states and x not in determined)


def closed_set(
    form: Descriptor, values: Values, dependent: Sequence[int] | None = None, at: Values | None = None
) -> ClosedSet:
    """The smallest closed set that contains all independent velocities, over several choices of these.

    ``dependent`` are the dependent velocities, if they are chosen already; otherwise they must be regular ``at`` a
    state. Among equally small sets, velocities of coordinates in the set are preferred.
    """
    if dependent is not None:
        return _refuse_none(form, _closed(form, values, dependent))
    bound = _LeastSize(form, values)
    J = _regular_rows(form, values, at)
    best: ClosedSet | None = None
    for chart in islice(velocity_charts(form, J), _CHARTS):
        if best is None or best.timed or bound(chart) < len(best.states):
            best = _better(best, _closed(form, values, chart))
    for chart in _own_charts(form, J, best):
        if best is not None and bound(chart) <= len(best.states):
            best = _better(best, _closed(form, values, chart))
    return _refuse_none(form, best)


def with_resting(found: ClosedSet, form: Descriptor, values: Values) -> ClosedSet:
    """The closed set at a rest, with the ignorable coordinates that stand still: they are states too."""
    still = dict.fromkeys((x for x in found.rates if x in form.velocities), ZERO)
    others = [q for q in form.states[: form.coordinates] if q not in found.states and q not in form.ignored]
    rates = substitute([found.rates[q] for q in others], still)
    resting = {q for q, rate in zip(others, rates, strict=True) if rate is ZERO}
    inside = _closure(found.rates, [*found.states, *resting], form, values)
    added = inside - found.states
    return replace(found, states=frozenset(inside)) if added <= resting else found


def _closed(form: Descriptor, values: Values, chart: Sequence[int]) -> ClosedSet | None:
    """The closed set with given dependent velocities; None where the constraints are not linear in the velocities."""
    return form.remembered(("closed", tuple(chart), form.key(values)), lambda: _find_closed(form, values, chart))


def _find_closed(form: Descriptor, values: Values, chart: Sequence[int]) -> ClosedSet | None:
    rates = reduced_rates(form, values, chart)
    if rates is None:
        return None
    seeds = [x for x in rates if x not in form.states[: form.coordinates]] or list(rates)
    inside = _closure(rates, seeds, form, values)
    return ClosedSet(frozenset(inside - {form.time}), tuple(chart), rates, form.time in inside, form.coordinates)


def _better(a: ClosedSet | None, b: ClosedSet | None) -> ClosedSet | None:
    """The smaller set; of two equal ones, the one that keeps more velocities of coordinates in it."""
    if a is None or b is None:
        return a or b
    return b if (*_size(b), b.foreign) < (*_size(a), a.foreign) else a


def _refuse_none(form: Descriptor, found: ClosedSet | None) -> ClosedSet:
    if found is None:
        raise VinculumError(f"The velocities of {form.name!r} cannot be divided into dependent and independent ones.")
    return found


def best_frame(form: Descriptor, values: Values, at: Values | None = None) -> tuple[Descriptor, ClosedSet]:
    """The equations in the frame in which the fewest states matter, and their closed set."""
    from vinculum.analyze.frames import candidates, framed

    best = form, closed_set(form, values, at=at)
    slopes = form.remembered(("energy slopes", form.key(values)), lambda: slopes_at_points(form, (), values))
    for frame in candidates(form, best[1].states):
        if slopes is not None and slopes.turns(*(form.states.index(symbol(q)) for q in frame)):
            continue
        turned = framed(form, frame)
        speeds = [turned.states[form.states.index(v)] for v in turned.turned]
        found = closed_set(turned, {**values, **dict.fromkeys(speeds, 0.5)}, at=at)
        if _size(found) < _size(best[1]):
            best = turned, found
    return best


class _LeastSize:
    """A lower bound of the size of the closed set with given dependent velocities."""

    def __init__(self, form: Descriptor, values: Values) -> None:
        self.slopes = form.remembered(
            ("slopes", form.key(values)), lambda: slopes_at_points(form, velocity_rows(form), values)
        )
        self.others = len(form.states) - form.coordinates

    def __call__(self, dependent: Sequence[int]) -> int:
        felt = 0 if self.slopes is None else int(self.slopes.felt(dependent).sum())
        return felt + self.others - len(dependent)


def _size(found: ClosedSet) -> tuple[bool, int]:
    return found.timed, len(found.states)


def _regular_rows(form: Descriptor, values: Values, at: Values | None) -> np.ndarray:
    """J of the independent velocity constraints at a state, or at the sample if it is singular there."""
    slopes = form.remembered(("velocity slopes",), lambda: jacobian(velocity_rows(form), form.velocities))
    J = _independent(numbers(slopes, values)) if slopes.size else np.zeros((0, form.coordinates))
    if at is None or not len(J):
        return J
    try:
        there = _independent(numbers(slopes, at))
    except DomainError:
        return J
    return there if len(there) == len(J) else J


def _independent(J: np.ndarray) -> np.ndarray:
    return unit_rows(J[independent_rows([unit_rows(J)])])


def velocity_charts(form: Descriptor, J: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Choices of dependent velocities: first those of coordinates that appear in no force, inertia or constraint."""
    present = form.remembered(("present",), lambda: symbols([*form.balance, *velocity_rows(form)]))
    absent = [i for i in range(form.coordinates) if form.states[i] not in present]
    seen = set()
    for chart in _preferring(J, absent):
        if chart not in seen:
            seen.add(chart)
            yield chart
    yield from _exchanges(J, seen)


def _preferring(J: np.ndarray, preferred: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The best charts that eliminate the preferred velocities, or none of them, or all but one."""
    for chosen in (preferred, [], *([i for i in preferred if i != j] for j in preferred)):
        yield best_columns(J * np.where(np.isin(np.arange(J.shape[1]), chosen), 1e3, 1.0)) if len(J) else ()


def _own_charts(form: Descriptor, J: np.ndarray, found: ClosedSet | None) -> Iterator[tuple[int, ...]]:
    """Charts that eliminate the velocities of coordinates outside the closed set."""
    if found is None or not found.foreign:
        return
    outside = [i for i in range(form.coordinates) if form.states[i] not in found.states]
    yield from dict.fromkeys(_preferring(J, outside))


def _exchanges(J: np.ndarray, seen: set[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Charts that differ from the first ones by one column."""
    for base in list(seen):
        for old in base:
            for new in range(J.shape[1]):
                chart = tuple(sorted({*base, new} - {old}))
                singular = np.linalg.svd(J[:, list(chart)], compute_uv=False)
                if len(chart) == len(base) and chart not in seen and singular[-1] > 1e-6 * singular[0]:
                    seen.add(chart)
                    yield chart


def velocity_rows(form: Descriptor) -> list[Node]:
    """The residuals that contain velocities."""
    v = set(form.velocities)
    return form.remembered(("velocity rows",), lambda: [z for z in form.residuals if symbols([z]) & v])


def position_rows(form: Descriptor) -> list[Node]:
    """The other residuals."""
    moving = set(velocity_rows(form))
    return [z for z in form.residuals if z not in moving]


def reduced_rates(form: Descriptor, values: Values, dependent: Sequence[int]) -> dict[Node, Node] | None:
    """q̇ and v̇_I as functions of q, v_I, u and t; None where the constraints are not linear in the velocities."""
    n = form.coordinates
    if not n:
        return dict(zip(form.states, form.rates, strict=True))
    following = _dependent_velocities(form, values, dependent)
    if following is None:
        return None
    v, independent = form.velocities, [i for i in range(n) if i not in dependent]
    found = form.remembered(("accelerations", form.key(values)), lambda: _accelerations(form, values))
    accelerations = dict(zip(form.algebraic[:n], found, strict=True))
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
    inside, waiting = set(seeds), list(seeds)
    influence = _Influence(rates, [x for x in (*form.states, form.time) if x not in inside], values)
    while waiting:
        state = waiting.pop()
        for other in influence.of(state) - inside:
            inside.add(other)
            if other in rates:
                waiting.append(other)
    return inside


class _Influence:
    """Which of some symbols influence a rate; tested exactly, all together."""

    def __init__(self, rates: Mapping[Node, Node], tested: Sequence[Node], values: Values) -> None:
        self.present = {key: symbols([rate]) for key, rate in rates.items()}
        tested = [x for x in tested if any(x in present for present in self.present.values())]
        same = independent(list(rates.values()), tested, values)
        self.unfelt = {x: {key for key, free in zip(rates, same[x], strict=True) if free} for x in tested}

    def of(self, state: Node) -> set[Node]:
        """All that influences the rate of a state."""
        return {x for x in self.present[state] if x in self.unfelt and state not in self.unfelt[x]}


def influences(form: Descriptor, values: Values, q: Node) -> set[Node]:
    """The states, other than q itself, whose rates depend on a coordinate q."""
    if q not in form.present:
        return set()
    rates = reduced_rates(form, values, chart_at(form, values))
    if rates is None:
        return {x for x in form.states if x is not q}
    influence = _Influence(rates, [q], values)
    return {x for x in rates if x is not q and q in influence.of(x)}


def chart_at(form: Descriptor, values: Values) -> tuple[int, ...]:
    """The dependent velocities that are best conditioned at a point, as numbers of their coordinates."""
    n = form.coordinates
    Z = slopes(form.residuals, form.states, values).value
    return tuple(i - n for i in dependent_states(form, Z, values) if n <= i < 2 * n)
