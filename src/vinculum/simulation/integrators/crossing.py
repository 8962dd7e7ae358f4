"""Crossing singular positions: isolated instants at which constraints become dependent on a smooth motion.

There q̈ and λ are not determined, and other motions branch off (a parallelogram linkage whose bars are in one line may
continue as an antiparallelogram). Velocities are continuous, since no force is infinite, and the motion before the
instant is an analytic function of time. Its continuation is the only smooth motion through the position, and the one
that inertia chooses. So the motion is extrapolated from before the position to the same distance behind it:

    σ(t) ≈ c |t - t*|        the least singular value of J, its rows scaled to their largest lengths so far
    x(t* + δ) ≈ Σ a_k T_k    a polynomial through the motion on (t* - 21 δ, t* - δ)

and moved onto the constraints, positions first, then velocities. What makes the step sure is checked: the values of
two polynomials agree, the constraints move the state by much less than the branches are apart (2δ times a difference of
velocities), σ grows again as it fell, and the energy balance is kept. Otherwise the run ends as before: singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.chebyshev import chebvander

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.mechanics.conditioning import LARGE, Band
from vinculum.derivation.mechanics.sample_states import correction
from vinculum.graph import ZERO, Node, jacobian
from vinculum.simulation.integrators.taylor_steps import Polynomials
from vinculum.simulation.problem.events import Happened
from vinculum.simulation.trajectory.outcome import FINISHED, Cause, Outcome

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Recorder, Run

_WINDOW = 20.0  # length of the past that is extrapolated, in distances from the singular position
_DEGREES = (12, 9)  # of the polynomials; the second one gives the error of the first
_POINTS = 40  # through which the polynomials are fitted
_SMOOTH = 1e-9  # largest difference of the two polynomials, relative to the state
_NEAR = 1e-2  # the projection moves the state by at most this share of its motion over the position
_TINY = 1e-5  # σ at which a position is singular for good
_MOST_ITERATIONS = 8  # of the projection
_LINEAR = 0.1  # deviation of σ from a straight line to zero
_SHARE = 0.1  # of the largest entry of a dependence, from which a constraint takes part in it
SINGULAR_POSITION = "singular position"


@dataclass(frozen=True, eq=False)
class _Past:
    """The motion up to now, from the polynomials of the last steps."""

    pieces: Sequence[Any]
    t: float
    sign: float  # direction of the run in time

    @property
    def length(self) -> float:
        """How far it reaches back."""
        return abs(self.t - self.pieces[0].bounds[0]) if self.pieces else 0.0

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """The states at some times, (len(times), n)."""
        found = None
        for piece in self.pieces:
            low, high = sorted(piece.bounds)
            inside = (times >= low) & (times <= high)
            if inside.any():
                states = np.atleast_2d(piece(times[inside]))
                found = np.empty((len(times), states.shape[1])) if found is None else found
                found[inside] = states
        assert found is not None
        return found

    def back(self, way: float) -> float:
        """The instant a way before now."""
        return float(self.t - self.sign * way)


class Crossed(NamedTuple):
    """Where a motion is behind a singular position, and an instant at which its pivots have their usual sizes again."""

    t: float
    x: np.ndarray
    clear: float


@dataclass(frozen=True, eq=False)
class Approach:
    """A motion that goes to a singular position: no order of elimination is better than another there."""

    problem: Problem
    run: Run
    past: _Past
    slopes: _Slopes
    x: np.ndarray
    delta: float  # distance in time

    def cross(self) -> Crossed | None:
        """The motion behind the position; None if it is too far away, or cannot be crossed for sure."""
        past, delta = self.past, self.delta
        if past.length < 4 * delta or 2 * delta > abs(self.run.plan.t1 - past.t):
            return None
        motion = _extrapolate(past, min(_WINDOW * delta, past.length), delta)
        landed = None if motion is None else _land(self.slopes, past, motion, delta, self.x)
        if motion is None or landed is None:
            return None
        _record(self.problem, self.run, past, self.slopes, motion, delta)
        return Crossed(past.back(-2 * delta), landed, past.back(-(2 + _WINDOW) * delta))


def approach(problem: Problem, run: Run, t: float, x: np.ndarray) -> Approach | None:
    """The singular position ahead, if there is one."""
    past = _Past(tuple(run.recorder.recent), t, float(np.sign(run.plan.t1 - run.plan.t0)))
    if not _may_cross(problem) or past.length == 0.0:
        return None
    slopes = _Slopes(problem, past)
    delta = _distance(past, slopes)
    return None if delta is None else Approach(problem, run, past, slopes, x, delta)


def _may_cross(problem: Problem) -> bool:
    """Whether all constraints are holonomic and ideal, all coordinates free, and nothing would be missed on the way.

    Forms with dependent coordinates have other singular positions, of which nothing follows for the motion.
    """
    equations = problem.equations
    if not isinstance(equations, EquationsOfMotion) or problem.nodes.events or problem.branch.margins:
        return False
    ideal = equations.mechanics.actuators is None and not equations.form.allows_dependent
    position = equations.mechanics.position
    free = bool(problem.integrable.projections) and {*equations.system.nodes.q} <= {
        *problem.integrable.projections[0][1]
    }
    return ideal and free and len(position) > 0 and all(f is not None for f in position)


class _Level:
    """Residuals and the states that they restrict, with the slopes that are not zero by structure."""

    def __init__(self, problem: Problem, residuals: Sequence[Node], variables: Sequence[Node]) -> None:
        slopes = jacobian(residuals, variables)
        self.rows, self.columns = np.nonzero(slopes != ZERO)
        self.function = problem.compiled([*residuals, *slopes[self.rows, self.columns]])
        self.values, self.shape = problem.values, slopes.shape
        where = {node: i for i, node in enumerate(problem.nodes.state)}
        self.places = np.array([where[variable] for variable in variables])

    @cached_property
    def band(self) -> Band:
        """For the least singular value of the slopes."""
        return Band(self.rows, self.columns, self.shape)

    def at(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The residuals (m) and the slopes at ``rows`` and ``columns``."""
        found, m = self.function(t, x, self.values), self.shape[0]
        return found[:m], found[m:]

    def matrix(self, entries: np.ndarray) -> np.ndarray:
        """The slopes as a matrix (m, n)."""
        J = np.zeros(self.shape)
        J[self.rows, self.columns] = entries
        return J

    def step(self, t: float, x: np.ndarray) -> np.ndarray:
        """The smallest change of the variables that makes the linearized residuals vanish."""
        residuals, entries = self.at(t, x)
        if len(residuals) <= LARGE:
            return correction(self.matrix(entries), residuals)
        from scipy.sparse import csr_array

        return correction(csr_array((entries, (self.rows, self.columns)), shape=self.shape), residuals)

    def project(self, t: float, x: np.ndarray) -> np.ndarray:
        """The closest state at which the residuals vanish."""
        x = x.copy()
        for _ in range(_MOST_ITERATIONS):
            step = self.step(t, x)
            x[self.places] -= step
            if not np.all(np.isfinite(step)) or np.abs(step).max() <= 1e-14 * (1 + np.abs(x).max()):
                break
        return x


