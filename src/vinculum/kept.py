"""What was prepared for a record and can be used again: owned by the record, bounded, safe in threads.

Frozen records own a `Kept`. It is not part of their meaning: copies, pickles and changed records start with an empty
one, and any two are equal.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


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
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, prepare: Callable[[], T]) -> T:
        """What is kept under a key; prepared now if there is nothing yet."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = prepare()
        with self._lock:
            made = self._found.setdefault(key, made)
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
            return made

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
