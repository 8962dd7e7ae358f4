"""Taylor steps with heyoka: machine code for one system, with events found on the polynomials of every step.

An integrator is compiled once for all numbers of a problem. Every run owns a copy of it, so runs in several threads,
or nested runs, are independent. A copy takes about a millisecond; a run that has ended leaves its copy for the next.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.compile.code_cache import heyoka
from vinculum.compile.machine import COMPILING
from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.graph import ZERO, Node, operations
from vinculum.simulation.integrators.taylor_steps import (
    CORNERED,
    ENDED,
    ENOUGH,
    NOT_FINITE,
    REACHED,
    TIPPED,
    WATCHED,
    Advance,
    Polynomials,
)
from vinculum.simulation.problem.events import DIRECTIONS
from vinculum.simulation.problem.pivots import WATCH_LIMIT

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Recorder

_MOST_IDLE = 16  # copies of an integrator that wait for a run
_FEW = 200  # steps for which collecting polynomials one by one is cheaper than heyoka's dense output


def event_scale(tolerance: float | None) -> float:
    """The factor of event functions, ε^0.4 for a tolerance ε.

    heyoka measures its tolerance on states and event functions together: these must not be the larger, and their
    coefficients of the last order must not be below ε.
    """
    return max(tolerance or 0.0, float(np.finfo(float).eps)) ** 0.4


@dataclass
class Hits:
    """Receives the non-terminal events of one integrator; a copy of the integrator gets its own."""

    found: list[tuple[float, int]] = field(default_factory=list)

    def __deepcopy__(self, memo: dict) -> Hits:
        return Hits()

    def __call__(self, integrator: Any, time: float, sign: int) -> None:
        """Called by heyoka."""
        self.found.append((float(time), int(sign)))


@dataclass
class Path:
    """Receives the states between the steps."""

    times: list[float]
    states: list[np.ndarray]

    def __call__(self, taylor: Any) -> bool:
        """Called by heyoka after every step."""
        self.times.append(taylor.time)
        self.states.append(taylor.state.copy())
        return True


@dataclass
class Pieces:
    """Receives the polynomials of the steps; afterwards the state may be projected."""

    times: list[float]  # ends of the steps
    coefficients: list[np.ndarray] = field(default_factory=list)  # (n, order + 1) of each step
    project: Callable[[Any], bool] | None = None

    def __call__(self, taylor: Any) -> bool:
        """Called by heyoka after every step."""
        if taylor.time != self.times[-1]:
            self.times.append(taylor.time)
            self.coefficients.append(taylor.tc.copy())
        return self.project is None or self.project(taylor)


@dataclass
class HeyokaSteps:
    """heyoka's integrator of one problem."""

    taylor: Any
    plain: list[int]  # numbers of the non-terminal events, in heyoka's order
    terminal: list[int]  # of the terminal events, in heyoka's order; corners come next, then the pivot watch
    corners: int
    watched: bool
    edges: int  # margins of ranges whose zeros end a step; they come last
    made: int = 0  # steps since the start, with polynomials
    idle: deque[HeyokaSteps] = field(default_factory=lambda: deque(maxlen=_MOST_IDLE))  # copies that no run owns

    @contextmanager
    def owned(self, t: float, x: np.ndarray, p: np.ndarray) -> Iterator[HeyokaSteps]:
        """A copy for one run: the same compiled code with a separate state and separate receivers."""
        try:
            copied = self.idle.pop()
        except IndexError:
            copied = self.copy()
        yield copied.start(t, x, p)
        self.idle.append(copied)  # not after an error: its state may be anything

    def copy(self) -> HeyokaSteps:
        """The same compiled code with a separate state and separate receivers."""
        return HeyokaSteps(
            copy.deepcopy(self.taylor), self.plain, self.terminal, self.corners, self.watched, self.edges
        )

    def start(self, t: float, x: np.ndarray, p: np.ndarray) -> HeyokaSteps:
        """This integrator at a time and state."""
        taylor = self.taylor
        taylor.time = t
        taylor.state[:] = x
        taylor.pars[:] = p[: len(taylor.pars)]
        self.made = 0
        if taylor.with_events:
            taylor.reset_cooldowns()
        self.take_events()
        return self

    def place(self, t: float, x: np.ndarray) -> None:
        """Continue at another time and state."""
        self.taylor.time = t
        self.taylor.state[:] = x
        if self.taylor.with_events:
            self.taylor.reset_cooldowns()

    def slope(self, problem: Problem) -> np.ndarray:
        """ẋ at the present time and state."""
        return problem.compiled(problem.nodes.rates)(self.time, np.array(self.taylor.state), problem.values)

    @property
    def time(self) -> float:
        """t."""
        return float(self.taylor.time)

    @property
    def first_chunk(self) -> int:
        """As many as are collected one by one."""
        return _FEW

    def first_step(self, forward: bool) -> float:
        """The length of the next step, which is made."""
        return abs(float((self.taylor.step() if forward else self.taylor.step_backward())[1]))

    def advance(self, target: float, most: int, recorder: Recorder, project: Callable[[Any], bool] | None) -> Advance:
        """Steps to a time, at most some, with a projection after each."""
        end = recorder.instants[-1] if len(recorder.instants) else target
        if project is not None or recorder.keep_dense or target != end or self.corners or self.watched or self.edges:
            return self._with_polynomials(target, most, project)
        return self._at_instants(most, recorder)

    def _with_polynomials(self, target: float, most: int, project: Callable[[Any], bool] | None) -> Advance:
        """Steps with their polynomials. heyoka's dense output costs a millisecond for any number of steps, so the first
        steps of a run, which may be one of thousands between the samples of a law, collect their polynomials here.
        """
        outcome, taken, dense = (self._few if self.made < _FEW else self._many)(target, most, project)
        self.made += taken
        why, number = self._reason(outcome)
        if dense is None:
            return Advance(why, taken, np.empty(0), np.empty((0, len(self.taylor.state))), np.empty_like, None, number)
        knots = np.array(dense.times)
        return Advance(why, taken, knots, np.array(dense(knots)), lambda times: np.array(dense(times)), dense, number)

    def _few(self, target: float, most: int, project: Callable[[Any], bool] | None) -> tuple[Any, int, Any]:
        """Outcome, number of steps and polynomials, collected step by step."""
        pieces = Pieces([self.time], project=project)
        outcome, _, _, taken, _, pieces = self.taylor.propagate_until(
            target, max_steps=most, write_tc=True, callback=pieces
        )
        found = np.array(pieces.coefficients)
        return outcome, int(taken), Polynomials(np.array(pieces.times), found) if len(found) else None

    def _many(self, target: float, most: int, project: Callable[[Any], bool] | None) -> tuple[Any, int, Any]:
        """Outcome, number of steps and heyoka's polynomials."""
        options = {} if project is None else {"callback": project}
        outcome, _, _, taken, dense, *_ = self.taylor.propagate_until(target, max_steps=most, c_output=True, **options)
        return outcome, int(taken), dense

    def _at_instants(self, most: int, recorder: Recorder) -> Advance:
        """Steps with the states at the requested instants only; the same steps as with polynomials."""
        taylor = self.taylor
        waiting, path = recorder.instants[recorder.written :], Path([taylor.time], [taylor.state.copy()])
        grid = waiting if len(waiting) and waiting[0] == taylor.time else np.append(taylor.time, waiting)
        outcome, _, _, taken, path, states = taylor.propagate_grid(grid, max_steps=most, callback=path)
        knots, reached = np.array(path.times), np.array(path.states)
        # an event may end a step right at an instant
        found = np.vstack([states[len(grid) - len(waiting) :], reached[-1]])
        why, number = self._reason(outcome)
        return Advance(why, int(taken), knots, reached, lambda times: found[: len(times)], None, number)

    def take_events(self) -> list[tuple[float, int, int]]:
        """(time, number, sign) of the non-terminal events since the last call."""
        found = []
        for j, event in zip(self.plain, self.taylor.nt_events if self.plain else (), strict=True):
            found += [(time, j, sign) for time, sign in event.callback.found]
            event.callback.found.clear()
        return found

    def _reason(self, outcome: Any) -> tuple[str, int]:
        """Why heyoka returned, and the number of a terminal event."""
        hy = heyoka()

        known = {
            hy.taylor_outcome.time_limit: REACHED,
            hy.taylor_outcome.step_limit: ENOUGH,
            hy.taylor_outcome.err_nf_state: NOT_FINITE,
        }
        if outcome in known:
            return known[outcome], -1
        number = -int(outcome) - 1
        if 0 <= number < len(self.terminal):
            return ENDED, self.terminal[number]
        number -= len(self.terminal)
        if 0 <= number < self.corners:
            return CORNERED, -1
        return (WATCHED if number == self.corners and self.watched else TIPPED), -1


