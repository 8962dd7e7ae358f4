"""Constraints a user can state."""

from __future__ import annotations

from dataclasses import dataclass

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


def _shown(constraint: Constraint) -> str:
    label = f"{constraint.name}: " if constraint.name else ""
    return f"{type(constraint).__name__}({label}{constraint.expression} = 0)"
