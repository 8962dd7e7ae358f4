"""Constraints a user can state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import sympy as sp

from vinculum.expressions import as_expression
from vinculum.names import listed
from vinculum.notebook_repr import html


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
    differentiations = 2  # number of differentiations until accelerations appear

    def __repr__(self) -> str:
        return _shown(self)

    _repr_html_ = html


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

    _repr_html_ = html


@dataclass(frozen=True)
class Servo:
    """A constraint psi(q, qdot, t) = 0 or F(q, t) = 0 that is held by the named inputs (Beghin), not by an ideal
    reaction.

    The forces of the system define where these inputs act; the equations determine their values. Several servo
    constraints may share inputs; in total there must be as many inputs as servo constraints.

    >>> import sympy as sp
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> x, y = dynamicsymbols("x y")
    >>> Servo(x.diff() - y.diff(), through=[sp.Symbol("tau")], name="belt")
    Servo(belt: Derivative(x(t), t) - Derivative(y(t), t) = 0, through tau)
    """

    expression: sp.Expr
    through: Sequence[sp.Expr] = ()
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "through", tuple(self.through))

    @property
    def differentiations(self) -> int:
        """The number of differentiations until accelerations appear."""
        return 1 if as_expression(self.expression).atoms(sp.Derivative) else 2

    def __repr__(self) -> str:
        return f"{_shown(self)[:-1]}, through {listed(self.through)})"

    _repr_html_ = html


Constraint = Holonomic | Nonholonomic | Servo


def named(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The constraints, each with a name: its own or constraint_1, constraint_2, ..."""
    taken = {constraint.name for constraint in constraints}
    free = (f"constraint_{i}" for i in count(1) if f"constraint_{i}" not in taken)
    return tuple(c if c.name else replace(c, name=next(free)) for c in constraints)


def _shown(constraint: Constraint) -> str:
    label = f"{constraint.name}: " if constraint.name else ""
    return f"{type(constraint).__name__}({label}{constraint.expression} = 0)"
