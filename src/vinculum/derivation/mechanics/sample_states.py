"""Sample states at which ranks and pivots are chosen, and Newton's method, which finds them on the constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.errors import ConstraintError, DomainError, Finding, Word, call
from vinculum.graph import ZERO, Node, evaluate, jacobian, symbols
from vinculum.graph.evaluate import magnitudes
from vinculum.graph.place import in_order
from vinculum.graph.python_function import python_function
from vinculum.names import name_of

_CANCELS = 1e-9  # a sum this small relative to its terms is zero
_MET = 1e-9  # the largest violation of a condition that counts as met
Values = Mapping[Node, float]
Samples = Sequence[Values]  # the first is the state in question, the others stand for the states around
_SPARSE_FROM = 40  # conditions beyond which Newton's steps are sparse
_MOST_STEPS = 100  # of Newton's method
_CLOSE = 1e-3  # violation of conditions from which Newton's method goes on
_SLOPE = 1e-13  # an entry this small relative to its row is rounding
_RANK = 1e-10  # relative size of singular values that count as zero
_EXPLAINED = 1e-10  # a residual this small relative to its terms counts as zero


def newton(
    residual: Callable[[np.ndarray], np.ndarray],
    jacobian: Callable[[np.ndarray], Any],
    is_met: Callable[[np.ndarray, np.ndarray, float], bool],
    x: np.ndarray,
    scale: float = 0.0,
    precise: bool = True,
) -> tuple[np.ndarray, bool]:
    """Solve f(x) = 0 by x ← x - J⁺ f, halving a step that does not bring f closer to zero.

    Returns the point and whether it was reached: ``is_met(x, f, largest)``, where ``largest`` is the largest number on
    the way. ``scale`` is the size of other numbers in the equations. No unit decides.
    """
    x = np.array(x, dtype=float)
    f, largest = residual(x), max(scale, float(np.abs(x).max(initial=0.0)))
    size = np.inf
    for _ in range(_MOST_STEPS):
        step = correction(jacobian(x), f)
        before, size = size, float(np.abs(step).max(initial=0.0))
        if not np.isfinite(size):
            return x, False
        x, f = shortened(residual, x, f, step)
        largest = max(largest, float(np.abs(x).max(initial=0.0)))
        if size <= 4e-15 * largest:
            break
        if not precise and size <= 1e-4 * largest and size > 0.1 * before and is_met(x, f, largest):
            break
    return x, is_met(x, f, largest)


def correction(J: Any, f: np.ndarray) -> np.ndarray:
    """The smallest step d with J d = f, rows scaled to unit length: units do not decide the rank."""
    if not (np.all(np.isfinite(J if isinstance(J, np.ndarray) else J.data)) and np.all(np.isfinite(f))):
        return np.full(J.shape[1], np.nan)
    if not isinstance(J, np.ndarray):
        step = _sparse_correction(J, f)
        if step is not None:
            return step
        J = J.toarray()  # dependent rows
    length = np.linalg.norm(J, axis=1)
    scale = 1.0 / np.where(length > 0, length, 1.0)
    return np.linalg.lstsq(scale[:, None] * J, scale * f, rcond=_RANK)[0] if len(f) else np.zeros(J.shape[1])


def _sparse_correction(J: Any, f: np.ndarray) -> np.ndarray | None:
    """d = Jᵀ(J Jᵀ)⁻¹ f, refined once; None if the rows of J are so close to dependent that J d is not f."""
    from scipy.sparse import csr_array  # imported late: it takes a quarter of a second
    from scipy.sparse.linalg import splu

    rows = np.repeat(np.arange(len(f)), np.diff(J.indptr))
    length = np.sqrt(np.bincount(rows, J.data**2, len(f)))
    scale = 1.0 / np.where(length > 0, length, 1.0)
    A, b = csr_array((scale[rows] * J.data, J.indices, J.indptr), J.shape), scale * f
    T = A.T
    try:
        factors = splu((A @ T).T)  # symmetric; transposed it is stored by columns
    except RuntimeError:
        return None
    d = T @ factors.solve(b)
    d += T @ factors.solve(b - A @ d)
    return d if np.all(np.isfinite(d)) and np.linalg.norm(A @ d - b) <= _MET * np.linalg.norm(b) else None


def shortened(
    residual: Callable[[np.ndarray], np.ndarray], x: np.ndarray, f: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The full step, or the largest of its halves that lowers |f|."""
    factor = 1.0
    while factor > 1e-4:
        new = residual(x - factor * step)
        if np.all(np.isfinite(new)) and np.linalg.norm(new) <= (1 - 0.1 * factor) * np.linalg.norm(f) + 1e-300:
            break
        factor /= 2
    else:
        factor, new = 1.0, residual(x - step)
    return x - factor * step, new


