"""What shows the errata of the general equations (5) to (10), on the released sleigh with its nonlinear speeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import sympy as sp

from papers.quasi import systems as of
from papers.quasi.chart import Moment, sleigh_moments
from papers.record import Evidence, evidence
from papers.truth import numbers, relative

Rule = Callable[[Moment], np.ndarray]


def compared(measure: str, moments: list[Moment], printed: Rule, corrected: Rule, truth: Rule) -> Evidence:
    """The least error of the printed form, the greatest of the corrected one."""
    wrong, right = ([relative(rule(m), truth(m)) for m in moments] for rule in (printed, corrected))
    return Evidence(f"{measure}; {len(moments)} random states", min(wrong), max(right))


# -- the terms of (7) and (8), by T̃(q, e) in SymPy -------------------------------------------------------------------

_e = sp.symbols("e1:4")
_d = sp.symbols("d1:4")  # ė
_u = sp.sqrt(_e[1] ** 2 - _e[2] ** 2)
INVERSE = {  # (12), corrected
    of.xi.diff(): _u * sp.cos(of.phi) + _e[2] * sp.sin(of.phi),
    of.eta.diff(): _u * sp.sin(of.phi) - _e[2] * sp.cos(of.phi),
    of.phi.diff(): _e[0],
}
VELOCITIES = tuple(INVERSE[v] for v in of.sleigh().velocities)
REDUCED = of.sleigh().kinetic_energy.xreplace(INVERSE)  # T̃


def at(moment: Moment, expressions: list[sp.Expr]) -> np.ndarray:
    """Expressions of q, e and ė."""
    values = dict(moment.values) | dict(zip((*_e, *_d), (*moment.e, *moment.rates), strict=True))
    return numbers(expressions, {key: x for key, x in values.items() if not isinstance(key, sp.Derivative)})


def by_time(expression: sp.Expr) -> sp.Expr:
    """d/dt of a function of q and e."""
    places = sum(expression.diff(q) * v for q, v in zip(of.sleigh().coordinates, VELOCITIES, strict=True))
    return places + sum(expression.diff(e) * d for e, d in zip(_e, _d, strict=True))


def by_quasi(expression: sp.Expr, a: int) -> sp.Expr:
    """∂/∂π_a."""
    return sum(v.diff(_e[a]) * expression.diff(q) for q, v in zip(of.sleigh().coordinates, VELOCITIES, strict=True))


@cache
def _slopes(expression: sp.Expr) -> list[sp.Expr]:
    """d/dt ∂f/∂e_a - ∂f/∂π_a."""
    return [by_time(expression.diff(e)) - by_quasi(expression, a) for a, e in enumerate(_e)]


def common(moment: Moment) -> np.ndarray:
    """d/dt ∂T̃/∂e_a - ∂T̃/∂π_a."""
    return at(moment, _slopes(REDUCED))


def brackets(moment: Moment) -> np.ndarray:
    """d/dt ∂q̇_i/∂e_a - ∂q̇_i/∂π_a, row i."""
    return at(moment, [f for v in VELOCITIES for f in _slopes(v)]).reshape(3, 3)


def momenta(moment: Moment) -> np.ndarray:
    """∂T/∂q̇_i."""
    return numbers([of.sleigh().kinetic_energy.diff(v) for v in of.sleigh().velocities], moment.values)


# -- (5), (7) --------------------------------------------------------------------------------------------------------


def variations() -> Evidence:
    """δq from δπ; δπ_y read as one variation for all ν. The truth solves (∂e/∂q̇) δq = δπ."""
    change = np.array([0.3, -0.5, 0.2])

    def literal(moment: Moment) -> np.ndarray:
        return moment.K[:, :2] @ np.full(2, change[1]) + moment.K[:, 2] * change[2]

    return compared("δq of the sleigh", sleigh_moments(), literal, lambda m: at_K(m) @ change, lambda m: m.K @ change)


def at_K(moment: Moment) -> np.ndarray:
    """∂q̇/∂e from (12), corrected."""
    return at(moment, [v.diff(e) for v in VELOCITIES for e in _e]).reshape(3, 3)


def chaplygin_left() -> Evidence:
    """Left sides of (7): the sum without an index read as the term of the first coordinate, against L_a."""

    def left(moment: Moment, terms: slice) -> np.ndarray:
        return common(moment) - momenta(moment)[terms] @ brackets(moment)[terms]

    return compared(
        "left sides of (7) for the sleigh against Σ K_ia (d/dt T_q̇i - T_qi)",
        sleigh_moments(),
        lambda m: left(m, slice(0, 1)),
        lambda m: left(m, slice(0, 3)),
        lambda m: m.L,
    )


def chaplygin_right() -> Evidence:
    """Right sides of (7): A_μs read with one row for all ν."""

    def right(moment: Moment, rows: list[int]) -> np.ndarray:
        K = at_K(moment)
        A, B = K[:, :2].T @ K[:, :2], K[:, 2:].T @ K[:, :2]
        return np.array([*(A[rows] @ moment.mu), *(moment.lam + B @ moment.mu)])

    return compared(
        "right sides of (7) for the sleigh against Kᵀ R",
        sleigh_moments(),
        lambda m: right(m, [1, 1]),
        lambda m: right(m, [0, 1]),
        lambda m: m.K.T @ m.force,
    )


# -- (8) and W -------------------------------------------------------------------------------------------------------


def quasi_momenta(moment: Moment) -> np.ndarray:
    """∂T̃/∂e_τ."""
    return at(moment, [REDUCED.diff(e) for e in _e])


def coefficients(moment: Moment) -> np.ndarray:
    """W_a^τ by its first form, corrected: -Σ ∂e_τ/∂q̇_i (d/dt ∂q̇_i/∂e_a - ∂q̇_i/∂π_a), row a."""
    return -(np.linalg.inv(at_K(moment)) @ brackets(moment)).T


def sign_of_8() -> Evidence:
    def last(moment: Moment, sign: float) -> np.ndarray:
        return (common(moment) + sign * coefficients(moment) @ quasi_momenta(moment))[2:]

    return compared(
        "left side of the last equation (8) of the sleigh against L₃",
        sleigh_moments(),
        lambda m: last(m, -1.0),
        lambda m: last(m, 1.0),
        lambda m: m.L[2:],
    )


def matrix_of_8() -> Evidence:
    """A_{k+σ,s} does not exist; read as a row of A in place of B."""

    def right(moment: Moment, B: bool) -> np.ndarray:
        K = at_K(moment)
        rows = K[:, 2:] if B else K[:, 1:2]
        return moment.lam + rows.T @ K[:, :2] @ moment.mu

    return compared(
        "right side of the last equation (8) of the sleigh against Kᵀ R",
        sleigh_moments(),
        lambda m: right(m, False),
        lambda m: right(m, True),
        lambda m: (m.K.T @ m.force)[2:],
    )


def first_form_of_W() -> Evidence:
    """∂e_ν in place of ∂e_τ: the same number for every τ."""

    def literal(moment: Moment) -> np.ndarray:
        return np.repeat(coefficients(moment).diagonal()[:, None], 3, axis=1)

    return compared(
        "W of the sleigh, first form, against its definition", sleigh_moments(), literal, coefficients, lambda m: m.W
    )


def second_form_of_W() -> Evidence:
    """∂e_τ/∂q̇_i in place of ∂e_τ/∂q_i in the last term; the truth is what (8) needs: Σ T̃_e W = L - common."""

    def left(moment: Moment, last: np.ndarray) -> np.ndarray:
        W = ((moment.turning - last) @ moment.K).T
        return W @ moment.momenta

    return compared(
        "Σ T̃_e W of the sleigh, second form of W, against L_a less the first two terms of (8)",
        sleigh_moments(),
        lambda m: left(m, np.linalg.inv(m.K)),
        lambda m: left(m, m.slopes),
        lambda m: m.L - common(m),
    )


def constraints_on_velocities() -> Evidence:
    """Parameters of release need velocities: (10) has only δq, (9) has q̇."""
    displacements = sp.symbols("dxi deta dphi")
    row = [of.slip.diff(v) for v in of.sleigh().velocities]
    of_10 = sum(a * d for a, d in zip(row, displacements, strict=True))
    missing = [1 - sp.Matrix([f]).jacobian(of.sleigh().velocities).rank() for f in (of_10, of.slip)]
    return evidence("parameters of release ξ that the relations named do not give", missing, exact=True)
