"""The characters and the syntax of an expression, and the faults of one that does not parse.

Characters are ASCII and Greek letters, which stand for their English names: θ is read as ``theta``, λ as ``lamda``,
SymPy's spelling, because ``lambda`` is a keyword of Python. Letters of other alphabets that look like Latin ones are
refused, because the difference is invisible.
"""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass

from vinculum.errors import Refused
from vinculum.model import limits
from vinculum.units.dimensions import named_quantity
from vinculum.units.units import read_unit, with_powers

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
    "'": "dot(...)", "°": "deg after a number, as \"30 deg\"", "|": "abs(...)", "!": "a product",
}  # fmt: skip


@dataclass(frozen=True)
class Translated:
    """An expression in Python's characters, and the original position of every character."""

    text: str
    origin: tuple[int, ...]

    def start(self, offset: int) -> int:
        """The original position of a character of the translated text."""
        return self.origin[min(max(offset, 0), len(self.origin) - 1)]


def translate(text: str) -> Translated:
    """^ becomes **, Greek letters become their names, and line breaks become blanks."""
    out: list[str] = []
    origin: list[int] = []
    for i, letter in enumerate(text):
        piece = "**" if letter == "^" else " " if letter in "\n\r\t" else GREEK.get(letter, letter)
        out.append(piece)
        origin += [i] * len(piece)
    return Translated("".join(out), (*origin, len(text)))


def foreign_characters(text: str) -> list[tuple[int, str]]:
    """Characters that are not allowed in an expression, with what to write instead."""
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
        return f"{letter} is not allowed here. Write {INSTEAD[letter]}."
    twin = unicodedata.normalize("NFKC", letter)
    if twin != letter and twin.isascii() and twin.isalnum():
        return f"{name} looks like {twin} but is another character. Type {twin}."
    if letter.isprintable() and not letter.isspace():
        return f"{letter} ({name}) is not allowed here. Use letters a to z, or Greek letters."
    return f"there is an invisible character ({name}) here. Delete it."


_MISSING = re.compile(r"(?<![\w.])(?P<a>\d+\.?\d*)(?=[A-DF-Za-df-z_(])|(?P<b>[\w)])[ ]+(?=[\w(])|(?P<c>\))(?=\w)")
_UNIT = re.compile(r"\s*([-+]?\d+\.?\d*)([A-Za-z][A-Za-z*/^0-9]*)\s*")
_QUANTITY = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s+([A-Za-z][\w*/^-]*)\s*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LAST_NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:[eE][-+]?\d+)?)\s*$")
_FIRST_UNIT = re.compile(r"[A-Za-z][A-Za-z]*(?:\^-?\d)?(?:[*/][A-Za-z]+(?:\^-?\d)?)*")


def early_faults(text: str) -> list[tuple[int, int, str]]:
    """Faults found without parsing: length, digits, depth of parentheses."""
    if len(text) > limits.LENGTH:
        return [
            (
                0,
                1,
                f"the expression has {len(text)} characters, more than {limits.LENGTH}. Shorten it with definitions.",
            )
        ]
    long = re.search(rf"\d{{{limits.DIGITS + 1},}}", text)
    if long is not None:
        return [(long.start(), long.end(), f"a number has more than {limits.DIGITS} digits. Write it as 1.5e9.")]
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth > limits.DEPTH:
            return [
                (
                    i,
                    i + 1,
                    f"parentheses are nested more than {limits.DEPTH} levels deep. Split the expression.",
                )
            ]
    return _marks(text)


def _marks(text: str) -> list[tuple[int, int, str]]:
    """Marks that mean something else in Python."""
    for mark, instead in (("&&", "and"), ("||", "or"), ("&", "and")):
        if mark in text:
            i = text.index(mark)
            return [(i, i + len(mark), f"{mark} is not allowed here. Write {instead}.")]
    for mark in ("#", "\\", "$", "`", "?", ";", "!"):
        if mark in text:
            i = text.index(mark)
            instead = f" Write {INSTEAD[mark]}." if mark in INSTEAD else " Delete it."
            return [(i, i + 1, f"{mark} is not allowed here.{instead}")]
    return []


