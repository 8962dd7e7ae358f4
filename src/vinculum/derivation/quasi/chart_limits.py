"""Where a chart of quasi-velocities ends: what must not reach zero.

A chart given by elimination or by Newton ends where det(∂e/∂q̇) = 0 or e itself is not smooth; a closed inverse ends
where one of its roots or divisors vanishes. Conditions are stated in the user's symbols. Those of a small chart are
compiled and watched with the pivots; large determinants are computed in numbers whenever a pivot has shrunk, and one
must, since the product of all pivots is the determinant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.derivation.integrable import Condition
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import total
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.derivation.quasi.chart import Characteristics
from vinculum.errors import ModelError, SingularError
from vinculum.graph import ONE, ZERO, Node, evaluate, order, substitute, symbols, to_sympy, tree_size
from vinculum.graph.traverse import describe
from vinculum.names import listed, name_of

_SHORT = 60  # operations of a formula that is written out in a sentence
_LONG = 300  # operations of a formula that is simplified to become such a sentence
_LARGEST = 8  # coordinates; beyond, the determinant is not written out


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
    simple = _simplified(node)
    return simple is None or bool(simple.atoms(sp.Symbol, AppliedUndef) - fixed)


@cache
def _simplified(node: Node) -> sp.Expr | None:
    """A node as a short formula with its trigonometry simplified, or nothing where there is none."""
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
    simple = _simplified(node)
    if simple is None:
        return describe(node)
    plain = {leaf.value: sp.Symbol(name_of(leaf.value), real=True) for leaf in symbols([node])}
    return str(simple.xreplace(plain))


def watch_limits(explicit: Explicit, limits: Sequence[Condition], values: Values) -> Explicit:
    """The elimination with the conditions of a chart among its pivots, where they are written out."""
    nodes = tuple(limit.node for limit in limits if limit.node is not None)
    if not nodes:
        return explicit
    numbers = (*explicit.numbers, *evaluate(nodes, values))
    return replace(explicit, pivots=explicit.pivots + nodes, numbers=numbers)


def refuse_outside(limits: Sequence[Condition], values: Values) -> None:
    """Raise where a condition that is written out vanishes at a state."""
    for limit in limits:
        value = 1.0 if limit.node is None else limit.value(values)
        if abs(value) < 1e-12:
            raise SingularError(f"Invalid state: {limit.meaning}, and at this state it is {value:.3g}. {limit.advice}")


def determinant(A: np.ndarray) -> Node:
    """det A by expansion along rows, every minor once."""

    @cache
    def minor(row: int, columns: tuple[int, ...]) -> Node:
        if row == len(A):
            return ONE
        terms = []
        for place, j in enumerate(columns):
            if A[row, j] is not ZERO:
                rest = minor(row + 1, columns[:place] + columns[place + 1 :])
                terms.append(A[row, j] * rest if place % 2 == 0 else -(A[row, j] * rest))
        return total(terms)

    return minor(0, tuple(range(len(A))))


def refuse_dependent_characteristics(of: Characteristics, values: Values) -> None:
    """det(∂e/∂q̇) must not vanish: name the characteristics that depend on each other."""
    E = numbers(of.slopes, values)
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
            "constraints count as characteristics too. Choose others, so that e determines all velocities."
        ],
    )
