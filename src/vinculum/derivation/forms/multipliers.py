"""Lagrange's equations with multipliers, index-1 form (Krasinskiy 2025, equations (5)).

    [ M  Jᵀ ] [  q̈ ]   [ Q - h  ]
    [ J  0  ] [ -λ ] = [ -γ - c ]

For a servo constraint the column Jᵀ is replaced by the direction ∂Q/∂u of its input u, and λ is that input.
The mass matrix may be singular as long as this bordered matrix is not: a coordinate without inertia is
determined by the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vinculum.derivation.bodies.newton_euler import Support
from vinculum.derivation.bodies.recursion import LOOPED_FROM, Recursion
from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, rates_option, redundant_option, register
from vinculum.derivation.mechanics.explicit import Explicit, least_squares, pivots_at, solved
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line, balance_lines, constraint_lines
from vinculum.derivation.variables import Variables, full_state
from vinculum.graph import ZERO, Node, Routine, call_routine, lift, symbol, symbols, vector


@register
@dataclass(frozen=True)
class Multipliers(MechanicalForm):
    """M q̈ + h = Q + Jᵀλ with J q̈ + γ = 0; the reactions λ come with the accelerations."""

    name = "multipliers"
    summary = "Lagrange's equations of the first kind, M q̈ + h = Q + Jᵀλ: a multiplier λ for each constraint."

    redundant: str = redundant_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def refuse(self, mechanics: Mechanics) -> None:
        """Every system is accepted."""

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """All of q and q̇; the multipliers count as unknowns."""
        return full_state(mechanics, multipliers=len(mechanics.system.constraints))

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """q̈ and λ from the bordered system, or from the recursions of a tree of bodies."""
        if self.redundant == "least_squares":
            return least_squares(eliminate_multipliers, mechanics, samples)
        return eliminate_multipliers(mechanics, samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """M q̈ + h + V_q = forces + Jᵀλ, then J q̈ + γ = 0."""
        return [*balance_lines(equations), *constraint_lines(equations)]


def eliminate_multipliers(mechanics: Mechanics, samples: Samples) -> Explicit:
    """q̈ and λ from the bordered system, pivots chosen on the samples."""
    swept = tree_accelerations(mechanics, samples)
    if swept is not None:
        return swept
    M, J = mechanics.M, mechanics.J
    m, n = J.shape
    A = np.full((n + m, n + m), ZERO, dtype=object)
    A[:n, :n], A[:n, n:], A[n:, :n] = M, mechanics.directions, J
    right = vector([*(mechanics.Q - mechanics.h), *(-mechanics.gamma - mechanics.corrections)])
    elimination = solved(mechanics, A, right[:, None], samples, mechanics.actuators is None, constraints=m)
    unknowns = elimination.solution[:, 0]
    v = mechanics.system.nodes.v
    return Explicit(
        rates=(*v, *unknowns[:n]),
        velocities=v,
        accelerations=tuple(unknowns[:n]),
        reactions=tuple(-unknowns[n:]),
        pivots=elimination.pivots,
    )


def tree_accelerations(mechanics: Mechanics, samples: Samples) -> Explicit | None:
    """q̈ by the recursions if quaternion norms are the only constraints of the tree; otherwise None."""
    system, steps = mechanics.system, mechanics.recursion
    if steps is None or len(system.constraints) != len(system.bodies.normalizations):
        return None
    corrections = _corrections(mechanics)
    if steps.size > LOOPED_FROM and steps.numeric:
        found, pivots = _call_loops(steps, mechanics.Q, corrections), []
    else:
        found, pivots = steps.accelerations(mechanics.Q, corrections)
    v = system.nodes.v
    return Explicit(
        rates=(*v, *found),
        velocities=v,
        accelerations=tuple(found),
        reactions=tuple(-(system.bodies.norm_inertia * c) for c in mechanics.corrections),
        pivots=pivots_at(pivots, samples[0]),
    )


def _corrections(mechanics: Mechanics) -> dict[Node, Node]:
    """c of every norm, by the first symbol of its quaternion."""
    found: dict[Node, Node] = {}
    for c, norm in zip(mechanics.corrections, mechanics.position, strict=True):
        present = symbols([norm]) if norm is not None else set()
        found |= {hinge.q[0]: c for hinge in mechanics.recursion.hinges if len(hinge.q) == 4 and hinge.q[0] in present}
    return found


@dataclass(frozen=True, eq=False)
class ForwardDynamics:
    """q̈ of a tree under given generalized forces, written out."""

    recursion: Recursion
    forces: tuple[Node, ...]

    def __call__(self) -> list[Node]:
        return self.recursion.accelerations(self.forces, {}, "articulated")[0]


def _call_loops(steps: Recursion, Q: Sequence[Node] | np.ndarray, corrections: dict[Node, Node]) -> list[Node]:
    """q̈ as the results of a call, which the compiler turns into loops over the hinges; corrections act along q."""
    q, v = (tuple(map(symbol, keys)) for keys in (steps.tree.coordinates, steps.tree.velocities))
    u, ground = (tuple(symbol((name, i)) for i in range(k)) for name, k in (("force", len(q)), ("ground", 9)))
    given = replace(steps, base=Support(ground[:3], ground[3:6], ground[6:]))
    routine = Routine("forward dynamics", (*q, *v, *u, *ground), ForwardDynamics(given, u), steps)
    base = [lift(x) for x in (*steps.base.omega, *steps.base.alpha, *steps.base.a)]
    found = call_routine(routine, (*q, *v, *Q, *base), len(q))
    for hinge, rows in zip(steps.hinges, steps.places, strict=True):
        for i in rows:
            found[i] = found[i] - corrections.get(hinge.q[0], ZERO) * q[i]
    return found
