"""What all kinds of systems share: the record of a case, the truth by an independent calculation, random pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import mpmath
import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

ASYMPTOTIC, STABLE, UNSTABLE = "asymptotically stable", "stable", "unstable"
BORDER, REFUSED = "border", "refused"

t = dynamicsymbols._t
x, y, z, theta, phi, psi, alpha, beta = dynamicsymbols("x y z theta phi psi alpha beta")
a, b, c, d, g, k, l, m = sp.symbols("a b c d g k l m", positive=True)
I_, J_, L_, M_, P_, R_, W_ = sp.symbols("I J L M P R W", positive=True)


@dataclass(frozen=True)
class Case:
    """A system, the point or the search for it, and the true kind of stability of ``linear.states``."""

    what: str
    system: vn.System | vn.AffineSystem
    truth: str
    at: Mapping[sp.Expr, float] | None = None  # default: the origin
    given: Mapping[sp.Expr, float] | None = None  # of a steady motion
    near: Mapping[sp.Expr, float] = field(default_factory=dict)
    drop: tuple[sp.Expr, ...] = ()
    weaker: tuple[str, ...] = ()  # other answers that are true but say less

    @property
    def point(self) -> dict[sp.Expr, float]:
        """The point, the origin by default."""
        if self.at is not None:
            return dict(self.at)
        names = self.system.coordinates if isinstance(self.system, vn.System) else self.system.states
        return dict.fromkeys(names, 0.0)


def answer(case: Case, form: str = "multipliers") -> vn.linear.Verdict:
    """The verdict of the package. Errors of the package are refusals."""
    equations = vn.derive(case.system, form) if isinstance(case.system, vn.System) else case.system
    if case.given is not None:
        at: Mapping[sp.Expr, float] = vn.steady(equations, case.given, near=case.near, starts=0)
    else:
        at = case.point
    return vn.stability(vn.linearize(equations, at, drop=case.drop))


def judged(case: Case, form: str = "multipliers") -> tuple[str, str]:
    """("right" | "weaker" | "undecided" | "refused" | "wrong", the answer)."""
    try:
        found = answer(case, form)
    except vn.VinculumError as error:
        return ("right" if case.truth == REFUSED else "refused"), str(error)
    if found.kind == "undecided":
        return ("right" if case.truth == BORDER else "undecided"), str(found)
    if found.kind == case.truth:
        return "right", str(found)
    return ("weaker" if found.kind in case.weaker else "wrong"), str(found)


# -- truth ----------------------------------------------------------------------------------------------------------


def roots(A: np.ndarray | sp.Matrix) -> list[mpmath.mpc]:
    """Eigenvalues with 50 digits."""
    with mpmath.workdps(50):
        rows = np.array(sp.Matrix(A).tolist(), dtype=object)
        exact = mpmath.matrix([[mpmath.mpf(sp.Rational(e).p) / sp.Rational(e).q for e in row] for row in rows])
        return list(mpmath.eig(exact, left=False, right=False))


def by_roots(A: np.ndarray | sp.Matrix, on_axis: str | None = None) -> str:
    """The truth by Lyapunov's first method; ``on_axis`` where the first approximation does not decide."""
    found = roots(A)
    size = max(abs(r) for r in found)
    growth = max(r.real for r in found) / size
    if abs(growth) < 1e-15:
        if on_axis is None:
            raise ValueError("the roots do not decide")
        return on_axis
    if abs(growth) < 1e-9:
        raise ValueError("too close to the border for a test")
    return UNSTABLE if growth > 0 else ASYMPTOTIC


def companion(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> sp.Matrix:
    """The matrix of M ẍ + C ẋ + K x = 0."""
    M, C, K = (sp.Matrix(X).applyfunc(sp.Rational) for X in (M, C, K))
    n = M.shape[0]
    inverse = M.inv()
    return sp.Matrix(sp.BlockMatrix([[sp.zeros(n), sp.eye(n)], [-inverse * K, -inverse * C]]))


def worst(*truths: str) -> str:
    """The truth on systems side by side."""
    return next((kind for kind in (REFUSED, UNSTABLE, BORDER, STABLE) if kind in truths), ASYMPTOTIC)


# -- pieces ---------------------------------------------------------------------------------------------------------


class Draw:
    """Random numbers with two or three digits."""

    def __init__(self, seed: int, kind: str) -> None:
        self.random = np.random.default_rng([seed, sum(map(ord, kind))])

    def number(self, low: float = 0.3, high: float = 3.0) -> float:
        return round(float(self.random.uniform(low, high)), 2)

    def sign(self) -> float:
        return float(self.random.choice([-1.0, 1.0]))

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.random.random() < share)

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def positive(self, n: int) -> np.ndarray:
        """A positive definite matrix of quarters."""
        L = np.round(4 * self.random.normal(size=(n, n))) / 4
        return L @ L.T + np.eye(n) * self.number(0.25, 1)

    def indefinite(self, n: int) -> np.ndarray:
        """A symmetric matrix with a negative direction."""
        K = self.positive(n)
        v = self.random.integers(-2, 3, n).astype(float)
        v[self.whole(0, n - 1)] = 1.0
        return np.round(K - np.outer(v, v) * np.ceil(2 * (v @ K @ v) / (v @ v) ** 2), 6)

    def skew(self, n: int) -> np.ndarray:
        S = np.round(4 * self.random.normal(size=(n, n))) / 4
        return S - S.T


def coordinates(n: int, name: str = "q") -> list[sp.Expr]:
    return [dynamicsymbols(f"{name}{i + 1}") for i in range(n)]


def form_of(X: np.ndarray, v: list[sp.Expr]) -> sp.Expr:
    """vᵀXv/2 with exact entries."""
    column = sp.Matrix(v)
    return sp.expand((column.T * sp.Matrix(X).applyfunc(sp.Rational) * column)[0] / 2)


def linear_system(M, D, G, K, N, draw: Draw | None = None, name: str = "linear") -> vn.System:
    """M q̈ + (D + G) q̇ + (K + N) q = 0, with random terms of higher order if ``draw`` is given."""
    n = len(M)
    q = coordinates(n)
    v = [e.diff(t) for e in q]
    forces = -sp.Matrix(G).applyfunc(sp.Rational) * sp.Matrix(v) - sp.Matrix(N).applyfunc(sp.Rational) * sp.Matrix(q)
    T, V = form_of(M, v), form_of(K, q)
    if draw is not None:
        i, j = draw.whole(0, n - 1), draw.whole(0, n - 1)
        T += draw.number(0.1, 0.5) * q[i] ** 2 * v[j] ** 2 / 2
        V += draw.sign() * draw.number(0.1, 0.5) * q[j] ** 3 + draw.number(0.1, 0.5) * q[i] ** 2 * q[j] ** 2
    return vn.System(q, T, V, forces=dict(zip(q, forces, strict=True)), dissipation=form_of(D, v), name=name)
