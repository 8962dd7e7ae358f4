"""Explicit Runge-Kutta methods, given by their tableaux, and how they propagate the residual of a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.errors import VinculumError
from vinculum.names import suggestion
from vinculum.simulation.integrators.fixed_step import FixedStep, Rates, Tables, gentle_rate
from vinculum.simulation.integrators.methods import METHODS, register
from vinculum.simulation.stabilization.residual_bounds import closed_loop, held_step, last_inside
from vinculum.simulation.stabilization.stabilization import (
    HELD,
    Baumgarte,
    Projection,
    Sampled,
    Stabilization,
    Unstabilized,
)
from vinculum.units.dimensions import TIME
from vinculum.units.given import fields_in_si

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan

Numbers = Any  # one number, or an array of them


@dataclass(frozen=True, eq=False, repr=False)
class RungeKutta(FixedStep):
    """x⁺ = x + τ Σ b_s k_s,  k_s = f(t + c_s τ, x + τ Σ a_sj k_j),  c = A 1, with j < s: an explicit method.

    ``RungeKutta("rk4", step=1e-3)`` takes a tableau from the registry; ``A``, ``b`` and ``order`` state a new one.
    """

    name: str = "rk4"
    step: float | None = None
    A: Any = None  # (stages, stages)
    b: Any = None  # (stages)
    order: int = 0

    about: ClassVar[str] = "Runge-Kutta"
    stabilizations: ClassVar[tuple[type[Stabilization], ...]] = (Sampled, Baumgarte, Projection, Unstabilized)

    def __post_init__(self) -> None:
        fields_in_si(self, {"step": TIME}, f"Invalid method {self.name!r}")
        known = METHODS.get(self.name)
        if isinstance(known, RungeKutta) and self.A is known.A and self.b is known.b and self.order == known.order:
            return  # the same tableau with another step
        given = self.A is not None or self.b is not None
        A, b, order = (self.A, self.b, self.order) if given else _look_up(self.name)
        A, b = np.array(A, dtype=float), np.array(b, dtype=float)
        _refuse_tableau(self.name, A, b, order)
        for key, value in (("A", A), ("b", b), ("order", int(order))):
            object.__setattr__(self, key, value)

    @property
    def c(self) -> np.ndarray:
        """The stage times c = A 1."""
        return self.A.sum(axis=1)

    @property
    def tables(self) -> Tables:
        """The tableau; a Runge-Kutta method has no memory."""
        return Tables(self.A, self.b, np.zeros(0), np.zeros(0))

    def holds_feedback(self, stabilization: Stabilization) -> bool:
        """Sampled feedback is held through the stages."""
        return stabilization.acts == HELD

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """1/τ if feedback is held or the method has one stage; otherwise smaller, since it acts on the stages."""
        if stabilization.acts == HELD or self.order == 1:
            return 1.0 / abs(plan.step)
        return gentle_rate(problem, plan, x)

    def pilot_stabilization(self, step: float) -> Stabilization:
        """Sampled feedback with the rate 1/τ."""
        return Sampled(1.0 / step)

    # -- how residuals propagate -----------------------------------------------------------------------------

    def step_matrix(self, gains: Sequence[float], step: float, sampled: bool) -> np.ndarray:
        """S of η⁺ = S η: R(τK), or with held feedback Φ - b g."""
        if sampled:
            return held_step(gains, step, self.order)
        Z = step * closed_loop(gains)
        stages: list[np.ndarray] = []
        for row in self.A:
            point = np.eye(len(Z)) + sum((a * k for a, k in zip(row, stages, strict=False)), np.zeros_like(Z))
            stages.append(Z @ point)
        return np.eye(len(Z)) + sum(b * k for b, k in zip(self.b, stages, strict=True))

    def stability_limit(self, sampled: bool = False) -> float:
        """The largest z = kτ for which η̇ = -kη does not grow."""
        if sampled:
            return 2.0
        z = np.linspace(0, 6, 6001)[1:]
        beyond = float(z[np.abs(self.growth(z)) > 1 + 1e-12][0])
        return last_inside(lambda z: bool(abs(self.growth(z)) <= 1), beyond - 1e-3, beyond)

    def growth(self, z: Numbers) -> Numbers:
        """R(-z) = 1 - z bᵀ (1 + zA)⁻¹ 1."""
        return 1 - z * self._through_stages(z, np.ones(len(self.b)))

    def stage_defect(self, z: Numbers) -> Numbers:
        """P(z): what the stages, which leave the manifold by O(τ²), cost under continuous feedback."""
        A, b, c = self.A, self.b, self.c
        return 0.5 - b @ c - z * self._through_stages(z, c**2 / 2 - A @ c)

    def _through_stages(self, z: Numbers, right: np.ndarray) -> np.ndarray:
        """bᵀ (1 + zA)⁻¹ right, for one z or for many."""
        matrices = np.eye(len(self.b)) + np.multiply.outer(z, self.A)
        return np.linalg.solve(matrices, right[:, None])[..., 0] @ self.b

    def stage_defects(self, Z: np.ndarray) -> np.ndarray:
        """P(Z) for a matrix Z = τK: (½ - b·c) + Z bᵀ (1 - AZ)⁻¹ (c²/2 - A c)."""
        A, b, c, eye = self.A, self.b, self.c, np.eye(len(Z))
        inner = np.kron(np.eye(len(b)), eye) - np.kron(A, Z)
        stages = np.linalg.solve(inner, np.kron((c**2 / 2 - A @ c)[:, None], eye)).reshape(len(b), *Z.shape)
        return (0.5 - b @ c) * eye + Z @ np.tensordot(b, stages, axes=1)

    def defect_order(self, sampled: bool) -> int:
        """q of the defect O(τ^q) that one step leaves in the constraints."""
        return self.order + 1 if sampled else 2

    def step_rows(
        self, held: Rates, closed: Rates, t: np.ndarray, x: np.ndarray, step: float, sampled: bool
    ) -> np.ndarray:
        """One step of all rows of states."""
        return self.step_all(held if sampled else closed, t, x, step)

    def step_all(self, f: Rates, t: np.ndarray, x: np.ndarray, step: float) -> np.ndarray:
        """One step of all rows with the rates f."""
        stages: list[np.ndarray] = []
        for row, c in zip(self.A, self.c, strict=True):
            point = x + step * sum((a * k for a, k in zip(row, stages, strict=False)), np.zeros_like(x))
            stages.append(f(t + c * step, point))
        return x + step * sum(b * k for b, k in zip(self.b, stages, strict=True))


def _look_up(name: str) -> tuple[Any, Any, int]:
    """The tableau of a Runge-Kutta method in the registry."""
    known = {key: method for key, method in METHODS.items() if isinstance(method, RungeKutta)}
    if name not in known:
        raise VinculumError(
            f"There is no Runge-Kutta method {name!r}.{suggestion(str(name), known)} Known: {', '.join(known)}; or "
            "state a tableau: RungeKutta(name, A=..., b=..., order=...)."
        )
    found = known[name]
    return found.A, found.b, found.order


def _refuse_tableau(name: str, A: np.ndarray, b: np.ndarray, order: int) -> None:
    """Raise if (A, b) is not the tableau of an explicit method."""
    problems = []
    if b.ndim != 1 or A.shape != (len(b), len(b)) or not len(b):
        problems.append(f"A has the shape {A.shape} and b {b.shape}; s stages need A (s, s) and b (s)")
    elif not (np.all(np.isfinite(A)) and np.all(np.isfinite(b))):
        problems.append("A and b must be finite")
    elif np.any(np.triu(A)):
        problems.append("A must be zero on and above its diagonal (an explicit method)")
    elif abs(b.sum() - 1) > 1e-9:
        problems.append(f"the weights b add up to {b.sum():.6g}, not to 1")
    if not (isinstance(order, (int, np.integer)) and order >= 1):
        problems.append(f"order={order!r} must be a whole number of at least 1")
    if problems:
        raise VinculumError(f"Invalid tableau of {name!r}: {'; '.join(problems)}.")


register(RungeKutta("euler", A=[[0]], b=[1], order=1))
register(RungeKutta("midpoint", A=[[0, 0], [0.5, 0]], b=[0, 1], order=2))
RK4 = RungeKutta(
    "rk4", A=[[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]], b=np.array([1.0, 2, 2, 1]) / 6, order=4
)
register(RK4)
