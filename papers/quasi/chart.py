"""Characteristics e(q, q̇) at one moment of a motion, by their definition: nothing of the paper's formulas is used.

K = (∂e/∂q̇)⁻¹,   ė = (∂e/∂q̇) q̈ + (∂e/∂q) q̇,   L_a = Σ K_ia (d/dt T_q̇i - T_qi),   M q̈ + h = R
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy as sp

import vinculum as vn
from papers.quasi import systems as of
from papers.truth import Values, motion, numbers


@dataclass(frozen=True, eq=False)
class Moment:
    """A released system at a state, with its reactions and the accelerations they make."""

    system: vn.System
    values: Values  # of q, q̇ and the parameters
    e: np.ndarray  # (n)
    rates: np.ndarray  # (n) ė
    velocities: np.ndarray  # (n) q̇
    K: np.ndarray  # (n, n) ∂q̇_i/∂e_a
    force: np.ndarray  # (n) R = d/dt T_q̇ - T_q
    mu: np.ndarray  # (2)
    lam: float
    slopes: np.ndarray  # (n, n) ∂e/∂q
    turning: np.ndarray  # (n, n) d/dt ∂e_τ/∂q̇_i

    @property
    def L(self) -> np.ndarray:
        """L_a."""
        return self.K.T @ self.force

    @property
    def W(self) -> np.ndarray:
        """W_a^τ = Σ K_ia (d/dt ∂e_τ/∂q̇_i - ∂e_τ/∂q_i), row a."""
        return ((self.turning - self.slopes) @ self.K).T

    @property
    def momenta(self) -> np.ndarray:
        """∂T̃/∂e_τ = Σ K_iτ ∂T/∂q̇_i."""
        T_v = numbers([self.system.kinetic_energy.diff(v) for v in self.system.velocities], self.values)
        return self.K.T @ T_v


def moment(
    system: vn.System, characteristics: tuple[sp.Expr, ...], state: Values, mu: np.ndarray, lam: float
) -> Moment:
    """R_i = λ ∂ψ/∂q̇_i + Σ_s μ_s ∂q̇_i/∂e_s, ψ the last characteristic."""
    values = dict(system.parameters) | dict(state)
    n, q, v = len(system.coordinates), system.coordinates, system.velocities
    e, G, slopes = _characteristics(characteristics, q, v)
    now, across = numbers(e, values), numbers(G, values).reshape(n, n)
    along, K = numbers(slopes, values).reshape(n, n), np.linalg.inv(across)
    R = lam * across[-1] + K[:, :-1] @ mu
    parts = motion(system, dict(state) | dict.fromkeys(system.inputs, 0.0))
    second = np.linalg.solve(parts.M, parts.f + R)
    velocities = numbers(v, values)
    turning = _turning(characteristics, system, values, velocities, second)
    rates = across @ second + along @ velocities
    return Moment(system, values, now, rates, velocities, K, R, mu, lam, along, turning)


@cache
def _characteristics(
    e: tuple[sp.Expr, ...], q: tuple[sp.Expr, ...], v: tuple[sp.Expr, ...]
) -> tuple[tuple[sp.Expr, ...], ...]:
    return e, tuple(x.diff(y) for x in e for y in v), tuple(x.diff(y) for x in e for y in q)


def _turning(e: tuple[sp.Expr, ...], system: vn.System, values: Values, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """d/dt ∂e_τ/∂q̇_i along the motion."""
    n = len(v)
    _, G, _ = _characteristics(e, system.coordinates, system.velocities)
    by_place = numbers(_derivatives(G, system.coordinates), values).reshape(n, n, n)
    by_speed = numbers(_derivatives(G, system.velocities), values).reshape(n, n, n)
    return by_place @ v + by_speed @ a


@cache
def _derivatives(expressions: tuple[sp.Expr, ...], variables: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    return tuple(f.diff(x) for f in expressions for x in variables)


SLEIGH = (*of.SPEEDS.values(), of.slip)
GYROSCOPE = (of.outer.diff(), of.inner.diff(), of.spin)


@cache
def sleigh_moments(count: int = 10) -> list[Moment]:
    """The released sleigh going forward, in random states, with random reactions."""
    return [_sleigh(random) for random in _seeds(count)]


def _sleigh(random: np.random.Generator) -> Moment:
    """With e3 (ė2 - ė3) > 0, so that the root printed in (13c) is real."""
    while True:
        heading, forward, sideways = random.uniform(-1.5, 1.5), random.uniform(0.5, 2), random.normal(0, 0.7)
        c, s = np.cos(heading), np.sin(heading)
        state = {
            of.xi: 0.3,
            of.eta: -0.2,
            of.phi: heading,
            of.xi.diff(): forward * c + sideways * s,
            of.eta.diff(): forward * s - sideways * c,
            of.phi.diff(): random.normal(0, 1.2),
        }
        found = moment(of.sleigh(), SLEIGH, state, random.normal(0, 1, 2), float(random.normal()))
        if found.e[2] * (found.rates[1] - found.rates[2]) > 0:
            return found


@cache
def gyroscope_moments(count: int = 10) -> list[Moment]:
    system = of.gyroscope()
    keys = (*system.coordinates, *system.velocities)
    return [
        moment(
            system,
            GYROSCOPE,
            dict(zip(keys, random.normal(0, 1, 6), strict=True)),
            random.normal(0, 1, 2),
            float(random.normal()),
        )
        for random in _seeds(count)
    ]


def _seeds(count: int) -> Iterator[np.random.Generator]:
    return (np.random.default_rng([2020, k]) for k in range(count))
