"""Quasi-velocities: n kinematic characteristics e = e(q, q̇, t) in place of the velocities (Khusanov 2020, (2) to (5)).

    q̇ = q̇(q, e, t),   K = ∂q̇/∂e = (∂e/∂q̇)⁻¹,   ∂/∂π_a = Σ_i K_ia ∂/∂q_i

The first k characteristics are the user's, the others are the constraints themselves, e_{k+s} = ψ_s. Derivatives are
taken either on explicit functions of (q, e, t), or on functions of (q, q̇, t) with K from the inverse function
theorem:

    ∂F/∂e = Kᵀ F_q̇,   ∂F/∂q at fixed e = F_q - (K e_q)ᵀ F_q̇,   q̈ = K (ė - e_q q̇ - e_t).

A chart built by elimination or by Newton's method ends where det(∂e/∂q̇) = 0 or e itself is not smooth; a closed
inverse ends where one of its roots or divisors vanishes. These limits are stated in the user's symbols. Those of a
small chart are compiled and watched with the pivots; large determinants are evaluated whenever a pivot has shrunk.
That is enough: the product of all pivots is the determinant, so one of them must shrink first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.derivation.integrable import Condition
from vinculum.derivation.mechanics.explicit import Explicit, pivots_at, refuse_dependent
from vinculum.derivation.mechanics.lagrange import matrix_product, product
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers, stacked
from vinculum.describe import System
from vinculum.errors import ModelError, SingularError
from vinculum.graph import (
    ONE,
    ZERO,
    Node,
    Pivot,
    along,
    gradient,
    jacobian,
    order,
    solve,
    substitute,
    symbol,
    symbols,
    to_sympy,
    tree_size,
    vector,
)
from vinculum.graph.cramer import determinant
from vinculum.graph.traverse import describe
from vinculum.names import listed, name_of

NEWTON_STEPS = 2  # from velocities that are integrated too: the first step already meets e up to rounding
_SHORT = 60  # operations of a formula that is written out in a sentence
_LONG = 300  # operations of a formula that is simplified to become such a sentence
_LARGEST = 8  # coordinates; beyond, the determinant is not written out


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
    pivots: tuple[Pivot, ...]

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
        """Nodes of the chart as functions of what is integrated: without a closed inverse, by Newton's steps."""
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
        return Chart(characteristics, velocities, jacobian(list(velocities), characteristics.e), ())
    E = characteristics.slopes
    at_rest = (
        substitute(list(characteristics.functions), dict.fromkeys(nodes.v, ZERO)) if characteristics.linear else ()
    )
    right = vector(characteristics.e) - vector(at_rest) if characteristics.linear else vector(nodes.v)
    found = solve(E, np.column_stack([right, identity(len(E))]), stacked(E, samples))
    velocities = found.solution[:, 0] if characteristics.linear else vector(nodes.v)
    return Chart(characteristics, velocities, found.solution[:, 1:], found.pivots)


def identity(n: int) -> np.ndarray:
    """The unit matrix of nodes."""
    result = np.full((n, n), ZERO, dtype=object)
    np.fill_diagonal(result, ONE)
    return result


@dataclass(frozen=True, eq=False)
class DeterminantLimit(Condition):
    """det(∂e/∂q̇) of a large chart, a number computed at a state."""

    slopes: np.ndarray | None = None  # (n, n) ∂e/∂q̇

    def value(self, values: Values) -> float:
        """The determinant at a state."""
        assert self.slopes is not None
        return float(np.linalg.det(numbers(self.slopes, values)))


def chart_limits(of: Characteristics, held: Sequence[Node]) -> tuple[Condition, ...]:
    """The conditions of the chart with the release parameters ``held`` at zero."""
    steady = {*of.system.nodes.parameters}
    edges = [node for node in _edges(of) if symbols([node]) - steady]
    edges = [node for node in substitute(edges, dict.fromkeys(held, ZERO)) if _moves(node, steady)]
    free = f"the characteristics {listed(of.names[: of.free])} determine the velocities only where"
    found = [Condition(node, f"{free} {written(node)} is not zero") for node in dict.fromkeys(edges)]
    if of.inverse is None and len(of.functions) > _LARGEST:
        found.append(DeterminantLimit(None, f"{free} det(de/dqdot) is not zero", slopes=of.slopes))
    return tuple(found)


