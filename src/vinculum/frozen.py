"""An immutable mapping for the fields of frozen records."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", covariant=True)


class FrozenMapping(Mapping[K, V]):
    """A read-only dict that keeps its order, equals a dict with the same entries, and pickles.

    It is hashable if all its values are. A deep copy returns the mapping itself, as with a tuple of constants.

    >>> limits = FrozenMapping({"low": 1, "high": 2})
    >>> limits["low"], limits == {"high": 2, "low": 1}, limits | {"high": 3}
    (1, True, {'low': 1, 'high': 3})
    """

    __slots__ = ("_entries",)
    _entries: dict[K, V]

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        object.__setattr__(self, "_entries", dict(entries))

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __or__(self, other: Mapping[Any, Any]) -> FrozenMapping[Any, Any]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return FrozenMapping({**self._entries, **other})

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        """Merging this mapping into a dict gives a dict."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return {**other, **self._entries}

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"This mapping is immutable, so {name} cannot be set. Create a new one with FrozenMapping(...)."
        )

    def __copy__(self) -> FrozenMapping[K, V]:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> FrozenMapping[K, V]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMapping, (self._entries,)
