"""Text for a terminal."""

from __future__ import annotations

# control characters, which could command a terminal, and marks that change the direction of the text around them
_UNSEEN = {c: 0x2400 + c for c in range(32) if c not in (9, 10)} | {0x7F: 0x2421}
_UNSEEN |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029], 0xFFFD)


def visible(text: str) -> str:
    r"""Text for a terminal: control characters as pictures, of the same length; tabs and new lines stay.

    >>> visible("a\x1b[2Jb")
    'a␛[2Jb'
    """
    return text.translate(_UNSEEN)
