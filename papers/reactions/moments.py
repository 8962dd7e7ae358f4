"""Random states of the wheel, on the constraints and off them, with derivatives of f taken by SymPy along the motion.

The accelerations come from Lagrange's equations (13) solved as they stand; nothing of (16) to (27) is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy as sp

from papers.reactions import wheel as w
from papers.truth import numbers

RATE = sp.Symbol("Udot")
_COORDINATES = (w.x, w.z, w.theta, w.phi)


@dataclass(frozen=True, eq=False)
class Moment:
    """A state with reactions Rx, Rz, the rate U of α and its derivative."""

    values: dict[sp.Expr, float]
    accelerations: np.ndarray  # ẍ, z̈, θ̈, φ̈ by (13)

    def __getitem__(self, key: sp.Expr) -> float:
        return self.values[key]

    def at(self, expression: sp.Expr) -> float:
        return float(numbers([expression], self.values)[0])

    def derivative(self, name: str, order: int) -> float:
        """dʲf/dtʲ along the motion."""
        second = dict(zip(_SECOND, self.accelerations, strict=True))
        return float(numbers([_derivative(name, order)], self.values | second)[0])

    # -- the vectors of section 3 ------------------------------------------------------------------------------------

    @property
    def mu(self) -> np.ndarray:
        return np.array([np.cos(self[w.alpha]), np.sin(self[w.alpha])])

    @property
    def chi(self) -> np.ndarray:
        return np.array([-self.mu[1], self.mu[0]])

    @property
    def eta(self) -> np.ndarray:
        return np.array([self.at(w.HX), 1.0])

    @property
    def tau(self) -> np.ndarray:
        return np.array([-self.eta[1], self.eta[0]])

    @property
    def H2(self) -> np.ndarray:
        return np.diag([self.at(w.HXX), 0.0])

    @property
    def v(self) -> np.ndarray:
        return np.array([self[w.xd], self[w.zd]])

    @property
    def coefficients(self) -> np.ndarray:
        """a, b, c of (17)."""
        return numbers(w.A, self.values)


_SECOND = sp.symbols("ax az atheta aphi")


@cache
def _derivative(name: str, order: int) -> sp.Expr:
    """Of a residual, or of (v, η), its second derivatives by symbols."""
    found = (w.RESIDUALS | {"approach": w.xd * w.HX + w.zd})[name].diff(w.x.args[0], order)
    for q, a in zip(_COORDINATES, _SECOND, strict=True):
        found = found.subs(q.diff().diff(), a)
    return found.subs(w.alpha.diff().diff(), RATE).subs(w.alpha.diff(), w.U)


@cache
def _lagrange() -> tuple[sp.Matrix, sp.Matrix]:
    """M q̈ = f from (13) to (15): d/dt T_q̇ - T_q = Q."""
    v = [q.diff() for q in _COORDINATES]
    torque = w.r * (-sp.sin(w.alpha) * w.Rx + sp.cos(w.alpha) * w.Rz)
    forces = sp.Matrix([w.Rx, w.Rz, torque, 0]) - sp.Matrix([w.POTENTIAL.diff(q) for q in _COORDINATES])
    momenta = sp.Matrix([w.KINETIC.diff(a) for a in v])
    h = momenta.jacobian(_COORDINATES) * sp.Matrix(v) - sp.Matrix([w.KINETIC.diff(q) for q in _COORDINATES])
    return momenta.jacobian(v), forces - h


def moment(state: dict[sp.Expr, float], rest: Sequence[float]) -> Moment:
    """With Rx, Rz, U and U̇."""
    values = dict(w.NUMBERS) | state | dict(zip((w.Rx, w.Rz, w.U, RATE), map(float, rest), strict=True))
    mass, right = _lagrange()
    M, f = numbers(list(mass), values).reshape(4, 4), numbers(list(right), values)
    return Moment(values, np.linalg.solve(M, f))


@cache
def on_the_manifold(count: int = 10, tangent: bool = False) -> list[Moment]:
    """Rolling at a random contact point with random speed; arbitrary R and U, or the U that keeps f₃ = 0."""
    random = np.random.default_rng(2018)
    found = []
    for _ in range(count):
        contact, rate = random.uniform(-0.7, 0.7), random.normal(0, 2)
        state, inputs = _rolling(contact, rate, random.normal(0, 3, 2)), random.normal(0, 3, 4)
        if tangent:
            inputs[2] = rate * float(w.gutter(sp.Float(contact), 2) / (1 + w.gutter(sp.Float(contact), 1) ** 2))
        found.append(moment(state, list(inputs)))
    return found


def _rolling(contact: float, rate: float, swing: np.ndarray) -> dict[sp.Expr, float]:
    slope, bend = (float(w.gutter(sp.Float(contact), k)) for k in (1, 2))
    root = np.sqrt(1 + slope**2)
    radius = w.NUMBERS[w.r]
    along = (1 - radius * bend / root**3) * rate  # G ξ̇
    return {
        w.x: contact - radius * slope / root, w.z: float(w.gutter(sp.Float(contact))) + radius / root,
        w.xd: along, w.zd: along * slope, w.theta: 0.3, w.thetad: -along * root / radius,
        w.phi: float(swing[0]), w.phid: float(swing[1]), w.alpha: float(np.arctan(slope) - np.pi / 2),
    }  # fmt: skip


@cache
def off_the_manifold(count: int = 10) -> list[Moment]:
    """The same states, disturbed."""
    random = np.random.default_rng(2019)
    disturbed = []
    for near in on_the_manifold(count):
        state = {key: near[key] + float(random.normal(0, 0.1)) for key in w.STATES}
        disturbed.append(moment(state, [near[key] for key in (w.Rx, w.Rz, w.U, RATE)]))
    return disturbed
