"""Expressions that a user gave: SymPy's, or numbers. Text is never evaluated."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError

_NUMBERS = (numbers.Number, np.number, np.bool_)


def as_expression(value: object) -> Any:
    """A SymPy expression unchanged, a number as one of SymPy's. Raises for everything else.

    SymPy's ``sympify`` would evaluate text as a Python program.

    >>> as_expression(2), as_expression(sp.Symbol("x"))
    (2, x)
    """
    if isinstance(value, (sp.Basic, sp.MatrixBase)):
        return value
    if isinstance(value, _NUMBERS):
        return sp.sympify(value)
    what = "text, which is never evaluated" if isinstance(value, (str, bytes)) else f"of type {type(value).__name__}"
    shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    raise VinculumError(f"{shown} is {what}; write a SymPy expression or a number")


def refuse_arrays(value: object) -> None:
    """Raise for a matrix or an array where one expression belongs."""
    if isinstance(value, (sp.MatrixBase, np.ndarray, list, tuple)):
        raise VinculumError(f"{value!r} is not one expression; take its components one by one")
