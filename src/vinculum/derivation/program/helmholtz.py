"""The Helmholtz conditions tell whether second-order equations F_i(t, q, q̇, q̈) = 0 have a Lagrangian, and which one.

They are the Euler-Lagrange equations of a Lagrangian if and only if

    H1  ∂F_i/∂q̈_j = ∂F_j/∂q̈_i
    H2  ∂F_i/∂q̇_j + ∂F_j/∂q̇_i = D_t(∂F_i/∂q̈_j + ∂F_j/∂q̈_i)
    H3  ∂F_i/∂q_j - ∂F_j/∂q_i = ½ D_t(∂F_i/∂q̇_j - ∂F_j/∂q̇_i)

and then L = ∫₀¹ (q - p)^i F_i(t, p + s(q - p), sq̇, sq̈) ds for a base point p (Vainberg, Tonti), which Euler's operator
of second order turns back into F. The forces at rest F_i(t, q, 0, 0) are integrated by themselves where they have a
potential, so a singularity of the forces does not restrict the base point. Every candidate is tested: Euler's operator
must give the equations back.

Where the conditions fail, a multiplier matrix g may help (Douglas): for q̈ = f the equations g (q̈ - f) = 0 are
variational when

    D_t g + ½ (f_vᵀ g + g f_v) = 0,    g Φ = (g Φ)ᵀ,    Φ = ½ D_t f_v - f_q - ¼ f_v²,    ∂g_ij/∂v_k = ∂g_ik/∂v_j.

`integrating_multiplier` looks for g = e^{∫σ(t)dt} G with a constant symmetric G, and tests it by H1 to H3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.errors import VinculumError
from vinculum.expressions import as_expression
from vinculum.notebook_repr import html


@dataclass(frozen=True, eq=False)
class Helmholtz:
    """The remainder of each condition; all are zero for variational equations."""

    equations: tuple[sp.Expr, ...]
    coordinates: tuple[sp.Expr, ...]
    H1: sp.Matrix
    H2: sp.Matrix
    H3: sp.Matrix

    def __bool__(self) -> bool:
        return all(entry == 0 for matrix in (self.H1, self.H2, self.H3) for entry in matrix)

    @property
    def failed(self) -> dict[str, sp.Matrix]:
        """The conditions that do not hold, with their remainders."""
        found = {"H1": self.H1, "H2": self.H2, "H3": self.H3}
        return {name: matrix for name, matrix in found.items() if any(entry != 0 for entry in matrix)}

    def lagrangian(self) -> sp.Expr:
        """L of second order in general; refused where the conditions fail or no candidate gives the equations back."""
        if not self:
            raise VinculumError(
                f"These equations have no Lagrangian as they stand: {', '.join(self.failed)} fail. Try "
                "g = integrating_multiplier(equations, coordinates), then helmholtz(g * equations, coordinates)."
            )
        for L in _lagrangians(self.equations, self.coordinates):
            if _gives_back(L, self.equations, self.coordinates):
                return L
        raise VinculumError(
            "The conditions hold, so a Lagrangian exists, but its integral was not found in closed form. Use numbers "
            "for exponents that are symbols, or simplify the equations."
        )

    _repr_html_ = html


def helmholtz(equations: Sequence[sp.Expr], coordinates: Sequence[sp.Expr]) -> Helmholtz:
    """Test equations F = 0 written in coordinates q(t), q.diff(t), q.diff(t, 2).

    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> q = dynamicsymbols("q")
    >>> bool(helmholtz([q.diff().diff() + sp.sin(q)], [q]))
    True
    >>> helmholtz([q.diff().diff() + 6 * q.diff() + 9 * q], [q]).failed
    {'H2': Matrix([[12]])}
    """
    q = tuple(coordinates)
    if len(equations) != len(q):
        raise VinculumError(f"there are {len(equations)} equations for {len(q)} coordinates.")
    t = q[0].args[0]
    v, a = [c.diff(t) for c in q], [c.diff(t, 2) for c in q]
    F = [as_expression(f) for f in equations]
    by_a, by_v, by_q = (_jacobian(F, z, q) for z in (a, v, q))
    H1 = by_a - by_a.T
    H2 = by_v + by_v.T - (by_a + by_a.T).diff(t)
    H3 = by_q - by_q.T - (by_v - by_v.T).diff(t) / 2
    return Helmholtz(tuple(F), q, *(matrix.applyfunc(sp.simplify) for matrix in (H1, H2, H3)))


def euler_lagrange(L: sp.Expr, coordinates: Sequence[sp.Expr]) -> list[sp.Expr]:
    """∂L/∂q - D_t ∂L/∂q̇ + D_t² ∂L/∂q̈ for every coordinate."""
    q = tuple(coordinates)
    t = q[0].args[0]
    rows = [_jacobian([L], z, q) for z in (q, [c.diff(t) for c in q], [c.diff(t, 2) for c in q])]
    return [sp.simplify(rows[0][i] - rows[1][i].diff(t) + rows[2][i].diff(t, 2)) for i in range(len(q))]


# -- the Lagrangian ----------------------------------------------------------------------------------------------


def _lagrangians(equations: Sequence[sp.Expr], q: Sequence[sp.Expr]) -> Iterator[sp.Expr]:
    """Candidates: with the forces at rest apart or not, and from several base points."""
    plain, back = _positive(q)
    z = [plain[c] for c in q]
    F = [sp.expand(f.subs(plain)) for f in equations]
    still = {symbol: 0 for symbol in back if symbol not in z}
    rest = _finite_or_none([f.subs(still) for f in F])
    parts = []
    if rest is not None and any(rest):
        potential = _potential(rest, z)
        if potential is not None:
            parts.append((potential, [sp.expand(f - r) for f, r in zip(F, rest, strict=True)]))
    parts.append((sp.S.Zero, F))
    for known, left in parts:
        for base in _bases(len(z)):
            found = _tonti(left, list(back), z, base)
            if found is not None:
                yield sp.simplify((known + found).subs(back))


def _bases(n: int) -> list[tuple[int, ...]]:
    """Base points: the origin, all ones, one on each axis, and the opposite of all ones."""
    axes = [tuple(int(i == k) for i in range(n)) for k in range(n)] if n > 1 else []
    return [(0,) * n, (1,) * n, *axes, (-1,) * n]


def _tonti(
    F: Sequence[sp.Expr], every: Sequence[sp.Symbol], z: Sequence[sp.Symbol], base: Sequence[int]
) -> sp.Expr | None:
    """∫₀¹ (q - p)·F(p + s(q - p), sq̇, sq̈) ds, or None if it diverges or is not found."""
    s = sp.Symbol("s", positive=True)
    path = {x: s * x for x in every} | {x: p + s * (x - p) for x, p in zip(z, base, strict=True)}
    integrand = sum((x - p) * f.subs(path, simultaneous=True) for x, p, f in zip(z, base, F, strict=True))
    found = _finite_or_none([sp.integrate(sp.expand(integrand), (s, 0, 1))])
    return None if found is None else found[0]


def _potential(force: Sequence[sp.Expr], z: Sequence[sp.Symbol]) -> sp.Expr | None:
    """W with ∂W/∂q_i = force_i, one coordinate after the other; None if there is none in closed form."""
    W = sp.S.Zero
    for i, x in enumerate(z):
        left = sp.simplify(force[i] - W.diff(x))
        if left.free_symbols & set(z[:i]):
            return None  # not symmetric
        W += sp.integrate(left, x)
    checked = _finite_or_none([W])
    good = checked is not None and all(sp.simplify(W.diff(x) - f) == 0 for x, f in zip(z, force, strict=True))
    return W if good else None


def _finite_or_none(found: Sequence[sp.Expr]) -> list[sp.Expr] | None:
    """The expressions, unless one of them is infinite, undefined, or an integral that was not solved."""
    bad = any(f.has(sp.nan, sp.oo, -sp.oo, sp.zoo, sp.Integral) for f in found)
    return None if bad else list(found)


def _gives_back(L: sp.Expr, equations: Sequence[sp.Expr], q: Sequence[sp.Expr]) -> bool:
    """Whether Euler's operator turns L into the equations."""
    found = euler_lagrange(L, q)
    return all(sp.simplify(e - f) == 0 for e, f in zip(found, equations, strict=True))


