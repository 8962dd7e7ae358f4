"""Adams methods, given by their coefficients, and how they propagate the residual of a constraint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.errors import VinculumError
from vinculum.names import suggestion
from vinculum.simulation.integrators.fixed_step import FixedStep, Rates, Tables, gentle_rate
from vinculum.simulation.integrators.methods import METHODS, register
from vinculum.simulation.integrators.runge_kutta import RK4
from vinculum.simulation.stabilization.residual_bounds import closed_loop
from vinculum.simulation.stabilization.stabilization import Baumgarte, Projection, Stabilization, Unstabilized
from vinculum.units.dimensions import TIME
from vinculum.units.given import fields_in_si

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan

_SUBSTEPS = 2  # of the starting method, to the power q - 1, for the memory of a probe


@dataclass(frozen=True, eq=False, repr=False)
class Adams(FixedStep):
    """Adams-Bashforth x⁺ = x + τ Σ β_j f_{n-j}, and with ``corrector`` Adams-Moulton after it (PECE).

    ``Adams("ab4", step=1e-3)`` takes coefficients from the registry; a new method has ``predictor`` (newest first),
    ``corrector`` (the predicted point, then newest first; empty without one) and ``largest``, the largest κτ at which
    the residual equation η̇ = -κη stays stable. The first steps are those of "rk4".
    """

    name: str = "ab4"
    step: float | None = None
    predictor: Any = None  # β_0 ... β_{q-1}
    corrector: Any = ()  # β*_0, β*_1 ...
    largest: float = 0.0

    about: ClassVar[str] = "Adams"
    starter: ClassVar[FixedStep | None] = RK4
    stabilizations: ClassVar[tuple[type[Stabilization], ...]] = (Baumgarte, Projection, Unstabilized)

    def __post_init__(self) -> None:
        fields_in_si(self, {"step": TIME}, f"Invalid method {self.name!r}")
        given = self.predictor is not None
        found = (self.predictor, self.corrector, self.largest) if given else _look_up(self.name)
        predictor, corrector = (np.array(row, dtype=float) for row in found[:2])
        if not len(predictor) or len(corrector) > len(predictor) or not found[2] > 0:
            raise VinculumError(
                f"Invalid coefficients of {self.name!r}: predictor needs at least one, corrector at most as many, and "
                f"largest must be positive; got {len(predictor)}, {len(corrector)} and {found[2]}."
            )
        for key, value in (("predictor", predictor), ("corrector", corrector), ("largest", float(found[2]))):
            object.__setattr__(self, key, value)

    @property
    def order(self) -> int:
        """The order of the method."""
        return len(self.predictor)

    @property
    def tables(self) -> Tables:
        """The coefficients, with the tableau of the starting method."""
        return Tables(RK4.A, RK4.b, self.predictor, self.corrector)

    def holds_feedback(self, stabilization: Stabilization) -> bool:
        """Feedback is held through the stages of the first steps, which it must not excite."""
        return True

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """0.6 of the largest stable rate; smaller with a corrector, since feedback acts on the predicted point."""
        if self.order == 1:
            return 1.0 / abs(plan.step)
        return gentle_rate(problem, plan, x) if len(self.corrector) else 0.6 * self.largest / abs(plan.step)

    def pilot_stabilization(self, step: float) -> Stabilization:
        """Continuous feedback well inside the stable range."""
        return Baumgarte(0.3 * self.largest / step)

    # -- how residuals propagate -----------------------------------------------------------------------------

    def step_matrix(self, gains: Sequence[float], step: float, sampled: bool) -> np.ndarray:
        """S of the longer state (η, τη̇ one step ago, two steps ago, ...)."""
        Z = step * closed_loop(gains)
        r, q = len(Z), self.order
        eye, size = np.eye(r), r * self.order
        predicted = np.hstack([eye + self.predictor[0] * Z, *(b * eye for b in self.predictor[1:])])
        first = predicted
        if len(self.corrector):
            known = np.hstack([eye + self.corrector[1] * Z, *(b * eye for b in self.corrector[2:])])
            known = np.hstack([known, np.zeros((r, size - known.shape[1]))])
            first = known + self.corrector[0] * Z @ predicted
        S = np.zeros((size, size))
        S[:r] = first
        if q > 1:
            S[r : 2 * r, :r] = Z
            S[2 * r :, r:-r] = np.eye(size - 2 * r)
        return S

    def stability_limit(self, sampled: bool = False) -> float:
        """The largest z = kτ for which η̇ = -kη does not grow."""
        return self.largest

    def error_ratio(self) -> float:
        """|C/C*|, the error constants of predictor and corrector: x(t + τ) - x⁺ = C τ^{q+1} x^{(q+1)}."""
        q = self.order
        exact, past = 1 / math.factorial(q + 1), -np.arange(q, dtype=float)
        predictor = exact - self.predictor @ past**q / math.factorial(q)
        corrector = exact - self.corrector @ (1.0 + past[: len(self.corrector)]) ** q / math.factorial(q)
        return float(abs(predictor / corrector)) if corrector else math.inf

    def defect_order(self, sampled: bool) -> int:
        """q of the defect O(τ^q) that one step leaves in the constraints."""
        return self.order + 1

    def step_rows(
        self, held: Rates, closed: Rates, t: np.ndarray, x: np.ndarray, step: float, sampled: bool
    ) -> np.ndarray:
        """One step of all rows with the memory of the exact motion through them."""
        memory, past, time = [held(t, x)], x, t
        substeps = _SUBSTEPS ** (self.order - 1)
        for _ in range(self.order - 1):
            for _ in range(substeps):
                past, time = RK4.step_all(held, time, past, -step / substeps), time - step / substeps
            memory.append(held(time, past))
        predicted = x + step * sum(b * f for b, f in zip(self.predictor, memory, strict=True))
        if not len(self.corrector):
            return predicted
        later = [closed(t + step, predicted), *memory]
        return x + step * sum(b * f for b, f in zip(self.corrector, later, strict=False))


def _look_up(name: str) -> tuple[Any, Any, float]:
    """The coefficients of an Adams method in the registry."""
    known = {key: method for key, method in METHODS.items() if isinstance(method, Adams)}
    if name not in known:
        raise VinculumError(
            f"There is no Adams method {name!r}.{suggestion(str(name), known)} Known: {', '.join(known)}; or state "
            "one: Adams(name, predictor=..., corrector=..., largest=...)."
        )
    found = known[name]
    return found.predictor, found.corrector, found.largest


def _row(*numbers: float, over: float) -> np.ndarray:
    """Numerators over one denominator."""
    return np.array(numbers, dtype=float) / over


_BASHFORTH = {
    2: _row(3, -1, over=2),
    3: _row(23, -16, 5, over=12),
    4: _row(55, -59, 37, -9, over=24),
    5: _row(1901, -2774, 2616, -1274, 251, over=720),
}
_MOULTON = {
    2: _row(1, 1, over=2),
    3: _row(5, 8, -1, over=12),
    4: _row(9, 19, -5, 1, over=24),
}
for _order, _largest in {2: 1.0, 3: 6 / 11, 4: 3 / 10, 5: 90 / 551}.items():
    register(Adams(f"ab{_order}", predictor=_BASHFORTH[_order], largest=_largest))
for _order, _largest in {2: 2.0, 3: 1.729, 4: 1.285}.items():
    register(Adams(f"abm{_order}", predictor=_BASHFORTH[_order], corrector=_MOULTON[_order], largest=_largest))
