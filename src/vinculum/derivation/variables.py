"""The states of a form, and the residuals η, η̇, ... of the constraints, which stabilization uses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from vinculum.derivation.integrable import Condition
from vinculum.derivation.mechanics.lagrange import Mechanics, total
from vinculum.derivation.mechanics.partition import Partition
from vinculum.derivation.mechanics.servo_index_reduction import servo_limits
from vinculum.derivation.quasi.chart import Characteristics
from vinculum.errors import ModelError, VinculumError
from vinculum.graph import ZERO, Node, constant, symbol, vector
from vinculum.names import suggestion

Levels = tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]
Chains = tuple[tuple[Node | None, ...], ...]


@dataclass(frozen=True, eq=False)
class Variables:
    """The states of a form, the residuals that stabilize them, and the choices made for this system."""

    states: tuple[sp.Expr, ...]  # what is integrated
    dimension: int  # equations and unknowns of the form as the literature counts them
    feedback: Chains  # for each constraint the residuals that its correction is made of, lowest first
    projections: Levels  # (residuals, consecutive states that are moved to make them vanish), in order
    partition: Partition | None = None  # independent and dependent coordinates, where the form divides them
    characteristics: Characteristics | None = None  # quasi-velocities, where the form has them
    definitions: Mapping[sp.Expr, Node] = field(default_factory=dict)  # states that are neither q nor q̇, from q and q̇
    conditions: tuple[Condition, ...] = ()  # must stay away from zero for the states to determine the motion

    @property
    def divided(self) -> Partition:
        """The partition of a form that divides the coordinates."""
        assert self.partition is not None
        return self.partition

    @property
    def chart(self) -> Characteristics:
        """The characteristics of a form in quasi-velocities."""
        assert self.characteristics is not None
        return self.characteristics


def full_state(mechanics: Mechanics, multipliers: int = 0) -> Variables:
    """All coordinates and velocities; ``multipliers`` count as further unknowns."""
    system = mechanics.system
    return Variables(
        states=(*system.coordinates, *system.velocities),
        dimension=2 * len(system.coordinates) + multipliers,
        feedback=chain_feedback(mechanics),
        projections=chain_projections(mechanics),
        conditions=servo_limits(mechanics),
    )


# -- residuals ---------------------------------------------------------------------------------------------------------


def chain_feedback(mechanics: Mechanics) -> Chains:
    """All residuals of each constraint, lowest first; none for a constraint that is approached."""
    return tuple(
        (None, ZERO) if constraint.name in mechanics.approach else tuple(chain)
        for constraint, chain in zip(mechanics.system.constraints, mechanics.chains, strict=True)
    )


def chain_projections(mechanics: Mechanics) -> Levels:
    """Residuals and the states that are moved to make them vanish: positions, velocities, then hidden conditions."""
    nodes = mechanics.system.nodes
    exact = [c.name not in mechanics.approach for c in mechanics.system.constraints]
    position = tuple(f for f, held in zip(mechanics.position, exact, strict=True) if held and f is not None)
    chains = [chain for chain, held in zip(mechanics.chains, exact, strict=True) if held]
    if not any(name not in mechanics.approach for name, _ in mechanics.hidden):
        return (position, nodes.q), (tuple(chain[-1] for chain in chains), nodes.v)
    return ((tuple(z for chain in chains for z in chain), (*nodes.q, *nodes.v)),)


def position_feedback(mechanics: Mechanics) -> Chains:
    """The same for forms whose velocities meet the constraints: positions, and the chains of deep servos."""
    rows: list[tuple[Node | None, ...]] = []
    for s, (constraint, f) in enumerate(zip(mechanics.system.constraints, mechanics.position, strict=True)):
        held = constraint.name not in mechanics.approach
        below: tuple[Node | None, ...] = (None, ZERO if f is None or not held else f)
        rows.append(mechanics.chains[s] if held and s in mechanics.deep else below)
    return tuple(rows)


def position_projections(mechanics: Mechanics, quasi_velocities: Sequence[sp.Expr]) -> Levels:
    """Positions are moved onto the constraints; with deep servos, quasi-velocities too, onto all conditions."""
    nodes = mechanics.system.nodes
    exact = [c.name not in mechanics.approach for c in mechanics.system.constraints]
    deep = [s for s in mechanics.deep if exact[s]]
    position = [f for s, f in enumerate(mechanics.position) if f is not None and exact[s] and s not in deep]
    if not deep:
        return ((tuple(position), nodes.q),)
    hidden = [z for s in deep for z in mechanics.chains[s]]
    return (((*position, *hidden), (*nodes.q, *map(symbol, quasi_velocities))),)


# -- constraints that a motion approaches ------------------------------------------------------------------------------
#
# With the residual η of a constraint and its relative degree r, the equation η⁽ʳ⁾ = 0 is replaced by
#
#     (d/dt + κ)ʳ η = 0,   for a velocity constraint ξ = ψ(q, q̇, t):  ξ̇ = -κ ξ,
#
# and the release parameter ξ goes to zero at the chosen rate κ (mode (c) of Khusanov 2020).


def approach(mechanics: Mechanics, rates: Mapping[str, float] | float | None) -> Mechanics:
    """The same mechanics with constraints approached at the given rates, {name: κ} or one κ for all."""
    if rates is None:
        return mechanics
    if not isinstance(rates, (Mapping, int, float)):
        raise VinculumError(f"rates={rates!r} cannot be used here. Pass rates={{constraint: number}}, or one number.")
    names = [c.name for c in mechanics.system.constraints]
    given = dict(rates) if isinstance(rates, Mapping) else dict.fromkeys(names, float(rates))
    problems = [f"there is no constraint {name!r}.{suggestion(name, names)}" for name in given if name not in names]
    problems += [
        f"the rate of {name} is {rate}; it must be finite and not negative."
        for name, rate in given.items()
        if not (math.isfinite(rate) and rate >= 0)
    ]
    if problems:
        raise ModelError("Invalid rates", problems)
    approached = replace(mechanics, approach=given)
    found = pulls(approached)
    gamma = [g + found[name] if name in found else g for g, name in zip(mechanics.gamma, names, strict=True)]
    return replace(approached, gamma=vector(gamma))


def pulls(mechanics: Mechanics) -> dict[str, Node]:
    """(d/dt + κ)ʳ η - η⁽ʳ⁾ of every constraint that is approached, as a node of q, q̇ and t."""
    chains = dict(zip((c.name for c in mechanics.system.constraints), mechanics.chains, strict=True))
    return {name: pull(chains[name], constant(float(rate))) for name, rate in mechanics.approach.items()}


def pull(chain: Sequence[Node], rate: Node) -> Node:
    """Σ_j C(r, j) κ^(r-j) η⁽ʲ⁾, j < r, for the chain η, η̇, ..."""
    r = len(chain)
    return total([math.comb(r, j) * rate ** (r - j) * residual for j, residual in enumerate(chain)])
