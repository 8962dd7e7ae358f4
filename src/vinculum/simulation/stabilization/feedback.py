"""How a run stays on its constraints: the stabilization that fits its method, the gains, and the projection.

The correction of a constraint is c = Σ g_j y_j. The gains g are given by the user, belong to the equations, or are
taken from the method, its step and the motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vinculum.derivation.integrable import Feedback, Integrable, linear_feedback
from vinculum.derivation.mechanics.sample_states import correction
from vinculum.derivation.program.perturbation import binomial
from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import Node, jacobian
from vinculum.names import suggestion
from vinculum.simulation.problem.discontinuities import place_on_sides
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.stabilization import (
    BY_NAME,
    Baumgarte,
    Gain,
    Projection,
    Sampled,
    Stabilization,
    Unstabilized,
)
from vinculum.simulation.trajectory.recorder import Plan

# Share of the natural rate for residual equations of an order r above two. A correction c held through a step τ moves
# the residual by c τʳ/r!, with a relative error of the order τ^(p+1-r) of the method: third for r = 2 and RK4, but
# first for r = 4, with a constant that grows where inputs lose their effect; and rounding ε of the residual causes a
# jump ε/τ^(r-1) of its last derivative. Deadbeat gains multiply that by 1/τʳ and excite the residual.
_GENTLE = 0.05
_MOST_ITERATIONS = 8  # of a projection


def choose_stabilization(plan: Plan, asked: Stabilization | str | None) -> Stabilization:
    """The stabilization asked for, by object or name, or the default of the method; raises if it does not fit."""
    accepted = plan.method.stabilizations
    found = accepted[0]() if asked is None else BY_NAME.get(asked) if isinstance(asked, str) else asked
    if not isinstance(found, (Baumgarte, Sampled, Projection, Unstabilized)):
        known = ", ".join(repr(name) for name in BY_NAME)
        raise VinculumError(
            f"stabilization={asked!r} is not known. Use {known}, or Baumgarte(rate=...), Sampled(rate=...), "
            "Guaranteed(epsilon)."
        )
    if not isinstance(found, accepted):
        default = next(name for name, one in BY_NAME.items() if isinstance(one, accepted[0]))
        why = _MISFIT[type(found)].format(method=repr(plan.method.name))
        raise VinculumError(Finding(why, ["Use ", call("simulate", stabilization=default), "."]))
    return found


_MISFIT: dict[type, str] = {
    Sampled: "Sampled feedback is held through the stages of a Runge-Kutta step; {method} has none.",
    Projection: "Projection moves the state after every step, which would break the memory of {method}.",
    Baumgarte: "The method {method} has no continuous feedback.",
    Unstabilized: "The method {method} does not run without stabilization.",
}


def stabilize_problem(problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> tuple[Problem, str]:
    """The problem with its gains set, everything compiled, and the stabilization in words."""
    problem = place_on_sides(problem, plan, plan.t0, x)
    acts = bool(problem.integrable.constraints) and isinstance(stabilization, (Baumgarte, Sampled))
    rate = plan.method.feedback_rate(problem, plan, stabilization, x) if acts else 0.0
    direction = math.copysign(1.0, plan.t1 - plan.t0)
    law = feedback(stabilization, problem.integrable, rate, plan.method.order, direction)
    closed = place_on_sides(problem.with_feedback(law), plan, plan.t0, x)
    plan.method.prepare(closed, plan.t0, x)
    return closed, _describe(problem, stabilization, rate)


def _describe(problem: Problem, stabilization: Stabilization, rate: float) -> str:
    """The stabilization in words."""
    if not problem.integrable.constraints:
        return "not needed: no constraints"
    if isinstance(stabilization, Unstabilized):
        return "none"
    if isinstance(stabilization, Projection):
        return "projection after every step"
    name = type(stabilization).__name__.lower()
    if not stabilization.given and problem.integrable.prescribed is not None:
        return f"{name}, as prescribed by the equations"
    return f"{name}, gains as given" if stabilization.given else f"{name}, rate {rate:.6g} (chosen)"


def feedback(
    stabilization: Stabilization,
    integrable: Integrable,
    rate: float,
    method_order: float,
    direction: float = 1.0,
) -> Feedback:
    """The corrections c of every constraint, stable in the direction of the run.

    Without gains of the user, those of the equations are used; without these, gains from ``rate``: for `Sampled` it is
    1/τ, and ``method_order`` determines the deadbeat gains.
    """
    names, chains = [constraint.name for constraint in integrable.constraints], integrable.chains
    if isinstance(stabilization, (Projection, Unstabilized)):
        return linear_feedback(chains, [[0.0] * len(chain) for chain in chains])
    _refuse_strange_names(stabilization, names)
    if not stabilization.given and integrable.prescribed is not None:
        return integrable.prescribed
    rows = []
    for name, chain in zip(names, chains, strict=True):
        row = _row(stabilization, name, len(chain), rate, method_order)
        rows.append([g * direction ** (len(chain) - j) for j, g in enumerate(row)])
    return linear_feedback(chains, rows)


def _refuse_strange_names(stabilization: Baumgarte | Sampled, names: Sequence[str]) -> None:
    """Raise for gains of constraints that do not exist."""
    for gain in (stabilization.rate, getattr(stabilization, "alpha", None), getattr(stabilization, "beta", None)):
        for name in gain if isinstance(gain, Mapping) else ():
            if name not in names:
                raise VinculumError(f"A gain was given for {name}, which is not a constraint.{suggestion(name, names)}")


def deadbeat(order: int, method_order: float) -> np.ndarray:
    """Gains, in units of the step, with which a residual chain of order r is zero after r steps.

    With N the nilpotent chain and p the order of the method, a step with c held is y⁺ = Φ y - b c,
    Φ = Σ_{j ≤ p} Nʲ/j!, b = Σ_{j < p} Nʲ/(j+1)! e_r. Ackermann's formula for Φ - b g nilpotent: g = e_rᵀ C⁻¹ Φʳ.
    """
    N = np.eye(order, k=1)
    powers = [np.linalg.matrix_power(N, j) for j in range(order + 1)]
    Phi = sum(powers[j] / math.factorial(j) for j in range(int(min(method_order, order)) + 1))
    b = sum(powers[j][:, -1] / math.factorial(j + 1) for j in range(int(min(method_order, order))))
    controllability = np.column_stack([np.linalg.matrix_power(Phi, j) @ b for j in range(order)])
    return np.linalg.solve(controllability.T, np.eye(order)[-1]) @ np.linalg.matrix_power(Phi, order)


def _row(
    stabilization: Baumgarte | Sampled, name: str, order: int, natural: float, method_order: float
) -> Sequence[float]:
    """g_0 ... g_{r-1} of one constraint."""
    rate = _given(stabilization.rate, name)
    if isinstance(stabilization, Sampled) and rate is None and order <= 2:
        return [g * natural ** (order - j) for j, g in enumerate(deadbeat(order, method_order))]
    base = natural if rate is None else rate
    if order == 2 and isinstance(stabilization, Baumgarte):
        alpha, beta = _given(stabilization.alpha, name), _given(stabilization.beta, name)
        return [(base if beta is None else beta) ** 2, 2 * (base if alpha is None else alpha)]
    if order > 2 and rate is None:
        base *= _GENTLE
    return binomial(order, base)


def _given(gain: Gain | None, name: str) -> float | None:
    """The gain that the user gave for a constraint."""
    value = gain.get(name) if isinstance(gain, Mapping) else gain
    if value is not None and (not math.isfinite(value) or value < 0):
        raise VinculumError(f"The stabilization gain of {name} is {value}; it must be finite and not negative.")
    return value


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
