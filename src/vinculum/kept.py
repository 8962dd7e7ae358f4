"""What was prepared for a record and can be used again: owned by the record, bounded, safe in threads.

Frozen records own a `Kept`. It is not part of their meaning: copies, pickles and changed records start with an empty
one, and any two are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class _Result:
    """What is kept, and when it was used last."""

    __slots__ = ("used", "value")

    def __init__(self, value: Any) -> None:
        self.value, self.used = value, 0


class Kept:
    """At most ``most`` results by their keys; the one not used for the longest time goes first.

    What is kept must not change any more. Two threads may prepare the same thing at the same time: the first result is
    kept and both get it. No lock is held meanwhile, so preparations may nest and wait for each other's compilations.

    >>> squares = Kept()
    >>> squares.get(3, lambda: 9), squares.get(3, lambda: 10), len(squares)
    (9, 9, 1)
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._found: dict[Hashable, _Result] = {}
        self._uses = count()
        self._lock = Lock()

    def get(self, key: Hashable, prepare: Callable[[], T]) -> T:
        """What is kept under a key; prepared now if there is nothing yet."""
        with self._lock:  # keys are tuples of hundreds of nodes: their hash is computed once
            found = self._found.get(key)
            if found is not None:
                found.used = next(self._uses)
                return found.value
        made = _Result(prepare())
        with self._lock:
            made = self._found.setdefault(key, made)
            made.used = next(self._uses)
            while len(self._found) > self._most:
                del self._found[min(self._found, key=lambda key: self._found[key].used)]
            return made.value

    def __len__(self) -> int:
        return len(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Kept({len(self)} of {self._most})"

    def __copy__(self) -> Kept:
        return Kept(self._most)

    def __deepcopy__(self, _: dict[int, Any]) -> Kept:
        return Kept(self._most)

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, (self._most,)
