"""States at which exported code is compared with the interpreter of the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vinculum.derivation import EquationsOfMotion, ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.errors import DomainError
from vinculum.export.kernel import Kernel
from vinculum.graph import Node, evaluate
from vinculum.graph.evaluate import magnitudes

_SPREAD = 0.02  # of random states about a known one
_ROUNDING = 64 * np.finfo(float).eps  # of the size of the terms


def reference(equations: Equations) -> dict[Node, float]:
    """A state at which the equations are regular."""
    if isinstance(equations, ProgramEquations):
        return dict(equations.points[0])
    assert isinstance(equations, EquationsOfMotion)
    return dict(reference_state(equations))


def random_values(kernel: Kernel, values: Values, count: int, seed: int = 1) -> list[dict[Node, float]]:
    """Values of the arguments of a kernel, at random near the given ones, where its results are finite."""
    random = np.random.default_rng(seed)
    nodes = [node for group in kernel.arguments for node in group.nodes]
    found: list[dict[Node, float]] = []
    for _ in range(20 * count):
        shift = random.normal(size=len(nodes))
        near = {
            node: float(values.get(node, 0.0) * (1 + _SPREAD * s) + (_SPREAD * s if node not in values else 0.0))
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


def expected(kernel: Kernel, values: Values) -> list[tuple[float, float]]:
    """(number, allowed rounding error) of every result."""
    return [(number, _ROUNDING * size) for number, size in magnitudes(kernel.outputs, values)]


def flat(kernel: Kernel, values: Values) -> Sequence[float]:
    """The arguments of a kernel in a row."""
    return [values[node] for group in kernel.arguments for node in group.nodes]
