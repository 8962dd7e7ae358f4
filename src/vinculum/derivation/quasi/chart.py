"""Quasi-velocities: n kinematic characteristics e = e(q, q̇, t) in place of the velocities (Khusanov 2020, (2) to (5)).

    q̇ = q̇(q, e, t),   K = ∂q̇/∂e = (∂e/∂q̇)⁻¹,   ∂/∂π_a = Σ_i K_ia ∂/∂q_i

The first k characteristics are the user's, the others are the constraints themselves, e_{k+s} = ψ_s. Derivatives are
taken either on explicit functions of (q, e, t), or on functions of (q, q̇, t) with K from the inverse function
theorem:

    ∂F/∂e = Kᵀ F_q̇,   ∂F/∂q at fixed e = F_q - (K e_q)ᵀ F_q̇,   q̈ = K (ė - e_q q̇ - e_t).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.lagrange import matrix_product, product
from vinculum.derivation.mechanics.sample_states import Samples, stacked
from vinculum.describe import System
from vinculum.graph import ONE, ZERO, Node, along, gradient, jacobian, solve, substitute, symbol, symbols, vector

NEWTON_STEPS = 2  # from velocities that are integrated along, so that the first step already meets e to rounding


@dataclass(frozen=True, eq=False)
class Characteristics:
    """e(q, q̇, t): names, symbols and functions; the first ``free`` are the user's."""

    system: System
    names: tuple[sp.Expr, ...]  # (n)
    functions: tuple[Node, ...]  # (n) nodes of q, q̇, t
    free: int
    inverse: tuple[Node, ...] | None = None  # (n) q̇(q, e, t) in closed form; None: linear, or by Newton

    @property
    def e(self) -> tuple[Node, ...]:
        """(n) symbols e."""
        return tuple(symbol(name) for name in self.names)

    @property
    def rates(self) -> tuple[Node, ...]:
        """(n) symbols ė."""
        return tuple(symbol(name.diff(self.system.time)) for name in self.names)

    @property
    def slopes(self) -> np.ndarray:
        """(n, n) ∂e/∂q̇."""
        return jacobian(self.functions, self.system.nodes.v)

    @property
    def linear(self) -> bool:
        """Whether e is linear in q̇, so that elimination inverts it."""
        return not symbols(self.slopes.ravel()) & set(self.system.nodes.v)

    @property
    def by_newton(self) -> bool:
        """Whether there is no closed inverse."""
        return self.inverse is None and not self.linear


@dataclass(frozen=True, eq=False)
class Chart:
    """Velocities and derivatives in the variables (q, e, t), or (q, q̇, t) where there is no closed inverse."""

    of: Characteristics
    velocities: np.ndarray  # (n) q̇
    K: np.ndarray  # (n, n) ∂q̇_i/∂e_a
    pivots: tuple[Node, ...]
    numbers: tuple[float, ...]

    def seen(self, nodes: Sequence[Node] | np.ndarray) -> np.ndarray:
        """Nodes of (q, q̇, t) in the variables of the chart."""
        array = np.asarray(nodes, dtype=object)
        moved = substitute(list(array.ravel()), dict(zip(self.of.system.nodes.v, self.velocities, strict=True)))
        return vector(moved).reshape(array.shape)

    def by_e(self, node: Node) -> np.ndarray:
        """(n) ∂/∂e at fixed q."""
        if self.of.by_newton:
            return product(self.K.T, vector(gradient(node, self.of.system.nodes.v)))
        return vector(gradient(node, self.of.e))

    def by_q(self, node: Node) -> np.ndarray:
        """(n) ∂/∂q at fixed e."""
        nodes = self.of.system.nodes
        direct = vector(gradient(node, nodes.q))
        if not self.of.by_newton:
            return direct
        following = matrix_product(self.K, jacobian(self.of.functions, nodes.q))
        return direct - product(following.T, vector(gradient(node, nodes.v)))

    def by_pi(self, node: Node) -> np.ndarray:
        """(n) ∂/∂π_a = Σ_i K_ia ∂/∂q_i."""
        return product(self.K.T, self.by_q(node))

    def rate(self, nodes: Sequence[Node] | np.ndarray) -> np.ndarray:
        """d/dt along q̇(q, e, t) and the symbols ė."""
        array = np.asarray(nodes, dtype=object)
        return vector(along(list(array.ravel()), self._flow())).reshape(array.shape)

    def _flow(self) -> dict[Node, Node]:
        nodes = self.of.system.nodes
        flow = {**dict(zip(nodes.q, self.velocities, strict=True)), nodes.time: ONE}
        if self.of.by_newton:
            drift = vector(along(self.of.functions, flow))
            flow.update(zip(nodes.v, product(self.K, vector(self.of.rates) - drift), strict=True))
        else:
            flow.update(zip(self.of.e, self.of.rates, strict=True))
        return flow

    def settled(self, nodes: Sequence[Node] | np.ndarray) -> np.ndarray:
        """Nodes of the chart as functions of what is integrated: without a closed inverse, Newton's steps put in."""
        array = np.asarray(nodes, dtype=object)
        if not self.of.by_newton:
            return array
        v, v_now = self.of.system.nodes.v, vector(self.of.system.nodes.v)
        step = product(self.K, vector(self.of.functions) - vector(self.of.e))
        for _ in range(NEWTON_STEPS):
            v_now = v_now - vector(substitute(list(step), dict(zip(v, v_now, strict=True))))
        return vector(substitute(list(array.ravel()), dict(zip(v, v_now, strict=True)))).reshape(array.shape)


def chart(characteristics: Characteristics, samples: Samples) -> Chart:
    """The chart of the characteristics, with pivots chosen on the samples where an elimination is needed."""
    nodes = characteristics.system.nodes
    if characteristics.inverse is not None:
        velocities = vector(characteristics.inverse)
        return Chart(characteristics, velocities, jacobian(list(velocities), characteristics.e), (), ())
    E = characteristics.slopes
    at_rest = (
        substitute(list(characteristics.functions), dict.fromkeys(nodes.v, ZERO)) if characteristics.linear else ()
    )
    right = vector(characteristics.e) - vector(at_rest) if characteristics.linear else vector(nodes.v)
    found = solve(E, np.column_stack([right, identity(len(E))]), stacked(E, samples))
    velocities = found.solution[:, 0] if characteristics.linear else vector(nodes.v)
    return Chart(characteristics, velocities, found.solution[:, 1:], found.pivots, found.numbers)


def identity(n: int) -> np.ndarray:
    """The unit matrix of nodes."""
    result = np.full((n, n), ZERO, dtype=object)
    np.fill_diagonal(result, ONE)
    return result
