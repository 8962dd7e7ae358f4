"""The place of a node in every order: its height in the graph, then a digest of its formula.

    place = height + fraction,    height = 0 for a leaf, else 1 + the largest height of an operand,    0 ≤ fraction < 1

Serial numbers tell the history of the process: which formula was built first. Sums are rounded, so whatever adds terms
in the order of the graph would have other last digits after another history. A place depends on the formula alone, and
operands come before results.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeVar

import sympy as sp

from vinculum.names import name_of

_BITS = 40  # of a digest, so heights up to 2¹² leave all of them in a double
_MASK, _UNIT = (1 << _BITS) - 1, 2.0**-_BITS
_PLACE, _SERIAL = attrgetter("place"), attrgetter("serial")

N = TypeVar("N")


def in_order(nodes: Iterable[N]) -> list[N]:
    """Nodes by their places; symbols of one name, as SymPy's dummies, in the order in which they were made."""
    found = sorted(nodes, key=_PLACE)
    if len(set(map(_PLACE, found))) < len(found):
        found.sort(key=_SERIAL)
        found.sort(key=_PLACE)
    return found


def place(op: str, value: Hashable, args: Sequence[Any]) -> float:
    """The place of an operation on operands, which are in order if they commute; ``value`` is its payload, or the
    number or key of a leaf.
    """
    head = _digest_of_text(op) if value is None else _digest((op, value))
    if not args:
        return ((op != "constant") + (head & _MASK) * _UNIT) / 2  # numbers come before symbols
    if len(args) == 2:  # sums and products, of which there are many
        a, b = args[0].place, args[1].place
        return int(a if a > b else b) + 1 + (hash((head, a, b)) & _MASK) * _UNIT
    below = [arg.place for arg in args]
    return int(max(below)) + 1 + (hash((head, *below)) & _MASK) * _UNIT  # numbers, unlike text, hash alike everywhere


def _digest(value: Any) -> int:
    """A number that stands for a payload or a key in every process."""
    if isinstance(value, tuple):
        return hash(tuple(map(_digest, value)))
    if isinstance(value, (int, float, Fraction)):
        return hash((isinstance(value, float), value < 0, abs(value)))  # -1 and -2 hash alike
    if hasattr(value, "place"):
        return hash(value.place)
    return _digest_of_text(value if isinstance(value, str) else _text(value))


@lru_cache(maxsize=1 << 12)
def _digest_of_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) >> 4


def _text(key: Hashable) -> str:
    """A symbol with its kind and name, a spline with its name, a table with its numbers, a routine with its name."""
    return f"{type(key).__name__} {name_of(key) if isinstance(key, sp.Basic) else repr(key)}"
