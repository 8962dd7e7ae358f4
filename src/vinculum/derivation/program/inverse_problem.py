"""The inverse problem: all systems ẋ = X(x, t) that have given partial integrals (Erugin, Galiullin, Mukharlyamov).

For φ(x, t) with Jacobian J = ∂φ/∂x of rank r, and Erugin functions F(φ, x, t) with F = 0 where φ = 0,

    X = s₀ [J, c] + Jᵀ (J Jᵀ)⁻¹ (F - ∂φ/∂t)      gives      dφ/dt = F exactly.

[J, c] is the vector product of the rows of J and of N - 1 - r vectors c: X_τ,i = (-1)^{i+1} det(W without column i),
W = [J; c]. It is tangent to φ = const, J X_τ = 0, and s₀(x, t) is arbitrary. Every tangent vector is of this form for
some c; with c left out, `tangents` gives a basis of all of them. The term ∂φ/∂t is missing in the printed formula of
paper 004.

The Helmholtz conditions tell whether second-order equations F_i(t, q, q̇, q̈) = 0 have a Lagrangian, and which one.

They are the Euler-Lagrange equations of a Lagrangian if and only if

    H1  ∂F_i/∂q̈_j = ∂F_j/∂q̈_i
    H2  ∂F_i/∂q̇_j + ∂F_j/∂q̇_i = D_t(∂F_i/∂q̈_j + ∂F_j/∂q̈_i)
    H3  ∂F_i/∂q_j - ∂F_j/∂q_i = ½ D_t(∂F_i/∂q̇_j - ∂F_j/∂q̇_i)

and then L = ∫₀¹ q^i F_i(t, sq, sq̇, sq̈) ds (Vainberg, Tonti), which Euler's operator of second order turns back into F.
Where they fail, a multiplier matrix g may help (Douglas): for q̈ = f the equations g (q̈ - f) = 0 are variational when

    D_t g + ½ (f_vᵀ g + g f_v) = 0,    g Φ = (g Φ)ᵀ,    Φ = ½ D_t f_v - f_q - ¼ f_v²,    ∂g_ij/∂v_k = ∂g_ik/∂v_j.

`integrating_multiplier` looks for g = e^{σt} G with a constant symmetric G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import sympy as sp

from vinculum.describe.affine import AffineSystem
from vinculum.errors import ConstraintError, VinculumError
from vinculum.expressions import as_expression
from vinculum.notebook_repr import html


@dataclass(frozen=True, eq=False)
class Inverse:
    """A family of systems with given partial integrals: ẋ = scale · tangential + normal."""

    states: tuple[sp.Expr, ...]
    integrals: dict[str, sp.Expr]
    normal: sp.Matrix  # Jᵀ (J Jᵀ)⁻¹ (F - ∂φ/∂t)
    tangential: sp.Matrix  # X_τ, zero where no c was given and more than one direction is free
    tangents: sp.Matrix  # a basis of ker J, one column for each free direction

    def rates(self, scale: sp.Expr | float = 1, along: Sequence[sp.Expr | float] | None = None) -> list[sp.Expr]:
        """One member: s₀ X_τ + X_ν, or with ``along`` coefficients of the basis of tangents instead of X_τ."""
        if along is not None and len(along) != self.tangents.shape[1]:
            raise VinculumError(f"there are {self.tangents.shape[1]} free directions; got {len(along)} coefficients.")
        tangent = (
            self.tangential * as_expression(scale)
            if along is None
            else self.tangents * sp.Matrix(list(map(as_expression, along)))
        )
        return list(tangent + self.normal)

    def system(
        self,
        scale: sp.Expr | float = 1,
        along: Sequence[sp.Expr | float] | None = None,
        parameters: Mapping[sp.Symbol, float] | None = None,
        name: str = "inverse problem",
    ) -> AffineSystem:
        """One member as a system without constraints, ready to simulate."""
        return AffineSystem(self.states, self.rates(scale, along), parameters=parameters or {}, name=name)

    _repr_html_ = html


def inverse_problem(
    states: Sequence[sp.Expr],
    integrals: Mapping[str, sp.Expr],
    erugin: Mapping[str, sp.Expr] | sp.Expr | float,
    tangent: Sequence[Sequence[sp.Expr | float]] = (),
) -> Inverse:
    """The systems for which every integral φ obeys dφ/dt = F.

    ``erugin`` is a rate k, giving F = -k φ, or {name: F} with F = 0 where all φ = 0. ``tangent`` are the N - 1 - r
    vectors c; with N - 1 integrals there are none.

    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> x, y = dynamicsymbols("x y")
    >>> inverse_problem([x, y], {"circle": (x**2 + y**2 - 1) / 2}, 0).rates()
    [y(t), -x(t)]
    """
    x, phi = tuple(map(as_expression, states)), {name: as_expression(f) for name, f in integrals.items()}
    tangent = [[as_expression(entry) for entry in row] for row in tangent]
    time = x[0].args[0]
    J = sp.Matrix(list(phi.values())).jacobian(sp.Matrix(x))
    r, N = J.shape
    _refuse(J, r, N, tangent)
    F = _erugin(phi, erugin)
    explicit = sp.Matrix([_partial(f, x, time) for f in phi.values()])
    normal = J.T * (J * J.T).LUsolve(F - explicit)
    basis = sp.Matrix.hstack(*J.nullspace()) if r < N else sp.zeros(N, 0)
    free = N - 1 - r
    tangential = vector_product([*J.tolist(), *tangent]) if len(tangent) == free and r < N else sp.zeros(N, 1)
    return Inverse(x, phi, normal, tangential, basis)


def vector_product(rows: Sequence[Sequence[sp.Expr]]) -> sp.Matrix:
    """The vector orthogonal to N - 1 rows: (-1)^{i+1} det(W without column i), i from 1."""
    W = sp.Matrix(rows)
    minors = []
    for i in range(W.shape[1]):
        minor = W.copy()
        minor.col_del(i)
        minors.append((-1) ** i * minor.det())
    return sp.Matrix(minors)


def _partial(f: sp.Expr, x: Sequence[sp.Expr], time: sp.Symbol) -> sp.Expr:
    """∂f/∂t at fixed x."""
    fixed = {key: sp.Dummy(f"x{i}") for i, key in enumerate(x)}
    return as_expression(f).subs(fixed).diff(time).subs({dummy: key for key, dummy in fixed.items()})


def _erugin(phi: Mapping[str, sp.Expr], erugin: Mapping[str, sp.Expr] | sp.Expr | float) -> sp.Matrix:
    if isinstance(erugin, Mapping):
        missing = [name for name in phi if name not in erugin]
        if missing:
            raise VinculumError(f"the integral {', '.join(missing)} has no function F. Write erugin={{name: F}}.")
        return sp.Matrix([as_expression(erugin[name]) for name in phi])
    return sp.Matrix([-as_expression(erugin) * f for f in phi.values()])


def _refuse(J: sp.Matrix, r: int, N: int, tangent: Sequence) -> None:
    if J.rank() < r:
        raise ConstraintError(f"The integrals are dependent: their Jacobian has rank {J.rank()} of {r}. Remove one.")
    if tangent and len(tangent) != N - 1 - r:
        raise VinculumError(
            f"{N} states with {r} integrals need {max(N - 1 - r, 0)} tangent vectors; got {len(tangent)}."
        )


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
        """L of second order in general, by Vainberg and Tonti; refused where the conditions fail."""
        if not self:
            raise VinculumError(
                f"These equations have no Lagrangian as they stand: {', '.join(self.failed)} fail. Try "
                "g = integrating_multiplier(equations, coordinates), then helmholtz(g * equations, coordinates)."
            )
        s, (plain, back) = sp.Symbol("s", positive=True), _generic(self.coordinates)
        scaled = [f.subs(plain).subs({z: s * z for z in back}, simultaneous=True) for f in self.equations]
        integrand = sum(plain[q] * f for q, f in zip(self.coordinates, scaled, strict=True))
        return sp.simplify(sp.integrate(sp.expand(integrand), (s, 0, 1)).subs(back))

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


def integrating_multiplier(accelerations: Sequence[sp.Expr], coordinates: Sequence[sp.Expr]) -> sp.Matrix | None:
    """A regular g = e^{σt} G, G constant and symmetric, that makes g (q̈ - f) = 0 variational, or None."""
    q = tuple(coordinates)
    t = q[0].args[0]
    v = [c.diff(t) for c in q]
    f = [as_expression(entry) for entry in accelerations]
    f_v, f_q = _jacobian(f, v, q), _jacobian(f, q, q)
    motion = dict(zip([c.diff(t, 2) for c in q], f, strict=True))
    Phi = f_v.diff(t).subs(motion).doit() / 2 - f_q - f_v * f_v / 4
    for sigma in _exponents(f_v):
        g = _constant_multiplier(f_v, Phi, sigma, (*q, *v, t))
        if g is not None:
            return sp.exp(sigma * t) * g
    return None


def _exponents(f_v: sp.Matrix) -> list[sp.Expr]:
    """σ of σG = -½(f_vᵀ G + G f_v): minus the means of pairs of eigenvalues of f_v, where these are constant."""
    roots = [root for root in f_v.eigenvals() if not root.atoms(sp.Function, sp.Derivative)]
    found = [sp.simplify(-(a + b) / 2) for a, b in combinations_with_replacement(roots, 2)]
    return list(dict.fromkeys(found)) or [sp.S.Zero]


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


def _jacobian(F: Sequence[sp.Expr], z: Sequence[sp.Expr], q: Sequence[sp.Expr]) -> sp.Matrix:
    """∂F/∂z with q, q̇ and q̈ independent of each other."""
    t = q[0].args[0]
    named = {c.diff(t, k): sp.Dummy(f"d{k}_{i}") for k in (2, 1, 0) for i, c in enumerate(q)}
    back = {dummy: key for key, dummy in named.items()}
    plain = sp.Matrix([f.subs(named) for f in F])
    return plain.jacobian(sp.Matrix([named[c] for c in z])).subs(back)


def _generic(q: Sequence[sp.Expr]) -> tuple[dict[sp.Expr, sp.Symbol], dict[sp.Symbol, sp.Expr]]:
    """Positive symbols for q, q̇, q̈ (so that integrals need no case distinctions at zero), and the way back."""
    t = q[0].args[0]
    named = {c.diff(t, k): sp.Dummy(f"d{k}_{i}", positive=True) for k in (2, 1, 0) for i, c in enumerate(q)}
    return named, {dummy: key for key, dummy in named.items()}
