"""Where a chart of quasi-velocities ends: what must not reach zero, stated in the user's symbols.

A chart given by elimination ends where det(∂e/∂q̇) = 0; a closed inverse ends where one of its roots or divisors vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from vinculum.derive.chart import Characteristics
from vinculum.derive.equations import Condition
from vinculum.derive.mechanics import total
from vinculum.derive.reference import Values, numbers
from vinculum.errors import ModelError
from vinculum.graph import ONE, ZERO, Node, order, substitute, symbols
from vinculum.graph.traverse import describe
from vinculum.names import listed, name_of

_LARGEST = 8  # coordinates; beyond, the determinant is not written out


def conditions(of: Characteristics, held: Sequence[Node]) -> tuple[Condition, ...]:
    """The conditions of the chart with the release parameters ``held`` at zero."""
    steady = {*of.system.nodes.parameters}
    edges = [node for node in _edges(of) if symbols([node]) - steady]
    edges = [node for node in substitute(edges, dict.fromkeys(held, ZERO)) if symbols([node]) - steady]
    free = listed(of.names[: of.free])
    return tuple(
        Condition(node, f"the characteristics {free} determine the velocities only where {describe(node)} is not zero")
        for node in dict.fromkeys(edges)
    )


def _edges(of: Characteristics) -> list[Node]:
    if of.inverse is None:
        return [determinant(of.slopes)] if len(of.functions) <= _LARGEST else []
    nodes = order(of.inverse)
    return [node for node in nodes if node.op == "sqrt"] + [node.args[1] for node in nodes if node.op == "divide"]


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
    guilty = [name_of(name) for name, part in zip(of.names, taking_part, strict=True) if part]
    point = ", ".join(f"{name_of(c)} = {values[q]:.6g}" for c, q in zip(of.system.coordinates, of.system.nodes.q, strict=True))
    raise ModelError(
        "the characteristics are not independent",
        [
            f"{', '.join(guilty)} depend on each other: det(de/dqdot) = 0, rank {rank} of {len(E)} at {point}. The "
            "constraints count as characteristics too. Choose others, so that e determines all velocities."
        ],
    )
