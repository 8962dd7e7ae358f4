"""The characters of an expression: ASCII, and Greek letters, which stand for their English names.

θ is read as ``theta``, λ as ``lamda``, SymPy's way around Python's keyword. Letters of other alphabets that look like
Latin ones are refused: nobody sees the difference.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

_LOWER = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lamda", "mu", "nu", "xi",
    "-", "pi", "rho", "-", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
]  # fmt: skip
GREEK = {chr(0x3B1 + i): name for i, name in enumerate(_LOWER) if name != "-"}
GREEK |= {letter: GREEK[letter.lower()].capitalize() for letter in "ΓΔΘΛΞΠΣΦΨΩ"}
GREEK |= {"ϕ": "phi", "ϑ": "theta", "ϵ": "epsilon"}
INSTEAD = {
    "²": "^2", "³": "^3", "·": "*", "×": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "√": "sqrt(...)",
    "½": "1/2", "¼": "1/4", "∞": "a number", "ẋ": "dot(x)", "ẏ": "dot(y)", "ż": "dot(z)", "’": "dot(...)",
    "'": "dot(...)", "°": "deg beside a number, as \"30 deg\"", "|": "abs(...)", "!": "a product",
}  # fmt: skip


@dataclass(frozen=True)
class Translated:
    """An expression in Python's characters, and for every character the place it came from."""

    text: str
    origin: tuple[int, ...]

    def start(self, offset: int) -> int:
        """Where a character of the translated text stood."""
        return self.origin[min(max(offset, 0), len(self.origin) - 1)]


def translate(text: str) -> Translated:
    """^ becomes **, Greek letters their names, line breaks blanks."""
    out: list[str] = []
    origin: list[int] = []
    for i, letter in enumerate(text):
        piece = "**" if letter == "^" else " " if letter in "\n\r\t" else GREEK.get(letter, letter)
        out.append(piece)
        origin += [i] * len(piece)
    return Translated("".join(out), (*origin, len(text)))


def strange(text: str) -> list[tuple[int, str]]:
    """Characters that have no place in an expression, with what to write instead."""
    found = []
    for i, letter in enumerate(text):
        plain = letter.isascii() and (letter.isalnum() or letter in " \t\n\r+-*/^()._,=<>[]{}:;@&%~?\"'\\$`#!|")
        if letter in GREEK or plain:
            continue
        found.append((i, _about(letter)))
    return found


def _about(letter: str) -> str:
    name = unicodedata.name(letter, f"character number {ord(letter)}")
    if letter in INSTEAD:
        return f"{letter} is not read here. Write {INSTEAD[letter]}."
    twin = unicodedata.normalize("NFKC", letter)
    if twin != letter and twin.isascii() and twin.isalnum():
        return f"{name} looks like {twin} but is another character. Type {twin}."
    if letter.isprintable() and not letter.isspace():
        return f"{letter} ({name}) is not read here. Use letters a to z, or Greek ones."
    return f"an invisible character ({name}) stands here. Delete it."
