"""Stabilization with a promised accuracy: gain and step from the bound asked for (B3 to B6 of the theory).

1. A pilot run with the method itself gives states of the motion; they are moved onto the constraints.
2. One step from each of them measures the defect D that the method produces, level by level.
3. The recursion η⁺ = S η + d of the method (`recursion`) gives the bound Σ_m |S^m| D; the gain with the smallest
   bound is taken. Held feedback (Runge-Kutta) is deadbeat; continuous feedback (Adams) is searched over z = kτ.
4. A margin covers what the linear recursion leaves out. The run reports what was promised beside what was measured.

Source: Mukharlyamov, Kirgizbaev, section 5, with the theorem corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from vinculum.errors import Finding, VinculumError, Word, call
from vinculum.simulation.integrators.methods import METHODS, Adams, RungeKutta
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.probes import Probes
from vinculum.simulation.stabilization.promise import Promise, best
from vinculum.simulation.stabilization.stabilization import Guaranteed
from vinculum.simulation.trajectory.recorder import Segment

_MOST_TRIES, _MOST_PILOTS = 14, 8

Pilot = Callable[[float], Sequence[Segment]]  # step of the pilot run -> its samples


def promised(
    problem: Problem, asked: Guaranteed, method_name: str, step: float | None, span: float, rate: float, pilot: Pilot
) -> Promise:
    """The best promise at the given step, or at a step of our choice; refused where it is not good enough."""
    method = _checked(asked, method_name, span)
    sampled = asked.sampled if asked.sampled is not None else isinstance(method, RungeKutta)
    if step is None:
        return _searched(problem, method, sampled, asked.epsilon, span, min(0.1 / rate, span / 50), pilot)
    found = best(problem, _probes(pilot(step)), method, step, sampled)
    if found.worst <= asked.epsilon:
        return found
    would = _searched(problem, method, sampled, asked.epsilon, span, min(step / 2, 0.1 / rate), pilot)
    raise VinculumError(
        Finding(
            f"No gain keeps the constraints within {asked.epsilon:.3g} at the step {step:.3g} of {method_name!r}: the "
            f"best bound is {found.worst:.3g}, with the rate {found.rate:.4g}.",
            ["Use ", call("simulate", step=Word(f"{would.step:.3g}")), ", or leave step out."],
        )
    )


def _probes(segments: Sequence[Segment]) -> list[Probes]:
    """States on the constraints along a pilot run."""
    return [Probes.of(segment) for segment in segments]


def _searched(
    problem: Problem,
    method: RungeKutta | Adams,
    sampled: bool,
    epsilon: float,
    span: float,
    step: float,
    pilot: Pilot,
) -> Promise:
    """A step at which the promise holds on the states that a run with this very step visits."""
    bound = math.inf
    for _ in range(_MOST_PILOTS):
        probes = _probes(pilot(step))
        good = _adjusted(problem, probes, method, best(problem, probes, method, step, sampled), sampled, epsilon, span)
        if good is None:  # the pilot itself went astray
            step /= 4
            continue
        again = best(problem, _probes(pilot(good.step)), method, good.step, sampled)
        if again.worst <= epsilon:
            return again
        step, bound = 0.7 * good.step, again.worst
    raise VinculumError(
        f"No step was found that keeps the constraints within {epsilon:.3g}; near {step:.3g} the bound is {bound:.3g}. "
        "Rounding may forbid it: ask for less, or take a method of higher order."
    )


def _checked(asked: Guaranteed, name: str, span: float) -> RungeKutta | Adams:
    """The method for which a bound is asked; where none can be promised, the reason."""
    if name not in METHODS:
        raise VinculumError(
            Finding(
                f"A bound is promised for methods with a fixed step; {name!r} chooses its own.",
                ["Use ", call("simulate", method="rk4"), f" or another of {', '.join(METHODS)}."],
            )
        )
    if not (math.isfinite(asked.epsilon) and asked.epsilon > 0):
        raise VinculumError(f"Guaranteed(epsilon) needs a positive accuracy; got {asked.epsilon}.")
    method = METHODS[name]
    if asked.sampled and isinstance(method, Adams):
        raise VinculumError(f"Sampled feedback needs the stages of a Runge-Kutta method; {name!r} has none.")
    if span <= 0:
        raise VinculumError("A bound is promised for runs forward in time only.")
    return method


def _adjusted(
    problem: Problem,
    probes: Sequence[Probes],
    method: RungeKutta | Adams,
    found: Promise,
    sampled: bool,
    epsilon: float,
    span: float,
) -> Promise | None:
    """The largest step found for which the bound is kept: τ ← τ (ε/B)^{1/q}, q being the order of the defect."""
    q = method.order + 1 if sampled or isinstance(method, Adams) else 2
    good: Promise | None = None
    for _ in range(_MOST_TRIES):
        if found.worst <= epsilon:
            good = found if good is None or found.step > good.step else good
        factor = float(np.clip((0.7 * epsilon / max(found.worst, 1e-300)) ** (1 / q), 0.05, 4.0))
        step = min(found.step * factor, span / 50)
        if good is not None and (found.worst > 0.3 * epsilon or step <= good.step):
            break
        found = best(problem, probes, method, step, sampled)
    return good
