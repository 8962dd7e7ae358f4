"""Internal dynamics, the motion that the constraints leave free: its roots at a point, its growth along a motion.

At a steady state x₀ of ẋ = f(x) on the manifold of all residuals z(x) = 0 the tangent space N (z_x N = 0) is invariant:
f_x N = N A, and the roots of A are those of the internal dynamics. Along a motion, N is carried by ẋ' = f_x x' and kept
orthogonal; in the second half of the motion, when its columns have converged to their directions, their mean growth
gives the Lyapunov exponents of that interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linearize import linearize
from vinculum.analyze.root_bounds import bounded_roots
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.mechanics.sample_states import cancels, numbers
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.graph import Node, evaluate, jacobian, symbol
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.trajectory import Trajectory
from vinculum.units.given import numbers_in_si


@dataclass(frozen=True, eq=False)
class InternalDynamics:
    """Roots (at a point) or exponents (along a motion) of the motion that the constraints leave free."""

    rates: np.ndarray  # complex roots, or real exponents, the fastest growth first
    matrix: np.ndarray | None  # the first approximation A at a point

    @property
    def stable(self) -> bool | None:
        """True if all decay, False if one grows, None if the linearization does not decide."""
        if self.matrix is not None:
            found = bounded_roots(self.matrix)
            return False if found.right.any() else (True if found.left.all() else None)
        growth, size = self.rates.real.max(initial=-np.inf), np.abs(self.rates).max(initial=0.0)
        return None if abs(growth) <= 1e-6 * size else bool(growth < 0)

    _repr_html_ = html


def internal_dynamics(
    of: Analyzed | Trajectory,
    at: Mapping[sp.Expr, float] | None = None,
    states: Sequence[sp.Expr] | None = None,
) -> InternalDynamics:
    """The internal dynamics at a steady state ``at`` of equations, or along a motion.

    At a point these are the roots of `linearize`, which leaves out the coordinates that run in a steady motion. Pass
    ``states`` for a part of the states of the form itself, such as quasi-velocities, or of a motion.
    """
    if isinstance(of, Trajectory):
        return along_motion(of, states)
    if at is None:
        raise ModelError("No point was given", ["Pass at={state: value, ...}, or a motion instead of the equations."])
    if not isinstance(at, Equilibrium):
        at = numbers_in_si(at, dimensions_of(of), "Invalid point")
    matrix = linearize(of, at).system_matrix if states is None else _of_states(of, at, states)
    return InternalDynamics(bounded_roots(matrix).roots, matrix)


def _of_states(of: Analyzed, at: Mapping[sp.Expr, float], states: Sequence[sp.Expr]) -> np.ndarray:
    """The first approximation in states of the form itself, such as quasi-velocities."""
    if not isinstance(of, EquationsOfMotion):
        raise ModelError("Invalid states", ["Only equations of motion have states of a form. Leave states out."])
    A, _ = first_approximation(of, at, states, ())
    N = tangent(of, at, states)
    return np.linalg.lstsq(N, A @ N, rcond=None)[0]


def first_approximation(
    equations: EquationsOfMotion,
    at: Mapping[sp.Expr, float],
    states: Sequence[sp.Expr] | None,
    inputs: Sequence[sp.Expr],
) -> tuple[np.ndarray, np.ndarray]:
    """A = ∂f/∂x and B = ∂f/∂u of the chosen states, at a point where their rates vanish (an error elsewhere)."""
    chosen = list(states or equations.states)
    values = equations.values(at)
    explicit = equations.explicit(values)
    f = dict(zip(equations.states, equations.mechanics.without_corrections(explicit.rates), strict=True))
    rates = [f[key] for key in chosen]
    problems = _moving(chosen, rates, values)
    others = [symbol(key) for key in equations.states if key not in chosen]
    felt = ~cancels(jacobian(rates, others), values) if others else np.zeros((len(rates), 0), dtype=bool)
    if felt.any():
        missing = [other.value for other, column in zip(others, felt.T, strict=True) if column.any()]
        problems.append(f"The rates of {listed(chosen)} also depend on {listed(missing)}. Add these to states=[...].")
    if problems:
        raise ModelError("The first approximation is not defined at this point", problems)
    x, u = [symbol(key) for key in chosen], [symbol(key) for key in inputs]
    return numbers(jacobian(rates, x), values), numbers(jacobian(rates, u), values)


def _moving(chosen: Sequence[sp.Expr], rates: Sequence[Node], values: Mapping[Node, float]) -> list[str]:
    found = zip(chosen, evaluate(rates, values), cancels(rates, values), strict=True)
    moving = [f"{name_of(key)} changes at {rate:.3g}" for key, rate, still in found if not still]
    if not moving:
        return []
    return [f"The point is not steady: {', '.join(moving)}. Pass only the steady states=[...], or pass a motion."]


def residuals(equations: EquationsOfMotion) -> list[Node]:
    """Everything that must vanish on the constraint manifold."""
    return [z for level, _ in equations.variables.projections for z in level]


def tangent(equations: EquationsOfMotion, at: Mapping[sp.Expr, float], states: Sequence[sp.Expr] | None) -> np.ndarray:
    """An orthonormal basis of the tangent space of the manifold at a state."""
    x = [symbol(key) for key in states or equations.states]
    return _null(numbers(jacobian(residuals(equations), x), equations.values(at)).reshape(-1, len(x)))


def _null(C: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the null space."""
    if not C.size:
        return np.eye(C.shape[1])
    _, singular, vectors = np.linalg.svd(C)
    return vectors[int(np.sum(singular > 1e-9 * singular[0])) :].T


def along_motion(motion: Trajectory, states: Sequence[sp.Expr] | None = None) -> InternalDynamics:
    """Lyapunov exponents over the second half of a motion, from the first approximation at its samples."""
    import scipy.linalg

    problem = motion.problem
    if problem is None:
        raise ModelError("The motion has no equations", ["It was read from a file. Simulate it again."])
    chosen = list(states or problem.equations.states)
    n = len(chosen)
    A = motion.rows(lambda problem: list(_slopes(problem, chosen).ravel())).reshape(-1, n, n)
    N = _null(_gradients(motion, chosen))
    growth, half = np.zeros(N.shape[1]), len(motion.t) // 2
    for k, step in enumerate(np.diff(motion.t)):
        N, R = np.linalg.qr(scipy.linalg.expm(step * (A[k] + A[k + 1]) / 2) @ N)
        growth += np.log(np.abs(np.diag(R))) if k >= half else 0.0
    return InternalDynamics(np.sort(growth / (motion.t[-1] - motion.t[half]))[::-1], None)


def _slopes(problem: Problem, chosen: Sequence[sp.Expr]) -> np.ndarray:
    """∂f/∂x of the chosen states."""
    places = [problem.equations.states.index(key) for key in chosen]
    return jacobian([problem.nodes.rates[i] for i in places], [problem.nodes.state[i] for i in places])


def _gradients(motion: Trajectory, chosen: Sequence[sp.Expr]) -> np.ndarray:
    """The gradients of all residuals at the start of a motion."""
    first = motion.segments[0]
    nodes = list(jacobian(first.problem.nodes.residuals, [symbol(key) for key in chosen]).ravel())
    found = first.problem.compiled(nodes)(first.t[0], first.states[0], first.problem.values)
    return found.reshape(-1, len(chosen))