@lru_cache(maxsize=24)  # one to three megabytes each; heyoka keeps the code of others on disk
def compiled(
    time: Node, state: tuple[Node, ...], parameters: tuple[Node, ...], rates: tuple[Node, ...], watch: Node,
    events: tuple[tuple[int, Node, int, bool], ...], margins: tuple[Node, ...], forward: bool,
    edges: tuple[Node, ...], tolerance: float | None, compact: bool | None = None,
) -> HeyokaSteps:  # fmt: skip
    """Compile the integrator of ẋ = rates with events (number, node, direction, terminal), corners, the pivot watch and
    the margins of ranges.
    """
    hy = heyoka()

    nodes = [*rates, *(node for _, node, _, _ in events), *margins, watch / WATCH_LIMIT - 1, *edges]
    variables, outputs = expressions(time, state, parameters, nodes)
    functions = [event_scale(tolerance) * function for function in outputs[len(rates) :]]
    ends = [bool(terminal) for *_, terminal in events]
    directions = [event_direction(direction) for _, _, direction, _ in events]
    plain, terminal = ([j for j, ends_run in enumerate(ends) if ends_run is kind] for kind in (False, True))
    watched = [hy.nt_event(functions[j], callback=Hits(), direction=directions[j]) for j in plain]
    ending = [hy.t_event(functions[j], direction=directions[j]) for j in terminal]
    leaving = event_direction(-1 if forward else 1)
    ending += [hy.t_event(margin, direction=leaving) for margin in functions[len(events) : len(events) + len(margins)]]
    ending += [hy.t_event(node) for node in functions[len(events) + len(margins) + (watch is ZERO) :]]
    equations = list(zip(variables, outputs[: len(rates)], strict=True))
    options = _options(rates, tolerance, compact)
    taylor = hy.taylor_adaptive(equations, np.zeros(len(state)), t_events=ending, nt_events=watched, **options)
    plain, terminal = ([events[k][0] for k in places] for places in (plain, terminal))
    return HeyokaSteps(taylor, plain, terminal, len(margins), watch is not ZERO, len(edges))


