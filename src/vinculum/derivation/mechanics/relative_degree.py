"""The vector relative degree: outputs are differentiated along the motion until an input appears.

For ẋ = F + B u an output y₀ = f(x, t) that has to vanish is differentiated,

    ẏ_j = a_j + p_j u,    a_j = ∂y_j/∂t + (∂y_j/∂x) F,    p_j = (∂y_j/∂x) B,    y_{j+1} := a_j,

as long as p_j vanishes. The number of differentiations until an input appears is the relative degree r; then
ẏ_{r-1} = a + p u determines the inputs.

- Rows that depend on others. p_i = Σ_k κ_k p_k ≠ 0 leaves a combination without inputs, y_{j+1} := a_i - Σ_k κ_k a_k,
  which must vanish too (zero dynamics algorithm; Isidori, Nonlinear Control Systems, 6.1). Where each output has to
  keep its own equation, only rows that vanish are differentiated.
- Whether a coefficient vanishes is decided by structure (`graph.exact`). A coefficient that is not identically zero may
  vanish on the manifold y = 0, or but for rounding; it is zero if it is as small as the rounding errors of the terms it
  sums, at sample states.
- An output whose derivative no longer depends on the state can never contain an input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn

import numpy as np

from vinculum.derivation.mechanics.explicit import best_columns
from vinculum.derivation.mechanics.lagrange import product, total
from vinculum.derivation.mechanics.sample_states import Samples, Values, cancels, numbers, stacked
from vinculum.errors import DomainError
from vinculum.graph import ONE, ZERO, Node, along, gradient, jacobian, solve, vector
from vinculum.graph.exact import vanishing

_ROUNDING = 1e-12  # of the terms of a sum


@dataclass(frozen=True, eq=False)
class Flow:
    """ẋ = F + B u."""

    states: Sequence[Node]  # (n) x
    time: Node
    F: np.ndarray  # (n)
    B: np.ndarray  # (n, s)

    def differentiate(self, y: Node) -> tuple[Node, np.ndarray]:
        """(a, p) of ẏ = a + p u; coefficients that vanish identically are the node zero."""
        (a,) = along([y], {**dict(zip(self.states, self.F, strict=True)), self.time: ONE})
        driven = [i for i, row in enumerate(self.B) if any(entry is not ZERO for entry in row)]
        p = product(self.B[driven].T, jacobian([y], [self.states[i] for i in driven])[0])
        return a, vector([ZERO if zero else entry for entry, zero in zip(p, vanishing(list(p)), strict=True)])


@dataclass(frozen=True, eq=False)
class Chain:
    """y₀, ..., y_{r-1} of one output and ẏ_{r-1} = a + p u."""

    name: str
    y: tuple[Node, ...]
    a: Node
    p: np.ndarray  # (s)
    dropped: tuple[int, ...] = ()  # levels j at which weak terms, zero on the manifold, were left out of y_{j+1}

    @property
    def degree(self) -> int:
        """r."""
        return len(self.y)


class Outputs(ABC):
    """Outputs that have to vanish: where they are examined, and which of them the inputs already hold."""

    combine: ClassVar[bool]  # whether rows that depend on others are replaced by combinations without inputs

    @abstractmethod
    def points(self, chains: Sequence[Chain]) -> Samples:
        """States at which to decide, for the chains found so far."""

    @abstractmethod
    def held(self, chains: Sequence[Chain], samples: Samples) -> list[int]:
        """The outputs on whose last derivatives inputs act."""

    @abstractmethod
    def refuse(self, chain: Chain) -> NoReturn:
        """Raise because no input will ever act on an output."""


def relative_degrees(outputs: Outputs, flow: Flow, chains: Sequence[Chain]) -> tuple[list[Chain], Samples]:
    """The chain of every output, and the states at which it was decided."""
    found = list(chains)
    while True:
        samples = outputs.points(found)
        held = outputs.held(found, samples)
        weak = [i for i in range(len(found)) if i not in held]
        if not weak:
            return found, samples
        for i in weak:
            longer = extend(flow, found[i], [found[j] for j in held] if outputs.combine else [], samples)
            if hopeless(flow, longer, samples):
                outputs.refuse(found[i])
            found[i] = longer


def begin_chain(flow: Flow, name: str, *y: Node) -> Chain:
    """The chain of an output that has been differentiated already as often as y has entries."""
    return Chain(name, y, *flow.differentiate(y[-1]))


def extend(flow: Flow, chain: Chain, others: Sequence[Chain], samples: Samples) -> Chain:
    """Differentiate once more, y_{j+1} := a_i - Σ_k κ_k a_k."""
    k = combination(chain.p, [other.p for other in others], samples)
    z = chain.a - total([k_j * other.a for k_j, other in zip(k, others, strict=True)])
    weak = not others and any(p is not ZERO for p in chain.p)
    dropped = (*chain.dropped, chain.degree - 1) if weak else chain.dropped
    return replace(begin_chain(flow, chain.name, *chain.y, z), dropped=dropped)


def combination(p: np.ndarray, others: Sequence[np.ndarray], samples: Samples) -> np.ndarray:
    """κ with p = Σ_k κ_k p_k, solved on the columns where the other rows are best conditioned."""
    if not others or all(not np.any(row_at(p, values)) for values in samples):
        return vector([ZERO] * len(others))
    P = np.array(others, dtype=object)
    columns = list(best_columns(numbers(P, samples[0])))
    A = P[:, columns].T
    return solve(A, p[columns][:, None], stacked(A, samples)).solution[:, 0]


# -- whether an input acts --------------------------------------------------------------------------------------------


def row_at(p: Sequence[Node] | np.ndarray, values: Values) -> np.ndarray:
    """The coefficients of the inputs at a state, zero where they cancel."""
    return np.where(cancels(p, values), 0.0, numbers(p, values))


def hopeless(flow: Flow, chain: Chain, samples: Samples) -> bool:
    """Whether no input can ever appear: more differentiations than states, or a last y that no state changes."""
    if chain.degree > len(flow.states):
        return True
    slopes = gradient(chain.y[-1], flow.states)
    left = [slope for slope, zero in zip(slopes, vanishing(slopes), strict=True) if not zero]
    return not left or all(_all_cancel(flow, chain, left, values) for values in samples)


def _all_cancel(flow: Flow, chain: Chain, nodes: Sequence[Node], values: Values) -> bool:
    try:
        return bool(cancels(nodes, values).all()) or not np.any(_slopes(flow, chain, values))
    except DomainError:
        return False


def acts(flow: Flow, chain: Chain, values: Values) -> bool:
    """Whether an input acts on ẏ_{r-1} at a state: p = y_x B is not a rounding error of its terms."""
    if not np.any(row_at(chain.p, values)):
        return False
    y_x, B = _slopes(flow, chain, values), numbers(flow.B, values)
    return bool(np.any(np.abs(y_x @ B) > _ROUNDING * (np.abs(y_x) @ np.abs(B))))


def _slopes(flow: Flow, chain: Chain, values: Values) -> np.ndarray:
    """∂y/∂x of the last y at a state, without rounding errors."""
    if chain.degree > 1:
        return _derived_slopes(flow, chain.y[-2], chain.y[-1], values)
    return row_at(gradient(chain.y[-1], flow.states), values)


def _derived_slopes(flow: Flow, y: Node, z: Node, values: Values) -> np.ndarray:
    """∂z/∂x of z = ẏ without inputs, zero where it is a rounding error of its terms Σ (y_x F_x + F y_xx).

    Numbers are folded when an expression is written: in a sum of momenta m (1/m) - m (1/m) leaves 10⁻¹⁶, a number like
    any other. Only its terms tell that it is zero.
    """
    x = list(flow.states)
    y_x = gradient(y, x)
    F, F_x = numbers(flow.F, values), numbers(jacobian(list(flow.F), x), values)
    terms = np.abs(numbers(y_x, values)) @ np.abs(F_x) + np.abs(F) @ np.abs(numbers(jacobian(y_x, x), values))
    slopes = numbers(gradient(z, x), values)
    return np.where(np.abs(slopes) <= _ROUNDING * terms, 0.0, slopes)