# -- integrating multipliers -------------------------------------------------------------------------------------


def integrating_multiplier(accelerations: Sequence[sp.Expr], coordinates: Sequence[sp.Expr]) -> sp.Matrix | None:
    """A regular g = e^{∫σ(t)dt} G, G constant and symmetric, that makes g (q̈ - f) = 0 variational, or None.

    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> q, t = dynamicsymbols("q"), dynamicsymbols._t
    >>> integrating_multiplier([-2 * q.diff() / t - q**5], [q])
    Matrix([[t**2]])
    """
    q = tuple(coordinates)
    t = q[0].args[0]
    v = [c.diff(t) for c in q]
    f = [as_expression(entry) for entry in accelerations]
    f_v, f_q = _jacobian(f, v, q), _jacobian(f, q, q)
    motion = dict(zip([c.diff(t, 2) for c in q], f, strict=True))
    Phi = f_v.diff(t).subs(motion).doit() / 2 - f_q - f_v * f_v / 4
    remainder = sp.Matrix([c.diff(t, 2) - entry for c, entry in zip(q, f, strict=True)])
    for sigma in _exponents(f_v, t):
        G = _constant_multiplier(f_v, Phi, sigma, (*q, *v, t))
        if G is None:
            continue
        g = (_exponential(sigma, t) * G).applyfunc(sp.simplify)
        if helmholtz(list(g * remainder), q):
            return g
    return None