@dataclass(frozen=True, eq=False)
class Slopes:
    """The numbers of a Jacobian that are not zero by structure, columns of given variables last."""

    entries: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]
    free: int  # columns of variables

    @property
    def sizes(self) -> np.ndarray:
        """The length of every row."""
        largest = np.abs(self.entries).max(initial=0.0) or 1.0  # squares of the largest numbers are finite
        return largest * np.sqrt(np.bincount(self.rows, (self.entries / largest) ** 2, minlength=self.shape[0]))

    def rounded(self, unit: np.ndarray) -> Any:
        """The columns of the variables, rows times ``unit``, without rounding errors; sparse if it is large."""
        small = np.abs(self.entries) <= _SLOPE * self.sizes[self.rows]
        entries = np.where(small, 0.0, self.entries) * unit[self.rows]
        shown = self.columns < self.free
        shape, places = (self.shape[0], self.free), (self.rows[shown], self.columns[shown])
        if self.shape[0] > _SPARSE_FROM:
            from scipy.sparse import csr_array  # imported late: it takes a quarter of a second

            return csr_array((entries[shown], places), shape=shape)
        J = np.zeros(shape)
        J[places] = entries[shown]
        return J


def numbers(nodes: np.ndarray | Sequence[Node], values: Values) -> np.ndarray:
    """An array of nodes as an array of numbers of the same shape."""
    array = np.asarray(nodes, dtype=object)
    entries = array.ravel().tolist()
    found = list(dict.fromkeys(entries))  # a sparse matrix is mostly one node, zero
    known = dict(zip(found, evaluate(found, values), strict=True))
    return np.array([known[node] for node in entries], dtype=float).reshape(array.shape)


def cancels(nodes: np.ndarray | Sequence[Node], values: Values) -> np.ndarray:
    """Which nodes are zero at a state: as small as the rounding error of the terms they sum."""
    array = np.asarray(nodes, dtype=object)
    found = [abs(value) <= _CANCELS * size for value, size in magnitudes(list(array.ravel()), values)]
    return np.array(found, dtype=bool).reshape(array.shape)


def stacked(nodes: np.ndarray, samples: Sequence[Values]) -> np.ndarray:
    """An array of nodes at every sample that lies in its domain, the first always: (samples, *shape)."""
    found = [numbers(nodes, samples[0])]
    for values in samples[1:]:
        try:
            found.append(numbers(nodes, values))
        except DomainError:
            continue
    return np.array(found)


def generic_states(mechanics: Mechanics, wanted: int | None = None) -> list[dict[Node, float]]:
    """States in general position that meet the constraints, at most ``wanted``, fewer if not so many are found.

    The default is six, for more than forty constraints two: their pivots come in an order that needs no choice.

    Coordinates are moved onto the holonomic constraints, then velocities onto the velocity constraints.
    """
    nodes = mechanics.system.nodes
    random = np.random.default_rng(20_000)
    position = [f for f in mechanics.position if f is not None]
    if wanted is None:
        wanted = 6 if len(mechanics.velocity) <= _SPARSE_FROM else 2
    starts = (_draw(mechanics, random, spread=0.5 + 0.05 * attempt) for attempt in range(30))
    return consistent_states(starts, ((position, nodes.q), (mechanics.velocity, nodes.v)), wanted)


def consistent_states(
    starts: Iterable[dict[Node, float]],
    levels: Sequence[tuple[Sequence[Node], Sequence[Node]]],
    wanted: int,
    defined: Sequence[Node] = (),
) -> list[dict[Node, float]]:
    """The starts moved onto the constraints, (residuals, variables to move) for each level, until enough were found.

    The nodes ``defined`` must have finite values there. With starts from a generator of fixed seed, the same system
    always gets the same states.
    """
    found: list[dict[Node, float]] = []
    for values in starts:
        try:
            if _settle(levels, values) and np.all(np.isfinite(numbers(defined, values))):
                found.append(values)
        except DomainError:
            continue
        if len(found) == wanted:
            break
    return found