def explain_syntax(text: str, made: Translated, offset: int, names: Container[str] = ()) -> tuple[int, int, str]:
    """The fault of a text that Python cannot parse, at the position where parsing stopped."""
    for word in _WORD.finditer(made.text):
        if keyword.iskeyword(word.group()) and word.group() not in ("True", "False", "None"):
            at = made.start(word.start())
            return at, at + len(word.group()), f"{word.group()} is a reserved word and cannot be used in an expression."
    unit = _UNIT.fullmatch(text)
    if unit is not None:
        return unit.start(2), unit.end(2), f'put a space before a unit: "{unit[1]} {unit[2]}". A product needs a *.'
    quantity = _QUANTITY.fullmatch(text)
    better = with_powers(quantity[2]) if quantity is not None else ""
    if quantity is not None and better:
        return quantity.start(2), quantity.end(2), f'write powers of units with ^: "{quantity[1]} {better}".'
    missing = _MISSING.search(made.text)
    if missing is not None:
        at = made.start(missing.end())
        return at, at + 1, _of_unit(text, at, names) or f"a * is missing here. Write {_joined(text, at)}"
    opened, closed = text.count("("), text.count(")")
    if opened != closed:
        more, less = ("opened", "closed") if opened > closed else ("closed", "opened")
        at = min(made.start(offset), max(len(text) - 1, 0))
        return at, at + 1, f"{max(opened, closed)} parentheses are {more}, {min(opened, closed)} {less}."
    at = min(made.start(offset), max(len(text.rstrip()) - 1, 0))
    return at, at + 1, "this is not a valid formula. Check for a missing or extra operand or operator."


def _of_unit(text: str, at: int, names: Container[str]) -> str:
    """What to write for a number with a unit within a formula; empty if there is none at this position."""
    before, after = _LAST_NUMBER.search(text[:at]), _FIRST_UNIT.match(text[at:])
    if before is None or after is None or _WORD.match(after.group())[0] in names:  # type: ignore[index]  # it begins so
        return ""
    unit = after.group()
    while unit:
        try:
            advice = named_quantity(before[1], unit, read_unit(unit).dimension)
            return advice[0].lower() + advice[1:]
        except Refused:
            unit = unit[: max(unit.rfind("*"), unit.rfind("/"), 0)]  # the next word may be a name in the file
    return ""


def _joined(text: str, at: int) -> str:
    """The text with a * inserted; if it is long, only the words around it."""
    left, right = text[:at].rstrip(), text[at:].lstrip()
    if len(text) <= 60:
        return f"{left}*{right}"
    return f"{left[max(left.rfind(' '), 0) :].strip()}*{right.split(' ')[0]}"[:80]


_KINDS = {
    ast.Attribute: "a dot after a name",
    ast.Subscript: "an index in brackets",
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.JoinedStr: "a format string",
    ast.NamedExpr: "an assignment",
    ast.List: "a list",
    ast.Set: "a set",
    ast.Dict: "a table",
    ast.Starred: "a star",
    ast.Await: "a program word",
    ast.Yield: "a program word",
}


def why_forbidden(node: ast.AST) -> str:
    """The reason a node is not allowed."""
    if isinstance(node, ast.BinOp):
        return "this operator is not allowed. Use + - * / and ^."
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Compare)):
        return "a condition is allowed only within piecewise. Write piecewise(x < 0, a, b) for a where x < 0, else b."
    if isinstance(node, ast.UnaryOp):
        return "this sign is not allowed. Use + or -."
    if isinstance(node, ast.Tuple):
        return "a comma may only separate the arguments of a function. Write decimal numbers with a point, as 12.5."
    what = _KINDS.get(type(node), "this")
    return f"{what} is not allowed: an expression consists of numbers, names, + - * / ^ and functions."
