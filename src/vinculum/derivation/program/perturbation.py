"""The perturbation equations that bring the residuals of program constraints back to zero.

For ẋ = F + B N a constraint y₀ = f(x, t) = 0 is differentiated until inputs appear, ẏ_{r-1} = a + p N (see
`program_degrees`). The perturbation equation imposed there is y⁽ʳ⁾ = Z(y, ..., y⁽ʳ⁻¹⁾, x, t) with Z = 0 at y = 0. With
Z = -k y a residual decays as e^{-kt}.

Sources: Pesterev, Matrosov, Morozov, section 2, equation (7), c_ij = C(r, r+1-j) λ^(r+1-j); Mukharlyamov, Kirgizbaev,
equations (12)-(14).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Feedback, level, levels
from vinculum.derivation.mechanics.relative_degree import Chain
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.derivation.program.lyapunov import Approach, approach
from vinculum.errors import Finding, ModelError, call
from vinculum.expressions import as_expression
from vinculum.graph import ZERO, Converter, Node, evaluate, substitute, symbol, symbols
from vinculum.graph.place import in_order
from vinculum.names import listed, residual, suggestion
from vinculum.notebook_repr import html

__all__ = [
    "Binomial",
    "LinearPerturbation",
    "Perturbation",
    "Prescription",
    "Rates",
    "binomial",
    "prescribe",
    "residual",
]


Rate: TypeAlias = float | sp.Expr  # a number, or an expression of parameters and of gains that get their values later
Rates: TypeAlias = Rate | Sequence[Rate] | Mapping[str, Rate]


@dataclass(frozen=True)
class Binomial:
    """(d/dt + k)ʳ y = 0, all r roots -k. ``rate`` is one k, one for each constraint, or {constraint: k}.

    k is a number or an expression of symbols: parameters of the system, or gains whose values `simulate` gets.
    """

    rate: Rates

    _repr_html_ = html


@dataclass(frozen=True, eq=False)
class LinearPerturbation:
    """y⁽ʳ⁾ = K η with a matrix of numbers or of expressions of states, time and parameters.

    η holds the residuals of all constraints in order, each from y₀ to y_{r-1}; K has a row for each constraint.
    """

    matrix: Sequence[Sequence[sp.Expr | float]] | sp.Matrix | np.ndarray

    _repr_html_ = html


@dataclass(frozen=True)
class Perturbation:
    """y⁽ʳ⁾ = Z with an expression for each constraint, {name: Z}, written with `residual`, states, time, parameters."""

    functions: Mapping[str, sp.Expr]

    _repr_html_ = html


Prescription = Binomial | LinearPerturbation | Perturbation


def binomial(order: int, rate: Any) -> list[Any]:
    """g_j = C(r, j) κ^(r-j): all roots of y⁽ʳ⁾ + Σ g_j y⁽ʲ⁾ = 0 are -κ."""
    return [math.comb(order, j) * rate ** (order - j) for j in range(order)]


def prescribe(
    rates: Rates | Prescription | None,
    chains: Sequence[Chain],
    known: Sequence[Node],
    points: Sequence[Values],
    moving: Sequence[Node],
) -> Feedback | None:
    """The corrections c = -Z of every constraint; ``known`` are the symbols Z may contain, ``moving`` those of x, t."""
    if rates is None:
        return None
    if isinstance(rates, LinearPerturbation | Perturbation):
        law = (
            _linear(rates, chains, known)
            if isinstance(rates, LinearPerturbation)
            else _general(rates, chains, known, points)
        )
        _refuse_growth(approach(law, [chain.degree for chain in chains], points, moving))
        return law
    given = _rates(rates.rate if isinstance(rates, Binomial) else rates, [chain.name for chain in chains])
    refuse_rates(given, points[0] if points else {}, moving)
    rows = [binomial(chain.degree, rate) for chain, rate in zip(chains, given, strict=True)]
    return Feedback(tuple(_row([Converter()(g) for g in row], i) for i, row in enumerate(rows)), {}, law=True)


def _row(gains: Sequence[Node], i: int) -> Node:
    """Σ_j g_j y_ij."""
    return sum((g * level(i, j) for j, g in enumerate(gains)), ZERO)


def _rates(rates: Rates, names: Sequence[str]) -> list[sp.Expr]:
    """One rate for each constraint."""
    problems = []
    if isinstance(rates, Mapping):
        problems += [f"{key!r} is not a constraint.{suggestion(str(key), names)}" for key in rates if key not in names]
        problems += [f"the constraint {name!r} has no rate." for name in names if name not in rates]
        found = [rates.get(name, 0.0) for name in names]
    else:
        given = np.asarray(rates, dtype=object)
        found = list(np.broadcast_to(given, len(names)) if given.ndim == 0 else given.ravel())
    if len(found) != len(names):
        problems.append(f"there are {len(found)} rates for {len(names)} constraints ({', '.join(names)}).")
    if problems:
        raise ModelError("Invalid rates", problems)
    return [as_expression(k) for k in found]


def refuse_rates(rates: Sequence[sp.Expr], values: Values, moving: Sequence[Node]) -> None:
    """Refuse rates that are negative or change during the motion; a symbol without a value cannot be negative yet."""
    problems: list[Finding | str] = []
    for rate in rates:
        node = Converter()(rate)
        inside = symbols([node])
        varying = [s.value for s in moving if s in inside]
        if varying:
            change = f"the rate {rate} changes with {listed(varying)}; (d/dt + k)ʳ needs a constant k."
            problems.append(f"{change} Use program.LinearPerturbation(matrix) for variable coefficients.")
        elif inside <= set(values) and not 0 <= evaluate([node], values)[0] < math.inf:
            problems.append(f"the rate {rate} is not a finite number of at least 0.")
    if problems:
        raise ModelError("Invalid rates", problems)


def _linear(law: LinearPerturbation, chains: Sequence[Chain], known: Sequence[Node]) -> Feedback:
    matrix = sp.Matrix(law.matrix).tolist()
    eta = [y for chain in chains for y in chain.y]
    if len(matrix) != len(chains) or any(len(row) != len(eta) for row in matrix):
        degrees = ", ".join(f"{chain.name}: {chain.degree}" for chain in chains)
        raise ModelError("Invalid perturbation matrix", [
            f"it is {len(matrix)} x {len(matrix[0]) if matrix else 0}; with the relative degrees {degrees} it needs "
            f"{len(chains)} rows and {len(eta)} columns."])  # fmt: skip
    K = [[Converter()(entry) for entry in row] for row in matrix]
    _refuse_unknown([node for row in K for node in row], known)
    names = list(levels([chain.y for chain in chains]))
    corrections = [-sum((k * y for k, y in zip(row, names, strict=True)), ZERO) for row in K]
    return Feedback(tuple(corrections), {}, law=True)


def _refuse_growth(found: Approach) -> None:
    if found.shown is False:
        advice = ("Choose coefficients with which all perturbations decay, or use ", call("derive", rates=1.0), ".")
        raise ModelError("Invalid perturbation equations", [Finding(f"{found}.", advice)])


def _general(law: Perturbation, chains: Sequence[Chain], known: Sequence[Node], points: Sequence[Values]) -> Feedback:
    names = [chain.name for chain in chains]
    problems = [f"{key!r} is not a constraint.{suggestion(key, names)}" for key in law.functions if key not in names]
    problems += [f"the constraint {name!r} has no function Z." for name in names if name not in law.functions]
    if problems:
        raise ModelError("Invalid perturbation equations", problems)
    places = {symbol(residual(c.name, j)): level(i, j) for i, c in enumerate(chains) for j in range(c.degree)}
    Z = [Converter()(law.functions[name]) for name in names]
    _refuse_unknown(Z, [*known, *places])
    at_zero = substitute(Z, dict.fromkeys(places, ZERO))
    for name, node in zip(names, at_zero, strict=True):
        worst = max((abs(evaluate([node], values)[0]) for values in points), default=0.0)
        if worst > 1e-12:
            problems.append(
                f"Z of {name!r} is {worst:.3g} where all residuals are zero; the constraint would not hold."
            )
    if problems:
        raise ModelError("Invalid perturbation equations", problems)
    return Feedback(tuple(-z for z in substitute(Z, places)), {}, law=True)


def _refuse_unknown(nodes: Sequence[Node], known: Sequence[Node]) -> None:
    unknown = [s.value for s in in_order(symbols(nodes) - set(known))]
    if unknown:
        raise ModelError("Invalid perturbation equations", [
            f"{listed(unknown)} is unknown. Z may contain residual(name, level), states, time and parameters."
        ])  # fmt: skip
