"""Conditions of piecewise(condition, value, ..., otherwise): comparisons by < <= > >=, joined by and, or, not."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import sympy as sp

from vinculum.errors import Refused
from vinculum.model.expressions import arithmetic
from vinculum.model.expressions.arithmetic import Value
from vinculum.units import dimensions

Reader = Callable[[ast.expr, int], Value | None]

_RELATIONS: dict[type, tuple[Any, Callable[[float, float], bool]]] = {
    ast.Lt: (sp.StrictLessThan, operator.lt),
    ast.LtE: (sp.LessThan, operator.le),
    ast.Gt: (sp.StrictGreaterThan, operator.gt),
    ast.GtE: (sp.GreaterThan, operator.ge),
}


def read_condition(node: ast.expr, depth: int, value: Reader, condition: Reader) -> Value | None:
    """A condition, with its parts read by ``value`` and ``condition``; None if one of them has no value."""
    if isinstance(node, ast.Compare):
        return _comparison(node, depth, value)
    if isinstance(node, ast.BoolOp):
        return _joined(isinstance(node.op, ast.And), [condition(part, depth + 1) for part in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        held = condition(node.operand, depth + 1)
        return None if held is None else replace(held, expression=sp.Not(held.expression, evaluate=_decided(held)))
    raise Refused("a condition is needed here, such as x < 0.")


def _comparison(node: ast.Compare, depth: int, value: Reader) -> Value | None:
    """a < b, or a < b <= c, which is a < b and b <= c."""
    for sign in node.ops:
        if type(sign) not in _RELATIONS:
            raise Refused("compare with < <= > or >=. An equality holds only at single instants.")
    sides = [value(part, depth + 1) for part in (node.left, *node.comparators)]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    if any(side.expression.has(sp.Piecewise) for side in known):
        raise Refused("a condition cannot contain piecewise. Combine conditions with and, or, not.")
    dimensions.of_sum(known, "compared")
    steps = zip(node.ops, pairwise(known), strict=True)
    return _joined(True, [_relation(sign, a, b) for sign, (a, b) in steps])


def _relation(sign: ast.cmpop, a: Value, b: Value) -> Value:
    """One comparison; of two numbers, True or False."""
    kind, holds = _RELATIONS[type(sign)]
    if a.number is not None and b.number is not None:
        return Value(sp.true if holds(a.number, b.number) else sp.false)
    return arithmetic.combine(kind(a.expression, b.expression, evaluate=False), [a, b])


def _joined(all_of_them: bool, parts: Sequence[Value | None]) -> Value | None:
    """Several conditions joined by and, or by or."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    deciding = sp.false if all_of_them else sp.true
    if any(part.expression is deciding for part in known):
        return Value(deciding)
    open_ones = [part for part in known if not _decided(part)]
    if len(open_ones) < 2:
        return open_ones[0] if open_ones else known[0]
    kind = sp.And if all_of_them else sp.Or
    return arithmetic.combine(kind(*(part.expression for part in open_ones), evaluate=False), open_ones)


def _decided(condition: Value) -> bool:
    return condition.expression in (sp.true, sp.false)


def choose(conditions: Sequence[Value], values: Sequence[Value]) -> Value:
    """The value of the first condition that holds, or the last value if none does."""
    cases: list[tuple[Value, Value]] = []
    for condition, value in zip(conditions, values[:-1], strict=True):
        if condition.expression is sp.true:
            return _piecewise(cases, value)
        if condition.expression is not sp.false:
            cases.append((condition, value))
    return _piecewise(cases, values[-1])


def _piecewise(cases: Sequence[tuple[Value, Value]], otherwise: Value) -> Value:
    if not cases:
        return otherwise
    pairs = [(value.expression, condition.expression) for condition, value in cases]
    parts = [part for case in cases for part in case]
    made = arithmetic.combine(sp.Piecewise(*pairs, (otherwise.expression, True), evaluate=False), [*parts, otherwise])
    return replace(made, rough=True)
