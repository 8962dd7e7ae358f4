"""From what was recorded to a trajectory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vinculum.simulation.problem.plan import Plan
from vinculum.simulation.trajectory.outcome import Outcome
from vinculum.simulation.trajectory.recorder import Recorder, Segment
from vinculum.simulation.trajectory.trajectory import Trajectory


def trajectory(plan: Plan, recorder: Recorder, outcome: Outcome, described: str, dense: bool) -> Trajectory:
    """The trajectory of a finished run; ``described`` is its stabilization in words."""
    nodes = recorder.segments[0].problem.nodes
    fine = tuple(recorder.segments) if dense and not plan.method.adaptive else ()
    segments = _thinned(recorder.segments, plan) if fine else tuple(recorder.segments)
    largest = recorder.residuals if recorder.residuals is not None else np.zeros(len(nodes.residuals))
    return Trajectory(
        t=np.concatenate([segment.t for segment in segments]),
        outcome=outcome,
        largest_residuals=dict(zip(nodes.residual_names, map(float, largest), strict=True)),
        energy_error=recorder.balance_error,
        method=plan.method.described(plan.step) + (f" (chosen: {plan.why})" if plan.why else ""),
        stabilization=described,
        events=tuple(recorder.events),
        steps=recorder.steps,
        segments=segments,
        dense=tuple(recorder.dense) if recorder.keep_dense else (fine or (tuple(segments) if dense else ())),
    )


def _thinned(segments: list[Segment], plan: Plan) -> tuple[Segment, ...]:
    """Only the samples that were asked for, and where the run ended."""
    assert plan.asked is not None
    last = segments[-1].t[-1]
    kept = [np.isin(s.t, plan.asked) | (s.t == last) for s in segments]
    return tuple(replace(s, t=s.t[k], states=s.states[k]) for s, k in zip(segments, kept, strict=True) if k.any())
