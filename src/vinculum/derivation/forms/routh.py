"""Routh's equations: cyclic coordinates replaced by their momenta, also with redundant coordinates.

A coordinate c is cyclic when it appears in no energy, force or constraint (its velocity may). With p = ∂T/∂ċ (B has no
column of c, since c is in no constraint),

    M_cc ċ = p - (∂T/∂ċ at ċ = 0),   ṗ = Q_c,

and the other coordinates follow Shulgin's equations with this ċ. State (r, c, s, ṙ, p). Where Q_c = 0 the momentum
is an exact integral of these equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, dependent_option, register
from vinculum.derivation.forms.shulgin import exact_velocities, kinematic_lines, reduced_lines
from vinculum.derivation.mechanics.explicit import Explicit, solved
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import (
    Partition,
    choose_partition,
    dependent_rates,
    project,
    with_velocities,
)
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line, acceleration_nodes
from vinculum.derivation.variables import Variables
from vinculum.describe import System
from vinculum.errors import Finding, ModelError, call
from vinculum.graph import ONE, ZERO, Elimination, Node, along, gradient, substitute, symbol, symbols, vector
from vinculum.names import listed, name_of
from vinculum.options import option


@register
@dataclass(frozen=True)
class Routh(MechanicalForm):
    """Shulgin's equations with cyclic coordinates replaced by their momenta."""

    name = "routh"
    summary = "Routh's equations: cyclic coordinates replaced by their momenta."

    dependent: Sequence[sp.Expr] | None = dependent_option()
    cyclic: Sequence[sp.Expr] | None = option(
        "coordinates", "Coordinates replaced by their momenta (routh); left out, all that are cyclic."
    )

    @classmethod
    def new_states(cls, coordinates: Sequence[sp.Expr]) -> tuple[sp.Expr, ...]:
        """p_phi for a coordinate phi."""
        return tuple(momentum_symbol(q) for q in coordinates)

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """The state (r, c, s, ṙ, p)."""
        return self.divide(mechanics, choose_partition(mechanics, self.dependent, self.at, samples))

    def divide(self, mechanics: Mechanics, partition: Partition) -> Variables:
        """The same for a given partition."""
        system = mechanics.system
        cyclic = check_cyclic(system, self.cyclic)
        r = [q for q in (system.coordinates[i] for i in partition.r) if q not in cyclic]
        s = [system.coordinates[i] for i in partition.s]
        definitions = momenta(system, cyclic)
        return Variables(
            states=(*r, *cyclic, *s, *(q.diff(system.time) for q in r), *definitions),
            dimension=2 * len(r) + len(s) + 2 * len(cyclic),
            feedback=tuple((None, f) for f in system.nodes.constraints),
            projections=((system.nodes.constraints, tuple(map(symbol, s))),),
            partition=partition,
            definitions=definitions,
        )

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """ṡ from the constraints, ċ from the momenta, then r̈ from the projected equations."""
        system, partition = mechanics.system, variables.divided
        c = [system.coordinates.index(q) for q in check_cyclic(system, self.cyclic)]
        r = [i for i in partition.r if i not in c]
        rates, velocities = dependent_rates(mechanics, partition, samples)
        velocities[c], spin = cyclic_velocities(mechanics, c, velocities, samples)
        reduced = with_velocities(mechanics, velocities)
        found = project(reduced, partition, reduced.gamma, samples)
        return Explicit(
            rates=(*velocities[r], *velocities[c], *rates, *found.accelerations[r], *reduced.applied[c]),
            velocities=tuple(velocities),
            accelerations=tuple(found.accelerations),
            reactions=tuple(found.reactions),
            pivots=spin.pivots + found.pivots,
        )

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """ṡ = B ṙ and ċ, ṗ = Q_c for every momentum, then A* r̈ + ... = Q_r + Bᵀ Q_s with c̈ = d/dt ċ(q, ṙ, p)."""
        velocities = exact_velocities(equations)
        rates = dict(zip(equations.states, equations.explicit().rates, strict=True))
        forces = {p: rates[p] for p in equations.definitions}
        momentum = [(symbol(p.diff(equations.system.time)), force) for p, force in forces.items()]
        reduced = [side for line in reduced_lines(equations, velocities) for side in line]
        free = substitute(reduced, cyclic_accelerations(equations, self.cyclic, velocities, forces))
        motion = list(zip(free[::2], free[1::2], strict=True))
        return [*kinematic_lines(equations, velocities), *momentum, *motion]


