"""Numbers with units: "9.81 m/s^2" or {value = 9.81, unit = "m/s^2"}. All numbers become SI.

The units are those of pint, from a table that was made once (`unit_table`): loading pint takes half a second.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from vinculum.errors import Refused
from vinculum.names import suggestion
from vinculum.units.dimensions import Dimension, product, raised, shown
from vinculum.units.unit_table import OTHER, PREFIXES, UNITS

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s+(?=[A-Za-zµμΩ°%]|1\s*/)(\S.*?)\s*")
_MULTIPLIED = re.compile(r"(?<=[\w)])[ \t]*[·⋅][ \t]*|(?<=[A-Za-z0-9)])[ \t]+(?=[A-Za-z(])")
_WORD = re.compile(r"[A-Za-z_]+")
_SIGNS = {"µ": "u", "μ": "u", "Ω": "ohm", "°": "deg", "%": "percent"}
_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_COMMON = ("m", "cm", "mm", "km", "kg", "g", "s", "ms", "min", "h", "rad", "deg", "rpm", "N", "kN", "J", "W", "A", "V",
           "ohm", "H", "mH", "F", "C", "Pa", "Hz", "K", "N*m", "ft", "inch", "lb")  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """A unit: its size in SI units, and its dimension."""

    factor: float
    dimension: Dimension

    def times(self, other: Unit, power: int = 1) -> Unit:
        """The product with a power of another unit."""
        joined = product([self.dimension, raised(other.dimension, Fraction(power))])
        assert joined is not None
        return Unit(self.factor * other.factor**power, joined)


def quantity_of(text: Any) -> re.Match[str] | None:
    """The number and the unit of "9.81 m/s^2", if a value is one."""
    return _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) < 100 else None


def is_quantity(entry: Any) -> bool:
    """Whether a value is a number with a unit."""
    return isinstance(entry, dict) or quantity_of(entry) is not None


_HERTZ = re.compile(r"[kM]?Hz|(kilo|mega)?hertz")


def in_hertz(raw: Any, unit: str = "") -> str:
    """How to write an angular frequency given in Hz; empty if it is not in Hz."""
    match = quantity_of(raw)
    written = str(raw["unit"]) if isinstance(raw, dict) else match[2] if match is not None else unit
    if not _HERTZ.fullmatch(written.strip()):
        return ""
    number = float(raw["value"]) if isinstance(raw, dict) else float(match[1]) if match is not None else 1.0
    turns = number * read_unit(written.strip()).factor
    return f'write {number:g} {written} as "{turns * math.tau:.6g} rad/s" or "{turns:g} turn/s".'


@cache
def read_unit(text: str) -> Unit:
    """A unit from its text: m/s^2, kg m^2, N*m*s/rad, 1/s."""
    plain = text[:100].strip()
    for sign, instead in _SIGNS.items():
        plain = plain.replace(sign, instead)
    plain = _SUPERSCRIPT.sub(lambda power: "^" + power[0].translate(_LOWERED), plain)
    plain = _MULTIPLIED.sub("*", plain).replace("^", "**")
    if len(plain) > 60 or not plain.isascii():
        raise Refused(f"{text[:40]!r} is not a unit. Write units as m/s^2 or kg*m^2.")
    try:
        return _of(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Refused(f"{text[:40]!r} is not a unit. Write units as m/s^2 or kg*m^2.") from None


def with_powers(text: str) -> str:
    """m/s^2 for m/s2, if that makes it a unit; otherwise empty."""
    better = _DIGIT.sub("^", text)
    try:
        read_unit(better)
    except Refused:
        return ""
    return better if better != text else ""


_DIGIT = re.compile(r"(?<=[A-Za-z])(?=\d)")
_USUAL = ("rad", "m", "kg", "s", "N", "N*m", "V", "A", "rad/s", "m/s", "m/s^2", "W", "C", "Pa", "N*s/m", "kg*m^2")


def read_si_unit(text: str) -> Dimension:
    """The dimension of an SI unit; another unit is refused, because plain numbers and results are in SI."""
    found = read_unit(text)
    if not math.isclose(found.factor, 1.0):
        instead = next((u for u in _USUAL if read_unit(u).dimension == found.dimension), shown(found.dimension))
        raise Refused(f"{text} is not an SI unit, and results are in SI units. Write {instead}.")
    return found.dimension


def si_text(written: str, dimension: Dimension) -> str:
    """The unit to display: as written if it is an SI unit, otherwise the SI unit."""
    return written if math.isclose(read_unit(written).factor, 1.0) else shown(dimension)


def _of(node: ast.expr) -> Unit:
    if isinstance(node, ast.Name):
        return _named(node.id)
    if isinstance(node, ast.Constant) and node.value == 1 and isinstance(node.value, int):
        return Unit(1.0, ())
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return _of(node.left).times(_of(node.right), 1 if isinstance(node.op, ast.Mult) else -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return Unit(1.0, ()).times(_of(node.left), _exponent(node.right))
    raise Refused("a unit consists of names, *, / and integer powers, as kg*m^2/s^2.")


def _exponent(node: ast.expr) -> int:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and 0 < node.value <= 9:
        return sign * int(node.value)
    raise Refused("the power of a unit must be an integer from -9 to 9, as in s^2 or s^-1.")


@cache
def _named(name: str) -> Unit:
    """One unit by its name: of the table, its plural, or a prefix before one of them, the longest unit first."""
    found = _reading(name) if _WORD.fullmatch(name) and len(name) <= 30 else None
    if found is None:
        power = with_powers(name) if name[-1:].isdigit() else ""
        near = f" Write {power}." if power else suggestion(name, _COMMON) or " Use SI units, as kg, m, s, N, rad."
        raise Refused(f"unknown unit {name[:30]}.{near}")
    prefix, unit = found
    factor, powers = UNITS[unit]
    return Unit(PREFIXES[prefix] * factor if prefix else factor, tuple((key, Fraction(power)) for key, power in powers))


def _reading(word: str) -> tuple[str, str] | None:
    """The prefix and the unit of a word; None if it is not a unit."""
    if word in OTHER:
        return OTHER[word]
    for cut in range(len(word)):
        prefix, rest = word[:cut], word[cut:]
        if not prefix or prefix in PREFIXES:
            for unit in (rest, rest.removesuffix("s") if len(rest) > 2 else rest):
                if unit in UNITS:
                    return prefix, unit
    return None
