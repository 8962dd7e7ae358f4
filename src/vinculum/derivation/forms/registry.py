"""The classical forms by name: each builds an `EquationsOfMotion` from a system and the user's choices.

To add a form, write its elimination and its builder in a file of its own, and its row in FORMS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.lurie_suslov import lurie_suslov
from vinculum.derivation.forms.lyapunov import lyapunov
from vinculum.derivation.forms.multipliers import multipliers
from vinculum.derivation.forms.routh import checked_cyclic, momenta, routh
from vinculum.derivation.forms.shulgin import shulgin
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition, best_partition, named_partition
from vinculum.derivation.mechanics.redundancy import least_squares
from vinculum.derivation.mechanics.residuals import feedback, projections
from vinculum.derivation.mechanics.sample_states import generic_states, unmet
from vinculum.derivation.quasi.chart_limits import grip_conditions, watching
from vinculum.describe import System
from vinculum.errors import ConstraintError, Finding, VinculumError, Word, call
from vinculum.graph import symbol


@dataclass(frozen=True)
class Choices:
    """What a user may choose beside the form itself."""

    dependent: Sequence[sp.Expr] | None = None
    cyclic: Sequence[sp.Expr] | None = None
    redundant: str = "refuse"
    at: Mapping[sp.Expr, float] | None = None

    def refuse(self, form: str, *unused: str) -> None:
        """Complain about choices that mean nothing in a form."""
        given = [name for name in unused if getattr(self, name) not in (None, "refuse")]
        if given:
            raise VinculumError(f"The form {form!r} has no use for {', '.join(given)}. Leave it out.")


def with_multipliers(mechanics: Mechanics, choices: Choices) -> EquationsOfMotion:
    """Lagrange's equations of the first kind."""
    choices.refuse("multipliers", "dependent", "cyclic")
    return full_state(mechanics, choices, "multipliers", multipliers, len(mechanics.system.constraints))


def without_multipliers(mechanics: Mechanics, choices: Choices) -> EquationsOfMotion:
    """Lyapunov's elimination."""
    choices.refuse("lyapunov", "dependent", "cyclic")
    return full_state(mechanics, choices, "lyapunov", lyapunov, 0)


def with_all_velocities(
    mechanics: Mechanics, choices: Choices, partition: Partition | None = None
) -> EquationsOfMotion:
    """Lurie's and Suslov's equations."""
    choices.refuse("lurie-suslov", "cyclic", "redundant")
    partition = partition or _partition(mechanics, choices)
    equations = full_state(mechanics, choices, "lurie-suslov", lurie_suslov(partition), 0)
    return replace(
        equations, partition=partition, divided_by=lambda other: with_all_velocities(mechanics, choices, other)
    )


def in_redundant_coordinates(
    mechanics: Mechanics, choices: Choices, partition: Partition | None = None
) -> EquationsOfMotion:
    """Shulgin's equations."""
    choices.refuse("shulgin", "cyclic", "redundant")
    partition = partition or _partition(mechanics, choices)
    system = mechanics.system
    r, s = ([system.coordinates[i] for i in part] for part in (partition.r, partition.s))
    return EquationsOfMotion(
        system=system,
        form="shulgin",
        mechanics=mechanics,
        states=(*r, *s, *(q.diff(system.time) for q in r)),
        eliminate=shulgin(partition),
        feedback=tuple((None, f) for f in system.nodes.constraints),
        projections=((system.nodes.constraints, tuple(map(symbol, s))),),
        counted=2 * len(r) + len(s),
        at=choices.at,
        partition=partition,
        divided_by=lambda other: in_redundant_coordinates(mechanics, choices, other),
    )


def with_momenta(mechanics: Mechanics, choices: Choices, partition: Partition | None = None) -> EquationsOfMotion:
    """Routh's equations."""
    choices.refuse("routh", "redundant")
    system = mechanics.system
    partition = partition or _partition(mechanics, choices)
    cyclic = checked_cyclic(system, choices.cyclic)
    r = [q for q in (system.coordinates[i] for i in partition.r) if q not in cyclic]
    s = [system.coordinates[i] for i in partition.s]
    definitions = momenta(system, cyclic)
    return EquationsOfMotion(
        system=system,
        form="routh",
        mechanics=mechanics,
        states=(*r, *cyclic, *s, *(q.diff(system.time) for q in r), *definitions),
        eliminate=routh(partition, [system.coordinates.index(c) for c in cyclic]),
        feedback=tuple((None, f) for f in system.nodes.constraints),
        projections=((system.nodes.constraints, tuple(map(symbol, s))),),
        counted=2 * len(r) + len(s) + 2 * len(cyclic),
        at=choices.at,
        partition=partition,
        divided_by=lambda other: with_momenta(mechanics, choices, other),
        definitions=definitions,
    )


FORMS: dict[str, Callable[[Mechanics, Choices], EquationsOfMotion]] = {
    "multipliers": with_multipliers,
    "lyapunov": without_multipliers,
    "lurie-suslov": with_all_velocities,
    "shulgin": in_redundant_coordinates,
    "routh": with_momenta,
}


def full_state(
    mechanics: Mechanics,
    choices: Choices,
    form: str,
    eliminate: Callable,
    multiplier_count: int,
) -> EquationsOfMotion:
    """Equations in all coordinates and velocities; holonomic residuals are second, nonholonomic first order."""
    system = mechanics.system
    limits = grip_conditions(mechanics)
    return EquationsOfMotion(
        system=system,
        form=form,
        mechanics=mechanics,
        states=(*system.coordinates, *system.velocities),
        eliminate=watching(least_squares(eliminate) if choices.redundant == "least_squares" else eliminate, limits),
        feedback=feedback(mechanics),
        projections=projections(mechanics),
        counted=2 * len(system.coordinates) + multiplier_count,
        at=choices.at,
        redundant=choices.redundant,
        conditions=limits,
    )


def _partition(mechanics: Mechanics, choices: Choices) -> Partition:
    """The division the user asked for, or the best one at ``at`` or at a generic state."""
    system: System = mechanics.system
    if choices.dependent is not None:
        return named_partition(system, choices.dependent)
    if choices.at is not None:
        known = dict(system.parameters) | {system.time: 0.0} | dict(choices.at)
        return best_partition(mechanics, {symbol(key): float(value) for key, value in known.items()})
    states = generic_states(mechanics, wanted=1)
    if not states:
        raise ConstraintError(
            Finding(
                f"No state that meets the constraints was found from random starts.{unmet(mechanics)}",
                ["If there is one, give it: ", call("derive", at={Word("coordinate"): Word("value")}), "."],
            )
        )
    return best_partition(mechanics, states[0])
