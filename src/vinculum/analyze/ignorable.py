"""Ignorable coordinates, such as angles of rotors and charges of motors: only their velocities matter."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.forms.routh import cyclic_coordinates
from vinculum.graph import ZERO


@dataclass(frozen=True)
class Roles:
    """Indices of the coordinates by their role in a steady motion."""

    independent: tuple[int, ...]  # can be displaced; neither dependent nor ignorable
    dependent: tuple[int, ...]  # follow from the constraints
    driven: tuple[int, ...]  # ignorable, with a force: currents
    conserved: tuple[int, ...]  # ignorable, without a force: the momentum is conserved


def ignorable(equations: EquationsOfMotion) -> tuple[sp.Expr, ...]:
    """The coordinates that appear in no energy, force or constraint."""
    return cyclic_coordinates(equations.system)


def roles(equations: EquationsOfMotion, dependent: tuple[int, ...]) -> Roles:
    """The role of each coordinate, by structure alone: a momentum is conserved if the node of its force is zero."""
    system, applied = equations.system, equations.mechanics.applied
    absent = {system.coordinates.index(c) for c in ignorable(equations)}
    others = [i for i in range(len(system.coordinates)) if i not in dependent and i not in absent]
    return Roles(
        independent=tuple(others),
        dependent=dependent,
        driven=tuple(i for i in sorted(absent) if applied[i] is not ZERO),
        conserved=tuple(i for i in sorted(absent) if applied[i] is ZERO),
    )
