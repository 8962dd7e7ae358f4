"""The motion of the external body. It has to be integrated in closed form, so that only simple functions are taken."""

from __future__ import annotations

from typing import Any

import sympy as sp

from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.model.units.dimensions import LENGTH, NONE, RATE, TIME, over
from vinculum.names import TIME as t

_MOST_TERMS, _MOST_SIZE = 6, 60
_SIMPLE = "Write it as a sum of terms such as a*t^2, a*sin(b*t + c), a*cos(b*t + c) or a*exp(b*t)."


def read_base(reading: Reading, raw: dict[str, Any]) -> dict[str, Any]:
    """Velocity, angular velocity and rotation of the base, as far as they are given."""
    found: dict[str, Any] = {}
    for key, dimension in (("base_velocity", over(LENGTH, TIME)), ("base_angular_velocity", RATE)):
        if key in raw:
            path = ("tree", key)
            found[key] = reading.vector(path, raw[key], None, dimension)
            for i, entry in enumerate(found[key] or ()):
                _refuse_involved(reading, (*path, i), entry)
    if "base_rotation" in raw:
        stated = enumerate(raw["base_rotation"])
        rows = [reading.vector(("tree", "base_rotation", i), row, None, NONE) for i, row in stated]
        found["base_rotation"] = rows
        size = sum(sp.count_ops(entry) for row in rows if row for entry in row)
        if size > _MOST_SIZE:
            reading.problem(
                ("tree", "base_rotation"), f"{size} operations are more than {_MOST_SIZE}. Turn about one axis."
            )
    return found


def _refuse_involved(reading: Reading, path: Path, entry: sp.Expr) -> None:
    terms = sp.Add.make_args(entry)
    if len(terms) > _MOST_TERMS or not all(map(_simple, terms)):
        reading.problem(path, f"the motion of the base is too involved to be integrated. {_SIMPLE}")


def _simple(term: sp.Expr) -> bool:
    """A constant times a power of t times at most one sine, cosine or exponential of a line."""
    moving = [factor for factor in sp.Mul.make_args(term) if factor.has(t)]
    waves = [factor for factor in moving if isinstance(factor, (sp.sin, sp.cos, sp.exp))]
    powers = [
        factor for factor in moving if factor == t or (factor.is_Pow and factor.base == t and factor.exp in (2, 3, 4))
    ]
    lines = all(not wave.args[0].diff(t).has(t) and sp.count_ops(wave) < 8 for wave in waves)
    free = not any(symbol != t for symbol in term.atoms(sp.core.function.AppliedUndef))
    return len(waves) <= 1 and len(powers) <= 1 and len(waves) + len(powers) == len(moving) and lines and free
