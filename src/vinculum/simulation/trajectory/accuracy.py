"""Whether a run that reached its end is still a motion of the system.

A step beyond the stability limit of a method makes a run explode without any operation failing. Growth alone says
nothing, because an unstable system grows too. Two laws decide; both compare an error with its own scale in the run:

    |E - w - (E - w)(0)| > ½ max(T, |w|)     the energy is not that of the work (w: work of the forces)
    |f| > |Δf|     a constraint f = 0 is not held (Δf: by errors of 3 % of the range of every state)

An adaptive method that keeps its tolerance ε is far better, so both shares are max(10⁻⁴, √ε, 100 ε steps) for it, if
that is less. It does not keep it where the equations have no derivatives and nothing told it so: √(v₁² + v₂²) at rest.

Rounding is far below both: what an error of 1e-9 of the largest initial state makes in E or f never counts, nor what a
hundred times the tolerance makes, which is absolute for states below 1.

A fixed step that is longer than a pulse of a function of time passes over it, and no law of mechanics shows that: the
widths of all pulses are known (`problem.pulses`). Equations in other variables or with other pivots have other
functions of time, such as 1/cos(ωt), which count only while these equations were used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from vinculum.derivation.integrable import WORK
from vinculum.errors import About, Call, Finding, Word, call
from vinculum.graph import ONE, Node, evaluate, substitute
from vinculum.simulation.problem.pulses import shortest_pulse
from vinculum.simulation.trajectory.live_run import Segment
from vinculum.simulation.trajectory.outcome import INACCURATE, Cause, Outcome
from vinculum.simulation.trajectory.recorder import Plan, Recorder

if TYPE_CHECKING:
    from vinculum.simulation.integrators.methods import Method

LOST = 0.5  # share of the largest kinetic energy or work
RANGE = 0.03  # share of the range of a state that counts as an error of it
_ADAPTIVE = 1e-4  # the least of both shares for an adaptive method
ROUNDING = 1e-9  # share of the largest state, or of |E|, that is always allowed
_TRIALS = 8  # random errors of the states
_KNOWN = 0.98  # the width of a pulse is known to 2 %
_MOST_STEPS = 1e8  # of a run that is worth advising


def check_accuracy(outcome: Outcome, plan: Plan, recorder: Recorder) -> Outcome:
    """The outcome of a run, or `INACCURATE` if the run reached its end but lost its energy or a constraint."""
    if not outcome:
        return outcome
    cause = _missed_pulse(plan, recorder)
    if cause is not None:
        return Outcome(INACCURATE, outcome.time, cause)
    share, noise = largest_share(plan.method, recorder.steps), _noise(recorder.segments[0], plan.method)
    cause = _lost_energy(recorder, min(LOST, share), noise) or _lost_constraint(recorder, min(RANGE, share), noise)
    if cause is None or _starts_off(recorder.segments[0]):
        return outcome
    return Outcome(INACCURATE, outcome.time, replace(cause, finding=Finding("", [_advice(plan)])))


def _advice(plan: Plan) -> str:
    """What to do about a lost energy or constraint."""
    if not plan.method.adaptive:
        return f"The step {abs(plan.step):.4g} is too large for this motion: use a smaller one, or the method 'taylor'."
    if plan.method.name == "taylor":
        rough = "The equations may have no derivatives somewhere on this motion, as a square root at zero"
        return f"{rough}: use the method 'bdf', or another stabilization."
    return "Use a smaller tolerance, or another stabilization."


def largest_share(method: Method, steps: int) -> float:
    """The error of an adaptive method that keeps its tolerance, as a share of the largest value in the run."""
    return (
        max(_ADAPTIVE, math.sqrt(_tolerance(method)), 100 * _tolerance(method) * steps) if method.adaptive else math.inf
    )


def _tolerance(method: Method) -> float:
    """That of an adaptive method; zero for a fixed step."""
    return (getattr(method, "tolerance", None) or float(np.finfo(float).eps)) if method.adaptive else 0.0


def _missed_pulse(plan: Plan, recorder: Recorder) -> Cause | None:
    """The shortest pulse of a function of time, if the fixed step is longer."""
    if plan.method.adaptive:
        return None
    found = [shortest_pulse(problem, plan.t0, plan.t1, parts) for problem, parts in recorder.used()]
    pulse = min((p for p in found if p is not None), key=lambda p: p.width, default=None)
    if pulse is None or pulse.width >= _KNOWN * abs(plan.step):
        return None
    numbers = {"step": abs(plan.step), "width": pulse.width, "time": pulse.time}
    shorter: list[str | Call] = [call("simulate", step=Word(f"{pulse.width / 4:.2g}")), ", or "]
    affordable = abs(plan.t1 - plan.t0) < _MOST_STEPS * pulse.width / 4
    finding = Finding("", ["Use ", *(shorter if affordable else []), "the method 'taylor'."])
    return Cause("pulse missed", [About("expression", pulse.function)], numbers, finding)


def _lost_energy(recorder: Recorder, share: float, noise: float) -> Cause | None:
    """The numbers of the energy balance, if its error is more than a share of the largest energy or work."""
    error, first = recorder.balance_error, recorder.segments[0]
    if not error > ROUNDING * abs(recorder.balance_start):
        return None
    scales = [scale for segment in recorder.segments if (scale := _energy_scale(segment)) is not None]
    if np.any(np.isinf(scales)) or not np.isfinite(error):
        return Cause("energy lost", numbers={"error": error, "scale": abs(recorder.balance_start)})
    span = abs(recorder.segments[-1].t[-1] - first.t[0])
    rounding = _changes(first, [first.problem.nodes.balance], 0, noise + _drift(first, span))[0]
    if not scales or error <= max(rounding, share * max(scales)):
        return None
    if share < LOST and error <= share * _energy_in_reach(recorder):
        return None
    return Cause("energy lost", numbers={"error": error, "scale": max(scales)})


def _energy_in_reach(recorder: Recorder) -> float:
    """How much E - w changes when every state changes by its range: samples may all lie where T and w are small."""
    segment = recorder.segments[-1]
    return float(_changes(segment, [segment.problem.nodes.balance], -1, _ranges(recorder))[0])


def _energy_scale(segment: Segment) -> float | None:
    """The largest kinetic energy or work at the samples of a segment; None if neither is known."""
    nodes = segment.problem.nodes
    energy = nodes.integrable.energy
    wanted = [] if energy is None or energy.kinetic is None else [energy.kinetic]
    wanted += [WORK] if nodes.powers else []
    if not wanted:
        return None
    return float(np.abs(segment.rows(wanted)).max())


def _lost_constraint(recorder: Recorder, share: float, noise: float) -> Cause | None:
    """The constraint that is not held, if there is one: at its first level, of positions or velocities."""
    segment, largest = recorder.segments[-1], recorder.residuals
    nodes = segment.problem.nodes
    if largest is None or not len(largest):
        return None
    judged = list(nodes.first_levels.values())
    if np.all(largest[judged] <= _changes(segment, nodes.residuals, -1, noise)[judged]):
        return None
    allowed = _changes(segment, nodes.residuals, -1, share * _ranges(recorder) + noise)
    if np.all(largest[judged] <= allowed[judged]):
        return None
    last = Segment(segment.problem, segment.t[-1:], segment.states[-1:])
    allowed = np.maximum(allowed, ROUNDING * last.rows(nodes.residual_sizes)[0])
    for name, k in nodes.first_levels.items():
        if largest[k] > allowed[k]:
            return Cause("constraint lost", [About("constraint", name)], {"residual": float(largest[k])})
    return None


def _starts_off(segment: Segment) -> bool:
    """Whether a run begins off the constraints: the corrections that bring it there do work, and residuals may grow."""
    if not segment.problem.nodes.residuals:
        return False
    found = _with_errors(segment, segment.problem.nodes.residuals, 0, _noise(segment))
    return bool(np.any(np.abs(found[0]) > 1e3 * _largest_changes(found)))


def _ranges(recorder: Recorder) -> np.ndarray:
    """The range of every state over all segments in the variables of the last one."""
    last = recorder.segments[-1].problem.nodes.state
    return np.ptp(np.vstack([s.states for s in recorder.segments if s.problem.nodes.state == last]), axis=0)


def _noise(segment: Segment, method: Method | None = None) -> float:
    """An error of the states that counts as rounding, by the size of the first of them, or is in the tolerance."""
    largest = float(np.abs(segment.states[0]).max(initial=0.0))
    return ROUNDING * largest + (100 * _tolerance(method) * max(1.0, largest) if method else 0.0)


def _drift(segment: Segment, span: float) -> np.ndarray | float:
    """The error of the states from the rounding of rates that cancel at a corner: of a body at rest on a kink."""
    problem, nodes = segment.problem, segment.problem.nodes
    if not nodes.corners.surfaces:
        return 0.0
    known = problem.numbers(segment.t[0], segment.states[0])
    smooth = substitute(nodes.corners.smooth(nodes.rates), nodes.corners.natural)
    sides = [evaluate(smooth, known | dict.fromkeys(nodes.corners.sigma, side)) for side in (-1.0, 1.0)]
    error = np.finfo(float).eps * np.abs(sides).max(axis=0) * span
    return error + span * _changes(segment, substitute(smooth, dict.fromkeys(nodes.corners.sigma, ONE)), 0, error)


@lru_cache(maxsize=8)
def trial_signs(states: int) -> np.ndarray:
    """Errors of either sign, (trials, states), of different sizes: equal ones may cancel in a constraint."""
    random = np.random.default_rng(1)
    return random.choice([-1.0, 1.0], (_TRIALS, states)) * random.uniform(0.75, 1.25, (_TRIALS, states))


def _changes(segment: Segment, nodes: Sequence[Node], place: int, error: np.ndarray | float) -> np.ndarray:
    """The largest changes of nodes at a sample when every state has an error of either sign."""
    return _largest_changes(_with_errors(segment, nodes, place, error))


def _with_errors(segment: Segment, nodes: Sequence[Node], place: int, error: np.ndarray | float) -> np.ndarray:
    """Nodes at a sample, then with errors of the states, (1 + trials, nodes)."""
    t, x = segment.t[place], segment.states[place]
    states = np.empty((_TRIALS + 1, len(x)))
    states[0], states[1:] = x, x + trial_signs(len(x)) * error
    return Segment(segment.problem, np.full(_TRIALS + 1, t), states).rows(nodes)


def _largest_changes(found: np.ndarray) -> np.ndarray:
    """The largest changes from the first row; infinite where an error leaves the domain."""
    with np.errstate(invalid="ignore"):
        changes = np.abs(found[1:] - found[0]).max(axis=0)
    return np.where(np.all(np.isfinite(found), axis=0), changes, np.inf)
