"""Names of the user as identifiers of C and Python."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping

import sympy as sp

from vinculum.names import variable_name

_WORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "main", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
))  # fmt: skip


def identifier(name: str) -> str:
    """A name with letters, digits and underscores only, which is not a word of C or Python."""
    plain = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_") or "model"
    plain = f"_{plain}" if plain[0].isdigit() else plain
    plain = f"m{plain}" if plain.startswith("_") else plain  # C reserves a leading underscore
    return f"{plain}_" if plain in _WORDS or keyword.iskeyword(plain) else plain


def label_of(key: object) -> str:
    """The user's name of a symbol: ``theta``, ``theta_dot``, ``reaction(rod)``."""
    return variable_name(key)


def unit_of(key: sp.Expr, units: Mapping[sp.Expr, str]) -> str:
    """The unit of a symbol, for a derivative from that of its coordinate; empty if none is known."""
    if key in units or not isinstance(key, sp.Derivative):
        return units.get(key, "")
    own, times = units.get(key.expr, ""), sum(count for _, count in key.variable_count)
    power = "s" if times == 1 else f"s^{times}"
    return "" if not own else f"1/{power}" if own == "1" else f"{own}/{power}"


def distinct(names: Iterable[str]) -> list[str]:
    """The names with numbers where one occurs again."""
    taken: set[str] = set()
    found = []
    for name in names:
        own, k = name, 2
        while own in taken:
            own, k = f"{name}_{k}", k + 1
        taken.add(own)
        found.append(own)
    return found
