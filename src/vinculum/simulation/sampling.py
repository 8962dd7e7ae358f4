"""Runs under a law that acts at sample times: between them the inputs are held, and the motion is a compiled run.

    u(t) = u_k for t_k + δ ≤ t < t_k+1 + δ,   t_k = t_0 + k T

The held inputs are states with the rate zero, so nothing is compiled again when they change, and the samples, the work
of the inputs and the residuals are those of any run. The delay δ need not be a multiple of the period T.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function
from vinculum.derivation import EquationsOfMotion, ProgramEquations, derive
from vinculum.derivation.integrable import Equations
from vinculum.describe import AffineSystem
from vinculum.errors import About, Finding, ModelError, VinculumError
from vinculum.graph import constant, substitute, symbol
from vinculum.graph.traverse import describe
from vinculum.names import listed, name_of, suggestion, variable_name
from vinculum.simulation.integrators.segments import advance, end_run
from vinculum.simulation.problem.discontinuities import place_on_sides
from vinculum.simulation.problem.events import record_events_at_jump
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.start import consistent_state, known_state
from vinculum.simulation.trajectory.outcome import DIVERGED, FINISHED, LAW_FAILED, Cause, Outcome
from vinculum.simulation.trajectory.recorder import Plan, Run

_FAR = 1e6  # growth of the state since the start, together with
_GROWING = 1.2, 20  # this growth in so many samples, of a loop that diverges: no finite power of the time grows so fast
_FIRST = 10  # samples of the start
_SAME = 1e-12  # instants closer than this, relative to the run, are the same
_APPLY, _READ = 0, 1  # at one instant the command arrives before the sensors are read


class LawError(VinculumError):
    """A control law gave no usable inputs; the run ends with this reason."""


class Sampling(ABC):
    """A law during one run, with its memory."""

    inputs: tuple[sp.Expr, ...]  # what it sets
    measured: tuple[sp.Expr, ...]  # expressions of time, state and inputs that it reads
    before: tuple[float, ...]  # the inputs until the first command arrives
    model: Mapping[sp.Symbol, float]  # parameters of its formulas; the plant may have others
    added: Mapping[sp.Expr, sp.Expr]  # disturbances {input: expression of t and the state} that act all the time

    @abstractmethod
    def sample(self, t: float, y: np.ndarray) -> np.ndarray:
        """The inputs for what was measured; raises `LawError`."""

    def judge(self, F: np.ndarray, H: np.ndarray, C: np.ndarray) -> None:  # noqa: B027  (nothing to say by default)
        """Warn if the loop is unstable near the start, where η̇ = F η + H u and y = C η."""


class Sampler(ABC):
    """A law with a sample period, as ``inputs`` of `simulate`."""

    period: float
    delay: float

    @abstractmethod
    def begin(self, equations: Equations, time: float) -> Sampling:
        """The law at the start of a run."""


def held_symbol(u: sp.Expr, time: sp.Symbol) -> sp.Expr:
    """The state that holds an input."""
    return sp.Function(f"held_{variable_name(u)}")(time)


def with_held_inputs(equations: Equations, sampling: Sampling) -> Equations:
    """The equations with the inputs of a law as states."""
    free = equations.system.inputs if isinstance(equations, ProgramEquations) else equations.inputs
    strange = [u for u in sampling.inputs if u not in free]
    if strange:
        near = suggestion(name_of(strange[0]), map(name_of, free))
        raise ModelError("Invalid digital law", [f"{listed(strange)} is not an input of {equations.name!r}.{near}"])
    held = {u: held_symbol(u, equations.time) for u in sampling.inputs}
    extra = {**equations.extra, **dict.fromkeys(held.values(), sp.Integer(0))}
    acting = {u: value + sampling.added.get(u, 0) for u, value in held.items()}
    if isinstance(equations, ProgramEquations):
        return _affine_plant(equations.system, held, acting)
    if not isinstance(equations, EquationsOfMotion):
        raise VinculumError(f"A digital law cannot drive {type(equations).__name__}.")
    return replace(equations, laws={**equations.laws, **acting}, extra=extra)


def _affine_plant(
    system: AffineSystem, held: Mapping[sp.Expr, sp.Expr], acting: Mapping[sp.Expr, sp.Expr]
) -> ProgramEquations:
    """ẋ = F + B N of a program without its constraints, where N is what the law sends."""
    missing = [u for u in system.inputs if u not in acting]
    if missing:
        raise ModelError("Invalid digital law", [f"{listed(missing)} has no law. A program sets all of its inputs."])
    nodes, idle = system.nodes, [sp.S.Zero] * len(system.inputs)
    plant = replace(
        system,
        states=(*system.states, *held.values()),
        drift=(*nodes.F, *idle),
        input_matrix=[*nodes.B.tolist(), *([idle] * len(held))],
        constraints={},
        units={},
    )
    return derive(plant, "program", free=dict(acting))


def start_of_plant(equations: Equations, initial: Any, time: float) -> Any:
    """All states of a program: as given, the others on the program; other equations solve their own starts."""
    if not isinstance(equations, ProgramEquations) or not isinstance(initial, Mapping):
        return initial
    given = known_state(equations, initial)
    if set(given) >= set(equations.states):
        return given
    return consistent_state(equations, given, time=time)


def run_sampled(problem: Problem, run: Run, x: np.ndarray, sampler: Sampler, sampling: Sampling) -> Outcome:
    """Integrate from instant to instant; at each one a command arrives or the sensors are read."""
    plan, x = run.plan, np.array(x)
    outcome, t, growth = Outcome(FINISHED, plan.t0), plan.t0, _Growth(sampling)
    span = abs(plan.t1 - plan.t0)
    waiting: list[tuple[float, int, int, Any]] = [(plan.t0, _READ, 0, None)]
    while waiting and outcome.kind == FINISHED:
        due, kind, number, command = heapq.heappop(waiting)
        if due > plan.t1 - _SAME * span and due > plan.t0:
            break
        if due - t > _SAME * span:
            problem, outcome, t, x = advance(problem, replace(run, plan=_part(plan, t, due)), x)
            if outcome.kind != FINISHED:
                break
        if kind == _APPLY:
            problem, x, ended = _apply(problem, run, sampling, t, x, command)
            outcome = outcome if ended is None else ended
            continue
        if (ended := growth.ended(problem, t, x)) is not None:
            outcome = ended
            break
        try:
            u = sampling.sample(t, _measured(problem, sampling, t, x))
        except LawError as error:
            outcome = Outcome(LAW_FAILED, t, Cause("law", finding=Finding(str(error))))
            break
        heapq.heappush(waiting, (due + sampler.delay, _APPLY, number, u))
        heapq.heappush(waiting, (plan.t0 + (number + 1) * sampler.period, _READ, number + 1, None))
    if outcome.kind == FINISHED and plan.t1 - t > _SAME * span:
        problem, outcome, t, x = advance(problem, replace(run, plan=_part(plan, t, plan.t1)), x)
    return end_run(run, problem, outcome, t, x)


class _Growth:
    """The sizes of the state at the samples. A loop that diverges moves ever faster, so its run would take for ever."""

    def __init__(self, sampling: Sampling) -> None:
        self.sampling, self.sizes = sampling, list[float]()

    def ended(self, problem: Problem, t: float, x: np.ndarray) -> Outcome | None:
        """The outcome of a run that has diverged: the state grows exponentially, and has grown a millionfold."""
        own = _own_states(problem, self.sampling)
        self.sizes.append(float(np.linalg.norm(x[own])))
        rate, count = _GROWING
        if len(self.sizes) <= count + _FIRST:
            return None
        start, before, now = max(self.sizes[:_FIRST]), self.sizes[-1 - count], self.sizes[-1]
        if not (now > _FAR * start > 0 and now > rate * before):
            return None
        fastest = own[int(np.argmax(np.abs(x[own])))]
        factor = (now / before) ** (1 / count)
        about = [About("state", describe(problem.nodes.state[fastest]))]
        return Outcome(DIVERGED, t, Cause("diverged", about, {"ratio": now / start, "factor": factor}))


def _part(plan: Plan, begin: float, end: float) -> Plan:
    """A part of the plan; fixed steps are shortened to fit it."""
    if not plan.count:
        return replace(plan, t0=begin, t1=end)
    count = max(1, int(np.ceil((end - begin) / plan.step - 1e-9)))
    return replace(plan, t0=begin, t1=end, step=(end - begin) / count, count=count)


def _places(problem: Problem, sampling: Sampling) -> list[int]:
    """Where the held inputs are in the state."""
    time = problem.equations.time
    return [problem.nodes.state.index(symbol(held_symbol(u, time))) for u in sampling.inputs]


def _own_states(problem: Problem, sampling: Sampling) -> list[int]:
    """The states of the plant alone, without held inputs and works."""
    held, powers = _places(problem, sampling), problem.nodes.powers
    return [i for i, node in enumerate(problem.nodes.state) if i not in held and node not in powers]


def _apply(
    problem: Problem, run: Run, sampling: Sampling, t: float, x: np.ndarray, u: np.ndarray
) -> tuple[Problem, np.ndarray, Outcome | None]:
    """The problem and state after a command, and the outcome if the jump is an event that ends the run.

    A sample at this very instant gets the new inputs.
    """
    places, recorder = _places(problem, sampling), run.recorder
    former, x = x, np.array(x)
    x[places] = u
    if recorder.times and abs(recorder.times[-1][-1] - t) <= _SAME * abs(run.plan.t1 - run.plan.t0):
        recorder.states[-1][-1, places] = u
    after = place_on_sides(problem, run.plan, t, x)
    if after is not problem:
        recorder.close(problem)
    return after, x, record_events_at_jump(problem, after, run, t, former, x)


def _measured(problem: Problem, sampling: Sampling, t: float, x: np.ndarray) -> np.ndarray:
    if not sampling.measured:
        return np.zeros(0)
    key = "measured", sampling.measured, tuple(sampling.model.items())
    outputs = problem.branch.known.get(key, lambda: _sensors(problem, sampling))
    return outputs(t, x, problem.values)


def _sensors(problem: Problem, sampling: Sampling) -> Function:
    """What a law reads, with the parameters of its formulas, as a function of (t, x, p)."""
    nodes = [problem.nodes.node(expression, "the measured outputs") for expression in sampling.measured]
    return problem.compiled(substitute(nodes, {symbol(p): constant(value) for p, value in sampling.model.items()}))


def begin_sampling(sampler: Sampler, equations: Equations, times: np.ndarray) -> tuple[Equations, Sampling]:
    """The equations with held inputs, and the law at the start of its run."""
    if times[-1] <= times[0]:
        raise VinculumError("A digital law runs forward in time; times must increase.")
    sampling = sampler.begin(equations, float(times[0]))
    return with_held_inputs(equations, sampling), sampling


def start_held(problem: Problem, sampling: Sampling, t: float, x: np.ndarray) -> np.ndarray:
    """The state at the start, with the inputs that hold until the first command arrives."""
    x = np.array(x)
    x[_places(problem, sampling)] = sampling.before
    sampling.judge(*_linear_at(problem, sampling, t, x))
    return x


def _linear_at(problem: Problem, sampling: Sampling, t: float, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """F, H and C of η̇ = F η + H u, y = C η at a state, by central differences."""
    held = _places(problem, sampling)
    own = _own_states(problem, sampling)
    slopes = problem.slopes(t, x)
    steps = 1e-6 * (1.0 + np.abs(x))
    C = [
        (_measured(problem, sampling, t, x + step) - _measured(problem, sampling, t, x - step)) / (2 * step[i])
        for i, step in enumerate(np.diag(steps))
    ]
    return slopes[np.ix_(own, own)], slopes[np.ix_(own, held)], np.array(C)[own].T.reshape(-1, len(own))
