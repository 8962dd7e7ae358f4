"""Whether a run that reached its end is still a motion of the system.

A step beyond the stability limit of a method makes a run explode without any operation failing. Growth alone says
nothing, because an unstable system grows too. Two laws decide; both compare an error with its own scale in the run:

    |E - w - (E - w)(0)| > ½ max(T, |w|)     the energy is not that of the work (w: work of the forces)
    |f| > |Δf|     a holonomic constraint f = 0 is not held (Δf: by errors of 3 % of the range of every state)

Rounding is far below both: what an error of 1e-9 of the largest initial state makes in E or f never counts.

A fixed step that is longer than a pulse of a function of time passes over it, and no law of mechanics shows that: the
widths of all pulses are known (`problem.pulses`). Equations in other variables or with other pivots have other
functions of time, such as 1/cos(ωt), which count only while these equations were used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from vinculum.derivation.integrable import WORK
from vinculum.errors import About, Call, Finding, Word, call
from vinculum.graph import ONE, Node, evaluate, substitute
from vinculum.simulation.problem.pulses import shortest_pulse
from vinculum.simulation.trajectory.live_run import Segment
from vinculum.simulation.trajectory.outcome import INACCURATE, Cause, Outcome
from vinculum.simulation.trajectory.recorder import Plan, Recorder

LOST = 0.5  # share of the largest kinetic energy or work
RANGE = 0.03  # share of the range of a state that counts as an error of it
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
    cause = _lost_energy(recorder) or _lost_constraint(recorder)
    if cause is None or _starts_off(recorder.segments[0]):
        return outcome
    if plan.method.adaptive:
        advice = "Use a smaller tolerance, or another stabilization."
    else:
        advice = (
            f"The step {abs(plan.step):.4g} is too large for this motion: use a smaller one, or the method 'taylor'."
        )
    return Outcome(INACCURATE, outcome.time, replace(cause, finding=Finding("", [advice])))


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


def _lost_energy(recorder: Recorder) -> Cause | None:
    """The numbers of the energy balance, if it is lost."""
    error, first = recorder.balance_error, recorder.segments[0]
    if not error > ROUNDING * abs(recorder.balance_start):
        return None
    scales = [scale for segment in recorder.segments if (scale := _energy_scale(segment)) is not None]
    if np.any(np.isinf(scales)) or not np.isfinite(error):
        return Cause("energy lost", numbers={"error": error, "scale": abs(recorder.balance_start)})
    span = abs(recorder.segments[-1].t[-1] - first.t[0])
    noise = _changes(first, [first.problem.nodes.balance], 0, _noise(first) + _drift(first, span))[0]
    if not scales or error <= max(noise, LOST * max(scales)):
        return None
    return Cause("energy lost", numbers={"error": error, "scale": max(scales)})


def _energy_scale(segment: Segment) -> float | None:
    """The largest kinetic energy or work at the samples of a segment; None if neither is known."""
    nodes = segment.problem.nodes
    energy = nodes.integrable.energy
    wanted = [] if energy is None or energy.kinetic is None else [energy.kinetic]
    wanted += [WORK] if nodes.powers else []
    if not wanted:
        return None
    return float(np.abs(segment.rows(wanted)).max())


def _lost_constraint(recorder: Recorder) -> Cause | None:
    """The holonomic constraint that is not held, if there is one."""
    segment, largest = recorder.segments[-1], recorder.residuals
    nodes = segment.problem.nodes
    if largest is None or not len(largest):
        return None
    positions = np.array([level == "position" for _, level in nodes.residual_names])
    noise = _noise(recorder.segments[0])
    if np.all(largest[positions] <= _changes(segment, nodes.residuals, -1, noise)[positions]):
        return None
    allowed = _changes(segment, nodes.residuals, -1, RANGE * _ranges(recorder) + noise)
    lost = np.flatnonzero(positions & (largest > allowed))
    if not len(lost):
        return None
    name, _ = nodes.residual_names[lost[0]]
    return Cause("constraint lost", [About("constraint", name)], {"residual": float(largest[lost[0]])})


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


def _noise(segment: Segment) -> float:
    """An error of the states that counts as rounding, by the size of the first of them."""
    return ROUNDING * float(np.abs(segment.states[0]).max(initial=0.0))


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
    states = np.vstack([x, x + trial_signs(len(x)) * error])
    return Segment(segment.problem, np.full(_TRIALS + 1, t), states).rows(nodes)


def _largest_changes(found: np.ndarray) -> np.ndarray:
    """The largest changes from the first row; infinite where an error leaves the domain."""
    with np.errstate(invalid="ignore"):
        changes = np.abs(found[1:] - found[0]).max(axis=0)
    return np.where(np.all(np.isfinite(found), axis=0), changes, np.inf)
