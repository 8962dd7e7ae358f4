"""Relative degrees of program constraints, on the manifold where all constraints hold.

For ẋ = F + B N the constraints are the outputs of `relative_degree`. While p_j vanishes *on the manifold*, its terms
are dropped, y_{j+1} := a_j, although they need not vanish off the manifold. Then ẏ_{r-1} = a + p N is exact, and so is
the perturbation equation imposed on it, while ẏ_j = y_{j+1} + (weak terms) is a stable system driven by other
residuals. The sample states satisfy all constraints and all y_j found so far; each round leaves fewer such states, so
all rows are checked again until none changes.

Source: Pesterev, Matrosov, Morozov, section 2, with the weak terms treated as in docs/reactions_as_controls.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from vinculum.derivation.mechanics.relative_degree import Chain, Flow, Outputs, begin_chain, relative_degrees, row_at
from vinculum.derivation.mechanics.sample_states import Samples, Values, consistent_states
from vinculum.describe.affine import AffineNodes
from vinculum.errors import ConstraintError, Finding, Word, call
from vinculum.graph import Node


@dataclass(frozen=True, eq=False)
class ProgramOutputs(Outputs):
    """The constraints of an affine system."""

    nodes: AffineNodes
    values: Values  # of the parameters
    around: Mapping[Node, float] | None  # a state near which the degrees are wanted
    added: frozenset[Node]  # states of a dynamic extension, of which a user knows nothing
    combine = False

    def points(self, chains: Sequence[Chain]) -> Samples:
        """States on the manifold."""
        return consistent_points(self.nodes, chains, self.values, self.around, self.added)

    def held(self, chains: Sequence[Chain], samples: Samples) -> list[int]:
        """The constraints on which an input acts somewhere on the manifold."""
        return [i for i, chain in enumerate(chains) if any(np.any(row_at(chain.p, values)) for values in samples)]

    def refuse(self, chain: Chain) -> NoReturn:
        """Raise because no input acts on a constraint."""
        raise ConstraintError(
            f"No input ever acts on the constraint {chain.name!r}: after {chain.degree} differentiations none has "
            "appeared. Add the reaction or control that holds it, or remove the constraint."
        )


def program_degrees(
    nodes: AffineNodes,
    names: Sequence[str],
    values: Values,
    around: Mapping[Node, float] | None,
    added: frozenset[Node] = frozenset(),
) -> tuple[list[Chain], Samples]:
    """The chain of every constraint, and the consistent points at which it was decided."""
    flow = Flow(nodes.x, nodes.time, nodes.F, nodes.B)
    chains = [begin_chain(flow, name, f) for name, f in zip(names, nodes.f, strict=True)]
    return relative_degrees(ProgramOutputs(nodes, values, around, added), flow, chains)


def consistent_points(
    nodes: AffineNodes,
    chains: Sequence[Chain],
    values: Values,
    around: Mapping[Node, float] | None,
    added: frozenset[Node] = frozenset(),
    wanted: int = 6,
) -> list[dict[Node, float]]:
    """Points in general position on which all residuals found so far vanish. The same system gets the same points."""
    random = np.random.default_rng(20_003)
    residuals = [y for chain in chains for y in chain.y]
    starts = (_draw(nodes, random, attempt, values, around, added) for attempt in range(60))
    found = consistent_states(starts, ((residuals, nodes.x),), wanted, defined=[*nodes.F, *nodes.B.ravel()])
    if not found:
        _refuse_manifold(chains)
    return found


def _draw(
    nodes: AffineNodes,
    random: np.random.Generator,
    attempt: int,
    values: Values,
    around: Mapping[Node, float] | None,
    added: frozenset[Node],
) -> dict[Node, float]:
    """A state and an instant: anywhere, or near those that the user named; omitted states are zero, t is any."""
    anywhere = dict(zip(nodes.x, map(float, random.normal(0.3, 0.5 + 0.05 * attempt, len(nodes.x))), strict=True))
    anywhere[nodes.time] = float(random.uniform(0.1, 0.9) * (1 + attempt // 3))
    if around is not None:
        known = {node: around.get(node, 0.0) for node in nodes.x if node not in added} | dict(around)
        spread = 0.0 if attempt == 0 else 0.05
        anywhere |= {node: c + spread * (0.2 + abs(c)) * float(random.normal()) for node, c in known.items()}
    return dict(values) | anywhere


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
