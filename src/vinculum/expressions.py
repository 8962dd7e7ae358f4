"""Expressions that a user gave: SymPy's, or numbers. Text is never evaluated."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.names import name_of

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


def by_symbol(given: Mapping[Any, Any], known: Mapping[str, Any], argument: str) -> dict[Any, Any]:
    """A table with symbols for their names, ``known``; raises for a symbol that is given twice."""
    found: dict[Any, Any] = {}
    for name, value in given.items():
        key = known.get(name, name) if isinstance(name, str) else name
        if key in found:
            raise VinculumError(f"{name_of(key)} is twice in {argument}=. Give it once, by its symbol or by its name.")
        found[key] = value
    return found


def refuse_arrays(value: object) -> None:
    """Raise for a matrix or an array where one expression belongs."""
    if isinstance(value, (sp.MatrixBase, np.ndarray, list, tuple)):
        raise VinculumError(f"{value!r} is not one expression; take its components one by one")