class _Slopes:
    """J at states of a problem, and the projection onto the constraints."""

    def __init__(self, problem: Problem, past: _Past) -> None:
        self.levels = problem.branch.known.get(("levels",), lambda: _levels(problem))
        times = [past.back(share * past.length) for share in np.linspace(0.0, 1.0, 6)]
        position = self.levels[0]
        squares = [position.at(t, x)[1] ** 2 for t, x in zip(times, past(np.array(times)), strict=True)]
        sums = [np.bincount(position.rows, square, minlength=position.shape[0]) for square in squares]
        self.length = np.maximum(np.sqrt(np.max(sums, axis=0)), 1e-300)  # of every row

    def at(self, t: float, x: np.ndarray) -> np.ndarray:
        """The entries of J, its rows scaled."""
        return self.levels[0].at(t, x)[1] / self.length[self.levels[0].rows]

    def project(self, t: float, x: np.ndarray) -> np.ndarray:
        """The state on the constraints, positions first, then velocities."""
        for level in self.levels:
            x = level.project(t, x)
        return x

    def least(self, times: Sequence[float], states: np.ndarray) -> np.ndarray:
        """σ at some states."""
        band = self.levels[0].band
        return np.array([band.least_singular(self.at(t, x)) for t, x in zip(times, states, strict=True)])


def _levels(problem: Problem) -> list[_Level]:
    return [_Level(problem, residuals, variables) for residuals, variables in problem.integrable.projections]