def event_direction(sign: int) -> Any:
    """heyoka's direction: +1 rising, -1 falling, 0 any."""
    hy = heyoka()

    return {0: hy.event_direction.any, 1: hy.event_direction.positive, -1: hy.event_direction.negative}[sign]


def _options(rates: tuple[Node, ...], tolerance: float | None, compact: bool | None) -> dict[str, Any]:
    """heyoka's default tolerance if none is given; compact code for large systems by default."""
    small_code = operations(rates).total() > COMPACT_FROM if compact is None else compact
    return {"compact_mode": small_code} | ({} if tolerance is None else {"tol": tolerance})


def compile_heyoka(problem: Problem, tolerance: float | None, compact: bool | None) -> HeyokaSteps:
    """The compiled integrator of a problem; runs own copies of it."""
    forward = problem.sides is None or problem.sides.forward
    key = "taylor", forward, tolerance, compact, problem.resting
    return problem.branch.known.get(key, lambda: _compile(problem, forward, tolerance, compact))


def _compile(problem: Problem, forward: bool, tolerance: float | None, compact: bool | None) -> HeyokaSteps:
    nodes, branch = problem.nodes, problem.branch
    events = tuple(
        (j, node, DIRECTIONS[event.direction], event.terminal)
        for j, (node, event) in enumerate(zip(branch.prepared(nodes.event_functions), nodes.events, strict=True))
        if j not in problem.resting
    )
    with COMPILING:
        return compiled(
            nodes.time, nodes.state, branch.parameters, branch.prepared(nodes.rates),
            branch.prepared([nodes.watch.plain])[0], events, branch.prepared(branch.margins),
            forward, branch.prepared(nodes.edges), tolerance, compact,
        )  # fmt: skip