def _draw(mechanics: Mechanics, random: np.random.Generator, spread: float) -> dict[Node, float]:
    system, nodes = mechanics.system, mechanics.system.nodes
    free = [*nodes.q, *nodes.v, *nodes.inputs]
    values = dict(zip(free, random.normal(0.3, spread, len(free)), strict=True))
    values[nodes.time] = float(random.uniform(0.1, 0.9))
    return values | dict(zip(nodes.parameters, system.parameters.values(), strict=True))


def _settle(levels: Sequence[tuple[Sequence[Node], Sequence[Node]]], values: dict[Node, float]) -> bool:
    """Move the variables of each level until its residuals vanish; update ``values``."""
    done = True
    for residual, variables in levels:
        if len(residual) > _SPARSE_FROM:
            values.update(zip(variables, _approached(residual, variables, values), strict=True))
        x, reached = solved_for(residual, variables, values, precise=False)
        values.update(zip(variables, x, strict=True))
        done &= reached
    return done


def _approached(residual: Sequence[Node], variables: Sequence[Node], values: Values) -> np.ndarray:
    """Variables close to a solution of many conditions, by the method of Levenberg and Marquardt.

    x ← x - Jᵀ(J Jᵀ + μ)⁻¹ f. Newton's method goes astray from random values: with many loops, some are always far off.
    """
    from scipy.sparse import eye_array  # imported late: it takes a quarter of a second
    from scipy.sparse.linalg import splu

    at, slopes_at = _conditions(tuple(residual), tuple(variables), ()).at(values)
    x, one = numbers(variables, values), np.ones(len(residual))
    f, mu = at(x), 1.0
    for _ in range(_MOST_STEPS):
        J = slopes_at(x).rounded(one)
        if not (np.all(np.isfinite(J.data)) and np.all(np.isfinite(f))):
            break
        new = x - J.T @ splu((J @ J.T + mu * eye_array(len(f))).tocsc()).solve(f)
        then = at(new)
        share = np.linalg.norm(then) / max(float(np.linalg.norm(f)), 1e-300)
        if share < 1:
            x, f, mu = new, then, mu * (0.1 if share < 0.5 else 0.5)
        else:
            mu = mu * 4 if np.isfinite(share) else mu * 100
        if np.linalg.norm(f) <= _CLOSE * np.sqrt(len(f)) or mu > 1e12:
            break
    return x


