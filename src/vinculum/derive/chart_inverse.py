"""The inverse q̇ = q̇(q, e, t) of nonlinear characteristics in closed form: the user's own, or one that SymPy finds.

SymPy is asked only where an answer can be expected: all rows linear but one, and that one algebraic. Of several
branches the one is taken that gives back the velocities of a state: ``at`` of `derive`, else one with all velocities
positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.derive.chart import Characteristics
from vinculum.derive.reference import Values
from vinculum.errors import DomainError, ModelError
from vinculum.graph import Converter, Node, evaluate, symbol, symbols, to_sympy
from vinculum.graph.traverse import dependence, order
from vinculum.names import listed, name_of

_ALGEBRAIC = {"add", "subtract", "multiply", "divide", "negate", "sqrt", "symbol", "constant"}
Inverse = Mapping[sp.Expr, sp.Expr] | str | None


def inverted(of: Characteristics, asked: Inverse, at: Values) -> Characteristics:
    """The characteristics with their closed inverse, where there is one; ``asked`` may be "newton" to do without."""
    if isinstance(asked, Mapping):
        return replace(of, inverse=_checked(of, asked, at))
    if asked not in (None, "newton"):
        raise ModelError("the inverse is not usable", [f"{asked!r}: pass {{velocity: expression of e}}, or 'newton'."])
    if asked == "newton" or of.linear or not _promising(of):
        return of
    return replace(of, inverse=_found(of, at))


def _checked(of: Characteristics, asked: Mapping[sp.Expr, sp.Expr], at: Values) -> tuple[Node, ...]:
    system = of.system
    missing = [v for v in system.velocities if v not in asked]
    if missing:
        raise ModelError("the inverse is not usable", [f"no expression for {listed(missing)}."])
    convert = Converter()
    inverse = tuple(convert(asked[v]) for v in system.velocities)
    strangers = symbols(inverse) - {*of.e, *system.nodes.q, *system.nodes.parameters, system.nodes.time}
    if strangers:
        raise ModelError("the inverse is not usable", [f"it contains {listed(s.value for s in strangers)}."])
    if not _gives_back(of, inverse, at):
        raise ModelError("the inverse is not usable", ["put into the characteristics, it does not give them back."])
    return inverse


def _promising(of: Characteristics) -> bool:
    v = set(of.system.nodes.v)
    curved = [f for f, row in zip(of.functions, of.slopes, strict=True) if symbols(row) & v]
    if len(curved) != 1 or len(of.functions) > 5:
        return False
    bits = dependence(curved, of.system.nodes.v)
    return len(bits) < 60 and all(node.op in _ALGEBRAIC for node in order(curved) if bits[node])


def _found(of: Characteristics, at: Values) -> tuple[Node, ...] | None:
    """SymPy's solution on the branch of the state ``at``."""
    plain = {node: sp.Dummy(name_of(node.value), real=True) for node in symbols([*of.functions, *of.e])}
    unknowns = [plain.setdefault(v, sp.Dummy(real=True)) for v in of.system.nodes.v]
    users = {node.value: dummy for node, dummy in plain.items()}
    rows = [to_sympy(f).xreplace(users) - plain[e] for f, e in zip(of.functions, of.e, strict=True)]
    try:
        candidates = sp.solve(rows, unknowns, dict=True)
    except NotImplementedError:  # what SymPy raises where it finds no solution
        return None
    back = {dummy: key for key, dummy in users.items()}
    for candidate in candidates:
        inverse = _converted([candidate.get(v) for v in unknowns], back)
        if inverse is not None and not symbols(inverse) & set(of.system.nodes.v) and _gives_back(of, inverse, at):
            return inverse
    return None


def _converted(expressions: Sequence[sp.Expr | None], back: Mapping[sp.Expr, sp.Expr]) -> tuple[Node, ...] | None:
    if None in expressions:
        return None
    convert = Converter()
    return tuple(convert(expression.xreplace(back)) for expression in expressions)  # type: ignore[union-attr]


def _gives_back(of: Characteristics, inverse: Sequence[Node], at: Values) -> bool:
    """Whether q̇(q, e(q, q̇, t), t) = q̇ at a state."""
    try:
        known = {**at, **dict(zip(of.e, evaluate(of.functions, at), strict=True))}
        found = evaluate(inverse, known)
    except DomainError:
        return False
    return bool(np.allclose(found, [at[v] for v in of.system.nodes.v], rtol=1e-9, atol=1e-9))


def branch_state(of: Characteristics, at: Mapping[sp.Expr, float] | None) -> dict[Node, float]:
    """The state that decides the branch."""
    system = of.system
    random = np.random.default_rng(7)
    values = {q: float(x) for q, x in zip(system.nodes.q, random.uniform(0.05, 0.35, len(system.nodes.q)), strict=True)}
    values |= {v: float(x) for v, x in zip(system.nodes.v, random.uniform(0.8, 1.2, len(system.nodes.v)), strict=True)}
    values |= {symbol(p): x for p, x in system.parameters.items()}
    values[system.nodes.time] = 0.3
    return values | {symbol(key): float(x) for key, x in (at or {}).items()}
