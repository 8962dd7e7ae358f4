"""The terms of the equations in quasi-velocities, for reading: q̇(q, e, t), K, ∂/∂π, T̃, W and Q̃ in the user's symbols.

    ∂/∂π_a = Σ_i K_ia ∂/∂q_i,    W_a^τ = Σ_i K_ia (d/dt ∂e_τ/∂q̇_i - ∂e_τ/∂q_i),    Q̃_a = Σ_i K_ia Q_i

All n characteristics are kept, the parameters of release among them (Khusanov 2020, (4) to (8)).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from vinculum.derivation.mechanics.lagrange import mechanics, product
from vinculum.derivation.mechanics.sample_states import generic_states
from vinculum.derivation.quasi.characteristics import Inverse, branch_state, build_characteristics
from vinculum.derivation.quasi.chart import Characteristics, chart, chart_limits
from vinculum.derivation.quasi.quasi_equations import coefficients
from vinculum.describe import System
from vinculum.describe.quantities import dimensions_of
from vinculum.graph import from_sympy, to_sympy
from vinculum.graph.exact import vanishes
from vinculum.names import name_of
from vinculum.text_printer import vlatex
from vinculum.units.given import numbers_in_si

_SMALL = 400  # operations of an expression that is worth simplifying
_SMALL_WITH_ANGLES = 100  # the same with several angles: twice as many operations take minutes


@dataclass(frozen=True, eq=False, repr=False)
class QuasiVelocities:
    """Kinematic characteristics of a system and what its equations are made of; ``latex()`` prints all terms."""

    characteristics: tuple[sp.Expr, ...]  # (n) e, the parameters of release last
    coordinates: tuple[sp.Expr, ...]  # (n) q
    inverse: dict[sp.Expr, sp.Expr]  # q̇: expression of q, e, t; of itself where there is no closed one
    K: sp.Matrix  # (n, n) ∂q̇_i/∂e_a
    kinetic_energy: sp.Expr  # T̃
    derivatives: dict[sp.Expr, sp.Expr]  # e_a: ∂T̃/∂π_a
    W: sp.Matrix  # (n, n) W_a^τ, the row being a
    forces: dict[sp.Expr, sp.Expr]  # e_a: Q̃_a
    conditions: tuple[str, ...]  # where the characteristics determine the velocities

    def coefficient(self, a: sp.Expr, tau: sp.Expr) -> sp.Expr:
        """W_a^τ by the symbols of the characteristics."""
        return self.W[self.characteristics.index(a), self.characteristics.index(tau)]

    def latex(self) -> str:
        """Every term that is not zero, one to a line."""
        rows = [f"{left} &= {right}" for left, right in self._rows()]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _rows(self) -> Iterator[tuple[str, str]]:
        e = [vlatex(name) for name in self.characteristics]
        yield from ((vlatex(v), vlatex(value)) for v, value in self.inverse.items() if v != value)
        for a, name in enumerate(e):
            yield rf"\frac{{\partial}}{{\partial \pi_{{{name}}}}}", self._operator(a)
        yield r"\tilde{T}", vlatex(self.kinetic_energy)
        for name, value in zip(e, self.derivatives.values(), strict=True):
            if value != 0:
                yield rf"\frac{{\partial \tilde{{T}}}}{{\partial \pi_{{{name}}}}}", vlatex(value)
        for a, t in np.argwhere(np.array(self.W) != 0):
            yield f"W_{{{e[a]}}}^{{{e[t]}}}", vlatex(self.W[int(a), int(t)])
        for name, value in zip(e, self.forces.values(), strict=True):
            if value != 0:
                yield rf"\tilde{{Q}}_{{{name}}}", vlatex(value)

    def _operator(self, a: int) -> str:
        """Σ_i K_ia ∂/∂q_i."""
        terms = []
        for q, factor in zip(self.coordinates, self.K[:, a], strict=True):
            written = "" if factor == 1 else rf"\left({vlatex(factor)}\right) "
            terms += [written + rf"\frac{{\partial}}{{\partial {vlatex(q)}}}"] if factor != 0 else []
        return " + ".join(terms)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __repr__(self) -> str:
        found = [f"  {name_of(v)} = {_plain(value)}" for v, value in self.inverse.items() if v != value]
        names = [name_of(e) for e in self.characteristics]
        found += [f"  W[{names[a]}, {names[t]}] = {_plain(self.W[int(a), int(t)])}"
                  for a, t in np.argwhere(np.array(self.W) != 0)]  # fmt: skip
        return "\n".join([f"Quasi-velocities {', '.join(names)}", *found, *(f"  {c}" for c in self.conditions)])


def quasi_velocities(
    system: System,
    characteristics: Mapping[sp.Expr, sp.Expr],
    *,
    release: Mapping[str, sp.Expr] | None = None,
    inverse: Inverse = None,
    at: Mapping[sp.Expr, float] | None = None,
) -> QuasiVelocities:
    """The terms of the equations in quasi-velocities as SymPy expressions, simplified where they are small.

    Terms that vanish identically are zero, however long they are.

    The arguments are those of ``derive(system, "hamel", ...)``.
    """
    at = None if at is None else numbers_in_si(at, dimensions_of(system), "Invalid state at=")
    terms = mechanics(system)
    of = build_characteristics(terms, characteristics, release, inverse, at, generic_states(terms, wanted=1))
    here = chart(of, [branch_state(of, at)])
    T = here.seen([system.nodes.kinetic])[0]
    forces = product(here.K.T, here.seen(terms.Q))
    velocities = dict(zip(system.velocities, _readable(here.velocities), strict=True))
    K = _readable(here.K)
    return QuasiVelocities(
        tuple(of.names),
        tuple(system.coordinates),
        velocities,
        K,
        _readable(np.array([T]))[0],
        dict(zip(of.names, _readable(here.by_pi(T)), strict=True)),
        _readable(coefficients(here)) if of.by_newton else _coefficients(velocities, K, _slopes(of, K), system),
        dict(zip(of.names, _readable(forces), strict=True)),
        tuple(condition.meaning for condition in chart_limits(of, [])),
    )


def _slopes(of: Characteristics, K: sp.Matrix) -> sp.Matrix:
    """∂e/∂q̇ in the variables of the chart: as stated, or K⁻¹ where it depends on the velocities."""
    return _readable(of.slopes) if of.linear else K.inv().applyfunc(_simple)


def _coefficients(velocities: Mapping[sp.Expr, sp.Expr], K: sp.Matrix, slopes: sp.Matrix, system: System) -> sp.Matrix:
    """W_a^τ = -Σ_i ∂e_τ/∂q̇_i (d/dt K_ia - ∂q̇_i/∂π_a), from simplified terms."""
    change = K.diff(system.time).xreplace(dict(velocities))
    following = sp.Matrix(list(velocities.values())).jacobian(list(system.coordinates)) * K
    return (-(slopes * (change - following)).T).applyfunc(_simple)


def _readable(nodes: np.ndarray) -> sp.Matrix:
    """Nodes as a SymPy matrix, each simplified where it is small."""
    values = [_simple(to_sympy(node)) for node in nodes.ravel()]
    return sp.Matrix(nodes.shape[0], nodes.size // max(nodes.shape[0], 1), values)


def _simple(value: sp.Expr) -> sp.Expr:
    """An expression simplified where it is small; zero if it vanishes identically."""
    if vanishes(from_sympy(value)):
        return sp.S.Zero
    angles = {function.args[0] for function in value.atoms(TrigonometricFunction)}
    return sp.simplify(value) if sp.count_ops(value) < (_SMALL_WITH_ANGLES if len(angles) > 1 else _SMALL) else value


def _plain(expression: sp.Expr) -> str:
    """An expression with the names of its symbols alone: e1 in place of e1(t), dot(e1) in place of its derivative."""
    rates = {d: sp.Symbol(name_of(d)) for d in expression.atoms(sp.Derivative)}
    named = expression.xreplace(rates)
    return str(named.xreplace({f: sp.Symbol(name_of(f)) for f in named.atoms(AppliedUndef)}))


__all__ = ["QuasiVelocities", "quasi_velocities"]
