"""Elementary functions of the list: sin, sqrt, atan2, max ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import sympy as sp

from vinculum.graph.functions import FUNCTIONS
from vinculum.model.expressions import arithmetic
from vinculum.model.expressions.value import Refused, Value

_ROUGH = ("abs", "sign", "min", "max")
_EXTREMES = {"min": (sp.Min, min), "max": (sp.Max, max)}


def elementary(name: str, arguments: Sequence[Value]) -> Value:
    """A function of its arguments, rough where it has corners."""
    wanted = 2 if name == "atan2" else 1
    several = name in _EXTREMES
    if len(arguments) != wanted and not (several and len(arguments) >= 2):
        takes = "two or more arguments" if several else f"{wanted} argument{'s' * (wanted > 1)}"
        raise Refused(f"{name} takes {takes}, found {len(arguments)}.")
    make, numeric, domain = _makers(name)
    value = arithmetic.function(name, make, numeric, domain, arguments)
    rough = value.rough or (name in _ROUGH and value.number is None)
    return replace(value, rough=rough)


def _makers(name: str) -> tuple[Callable, Callable, str]:
    """How SymPy makes a function, how numbers do, and where it is defined."""
    if name in _EXTREMES:
        return _unsimplified(_EXTREMES[name][0]), _EXTREMES[name][1], ""
    row = FUNCTIONS[name]
    maker = getattr(sp, row.sympy)
    if name == "sqrt":
        return (lambda a, evaluate: sp.Pow(a, sp.S.Half, evaluate=evaluate)), row.number, row.domain
    return (_unsimplified(maker) if name in ("abs", "sign", "atan2") else maker), row.number, row.domain


def _unsimplified(maker: Callable) -> Callable:
    """A function that SymPy simplifies by asking for signs, which takes long: only numbers are given to it."""
    return lambda *a, evaluate: maker(*a, evaluate=all(x.is_Number for x in a))
