"""The quantities of (3), (8) and (13) to (15) at one state, by SymPy: a, a₁, B, their derivatives, W_q and Q."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import sympy as sp

import vinculum as vn
from papers.truth import Values, motion, numbers


@dataclass(frozen=True, eq=False)
class Scalar:
    """Coordinates in the order (r, s), n independent and m dependent; the last index of a slope is the coordinate."""

    system: vn.System
    state: Values
    r: list[int]
    s: list[int]
    a: np.ndarray  # (n + m, n + m)
    a1: np.ndarray  # (n + m)
    F: np.ndarray  # (m, n + m)
    da: np.ndarray  # (n + m, n + m, n + m)
    da1: np.ndarray  # (n + m, n + m)
    dF: np.ndarray  # (m, n + m, n + m)
    W: np.ndarray  # (n + m) W_q
    Q: np.ndarray  # (n + m)

    @property
    def B(self) -> np.ndarray:
        """-F_s⁻¹F_r, (m, n)."""
        return -np.linalg.solve(self.F[:, self.s], self.F[:, self.r])

    @property
    def P(self) -> np.ndarray:
        """q̇ = P ṙ, coordinates in the order (r, s)."""
        return np.vstack([np.eye(len(self.r)), self.B])

    @property
    def rates(self) -> np.ndarray:
        """ṙ."""
        return np.array([self.state[self.system.velocities[i]] for i in self.r])

    @property
    def order(self) -> list[int]:
        return [*self.r, *self.s]

    def bend(self) -> np.ndarray:
        """∂B/∂q_k, (m, n, n + m), in the user's order of k."""
        solve = [self.dF[:, self.r, k] + self.dF[:, self.s, k] @ self.B for k in range(len(self.a))]
        return np.stack([-np.linalg.solve(self.F[:, self.s], right) for right in solve], axis=2)

    def reduced(self) -> tuple[np.ndarray, np.ndarray]:
        """a* = Pᵀ a P of (13), corrected, and a₁* = Pᵀ a₁."""
        a = self.a[np.ix_(self.order, self.order)]
        return self.P.T @ a @ self.P, self.P.T @ self.a1[self.order]

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """∂a*/∂q_k and ∂a₁*/∂q_k."""
        order, P, bend = self.order, self.P, self.bend()
        a, a1 = self.a[np.ix_(order, order)], self.a1[order]
        quadratic, linear = [], []
        for k in range(len(self.a)):
            dP = np.vstack([np.zeros((len(self.r),) * 2), bend[:, :, k]])
            da = self.da[np.ix_(order, order)][:, :, k]
            quadratic.append(P.T @ da @ P + dP.T @ a @ P + P.T @ a @ dP)
            linear.append(P.T @ self.da1[order, k] + dP.T @ a1)
        return np.stack(quadratic, axis=2), np.stack(linear, axis=1)

    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        """q̈ and λ with multipliers."""
        return motion(self.system, self.state).solve()


def scalar(system: vn.System, dependent: Sequence[sp.Expr], state: Values) -> Scalar:
    """Everything at a state; ṡ is made to follow ṙ."""
    n, m = len(system.coordinates), len(system.constraints)
    flat = numbers(_expressions(system), dict(system.parameters) | dict(state))
    a, a1, F, da, da1, dF, W, Q = np.split(flat, np.cumsum([n * n, n, m * n, n**3, n * n, m * n * n, n]))
    s = [system.coordinates.index(q) for q in dependent]
    found = Scalar(
        system,
        state,
        [i for i in range(n) if i not in s],
        s,
        a.reshape(n, n),
        a1,
        F.reshape(m, n),
        da.reshape(n, n, n),
        da1.reshape(n, n),
        dF.reshape(m, n, n),
        W,
        Q,
    )
    following = dict(zip((system.velocities[i] for i in s), found.B @ found.rates, strict=True))
    if all(np.isclose(state[v], x, rtol=0, atol=1e-13) for v, x in following.items()):
        return replace(found, state=dict(state) | following)
    return scalar(system, dependent, dict(state) | following)


@cache
def _expressions(system: vn.System) -> tuple[sp.Expr, ...]:
    q, v, T = system.coordinates, system.velocities, sp.expand(system.kinetic_energy)
    still = dict.fromkeys(v, sp.S.Zero)
    a = [T.diff(x, y) for x in v for y in v]
    a1 = [T.diff(x).xreplace(still) for x in v]
    F = [c.expression.diff(x) for c in system.constraints for x in q]
    W = system.potential_energy - T.xreplace(still)
    slopes = [[e.diff(x) for e in part for x in q] for part in (a, a1, F)]
    return (*a, *a1, *F, *slopes[0], *slopes[1], *slopes[2], *(W.diff(x) for x in q), *(_force(system, x) for x in q))


def _force(system: vn.System, q: sp.Expr) -> sp.Expr:
    """The non-potential force on a coordinate, friction included."""
    return sp.sympify(system.forces.get(q, 0)) - system.dissipation.diff(q.diff(system.time))


def states(system: vn.System, dependent: Sequence[sp.Expr], near: Values, count: int = 5) -> Iterator[Scalar]:
    """Random states, fast and off the constraints: F is an integral, so every form holds there too."""
    random = np.random.default_rng(2025)
    for _ in range(count):
        state = {q: near[q] + float(random.normal(0, 0.1)) for q in system.coordinates}
        state |= {v: float(random.normal(0, 5)) for v in system.velocities}
        yield scalar(system, dependent, state | {k: float(random.normal()) for k in system.inputs})
