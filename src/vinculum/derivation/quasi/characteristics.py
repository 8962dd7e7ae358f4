"""Check the user's kinematic characteristics, complete them with release parameters, and invert them if possible.

The user may give the inverse q̇ = q̇(q, e, t) of nonlinear characteristics in closed form. Otherwise it is found if all
rows but one are linear and that one leads to a quadratic equation; for a higher degree Newton's method is better. Of
two branches, the one that reproduces the velocities of a state is chosen: ``at`` of `derive`, or a state with all
velocities positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples, Values
from vinculum.derivation.quasi.chart import Characteristics, refuse_dependent_characteristics
from vinculum.describe import System
from vinculum.errors import DomainError, Finding, Formula, ModelError, Word, call
from vinculum.graph import Converter, Node, evaluate, operations, symbol, symbols, to_sympy
from vinculum.graph.place import in_order
from vinculum.graph.traverse import dependence, order
from vinculum.names import listed, name_of, suggestion

_ALGEBRAIC = {"add", "subtract", "multiply", "divide", "negate", "sqrt", "symbol", "constant"}
_SMALL = 60  # operations of an expression worth simplifying
_READABLE = 120  # operations of an inverse that is better than Newton's steps
Inverse = Mapping[sp.Expr, sp.Expr] | str | None


def build_characteristics(
    mechanics: Mechanics,
    characteristics: Mapping[sp.Expr, sp.Expr] | None,
    release: Mapping[str, sp.Expr] | None,
    inverse: Inverse,
    at: Mapping[sp.Expr, float] | None,
    samples: Samples,
) -> Characteristics:
    """The user's characteristics and the release parameters, independent, with their inverse."""
    system = mechanics.system
    given = check_characteristics(system, characteristics)
    names = (*given, *release_parameters(system, release))
    of = Characteristics(system, names, (*given.values(), *mechanics.velocity), len(given))
    deciding = branch_state(of, at)
    refuse_dependent_characteristics(of, samples[0] if samples and at is None else deciding)
    return invert(of, inverse, deciding)


def check_characteristics(system: System, given: Mapping[sp.Expr, sp.Expr] | None) -> dict[sp.Expr, Node]:
    """The user's characteristics as nodes, as many as the constraints leave free."""
    k = len(system.coordinates) - len(system.constraints)
    if given is None:
        formula = Formula("expression of q and dot(q)")
        raise ModelError(
            "This form needs kinematic characteristics",
            [
                Finding(
                    f"{k} of them are needed.",
                    ["Use ", call("derive", form="hamel", characteristics={Word("e1"): formula}), "."],
                )
            ],
        )
    problems = [finding for name, expression in given.items() for finding in _about(system, name, expression)]
    if len(given) != k:
        problems.append(
            f"{len(system.coordinates)} coordinates and {len(system.constraints)} constraints leave {k} "
            f"characteristics to choose, but {len(given)} are given: {listed(given)}."
        )
    if problems:
        raise ModelError("Invalid characteristics", problems)
    convert = Converter()
    return {name: convert(expression) for name, expression in given.items()}


def _about(system: System, name: Any, expression: sp.Expr) -> list[str]:
    if not isinstance(name, AppliedUndef) or name.args != (system.time,):
        return [f"{name} is not a function of time. Make it with dynamicsymbols('{name}')."]
    if name in system.coordinates:
        return [f"{name_of(name)} is a coordinate. Give the characteristic another name."]
    known = {*system.nodes.q, *system.nodes.v, *system.nodes.parameters, system.nodes.time}
    found = symbols([Converter()(expression)])
    unknown = [s.value for s in found - known]
    problems = [f"{name_of(name)} contains {listed(unknown)}, which has no value."] if unknown else []
    if not found & set(system.nodes.v):
        problems.append(f"{name_of(name)} contains no velocity, so it cannot stand for one.")
    return problems


def release_parameters(system: System, asked: Mapping[str, sp.Expr] | None) -> tuple[sp.Expr, ...]:
    """The symbols ξ_s = e_{k+s}: the user's, or xi_<constraint>."""
    names = [c.name for c in system.constraints]
    problems = [
        f"there is no constraint {name!r}.{suggestion(str(name), names)}" for name in asked or () if name not in names
    ]
    problems += [
        f"the release parameter of {name} is {xi}, not a function of time. Make it with dynamicsymbols('{xi}')."
        for name, xi in (asked or {}).items()
        if not isinstance(xi, AppliedUndef) or xi.args != (system.time,)
    ]
    if problems:
        raise ModelError("Invalid release parameters", problems)
    return tuple((asked or {}).get(name, _release_parameter(system, name)) for name in names)


def _release_parameter(system: System, constraint: str) -> sp.Expr:
    """xi_<constraint> as a function of time, with letters and digits alone."""
    return sp.Function("xi_" + "".join(ch if ch.isalnum() else "_" for ch in constraint))(system.time)


def invert(of: Characteristics, asked: Inverse, at: Values) -> Characteristics:
    """The characteristics with their closed inverse, where there is one; ``asked`` may be "newton" to do without."""
    if isinstance(asked, Mapping):
        return replace(of, inverse=_check_inverse(of, asked, at))
    if asked not in (None, "newton"):
        raise ModelError("Invalid inverse", [f"{asked!r}: pass {{velocity: expression of e}}, or 'newton'."])
    if asked == "newton" or of.linear or not _promising(of):
        return of
    return replace(of, inverse=_find_inverse(of, at))


