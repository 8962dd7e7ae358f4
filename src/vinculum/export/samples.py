"""States at which exported code is compared with the interpreter of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.derivation import EquationsOfMotion, ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.errors import DomainError
from vinculum.export.kernel import Kernel
from vinculum.graph import Node, evaluate
from vinculum.graph.enclosures import enclosures

_SPREAD = 0.02  # of random states about a known one
_TYPES: dict[str, type[np.floating[Any]]] = {"double": np.float64, "float": np.float32}


def reference(equations: Equations) -> dict[Node, float]:
    """A state at which the equations are regular."""
    if isinstance(equations, ProgramEquations):
        return dict(equations.points[0])
    assert isinstance(equations, EquationsOfMotion)
    return dict(reference_state(equations))


def random_values(
    kernel: Kernel, values: Values, count: int, seed: int = 1, real: str = "double"
) -> list[dict[Node, float]]:
    """Values of the arguments of a kernel, at random near the given ones, where its results are finite.

    They are numbers of the type ``real``, so code of that type gets the same arguments.
    """
    random = np.random.default_rng(seed)
    nodes = [node for group in kernel.arguments for node in group.nodes]
    found: list[dict[Node, float]] = []
    for _ in range(20 * count):
        shift = random.normal(size=len(nodes))
        near = {
            node: float(
                _TYPES[real](values.get(node, 0.0) * (1 + _SPREAD * s) + (_SPREAD * s if node not in values else 0.0))
            )
            for node, s in zip(nodes, shift, strict=True)
        }
        if _finite(kernel, near):
            found.append(near)
        if len(found) == count:
            break
    return found


def _finite(kernel: Kernel, values: Values) -> bool:
    try:
        return bool(np.all(np.isfinite(evaluate(kernel.outputs, values))))
    except (DomainError, ZeroDivisionError):
        return False


def expected(kernel: Kernel, states: Sequence[Values], real: str = "double") -> list[list[tuple[float, float]]]:
    """(number, largest rounding error) of every result, for every state.

    The error is the width of the enclosure of all that code with this type of numbers can compute: it contains the
    number that Python computed, and the one of the code.
    """
    if not states:
        return []
    known = {node: np.array([values[node] for values in states]) for group in kernel.arguments for node in group.nodes}
    own = np.finfo(_TYPES[real])
    given = {node: (row, row) for node, row in known.items()}
    found = enclosures(kernel.outputs, given, rounding=float(own.eps) / 2, smallest=float(own.tiny))
    widths = [np.broadcast_to(high - low, len(states)) for low, high in found]
    numbers = [evaluate(kernel.outputs, values) for values in states]
    return [[(x, float(width[k])) for x, width in zip(row, widths, strict=True)] for k, row in enumerate(numbers)]


def flat(kernel: Kernel, values: Values) -> Sequence[float]:
    """The arguments of a kernel in a row."""
    return [values[node] for group in kernel.arguments for node in group.nodes]
