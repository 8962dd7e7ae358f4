"""The motions of a page as tables of numbers, one for each motion: times and columns by key.

Charts and the drawing of the mechanism refer to keys. The page's script draws them from a table, and again when it
gets another table with the same keys.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from vinculum.names import name_of
from vinculum.present.thinning import followed
from vinculum.simulation import Trajectory


class Table:
    """Columns over the samples of one motion; ``expressions`` are those of the columns that have one."""

    def __init__(self, identifier: str, motion: Trajectory) -> None:
        self.identifier = identifier
        self.motion = motion
        self.columns: dict[str, np.ndarray] = {}
        self.expressions: dict[str, sp.Expr] = {}

    def quantity(self, key: sp.Expr | str) -> str:
        """The key of a column for a symbol or an expression of the motion, added if it is new."""
        name = key if isinstance(key, str) else name_of(key)
        if name not in self.columns:
            self.columns[name] = self.motion[key]
            if not isinstance(key, str):
                self.expressions[name] = key
        return name

    def column(self, name: str, values: np.ndarray, expression: sp.Expr | None = None) -> str:
        """The key of a column with given values."""
        self.columns[name] = values
        if expression is not None:
            self.expressions[name] = expression
        return name

    @property
    def data(self) -> dict[str, Any]:
        """Times and columns at as few samples as their lines need."""
        rows = followed(self.motion.t, list(self.columns.values()))
        return packed_table(self.motion.t[rows], {name: y[rows] for name, y in self.columns.items()})


def packed_table(t: np.ndarray, columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Times with eight bytes, columns with four; a constant column is one number."""
    return {"times": packed(t, "<f8"), "columns": {name: _column(y) for name, y in columns.items()}}


def _column(y: np.ndarray) -> float | str:
    return float(y[0]) if np.all(y == y[0]) else packed(y)


def packed(values: np.ndarray, kind: str = "<f4") -> str:
    """Numbers as text: their bytes in base 64; numbers beyond the largest of their kind become that one."""
    largest = float(np.finfo(kind).max)
    return base64.b64encode(np.clip(values, -largest, largest).astype(kind).tobytes()).decode()
