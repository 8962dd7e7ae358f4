"""The inverse problem: all systems ẋ = X(x, t) that have given partial integrals (Erugin, Galiullin, Mukharlyamov).

For φ(x, t) with Jacobian J = ∂φ/∂x of rank r, and Erugin functions F(φ, x, t) with F = 0 where φ = 0,

    X = s₀ [J, c] + Jᵀ (J Jᵀ)⁻¹ (F - ∂φ/∂t)      gives      dφ/dt = F exactly.

[J, c] is the vector product of the rows of J and of N - 1 - r vectors c: X_τ,i = (-1)^{i+1} det(W without column i),
W = [J; c]. It is tangent to φ = const, J X_τ = 0, and s₀(x, t) is arbitrary. Every tangent vector is of this form for
some c; with c left out, `tangents` gives a basis of all of them. The term ∂φ/∂t is missing in the printed formula of
paper 004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.sample_states import consistent_states
from vinculum.describe.affine import AffineSystem
from vinculum.errors import ConstraintError, DomainError, VinculumError
from vinculum.expressions import as_expression
from vinculum.graph import Converter, Node, evaluate, symbols
from vinculum.notebook_repr import html

_DRAWS, _POINTS = 60, 6  # random points, and how many of them are moved to the set φ = 0
_ZERO = 1e-9  # F this small on the set, relative to its size around it, is zero


@dataclass(frozen=True, eq=False)
class Inverse:
    """A family of systems with given partial integrals: ẋ = scale · tangential + normal."""

    states: tuple[sp.Expr, ...]
    integrals: dict[str, sp.Expr]
    normal: sp.Matrix  # Jᵀ (J Jᵀ)⁻¹ (F - ∂φ/∂t)
    tangential: sp.Matrix  # X_τ, zero where no c was given and more than one direction is free
    tangents: sp.Matrix  # a basis of ker J, one column for each free direction

    def rates(
        self, scale: sp.Expr | float | None = None, along: Sequence[sp.Expr | float] | None = None
    ) -> list[sp.Expr]:
        """One member: s₀ X_τ + X_ν, with ``along`` coefficients of the basis of tangents for X_τ; ``scale`` is s₀ = 1.

        Without a tangential part it is X_ν alone.
        """
        free = self.tangents.shape[1]
        if along is not None and len(along) != free:
            raise VinculumError(f"there are {free} free directions; got {len(along)} coefficients.")
        if along is None and scale is not None and self.tangential.is_zero_matrix and as_expression(scale) != 0:
            raise VinculumError(
                f"scale={scale} multiplies the tangential part, which is zero here. " + _tangential_advice(free)
            )
        tangent = self.tangential if along is None else self.tangents * sp.Matrix(list(map(as_expression, along)))
        return list(tangent * as_expression(1 if scale is None else scale) + self.normal)

    def system(
        self,
        scale: sp.Expr | float | None = None,
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
    _refuse_flow_off_the_set(phi, F, x)
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


def _tangential_advice(free: int) -> str:
    """What to type for a tangential part."""
    if not free:
        return "The integrals leave no free direction: leave out scale."
    return (
        f"Give {free} coefficients, rates(scale, along=[...]), or {free - 1} vectors in inverse_problem(tangent=[...])."
    )


# -- F on the set ------------------------------------------------------------------------------------------------


def _refuse_flow_off_the_set(phi: Mapping[str, sp.Expr], F: sp.Matrix, x: Sequence[sp.Expr]) -> None:
    """Raise if an F is not zero where all φ are zero, at points of that set in general position."""
    convert = Converter()
    nodes, flow, states = ([convert(f) for f in part] for part in (phi.values(), F, x))
    around = _points(nodes, flow, states)
    on_the_set = consistent_states((dict(point) for point in around), ((nodes, states),), _POINTS)
    problems = []
    for name, f in zip(phi, flow, strict=True):
        worst = max((_size(f, point) for point in on_the_set), default=0.0)
        if worst > _ZERO * max(_size(f, point) for point in around):
            problems.append(f"F of {name!r} is {worst:.3g} at a point where {', '.join(phi)} vanish")
    if problems:
        raise VinculumError(
            f"{'; '.join(problems)}. That set would not be invariant: every F must be zero where all integrals are, "
            "such as F = -k φ."
        )


def _points(nodes: Sequence[Node], flow: Sequence[Node], states: Sequence[Node]) -> list[dict[Node, float]]:
    """Random values of states, time and parameters."""
    random = np.random.default_rng(20_007)
    others = sorted(symbols([*nodes, *flow]) - set(states), key=lambda node: str(node.value))
    found = []
    for _ in range(_DRAWS):
        values = [*random.normal(0.3, 0.6, len(states)), *random.uniform(0.4, 1.6, len(others))]
        found.append(dict(zip([*states, *others], map(float, values), strict=True)))
    return found


def _size(f: Node, point: Mapping[Node, float]) -> float:
    """|f| at a point; zero outside its domain."""
    try:
        return abs(evaluate([f], point)[0])
    except DomainError:
        return 0.0
