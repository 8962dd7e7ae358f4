"""A part of an expression while it is read: its SymPy form, its size, its dimension, and its number if it has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class Value:
    """``dimension`` is None where it is not known (a symbol without unit); a zero has every dimension."""

    expression: sp.Expr
    size: int = 1
    dimension: Any = None  # a pint UnitsContainer
    number: float | None = None  # of an expression without symbols
    depth: int = 1  # of its tree
    rough: bool = False  # whether it has corners, where it has no derivative

    @property
    def is_zero(self) -> bool:
        """Whether it is the number zero."""
        return self.number == 0


class Refused(Exception):
    """An operation that is not done; the message says why and what to write instead."""