def _check_inverse(of: Characteristics, asked: Mapping[sp.Expr, sp.Expr], at: Values) -> tuple[Node, ...]:
    system = of.system
    missing = [v for v in system.velocities if v not in asked]
    if missing:
        raise ModelError("Invalid inverse", [f"no expression for {listed(missing)}."])
    convert = Converter()
    inverse = tuple(convert(asked[v]) for v in system.velocities)
    unknown = symbols(inverse) - {*of.e, *system.nodes.q, *system.nodes.parameters, system.nodes.time}
    if unknown:
        raise ModelError("Invalid inverse", [f"it contains {listed(s.value for s in unknown)}."])
    if not _gives_back(of, inverse, at):
        raise ModelError("Invalid inverse", ["substituted into the characteristics, it does not give them back."])
    return inverse


def _promising(of: Characteristics) -> bool:
    v = set(of.system.nodes.v)
    curved = [f for f, row in zip(of.functions, of.slopes, strict=True) if symbols(row) & v]
    if len(curved) != 1 or len(of.functions) > 5:
        return False
    bits = dependence(curved, of.system.nodes.v)
    return len(bits) < 60 and all(node.op in _ALGEBRAIC for node in order(curved) if bits[node])


def _find_inverse(of: Characteristics, at: Values) -> tuple[Node, ...] | None:
    """The root on the branch of the state ``at``, with s along the velocities that the linear rows leave free."""
    plain = {node: sp.Dummy(name_of(node.value), real=True) for node in in_order(symbols([*of.functions, *of.e]))}
    unknowns = [plain.setdefault(v, sp.Dummy(real=True)) for v in of.system.nodes.v]
    users = {node.value: dummy for node, dummy in plain.items()}
    rows = [to_sympy(f).xreplace(users) - plain[e] for f, e in zip(of.functions, of.e, strict=True)]
    back = {dummy: key for key, dummy in users.items()}
    for candidate in _candidates(rows, unknowns):
        inverse = _convert(candidate, back)
        if operations(inverse).total() < _READABLE and _gives_back(of, inverse, at):
            return inverse
    return None


def _candidates(rows: Sequence[sp.Expr], unknowns: Sequence[sp.Symbol]) -> list[list[sp.Expr]]:
    """q̇ = p + s d: p = Aᵀ(AAᵀ)⁻¹r and A d = 0 from the linear rows A q̇ = r, s from the remaining row.

    The roots are found with symbols for p, d and r: large expressions behind them cost nothing.
    """
    curved = next(row for row in rows if any(row.diff(v).free_symbols & set(unknowns) for v in unknowns))
    linear = sp.Matrix([row for row in rows if row is not curved])
    A, columns = linear.jacobian(unknowns), range(len(unknowns))
    sides = dict(zip(_dummies(len(linear)), -linear.xreplace(dict.fromkeys(unknowns, sp.S.Zero)), strict=True))
    minors = [(-1) ** j * _tidy(A[:, [i for i in columns if i != j]].det()) for j in columns]
    shared = sp.gcd_list(minors)
    d = [minor / shared for minor in minors]
    p = A.T * (A * A.T).applyfunc(_tidy).LUsolve(sp.Matrix(list(sides)))
    s, P, D = sp.Dummy(real=True), _dummies(len(d)), _dummies(len(d))
    behind = {**dict(zip(P, p, strict=True)), **dict(zip(D, d, strict=True))}
    line = [P[j] + s * D[j] if d[j] != 0 else P[j] for j in columns]
    roots = _quadratic_roots(curved.xreplace(dict(zip(unknowns, line, strict=True))), s, behind)
    return [[(p[j] + root * d[j]).xreplace(sides) for j in columns] for root in roots]


def _dummies(count: int) -> list[sp.Symbol]:
    return [sp.Dummy(real=True) for _ in range(count)]


def _tidy(expression: sp.Expr) -> sp.Expr:
    """An expression with its trigonometry simplified, where it is small."""
    if sp.count_ops(expression) > _SMALL:
        return expression
    expanded = sp.expand(expression)
    return sp.trigsimp(expanded) if sp.count_ops(expanded) < _SMALL else expression


def _quadratic_roots(curve: sp.Expr, s: sp.Symbol, behind: Mapping[sp.Symbol, sp.Expr]) -> list[sp.Expr]:
    """The roots of an equation that is quadratic in s, also under one square root; none where it is not."""
    powers = {e for e in curve.atoms(sp.Pow) if e.exp.is_Rational and e.exp.q == 2 and e.has(s)}
    bases = {power.base for power in powers}
    if len(bases) > 1:
        return []
    if bases:
        root, base = sp.Dummy(), bases.pop()
        parts = sp.Poly(sp.numer(sp.together(curve.xreplace({e: root ** (2 * e.exp) for e in powers}))), root)
        if parts.degree() != 1:
            return []
        slope, rest = parts.all_coeffs()
        curve = rest**2 - slope**2 * base
    numerator = sp.expand(sp.numer(sp.together(curve)))
    if not numerator.is_polynomial(s) or sp.degree(numerator, s) not in (1, 2):
        return []
    a, b, c = (_tidy(numerator.coeff(s, power).xreplace(behind)) for power in (2, 1, 0))
    if a == 0:
        return [-c / b]
    if b == 0:
        return [sign * sp.sqrt(_tidy(-c / a)) for sign in (1, -1)]
    return [(-b + sign * sp.sqrt(_tidy(b**2 - 4 * a * c))) / (2 * a) for sign in (1, -1)]


def _convert(expressions: Sequence[sp.Expr], back: Mapping[sp.Expr, sp.Expr]) -> tuple[Node, ...]:
    convert = Converter()
    return tuple(convert(expression.xreplace(back)) for expression in expressions)


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
