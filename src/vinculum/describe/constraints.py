"""Constraints a user can state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import sympy as sp


@dataclass(frozen=True)
class Holonomic:
    """A constraint on the position, F(q, t) = 0, with an ideal reaction.

    >>> import sympy as sp
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> x, y = dynamicsymbols("x y")
    >>> Holonomic(x**2 + y**2 - 1, name="rod")
    Holonomic(rod: x(t)**2 + y(t)**2 - 1 = 0)
    """

    expression: sp.Expr
    name: str = ""
    differentiations = 2  # how often it is differentiated until accelerations appear

    def __repr__(self) -> str:
        return _shown(self)


@dataclass(frozen=True)
class Nonholonomic:
    """A constraint on the velocity, phi(q, qdot, t) = 0, linear or not, with an ideal reaction (Chetaev).

    The reaction acts along the gradient of phi with respect to the velocities.
    """

    expression: sp.Expr
    name: str = ""
    differentiations = 1

    def __repr__(self) -> str:
        return _shown(self)


Constraint = Holonomic | Nonholonomic


def named(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The constraints, each with a name: its own or constraint_1, constraint_2, ..."""
    taken = {constraint.name for constraint in constraints}
    free = (f"constraint_{i}" for i in count(1) if f"constraint_{i}" not in taken)
    return tuple(c if c.name else replace(c, name=next(free)) for c in constraints)


def _shown(constraint: Constraint) -> str:
    label = f"{constraint.name}: " if constraint.name else ""
    return f"{type(constraint).__name__}({label}{constraint.expression} = 0)"
