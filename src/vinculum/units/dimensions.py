"""Dimensions of expressions: which can be added, which a function accepts, which it returns.

A dimension is a sorted tuple of pairs (base dimension, power); None means unknown and is not checked. A literal
number is dimensionless; zero has any dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from vinculum.errors import Refused

Dimension = tuple[tuple[str, Fraction], ...]


class Value(Protocol):
    """A part of an expression: its dimension, and its number if it contains no symbols."""

    @property
    def dimension(self) -> Any:
        """A `Dimension`; None if unknown."""

    @property
    def number(self) -> float | None:
        """None if it contains symbols."""

    @property
    def is_zero(self) -> bool:
        """Whether it is the number zero."""

    @property
    def text(self) -> str | None:
        """The expression as the user reads it; None if it has none."""


NONE: Dimension = ()
TIME: Dimension = (("[time]", Fraction(1)),)
LENGTH: Dimension = (("[length]", Fraction(1)),)
MASS: Dimension = (("[mass]", Fraction(1)),)
CURRENT: Dimension = (("[current]", Fraction(1)),)
ENERGY: Dimension = (("[length]", Fraction(2)), ("[mass]", Fraction(1)), ("[time]", Fraction(-2)))  # and torque
RATE: Dimension = (("[time]", Fraction(-1)),)
_SYMBOLS = {
    "[length]": "m", "[mass]": "kg", "[time]": "s", "[current]": "A", "[temperature]": "K", "[substance]": "mol",
    "[luminosity]": "cd",
}  # fmt: skip
_LONGEST = 60  # characters of a term in a message
_RAISED = str.maketrans("0123456789-/", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ")


def product(dimensions: Iterable[Dimension | None]) -> Dimension | None:
    """The dimension of a product; unknown if that of a factor is."""
    powers: dict[str, Fraction] = {}
    for dimension in dimensions:
        if dimension is None:
            return None
        for base, exponent in dimension:
            powers[base] = powers.get(base, Fraction(0)) + exponent
    return tuple(sorted((base, exponent) for base, exponent in powers.items() if exponent))


def raised(dimension: Dimension | None, exponent: Fraction) -> Dimension | None:
    """The dimension of a power."""
    if dimension is None:
        return None
    return tuple((base, power * exponent) for base, power in dimension if exponent)


def over(dimension: Dimension, *divisors: Dimension) -> Dimension:
    """The quotient of known dimensions."""
    found = product([dimension, *(raised(divisor, Fraction(-1)) for divisor in divisors)])
    assert found is not None
    return found


FORCE = over(ENERGY, LENGTH)
VOLTAGE = over(ENERGY, TIME, CURRENT)
RESISTANCE = over(VOLTAGE, CURRENT)
INDUCTANCE = over(ENERGY, CURRENT, CURRENT)
_NAMED = {VOLTAGE: "V", RESISTANCE: "ohm", INDUCTANCE: "H", over(ENERGY, CURRENT): "N·m/A", over(FORCE, CURRENT): "N/A"}


def shown(dimension: Dimension) -> str:
    """A dimension in SI units, such as kg·m²·s⁻²; electric ones by name."""
    if dimension in _NAMED:
        return _NAMED[dimension]
    order = list(_SYMBOLS)
    parts = sorted(dimension, key=lambda part: (part[0] != "[mass]", order.index(part[0]) if part[0] in order else 99))
    names = [_SYMBOLS.get(b, b) + ("" if e == 1 else str(e).translate(_RAISED)) for b, e in parts]
    return "·".join(names) or "1"


def of_sum(terms: Sequence[Value], done: str = "added") -> Dimension | None:
    """The dimension of a sum, of compared terms or of alternatives; different dimensions are an error."""
    heavy = [term for term in terms if not term.is_zero]
    known = [term for term in heavy if term.dimension is not None]
    for term in known[1:]:
        if term.dimension != known[0].dimension:
            both = f"{shown(known[0].dimension)} and {shown(term.dimension)}"
            raise Refused(f"{both} cannot be {done}{_culprits(known[0], term)}. {_advice(known[0], term)}")
    return known[0].dimension if known and len(known) == len(heavy) else None


def _culprits(*terms: Value) -> str:
    """The two terms with their dimensions, if they are known by their text; a number has no unit to name."""
    named = [f"{_short(str(term.text))} is in {shown(term.dimension)}" for term in terms if term.text is not None]
    plain = any(term.number is not None for term in terms)
    return f": {' and '.join(named)}" if len(named) == len(terms) and not plain else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _advice(*terms: Value) -> str:
    """Advice for two terms of different dimension: a plain number added to a quantity lacks its unit."""
    plain = [term for term in terms if term.number is not None and term.dimension == NONE]
    others = [term.dimension for term in terms if term.dimension != NONE]
    if len(plain) != 1 or len(others) != 1 or plain[0].number is None:
        return "One of the terms has the wrong dimension."
    unit = {FORCE: "N", ENERGY: "J"}.get(others[0], shown(others[0]))
    return named_quantity(f"{abs(plain[0].number):.10g}", unit, others[0])


def named_quantity(number: str, unit: str, dimension: Dimension) -> str:
    """A number with a unit is not allowed in a formula; it needs a name."""
    name = {LENGTH: "l1", MASS: "m1", TIME: "T1"}.get(dimension, "p1")
    return (
        f'Give a number with a unit a name among the parameters, as {name} = "{number} {unit}", and write {name} here.'
    )


def of_product(factors: Sequence[Value]) -> Dimension | None:
    """The dimension of a product."""
    return product(factor.dimension for factor in factors)


def of_power(base: Value, exponent: Value) -> Dimension | None:
    """The dimension of a power; a number as exponent multiplies it, any other exponent needs a dimensionless base."""
    if exponent.dimension not in (None, NONE):
        raise Refused(f"the exponent has the dimension {shown(exponent.dimension)}; it must be dimensionless.")
    if base.dimension is None:
        return None
    if exponent.number is not None:
        return raised(base.dimension, Fraction(exponent.number).limit_denominator(1000))
    if base.dimension != NONE:
        raise Refused(f"a quantity in {shown(base.dimension)} cannot be raised to a variable power.")
    return NONE


def of_function(name: str, arguments: Sequence[Value]) -> Dimension | None:
    """The dimension of an elementary function."""
    if name == "sqrt":
        return raised(arguments[0].dimension, Fraction(1, 2))
    if name in ("abs", "min", "max"):
        return of_sum(arguments)
    if name == "sign":
        return NONE
    if name == "atan2":
        of_sum(arguments)
        return NONE
    for argument in arguments:
        if argument.dimension not in (None, NONE):
            raise Refused(
                f"the argument of {name} has the dimension {shown(argument.dimension)}; it must be dimensionless."
            )
    return NONE if all(argument.dimension is not None for argument in arguments) else None


def of_rate(value: Value) -> Dimension | None:
    """The dimension of a time derivative."""
    return product([value.dimension, raised(TIME, Fraction(-1))])