def _moves(node: Node, steady: set[Node]) -> bool:
    """Whether a node depends on more than parameters, also when its trigonometry is simplified."""
    if not symbols([node]) - steady:
        return False
    fixed = {leaf.value for leaf in steady}
    simple = _simplify(node)
    return simple is None or bool(simple.atoms(sp.Symbol, AppliedUndef) - fixed)


@cache
def _simplify(node: Node) -> sp.Expr | None:
    """A node as a short formula with its trigonometry simplified; None if it is too long."""
    if tree_size(node, _LONG) >= _LONG:
        return None
    root = node.op == "sqrt"
    expanded = sp.expand(to_sympy(node.args[0] if root else node))
    simple = sp.factor_terms(sp.trigsimp(expanded)) if sp.count_ops(expanded) < _LONG else expanded
    return None if sp.count_ops(simple) > _SHORT else sp.sqrt(simple) if root else simple


def _edges(of: Characteristics) -> list[Node]:
    if of.inverse is None:
        grip = [determinant(of.slopes)] if len(of.functions) <= _LARGEST else []
        return grip + ([] if of.linear else _singular(order(of.functions)))
    return _singular(order(of.inverse))


def _singular(nodes: Sequence[Node]) -> list[Node]:
    """Roots and divisors: functions are not smooth where these vanish."""
    return [node for node in nodes if node.op == "sqrt"] + [node.args[1] for node in nodes if node.op == "divide"]


def written(node: Node) -> str:
    """A node in the user's names, as a formula where it is small."""
    simple = _simplify(node)
    if simple is None:
        return describe(node)
    plain = {leaf.value: sp.Symbol(name_of(leaf.value), real=True) for leaf in symbols([node])}
    return str(simple.xreplace(plain))


def watch_limits(explicit: Explicit, limits: Sequence[Condition], values: Values) -> Explicit:
    """The elimination with the conditions of a chart among its pivots, where they are written out."""
    nodes = [limit.node for limit in limits if limit.node is not None]
    return replace(explicit, pivots=explicit.pivots + pivots_at(nodes, values))


def refuse_outside(limits: Sequence[Condition], values: Values) -> None:
    """Raise where a condition that is written out vanishes at a state."""
    for limit in limits:
        value = 1.0 if limit.node is None else limit.value(values)
        if abs(value) < 1e-12:
            raise SingularError(f"Invalid state: {limit.meaning}, and at this state it is {value:.3g}. {limit.advice}")


def refuse_dependent_characteristics(of: Characteristics, values: Values) -> None:
    """det(∂e/∂q̇) must not vanish: name the constraints or characteristics that depend on each other."""
    E, system = numbers(of.slopes, values), of.system
    names = [c.name for c in system.constraints]
    refuse_dependent(E[of.free :], names, system.coordinates, numbers(system.nodes.q, values))
    length = np.linalg.norm(E, axis=1, keepdims=True)
    vectors, singular, _ = np.linalg.svd(E / np.where(length > 0, length, 1.0))
    if singular[-1] > 1e-9:
        return
    rank = int(np.sum(singular > 1e-9))
    taking_part = np.abs(vectors[:, rank:]).max(axis=1) > 1e-6
    involved = [name_of(name) for name, part in zip(of.names, taking_part, strict=True) if part]
    point = ", ".join(
        f"{name_of(c)} = {values[q]:.6g}" for c, q in zip(of.system.coordinates, of.system.nodes.q, strict=True)
    )
    raise ModelError(
        "Dependent characteristics",
        [
            f"{', '.join(involved)} depend on each other: det(de/dqdot) = 0, rank {rank} of {len(E)} at {point}. The "
            "constraints count as characteristics too. Choose characteristics that determine all velocities."
        ],
    )
