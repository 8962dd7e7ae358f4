"""Dimensions of SymPy expressions: all terms of a sum must have the same one, wherever it is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.errors import About, Finding, Refused
from vinculum.text_printer import plain
from vinculum.units.dimensions import NONE, Dimension, of_function, of_power, of_product, of_sum, shown
from vinculum.units.given import known_dimension

_NAMES = {sp.Abs: "abs", sp.Max: "max", sp.Min: "min"}


@dataclass(frozen=True)
class Part:
    """A subexpression: its dimension, None if unknown, and its number if it contains no symbols."""

    dimension: Dimension | None
    number: float | None = None
    expression: Any = None

    @property
    def text(self) -> str | None:
        """The expression as text."""
        return None if self.expression is None else plain(self.expression)

    @property
    def is_zero(self) -> bool:
        """Whether it is the number zero."""
        return self.number == 0


def dimension(expression: Any, known: Mapping[Any, Dimension]) -> Part:
    """The dimension of an expression from those of its symbols. Raises `Refused` where dimensions differ."""
    return _Reader(known)(sp.S(0) if expression == 0 else expression)


class _Reader:
    """Reads every subexpression once."""

    def __init__(self, known: Mapping[Any, Dimension]) -> None:
        self.known, self.read = known, dict[Any, Part]()

    def __call__(self, expression: Any) -> Part:
        if expression not in self.read:
            self.read[expression] = replace(self._part(expression), expression=expression)
        return self.read[expression]

    def _part(self, expression: Any) -> Part:
        if isinstance(expression, (int, float)) or getattr(expression, "is_number", False):
            return Part(NONE, _number(expression))
        if isinstance(expression, (sp.Symbol, AppliedUndef, sp.Derivative)):
            return Part(known_dimension(expression, self.known))
        if isinstance(expression, sp.Piecewise):
            return Part(of_sum([self(value) for value, _ in expression.args], "alternatives"))
        known = (sp.Add, sp.Mul, sp.Pow, sp.Function, sp.Max, sp.Min)
        if not isinstance(expression, known) or not type(expression).__module__.startswith("sympy."):
            return Part(None)  # splines, and expressions of the graph
        return Part(self._combined(expression, [self(argument) for argument in expression.args]))

    def _combined(self, expression: Any, parts: list[Part]) -> Dimension | None:
        if isinstance(expression, sp.Add):
            return of_sum(parts)
        if isinstance(expression, sp.Mul):
            return of_product(parts)
        if isinstance(expression, sp.Pow):
            return of_power(*parts)
        return of_function(_NAMES.get(type(expression), type(expression).__name__), parts)


def _number(expression: Any) -> float | None:
    try:
        return float(expression)
    except (TypeError, ValueError, OverflowError):  # complex, or infinite
        return None


Stated = tuple[About, str, Any, Dimension | None]  # the part, its name, its expression, the dimension it needs


def dimension_findings(parts: Iterable[Stated], known: Mapping[Any, Dimension]) -> list[Finding]:
    """Parts of a description with terms of different dimensions, or with another dimension than they need."""
    found = []
    for about, label, expression, needed in parts:
        try:
            part = dimension(expression, known)
        except Refused as refusal:
            found.append(Finding(f"the {label}: {refusal}", about=about))
            continue
        if part.number is None and None not in (part.dimension, needed) and part.dimension != needed:
            own, wanted = shown(part.dimension or ()), shown(needed or ())
            advice = ["Check for a missing or extra factor."]
            found.append(Finding(f"the {label} has the dimension {own}, but {wanted} is needed.", advice, about))
    return found