def _exponents(f_v: sp.Matrix, t: sp.Symbol) -> list[sp.Expr]:
    """σ of σG = -½(f_vᵀ G + G f_v): minus the means of pairs of eigenvalues of f_v that depend on time at most."""
    roots = [sp.simplify(root) for root in f_v.eigenvals()]
    roots = [root for root in roots if not root.atoms(AppliedUndef, sp.Derivative)]
    found = [sp.simplify(-(a + b) / 2) for a, b in combinations_with_replacement(roots, 2)]
    return list(dict.fromkeys([*found, sp.S.Zero]))


def _exponential(sigma: sp.Expr, t: sp.Symbol) -> sp.Expr:
    """e^{∫σ dt}, with the absolute values of logarithms left out."""
    positive = sp.Dummy("t", positive=True)
    return sp.simplify(sp.exp(sp.integrate(sigma.subs(t, positive), positive))).subs(positive, t)


def _constant_multiplier(f_v: sp.Matrix, Phi: sp.Matrix, sigma: sp.Expr, variables: Sequence) -> sp.Matrix | None:
    """G from conditions linear in its entries, which must hold for all values of the variables."""
    n = len(f_v.tolist())
    names = {(i, j): sp.Symbol(f"G{i}{j}") for i in range(n) for j in range(i, n)}
    G = sp.Matrix(n, n, lambda i, j: names[min(i, j), max(i, j)])
    conditions = [*(sigma * G + (f_v.T * G + G * f_v) / 2), *(G * Phi - (G * Phi).T)]
    plain = {z: sp.Dummy(f"z{i}") for i, z in enumerate(sorted(variables, key=lambda z: -sp.count_ops(z)))}
    equations = _coefficients([sp.expand(c.subs(plain)) for c in conditions], list(plain.values()))
    solution = sp.solve(equations, list(names.values()), dict=True) if equations else [{}]
    if not solution:
        return None
    G = G.subs(solution[0])
    free = sorted(G.free_symbols & set(names.values()), key=str)
    for values in ([1] * len(free), list(range(1, len(free) + 1)), [(-1) ** i for i in range(len(free))]):
        candidate = G.subs(dict(zip(free, values, strict=True)))
        if sp.simplify(candidate.det()) != 0:
            return candidate
    return None


def _coefficients(conditions: Sequence[sp.Expr], variables: Sequence[sp.Symbol]) -> list[sp.Expr]:
    """What has to vanish for each condition to hold identically: coefficients of products of the variables."""
    found: list[sp.Expr] = []
    for condition in conditions:
        collected: dict[sp.Expr, sp.Expr] = {}
        for term in sp.Add.make_args(condition):
            coefficient, product = term.as_independent(*variables, as_Add=False)
            collected[product] = collected.get(product, sp.S.Zero) + coefficient
        found += [c for c in collected.values() if c != 0]
    return found


# -- q, q̇ and q̈ as independent symbols ---------------------------------------------------------------------------


def _jacobian(F: Sequence[sp.Expr], z: Sequence[sp.Expr], q: Sequence[sp.Expr]) -> sp.Matrix:
    """∂F/∂z with q, q̇ and q̈ independent of each other."""
    t = q[0].args[0]
    named = {c.diff(t, k): sp.Dummy(f"d{k}_{i}") for k in (2, 1, 0) for i, c in enumerate(q)}
    back = {dummy: key for key, dummy in named.items()}
    plain = sp.Matrix([f.subs(named) for f in F])
    return plain.jacobian(sp.Matrix([named[c] for c in z])).subs(back)


def _positive(q: Sequence[sp.Expr]) -> tuple[dict[sp.Expr, sp.Symbol], dict[sp.Symbol, sp.Expr]]:
    """Positive symbols for q, q̇, q̈ (so that integrals need no case distinctions at zero), and the way back."""
    t = q[0].args[0]
    named = {c.diff(t, k): sp.Dummy(f"d{k}_{i}", positive=True) for k in (2, 1, 0) for i, c in enumerate(q)}
    return named, {dummy: key for key, dummy in named.items()}