def _distance(past: _Past, slopes: _Slopes) -> float | None:
    """δ = t* - t from the line through σ now and before; None where σ does not go to zero."""
    way = past.length / 100
    for _ in range(4):
        times = [past.back(2 * way), past.back(way), past.t]
        before, between, now = slopes.least(times, past(np.array(times)))
        if not 0 <= now < between < before:
            return None
        delta = way * now / (between - now)
        if abs(way - delta) < 0.5 * delta or past.length < 2 * delta:
            break
        way = min(delta, past.length / 2)
    straight = abs(before - between - (between - now)) <= _LINEAR * (between - now)
    return delta if straight and now > _TINY else None


@dataclass(frozen=True, eq=False)
class _Continuation:
    """The motion as Chebyshev polynomials of the way from now, fitted to the past over a window."""

    window: float
    coefficients: np.ndarray  # (degree + 1, n)

    def __call__(self, ways: np.ndarray) -> np.ndarray:
        """The states (len(ways), n)."""
        return chebvander(1 + 2 * ways / self.window, len(self.coefficients) - 1) @ self.coefficients

    @property
    def powers(self) -> np.ndarray:
        """The coefficients of the powers of the way, (n, degree + 1)."""
        fits = [Chebyshev(c, domain=[-self.window, 0.0]).convert(kind=Polynomial) for c in self.coefficients.T]
        return np.array([np.pad(fit.coef, (0, len(self.coefficients) - len(fit.coef))) for fit in fits])


def _extrapolate(past: _Past, window: float, delta: float) -> _Continuation | None:
    """The motion continued; None if it is not smooth enough."""
    z = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    states = past(np.array([past.back(window * (1 - point) / 2) for point in z]))
    fits = [_Continuation(window, np.linalg.lstsq(chebvander(z, k), states, rcond=None)[0]) for k in _DEGREES]
    fine, coarse = (fit(np.array([2 * delta]))[0] for fit in fits)
    good = np.abs(fine - coarse).max() <= _SMOOTH * (1.0 + np.abs(fine).max())
    return fits[0] if good else None


def _land(slopes: _Slopes, past: _Past, motion: _Continuation, delta: float, x: np.ndarray) -> np.ndarray | None:
    """The state behind the position, on the constraints; None if it is not clearly on the same branch."""
    there = past.back(-2 * delta)
    free = motion(np.array([2 * delta]))[0]
    landed = slopes.project(there, free)
    way = np.abs(free - x).max()
    if not np.all(np.isfinite(landed)) or np.abs(landed - free).max() > _NEAR * way:
        return None
    now, then = slopes.least([past.t, there], np.array([x, landed]))
    return landed if 0.5 * now < then < 2 * now else None


def _record(problem: Problem, run: Run, past: _Past, slopes: _Slopes, motion: _Continuation, delta: float) -> None:
    """Samples on the way, and the event."""
    recorder, there = run.recorder, past.back(-2 * delta)
    waiting = recorder.instants[recorder.written :]
    ready = waiting[(past.sign * (waiting - past.t) > 0) & (past.sign * (waiting - there) <= 0)]
    recorder.add(ready, motion(past.sign * (ready - past.t)))
    if recorder.keep_dense:
        powers = motion.powers
        signs = past.sign ** np.arange(powers.shape[1])
        recorder.dense.append(Polynomials(np.array([past.t, there]), (powers * signs)[None]))
    names = _dependent(slopes, past.t, past(np.array([past.t]))[0], problem.equations.constraint_names)
    recorder.events.append(Happened(f"{SINGULAR_POSITION} of {names}", past.back(-delta), True))


def tell_crossings(outcome: Outcome, recorder: Recorder) -> Outcome:
    """The outcome of a finished run that says how many singular positions were crossed."""
    times = [event.time for event in recorder.events if event.name.startswith(SINGULAR_POSITION)]
    if outcome.kind != FINISHED or not times:
        return outcome
    return Outcome(FINISHED, outcome.time, Cause("singular positions", (), {"count": len(times), "first": times[0]}))


def _dependent(slopes: _Slopes, t: float, x: np.ndarray, names: Sequence[str]) -> str:
    """The constraints that become dependent."""
    left, sizes, _ = np.linalg.svd(slopes.levels[0].matrix(slopes.at(t, x)), full_matrices=False)
    parts = np.abs(left[:, sizes <= 2 * sizes[-1]]).max(axis=1)
    found = [name for name, part in zip(names, parts, strict=True) if part > _SHARE * parts.max()]
    return ", ".join(found) if len(found) <= 4 else f"{', '.join(found[:3])} and {len(found) - 3} more"
