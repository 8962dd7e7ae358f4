"""Findings that systems, affine systems and trees of bodies share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.errors import About, Call, Finding, Word, call
from vinculum.expressions import as_expression
from vinculum.graph import GraphExpression, Node, from_sympy, symbols
from vinculum.names import listed, name_of, suggestion

_LABELS = {"force": "force on {}", "constraint": "constraint {}", "drift": "drift of {}"}


def label(part: About) -> str:
    """A part of a description in words: ``kinetic energy``, ``force on x``, ``constraint rod``."""
    return _LABELS.get(part.kind, "{}").format(part.name.replace("_", " ") if part.kind == "energy" else part.name)


def is_function_of_time(x: object) -> bool:
    """Whether a symbol is a function of time as made by ``dynamicsymbols``."""
    return isinstance(x, AppliedUndef) and len(x.args) == 1 and isinstance(x.args[0], sp.Symbol)


def not_a_function_of_time(kind: str, x: object, owner: str = "") -> Finding:
    """A coordinate or state that does not depend on time."""
    about = About(kind, name_of(x))
    return Finding(f"the {kind} {x}{owner} is not a function of time.", [f"Make it with dynamicsymbols('{x}')."], about)


def different_times(kind: str, times: Iterable[object]) -> Iterator[Finding]:
    """Coordinates or states that use different symbols for time."""
    found = list(times)
    if len(found) > 1:
        yield Finding(f"the {kind}s are functions of different times: {listed(found)}.", ["Use one."], About(kind))


def repeated_declarations(what: str, *groups: Iterable[object]) -> Iterator[Finding]:
    """Names that are declared more than once among several groups of symbols."""
    for name, times in Counter(name_of(key) for group in groups for key in group).items():
        if times > 1:
            yield Finding(f"{name} is declared {times} times among {what}.", ["Keep one."])


def repeated_names(kind: str, plural: str, names: Iterable[str]) -> Iterator[Finding]:
    """Things of one kind that share a name."""
    for name, times in Counter(names).items():
        if times > 1:
            yield Finding(f"{times} {plural} are called {name!r}.", ["Give each its own name."], About(kind, name))


def not_a_symbol(u: object) -> Finding:
    """An input that is neither a symbol nor a function of time."""
    advice = "Make it with sympy.symbols or dynamicsymbols."
    return Finding(f"the input {name_of(u)} is not a symbol.", [advice], About("input", name_of(u)))


def parameter_findings(key: object, value: object, owner: str = "System") -> Iterator[Finding]:
    """A parameter that is not a symbol, or whose value is not a finite number."""
    about = About("parameter", name_of(key))
    if not isinstance(key, sp.Symbol):
        yield Finding(f"the parameter {key} is not a symbol.", [f"Make it with sympy.symbols('{key}')."], about)
    number = _as_float(value)
    if math.isnan(number) and not isinstance(value, float):
        yield Finding(f"the parameter {key} has no value (found {value!r}).", ["Use ", _valued(owner, key), "."], about)
    elif not math.isfinite(number):
        yield Finding(f"the parameter {key} is {number}.", ["Give it a finite value."], about)


def _as_float(value: object) -> float:
    try:
        return math.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]  # refused by the caller
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def _valued(owner: str, key: object) -> Call:
    return call(owner, parameters={Word(name_of(key)): Word("number")})


def no_value(leaf: object, place: str, declared: Sequence[object], owner: str, about: About | None) -> Finding:
    """A symbol that occurs in a description but has no value."""
    name = name_of(leaf)
    advice: list[str | Call] = ["Use ", _valued(owner, leaf)]
    if owner == "System":
        advice += [", or declare it as an input: ", call(owner, inputs=[Word(name)])]
    near = suggestion(name, map(name_of, declared))
    return Finding(f"{name} in the {place} has no value.{near}", [*advice, "."], about)


def leaves_of(expression: object) -> set:
    """The symbols, functions of time and derivatives in an expression or a node."""
    if isinstance(expression, GraphExpression):
        return set(expression.leaves)
    node = expression if isinstance(expression, Node) else from_sympy(as_expression(expression))
    return {leaf.value for leaf in symbols([node])}


def unusable(part: str, error: Exception, about: About | None) -> Finding:
    """An expression that the graph does not accept."""
    return Finding(f"the {part} cannot be used: {error}.", about=about)


def shortened(expression: object) -> str:
    """An expression in at most sixty characters."""
    text = str(expression)
    return text if len(text) <= 60 else text[:57] + "..."
