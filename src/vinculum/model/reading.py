"""Reading one model file: its document, the problems found so far, and the reading of formulas and numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from vinculum.describe.system import System
from vinculum.errors import About, Finding, Refused, VinculumError
from vinculum.graph import evaluate, from_sympy, symbol, symbols
from vinculum.model import limits
from vinculum.model.expressions import arithmetic
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.expression import Read, Work, read_expression
from vinculum.model.expressions.scope import Scope, english_name, name_problem, plain_scope
from vinculum.model.schema.layout import MECHANISMS
from vinculum.model.text.document import Document
from vinculum.model.text.file_words import file_call
from vinculum.model.text.location import Path
from vinculum.model.text.problems import Problems
from vinculum.names import name_of, suggestion
from vinculum.units import dimensions
from vinculum.units.dimensions import Dimension
from vinculum.units.units import in_hertz, is_quantity, quantity_of, read_unit

_COMMA = re.compile(r"\s*[-+]?\d+,\d+(?:[eE][-+]?\d+)?(?:\s+[^\d\s,][^,]*)?\s*")  # 12,5 kg
_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")  # of an equation, not of a comparison


class Reading:
    """The state of reading one file. A method that finds a problem reports it and returns None."""

    def __init__(self, document: Document, data: Mapping[str, Any]) -> None:
        self.document, self.data = document, data
        self.problems, self.work = Problems(), Work()
        self.scope: Scope = plain_scope()
        self.numbers: dict[sp.Symbol, float] = {}  # of the parameters
        self.units: dict[sp.Symbol, str] = {}
        self.robot: System | None = None  # of a URDF file that the model names
        self.bodies: list[str] = []  # of a tree
        self.unusable: set[sp.Symbol] = set()  # parameters whose problems have been reported
        self.lost: set[str] = set()  # names of motors that could not be read

    # -- problems ----------------------------------------------------------------------------------------------

    def problem(self, path: Path, message: str) -> None:
        """Report a problem with the value at a path."""
        self.problems.add(self.document.problem(path, message))

    def faults(self, path: Path, text: str, read: Read, shift: int = 0, whole: str | None = None) -> None:
        """Report the faults of an expression, each with a caret."""
        content = text if whole is None else whole
        for start, end, message in read.faults[:8]:
            self.problems.add(self.document.inside(path, content, start + shift, end + shift, message))

    def refusal(self, error: Exception, default: Path, places: Mapping[About, Path] | None = None) -> None:
        """Report the findings of an error, each at the key it concerns."""
        known = {**_places(self.data), **(places or {})}
        for finding in getattr(error, "findings", (Finding(str(error)),)):
            path = default
            if finding.about is not None:
                path = known.get(finding.about) or known.get(About(finding.about.kind)) or default
            self.problem(path, finding.written(file_call))

    # -- formulas and numbers ----------------------------------------------------------------------------------

    def formula(self, path: Path, raw: Any, scope: Scope | None = None) -> Value | None:
        """A number, a number with a unit, or an expression."""
        try:
            if isinstance(raw, dict):
                return self.quantity(raw["value"], raw["unit"])
            if not isinstance(raw, str):
                return replace(arithmetic.number(raw), dimension=dimensions.NONE)
            match = quantity_of(raw)
            if match is not None and not self.multiplied(match[2]):
                return self.quantity(float(match[1]), match[2])
            if _COMMA.fullmatch(raw):
                raise Refused(f"use a decimal point. Write {raw.strip().replace(',', '.')}.")
        except Refused as refusal:
            self.problem(path, str(refusal))
            return None
        read = read_expression(raw, scope or self.scope, self.work)
        self.faults(path, raw, read)
        return read.value

    def multiplied(self, unit: str) -> bool:
        """Whether the text after a number is a product of names rather than a unit, as in 2 m*x."""
        try:
            read_unit(unit)
        except Refused:
            return any(word in self.scope.values for word in re.findall(r"[A-Za-z_]\w*", unit))
        return False

    def equation(self, path: Path, raw: Any, scope: Scope | None = None) -> Value | None:
        """A formula, or left = right, which is left - right."""
        signs = list(_EQUALS.finditer(raw)) if isinstance(raw, str) else []
        if isinstance(raw, str) and not signs and raw.count("==") == 1:
            at = raw.index("==")
            self.problems.add(
                self.document.inside(path, raw, at, at + 2, "use a single = in an equation. Write = for ==.")
            )
            return None
        if len(signs) != 1:
            return self.formula(path, raw, scope)
        at = signs[0].start()
        sides = [read_expression(part, scope or self.scope, self.work) for part in (raw[:at], raw[at + 1 :])]
        self.faults(path, raw[:at], sides[0], 0, raw)
        self.faults(path, raw[at + 1 :], sides[1], at + 1, raw)
        left, right = sides[0].value, sides[1].value
        if left is None or right is None:
            return None
        terms = [left, replace(arithmetic.negative(right), dimension=right.dimension)]
        try:
            return replace(arithmetic.add(terms), dimension=dimensions.of_sum(terms))
        except Refused as refusal:
            self.problems.add(self.document.inside(path, raw, at, at + 1, str(refusal)))
            return None

    def quantity(self, value: float, unit: str) -> Value:
        """A number with a unit, in SI."""
        found = read_unit(unit)
        return replace(arithmetic.number(float(value) * found.factor), dimension=found.dimension)

    def expression(
        self, path: Path, raw: Any, scope: Scope | None = None, dimension: Dimension | None = None
    ) -> sp.Expr | None:
        """The SymPy form of a formula. Its dimension, if known, must be the given one.

        A plain number is in SI and has the required dimension.
        """
        value = self.formula(path, raw, scope)
        if value is None:
            return None
        self.fits(path, raw, value, dimension)
        return value.expression

    def fits(self, path: Path, raw: Any, value: Value, dimension: Dimension | None) -> bool:
        """Whether a value has the required dimension, if both are known; otherwise report a problem."""
        written = is_quantity(raw)
        plain = value.number is not None and not written
        if dimension is None or plain or not (written or self.units) or value.dimension is None:
            return True
        if value.dimension == dimension:
            counted = in_hertz(raw, self.units.get(value.expression, "")) if dimension == dimensions.RATE else ""
            if counted:
                self.problem(path, f"Hz counts turns, but an angular frequency is in rad/s: {counted}")
            return not counted
        found, needed = dimensions.shown(value.dimension), dimensions.shown(dimension)
        said = "the unit is" if written else "its dimension is"
        self.problem(
            path,
            f"{said} {found}, but {needed} is needed." + ("" if written else " Check for a missing or extra factor."),
        )
        return False

    def number(self, path: Path, raw: Any, dimension: Dimension | None = None) -> float | None:
        """A number, or an expression of parameters but not of coordinates."""
        value = self.formula(path, raw)
        if value is None:
            return None
        if not self.fits(path, raw, value, dimension):
            return None
        return value.number if value.number is not None else self.evaluated(path, value.expression)

    def evaluated(self, path: Path, expression: sp.Expr) -> float | None:
        """The number of an expression of parameters."""
        try:
            node = from_sympy(expression)
            unknown = [s.value for s in symbols([node]) if s.value not in self.numbers]
            if self.unusable & set(unknown):
                return None
            if unknown:
                names = ", ".join(sorted(map(name_of, unknown)))
                self.problem(
                    path, f"a number is needed here, but {names} is not a parameter. Use numbers and parameters only."
                )
                return None
            found = float(evaluate([node], {symbol(p): x for p, x in self.numbers.items()})[0])
        except (VinculumError, ArithmeticError) as error:
            self.problem(path, f"this cannot be evaluated: {error}.")
            return None
        if not math.isfinite(found) or abs(found) > limits.LARGEST:
            self.problem(path, f"the result is {found}, which is not a finite number of moderate size.")
            return None
        return found

    def vector(
        self, path: Path, raw: Any, scope: Scope | None = None, dimension: Dimension | None = None
    ) -> tuple[sp.Expr, ...] | None:
        """A list of formulas of one dimension."""
        found = [self.expression((*path, i), entry, scope, dimension) for i, entry in enumerate(raw)]
        return None if any(x is None for x in found) else tuple(found)

    def number_list(self, path: Path, raw: Any, dimension: Dimension | None = None) -> list[float] | None:
        """A list of numbers of one dimension."""
        found = [self.number((*path, i), entry, dimension) for i, entry in enumerate(raw)]
        known = [x for x in found if x is not None]
        return known if len(known) == len(found) else None

    def alike(self, path: Path, entries: Mapping[Any, Any]) -> bool:
        """Whether values of a quantity without declared unit have one dimension; otherwise report a problem."""
        first: Dimension | None = None
        for key, raw in entries.items():
            value = self.formula((*path, key), raw)
            if value is None or value.dimension is None or (value.number is not None and not is_quantity(raw)):
                continue
            if first is not None and value.dimension != first:
                found, before = dimensions.shown(value.dimension), dimensions.shown(first)
                self.problem(
                    (*path, key),
                    f"its dimension is {found}, but a value before it is in {before}. Write all values in {before}, or "
                    f"all in {found}.",
                )
                return False
            first = value.dimension
        return True

    # -- names -------------------------------------------------------------------------------------------------

    def declare(self, path: Path, name: str) -> str | None:
        """A new name with Greek letters spelled out; an invalid or used name is reported."""
        problem, plain = name_problem(name), english_name(name)
        if not problem and (plain in self.scope.values or plain in self.scope.macros):
            problem = f"{plain} is declared twice. Rename one of them."
        if problem:
            self.problem(path, problem)
            return None
        return plain

    def key(
        self, path: Path, text: str, allowed: Collection[sp.Expr], what: str, scope: Scope | None = None
    ) -> sp.Expr | None:
        """A name written as a key or in a list, such as x or dot(x), that must be one of ``allowed``."""
        read = read_expression(text, scope or self.scope, Work(100))
        found = read.value.expression if read.value is not None else None
        if found is not None and found in allowed:
            return found
        if text.removeprefix("dot(").rstrip(")") not in self.lost:
            self.problem(
                path, f"{text[:60]} is not {_article(what)} {what}.{_instead(text[:60], list(map(name_of, allowed)))}"
            )
        return None

    def body(self, path: Path, name: str | None) -> None:
        """Report a body that the tree does not have."""
        if name is not None and self.bodies and name not in self.bodies:
            known = suggestion(name[:40], self.bodies) or f" The bodies are {', '.join(self.bodies[:12])}."
            self.problem(path, f"{name[:40]} is not a body of the tree.{known}")

    def lose(self, names: Iterable[str]) -> None:
        """Names that are not reported as unknown because the section that declares them has problems."""
        for name in names:
            self.lost.add(name)
            self.scope = self.scope.with_failed(name)

    def table(
        self,
        path: Path,
        raw: Mapping[str, Any],
        allowed: Collection[sp.Expr],
        what: str,
        weights: bool = False,
        scope: Scope | None = None,
    ) -> dict[sp.Expr, float]:
        """Numbers by name: the initial values of a state, or weights of any dimension."""
        found = {}
        for text, entry in raw.items():
            key = self.key((*path, text), text, allowed, what, scope)
            value = self.number((*path, text), entry, None if weights else self.dimension_of(key))
            if key is not None and value is not None:
                found[key] = value
        return found

    def dimension_of(self, key: sp.Expr | None) -> Dimension | None:
        """The dimension of a symbol, if known."""
        for value in self.scope.values.values():
            if key is not None and value.expression == key:
                return value.dimension
            if isinstance(key, sp.Derivative) and value.expression == key.expr:
                return dimensions.of_rate(value)
        return None

    def listed(self, path: Path, raw: Iterable[str], allowed: Collection[sp.Expr], what: str) -> list[sp.Expr]:
        """Names in a list."""
        found = [self.key((*path, i), text, allowed, what) for i, text in enumerate(raw)]
        return [key for key in found if key is not None]


def _places(data: Mapping[str, Any]) -> dict[About, Path]:
    """The key of a file for each part of a description."""
    kind = next((kind for kind in MECHANISMS if kind in data), "")
    mechanism = data.get(kind, {})
    found: dict[About, Path] = {About("option", key): (kind, key) for key in mechanism}
    found |= {About("energy", key): (kind, key) for key in mechanism}
    found |= {About(one): (kind, key) for one, key in _DECLARED.items() if key in mechanism}
    for one, table in (("force", "forces"), ("drift", "rates"), ("body", "bodies")):
        found |= {About(one, english_name(name)): (kind, table, name) for name in mechanism.get(table, {})}
    for one, section in (("constraint", "constraints"), ("parameter", "parameters")):
        found |= {About(one, name): (section, name) for name in data.get(section, {})}
    return found


_DECLARED = {"coordinate": "coordinates", "state": "states", "input": "inputs", "path": "path"}


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _instead(text: str, known: list[str]) -> str:
    """A suggestion for an unknown name."""
    if f"e_{text}" in known:
        return f" A motor replaces it; the input is now its voltage e_{text}."
    return suggestion(text, known) or (f" Known here: {', '.join(known[:12])}." if known else "")