def cyclic_accelerations(
    equations: EquationsOfMotion,
    cyclic: Sequence[sp.Expr] | None,
    velocities: np.ndarray,
    forces: Mapping[sp.Expr, Node],
) -> dict[Node, Node]:
    """c̈ = d/dt ċ(q, ṙ, p) along q̇, r̈ and ṗ = Q_c."""
    system, accelerations = equations.system, acceleration_nodes(equations)
    flow = {**dict(zip(system.nodes.q, velocities, strict=True)), system.nodes.time: ONE}
    flow |= dict(zip(system.nodes.v, accelerations, strict=True))
    flow |= {symbol(p): force for p, force in forces.items()}
    c = [system.coordinates.index(q) for q in check_cyclic(system, cyclic)]
    return dict(zip(accelerations[c], along(list(velocities[c]), flow), strict=True))


def cyclic_coordinates(system: System) -> tuple[sp.Expr, ...]:
    """The coordinates that appear in no energy, force or constraint, while their velocities do."""
    nodes = system.nodes
    everything = [nodes.kinetic, nodes.potential, nodes.dissipation, *nodes.forces, *nodes.constraints]
    present = symbols(everything)
    return tuple(q for q, node in zip(system.coordinates, nodes.q, strict=True) if node not in present)


def check_cyclic(system: System, asked: Sequence[sp.Expr] | None) -> tuple[sp.Expr, ...]:
    """The cyclic coordinates that the user named, or all of them."""
    found = cyclic_coordinates(system)
    wrong = [c for c in asked or () if c not in found]
    if wrong:
        raise ModelError(
            "Invalid choice of cyclic coordinates",
            [f"{name_of(c)} appears in an energy, a force or a constraint, so it is not cyclic." for c in wrong],
        )
    if not found:
        raise ModelError(
            "Routh's form needs a cyclic coordinate",
            [
                Finding(
                    f"each of {listed(system.coordinates)} appears in an energy, force or constraint.",
                    ["Use ", call("derive", form="shulgin"), "."],
                )
            ],
        )
    return tuple(asked) if asked else found


def momentum_symbol(c: sp.Expr) -> sp.Expr:
    """The momentum of a cyclic coordinate as a function of time, called p_theta for theta."""
    return sp.Function(f"p_{name_of(c)}")(*c.args)


def momenta(system: System, cyclic: Sequence[sp.Expr]) -> dict[sp.Expr, Node]:
    """p = ∂T/∂ċ as functions of (q, q̇, t); cyclic coordinates are in no constraint, so T* adds nothing."""
    v = [symbol(c.diff(system.time)) for c in cyclic]
    slopes = gradient(system.nodes.kinetic, v)
    return {momentum_symbol(c): node for c, node in zip(cyclic, slopes, strict=True)}


def cyclic_velocities(
    mechanics: Mechanics, c: list[int], velocities: np.ndarray, samples: Samples
) -> tuple[np.ndarray, Elimination]:
    """ċ from M_cc ċ = p - (∂T/∂ċ at ċ = 0), and the elimination that gave it."""
    system = mechanics.system
    cyclic = [system.coordinates[i] for i in c]
    known = momenta(system, cyclic)
    at_rest = {v: node for v, node in zip(system.nodes.v, velocities, strict=True) if v is not node}
    at_rest |= {system.nodes.v[i]: ZERO for i in c}
    rest = vector(substitute(list(known.values()), at_rest))
    right = vector([symbol(p) for p in known]) - rest
    elimination = solved(mechanics, mechanics.M[np.ix_(c, c)], right[:, None], samples)
    return elimination.solution[:, 0], elimination
