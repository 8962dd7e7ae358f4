"""How a run stays on its constraints: the stabilization that fits its method, the gains, and the projection.

The correction of a constraint is c = Σ g_j y_j. The gains g are given by the user, belong to the equations, or are
taken from the method, its step and the motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from vinculum.derivation.integrable import Feedback, Integrable, linear_feedback
from vinculum.derivation.mechanics.sample_states import correction
from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import Node, jacobian
from vinculum.names import suggestion
from vinculum.simulation.problem.discontinuities import place_on_sides
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.stabilization import MISFITS, Stabilization, stabilization_from
from vinculum.simulation.trajectory.recorder import Plan

_MOST_ITERATIONS = 8  # of a projection


def choose_stabilization(plan: Plan, asked: Stabilization | str | None) -> Stabilization:
    """The stabilization asked for, by object or name, or the default of the method; raises if it does not fit."""
    accepted = plan.method.stabilizations
    if asked is None:
        return _default(accepted[0])  # type: ignore[arg-type]  # classes are hashable, whatever their instances are
    found = stabilization_from(asked)
    if found.acts not in [kind.acts for kind in accepted]:
        why = MISFITS[found.acts].format(method=repr(plan.method.name))
        raise VinculumError(Finding(why, ["Use ", call("simulate", stabilization=accepted[0].name), "."]))
    return found


@cache
def _default(kind: type[Stabilization]) -> Stabilization:
    """A stabilization without options."""
    return kind()


def stabilize_problem(problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> tuple[Problem, str]:
    """The problem with its gains set, everything compiled, and the stabilization in words."""
    problem = place_on_sides(problem, plan, plan.t0, x)
    acts = bool(problem.integrable.constraints) and stabilization.feeds_back
    rate = plan.method.feedback_rate(problem, plan, stabilization, x) if acts else 0.0
    order, direction = plan.method.order, math.copysign(1.0, plan.t1 - plan.t0)

    def close() -> Problem:
        return problem.with_feedback(feedback(stabilization, problem.integrable, rate, order, direction))

    key = "closed", type(stabilization), rate, order, direction
    closed = close() if stabilization.given else problem.kept.get(key, close)
    closed = place_on_sides(closed, plan, plan.t0, x)
    plan.method.prepare(closed, plan.t0, x)
    return closed, _describe(problem.integrable, stabilization, rate)


def _describe(integrable: Integrable, stabilization: Stabilization, rate: float) -> str:
    """The stabilization in words."""
    if not integrable.constraints:
        return "not needed: no constraints"
    if _is_prescribed(integrable, stabilization):
        return f"{stabilization.name}, as prescribed by the equations"
    return stabilization.described(rate)


def _is_prescribed(integrable: Integrable, stabilization: Stabilization) -> bool:
    """Whether the equations determine the gains."""
    return stabilization.feeds_back and not stabilization.given and integrable.prescribed is not None


def feedback(
    stabilization: Stabilization,
    integrable: Integrable,
    rate: float,
    method_order: float,
    direction: float = 1.0,
) -> Feedback:
    """The corrections c of every constraint, stable in the direction of the run.

    Without gains of the user, those of the equations are used; without these, gains from ``rate``: for held feedback
    it is 1/τ, and ``method_order`` determines the deadbeat gains.
    """
    names, chains = [constraint.name for constraint in integrable.constraints], integrable.chains
    if not stabilization.feeds_back:
        return linear_feedback(chains, [[0.0] * len(chain) for chain in chains])
    named = _named_gains(stabilization)
    _refuse_strange_names(named, names)
    if _is_prescribed(integrable, stabilization):
        assert integrable.prescribed is not None
        return integrable.prescribed
    rows: dict[tuple[str | None, int], list[float]] = {}  # constraints without gains of their own are alike
    alike = [(name if name in named else None, len(chain)) for name, chain in zip(names, chains, strict=True)]
    for name, key in zip(names, alike, strict=True):
        if key not in rows:
            gains = stabilization.gains(name, key[1], rate, method_order)
            rows[key] = [g * direction ** (key[1] - j) for j, g in enumerate(gains)]
    return linear_feedback(chains, [rows[key] for key in alike], law=stabilization.given)


def _refuse_strange_names(named: set[str], names: Sequence[str]) -> None:
    """Raise for gains of constraints that do not exist."""
    for name in named:
        if name not in names:
            raise VinculumError(f"A gain was given for {name}, which is not a constraint.{suggestion(name, names)}")


def _named_gains(stabilization: Stabilization) -> set[str]:
    """The constraints with gains of their own."""
    gains = [getattr(stabilization, key) for key in stabilization.options()]
    return {name for gain in gains if isinstance(gain, Mapping) for name in gain}


# -- projection onto the constraints -----------------------------------------------------------------------------


class Level(NamedTuple):
    """Residuals and the consecutive states that are moved to make them vanish."""

    first: int  # number of the first state that moves
    moved: int  # how many move
    residuals: int
    start: int  # position of the residuals among the outputs; the rows of their Jacobian follow


def projection_outputs(problem: Problem) -> tuple[list[Node], list[Level]]:
    """The outputs a projection needs, and how to read them."""
    outputs: list[Node] = []
    levels = []
    for residuals, variables in problem.integrable.projections:
        if residuals:
            first = problem.nodes.state.index(variables[0])
            levels.append(Level(first, len(variables), len(residuals), len(outputs)))
            outputs += [*residuals, *jacobian(residuals, variables).ravel()]
    return outputs, levels


def project_after_step(problem: Problem) -> Callable[[Any], bool]:
    """A callback for heyoka that moves the state onto the constraints, positions first, then velocities."""
    nodes, levels = projection_outputs(problem)
    values = problem.compiled(nodes)

    def project(integrator: Any) -> bool:
        x = integrator.state
        for first, count, rows, start in levels:
            moved = slice(first, first + count)
            for _ in range(_MOST_ITERATIONS):
                out = values(integrator.time, x, problem.values)[start:]
                step = correction(out[rows : rows + rows * count].reshape(rows, count), out[:rows])
                if not np.all(np.isfinite(step)):
                    return True
                x[moved] -= step
                if np.abs(step).max() <= 1e-14 * (1 + np.abs(x[moved]).max()):
                    break
        return True

    return project
