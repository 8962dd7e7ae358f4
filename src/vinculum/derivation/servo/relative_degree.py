"""Vector relative degree of constraints, on the constraint manifold and not identically.

For ẋ = F + B N a constraint y₀ = f(x, t) = 0 is differentiated,

    ẏ_j = a_j + p_j N,    a_j = ∂y_j/∂t + (∂y_j/∂x) F,    p_j = (∂y_j/∂x) B,

until p_j is not zero *on the manifold*. As long as it is zero there, its terms are dropped, y_{j+1} := a_j, although
off the manifold they need not vanish. Then ẏ_{r-1} = a + p N is exact and so is the perturbation equation imposed on
it, while ẏ_j = y_{j+1} + (weak terms) is a stable system driven by other residuals. Whether p_j vanishes is decided on
numbers, at several points that satisfy all constraints and all y_j found so far; each round has fewer such points,
so all rows are checked again until none changes.

Source: Pesterev, Matrosov, Morozov, section 2, with the weak terms treated as in docs/reactions_as_controls.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.mechanics.sample_states import Values, cancels, consistent_states
from vinculum.describe.affine import AffineNodes
from vinculum.errors import ConstraintError, Finding, Word, call
from vinculum.graph import ONE, ZERO, Node, along


@dataclass(frozen=True, eq=False)
class Chain:
    """y₀, ..., y_{r-1} of one constraint and ẏ_{r-1} = a + p N."""

    name: str
    y: tuple[Node, ...]
    a: Node
    p: np.ndarray  # (s)
    dropped: tuple[int, ...]  # levels j at which weak terms were left out of y_{j+1}

    @property
    def degree(self) -> int:
        """r."""
        return len(self.y)


def relative_degrees(
    nodes: AffineNodes, names: Sequence[str], values: Values, around: Mapping[Node, float] | None
) -> tuple[list[Chain], list[dict[Node, float]]]:
    """The chain of every constraint, and the consistent points at which it was decided."""
    chains = [begin_chain(nodes, name, f) for name, f in zip(names, nodes.f, strict=True)]
    while True:
        points = consistent_points(nodes, chains, values, around)
        weak = [i for i, chain in enumerate(chains) if not input_acts(chain, points)]
        if not weak:
            return chains, points
        for i in weak:
            chains[i] = extend(nodes, chains[i])


def begin_chain(nodes: AffineNodes, name: str, f: Node) -> Chain:
    """The chain of a constraint before anything is known about it."""
    return Chain(name, (f,), *differentiate(nodes, f), dropped=())


def differentiate(nodes: AffineNodes, y: Node) -> tuple[Node, np.ndarray]:
    """(a, p) of ẏ = a + p N."""
    a = along([y], {**dict(zip(nodes.x, nodes.F, strict=True)), nodes.time: ONE})[0]
    p = np.full(len(nodes.inputs), ZERO, dtype=object)
    for k in range(len(p)):
        p[k] = along([y], dict(zip(nodes.x, nodes.B[:, k], strict=True)))[0]
    return a, p


def extend(nodes: AffineNodes, chain: Chain) -> Chain:
    """One differentiation more; refused when no number of them can bring an input in."""
    if chain.degree >= len(nodes.x) or chain.a.op == "constant":
        raise ConstraintError(
            f"No input ever acts on the constraint {chain.name!r}: after {chain.degree} differentiations none has "
            "appeared. Add the reaction or control that holds it, or remove the constraint."
        )
    dropped = (*chain.dropped, chain.degree - 1) if any(p is not ZERO for p in chain.p) else chain.dropped
    return Chain(chain.name, (*chain.y, chain.a), *differentiate(nodes, chain.a), dropped=dropped)


def input_acts(chain: Chain, points: Sequence[Values]) -> bool:
    """Whether an input acts on ẏ_{r-1} somewhere on the manifold."""
    live = [p for p in chain.p if p is not ZERO]
    return any(not cancels(live, values).all() for values in points)


def consistent_points(
    nodes: AffineNodes, chains: Sequence[Chain], values: Values, around: Mapping[Node, float] | None, wanted: int = 6
) -> list[dict[Node, float]]:
    """Points in general position on which all residuals found so far vanish. The same system gets the same points."""
    random = np.random.default_rng(20_003)
    residuals = [y for chain in chains for y in chain.y]
    starts = (_draw(nodes, random, attempt, values, around) for attempt in range(60))
    found = consistent_states(starts, ((residuals, nodes.x),), wanted, defined=[*nodes.F, *nodes.B.ravel()])
    if not found:
        _refuse_manifold(chains)
    return found


def _draw(
    nodes: AffineNodes, random: np.random.Generator, attempt: int, values: Values, around: Mapping[Node, float] | None
) -> dict[Node, float]:
    n = len(nodes.x)
    if around is None:
        x, time = random.normal(0.3, 0.5 + 0.05 * attempt, n), float(random.uniform(0.1, 0.9))
    else:
        center = np.array([around.get(node, 0.0) for node in nodes.x])
        spread = 0.0 if attempt == 0 else 0.05 * (0.2 + np.abs(center))
        x, time = center + spread * random.normal(size=n), around.get(nodes.time, 0.0)
    return dict(values) | dict(zip(nodes.x, map(float, x), strict=True)) | {nodes.time: time}


def _refuse_manifold(chains: Sequence[Chain]) -> None:
    names = ", ".join(f"`{chain.name}`" for chain in chains)
    raise ConstraintError(
        Finding(
            f"No state was found on which the constraints {names} and their derivatives vanish.",
            [
                "If there is one, give a point near it: ",
                call("derive", at={Word("state"): Word("value")}),
                "; otherwise the constraints contradict each other.",
            ],
        )
    )