def closest(
    residual: Sequence[Node], variables: Sequence[Node], values: Values
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The variables at which Σf² has a minimum, near their present values, and the remaining f."""
    from scipy.optimize import least_squares  # imported late: only refusals need it

    slopes = jacobian(residual, variables)

    def at(outputs: np.ndarray | Sequence[Node], x: np.ndarray) -> np.ndarray:
        try:
            return numbers(outputs, {**values, **dict(zip(variables, map(float, x), strict=True))})
        except DomainError:
            return np.full(np.asarray(outputs, dtype=object).shape, 1e6)  # outside the domain

    close = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-12)
    start = numbers(variables, values)
    found = least_squares(lambda x: at(residual, x), start, jac=lambda x: at(slopes, x), **close)
    return found.x, at(residual, found.x)


def left_over(named: Sequence[tuple[str, Node]], variables: Sequence[Node], values: Values) -> tuple[float, str]:
    """The remaining violation at the closest state found, as a number and in words; (0, "") if there is none."""
    x, f = closest([node for _, node in named], variables, values)
    least = max(_MET, 1e-6 * float(np.abs(f).max(initial=0.0)))
    gaps = [f"{name} = {gap:.4g}" for (name, _), gap in zip(named, f, strict=True) if abs(gap) > least]
    if not gaps or not np.all(np.isfinite(f)):
        return 0.0, ""
    where = ", ".join(f"{name_of(q.value)} = {value:.4g}" for q, value in list(zip(variables, x, strict=True))[:8])
    more = ", ..." if len(variables) > 8 else ""
    return float(np.linalg.norm(f)), f" The nearest state found leaves {', '.join(gaps)}, at {where}{more}."


def unmet(mechanics: Mechanics, tries: int = 8) -> str:
    """Which constraints stay violated and by how much at the best of some random states, as a sentence."""
    system, nodes = mechanics.system, mechanics.system.nodes
    labels = [constraint.name for constraint in system.constraints]
    position = [(label, f) for label, f in zip(labels, mechanics.position, strict=True) if f is not None]
    random = np.random.default_rng(20_000)
    found = [left_over(position, nodes.q, _draw(mechanics, random, 0.5)) for _ in range(tries if position else 0)]
    return min(found)[1] if found else ""


def refuse_unmet(mechanics: Mechanics) -> NoReturn:
    """Raise because no state that meets the constraints was found."""
    raise ConstraintError(
        Finding(
            f"No state that meets the constraints of {mechanics.system.name!r} was found from random starts."
            f"{unmet(mechanics)}",
            ["If there is one, give it: ", call("derive", at={Word("coordinate"): Word("value")}), "."],
        )
    )


class _Conditions:
    """Residuals f, their slopes by some variables and by others that are given, as functions of numbers."""

    def __init__(self, residual: tuple[Node, ...], variables: tuple[Node, ...], given: tuple[Node, ...]) -> None:
        slopes = jacobian(residual, [*variables, *given])
        self.rows, self.columns = np.nonzero(slopes != ZERO)
        entries = list(slopes[self.rows, self.columns])
        self.others = in_order(symbols([*residual, *entries]) - {*variables})
        inputs = [*variables, *self.others]
        self.residual, self.entries = python_function(inputs, residual), python_function(inputs, entries)
        self.shape, self.free = (len(residual), len(variables) + len(given)), len(variables)

    def at(self, values: Values) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], Slopes]]:
        """f(x) and its slopes at x, not a number outside the domain; ``values`` are those of all other symbols."""
        rest = [float(values[node]) for node in self.others]

        def residual(x: np.ndarray) -> np.ndarray:
            found = self.residual([*x.tolist(), *rest])
            return np.full(self.shape[0], np.nan) if found is None else np.array(found, dtype=float)

        def slopes(x: np.ndarray) -> Slopes:
            found = self.entries([*x.tolist(), *rest])
            numbers = np.full(len(self.rows), np.nan) if found is None else np.array(found, dtype=float)
            return Slopes(numbers, self.rows, self.columns, self.shape, self.free)

        return residual, slopes


@lru_cache(maxsize=16)
def _conditions(residual: tuple[Node, ...], variables: tuple[Node, ...], given: tuple[Node, ...]) -> _Conditions:
    return _Conditions(residual, variables, given)


def solved_for(
    residual: Sequence[Node],
    variables: Sequence[Node],
    values: Values,
    given: Sequence[Node] = (),
    precise: bool = True,
) -> tuple[np.ndarray, bool]:
    """The variables at which the residuals vanish, from their present values, and whether they were reached.

    Some variables of the residuals may be ``given``. They cannot move, but their slopes count in the size of a row: a
    slope of 1e-17 next to one of them with a slope of 1 is rounding.
    """
    at, slopes_at = _conditions(tuple(residual), tuple(variables), tuple(given)).at(values)

    def is_met(x: np.ndarray, f: np.ndarray, largest: float) -> bool:
        """Whether f is explained by rounding errors of the numbers in every row and of its terms."""
        of_numbers = unit * _SLOPE * largest * slopes_at(x).sizes
        if np.all(np.abs(f) <= of_numbers):
            return True
        try:
            terms = magnitudes(list(residual), {**values, **dict(zip(variables, x, strict=True))})
        except DomainError:
            return bool(np.all(f == 0))
        return bool(np.all(np.abs(f) <= unit * _EXPLAINED * np.array([size for _, size in terms]) + of_numbers))

    start = numbers(variables, values)
    unit = _unit(slopes_at(start).sizes)  # of every row
    scale = float(np.abs(numbers(list(given), values)).max(initial=0.0))
    return newton(lambda x: unit * at(x), lambda x: slopes_at(x).rounded(unit), is_met, start, scale, precise)


def _unit(sizes: np.ndarray) -> np.ndarray:
    """Powers of two that bring sizes near one without rounding; 1 for zero and for what is not finite."""
    usable = np.isfinite(sizes) & (sizes > 0)
    return np.where(usable, 2.0 ** -np.round(np.log2(np.where(usable, sizes, 1.0))), 1.0)
