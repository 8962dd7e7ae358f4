"""A feedback law as a program for a processor: once per period it reads the outputs and sets the inputs.

    u_k = u₀ + C w_k + D (y_k - y₀), within the limits,
    w_k+1 = A w_k + B (y_k - y₀) + E (u_k - u₀).

w are the states of the observer and of the controller, which obey ẇ = A_c w + B_c y + E_c u. With y and u constant
through a period T, A = exp(A_c T) and (B, E) = ∫₀ᵀ exp(A_c s) ds (B_c, E_c) exactly.

An integrator keeps its value while the law asks for more than a limit allows and the integrator would ask for more
still (conditional integration: Åström, Hägglund, Advanced PID Control, section 3.5), so it does not wind up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.discrete_model import held_over
from vinculum.control.feedback import FeedbackLaw, value_at
from vinculum.control.observer import Estimator
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.given import duration, numbers_in_si


@dataclass(frozen=True, eq=False, repr=False)
class DigitalLaw:
    """A sampled law; see the module for its equations."""

    outputs: tuple[sp.Expr, ...]  # y, what is measured
    inputs: tuple[sp.Expr, ...]  # u
    states: tuple[sp.Expr, ...]  # w
    period: float
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    E: np.ndarray
    y0: np.ndarray
    u0: np.ndarray
    limits: Mapping[sp.Expr, float] = field(default_factory=dict)  # largest |u|
    anti_windup: bool = True  # whether integrators stop at limits

    def __call__(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(u_k, w_k+1) from w_k and the measured y_k."""
        wanted = self.wanted(w, y)
        bound = np.array([self.limits.get(key, math.inf) for key in self.inputs])
        u = np.clip(wanted, -bound, bound)
        return u, self.advanced(w, y, u, wanted - u)

    def wanted(self, w: np.ndarray, y: np.ndarray) -> np.ndarray:
        """u_k before its limits."""
        return self.u0 + self.C @ w + self.D @ (np.asarray(y, dtype=float) - self.y0)

    def advanced(self, w: np.ndarray, y: np.ndarray, sent: np.ndarray, over: np.ndarray) -> np.ndarray:
        """w_k+1 after the inputs ``sent``, from which limits took ``over``."""
        after = self.A @ w + self.B @ (np.asarray(y, dtype=float) - self.y0) + self.E @ (sent - self.u0)
        for j in self.integrators:
            if np.any(over * self.C[:, j] * (after[j] - w[j]) > 0):
                after[j] = w[j]
        return after

    @property
    def integrators(self) -> tuple[int, ...]:
        """The states that only sum what is measured, if they stop at limits."""
        rows = np.eye(len(self.A))
        alone = [j for j in range(len(self.A)) if np.array_equal(self.A[j], rows[j]) and not self.E[j].any()]
        return tuple(alone) if self.anti_windup else ()

    def __repr__(self) -> str:
        rows = {
            "measured": listed(self.outputs),
            "inputs": listed(self.inputs),
            "states": listed(self.states) or "none",
            "period": f"{self.period:.6g}",
        }
        return labelled_rows("DigitalLaw", rows)

    _repr_html_ = html


def digital_law(
    law: FeedbackLaw,
    period: float,
    estimator: Estimator | None = None,
    limits: Mapping[sp.Expr, float] | None = None,
    anti_windup: bool = True,
) -> DigitalLaw:
    """The law, with its observer if there is one, as it runs on a processor with a sample period."""
    period = duration(period, "period")
    limits = numbers_in_si(limits or {}, dimensions_of(law.linear.equations), "Invalid limits")
    _refuse(law, period, estimator, limits)
    linear, own = law.linear, law.compensator
    read = linear.states if estimator is None else estimator.outputs
    outputs = tuple(dict.fromkeys((*read, *(() if own is None else own.outputs))))
    pick = np.array([[float(key == y) for y in outputs] for key in read]).reshape(len(read), len(outputs))
    A, B, E, C, D = _observer(law, estimator, pick)
    states = () if estimator is None else estimator.symbols
    if own is not None:
        seen = np.array([[float(key == y) for y in outputs] for key in own.outputs]).reshape(-1, len(outputs))
        A, states = scipy.linalg.block_diag(A, own.A), (*states, *own.states)
        B = np.vstack([B, own.B @ seen])
        E = np.vstack([E, np.zeros((len(own.A), len(linear.inputs)))])
        C, D = np.hstack([C, own.C]), D + own.D @ seen
    A = A.reshape(len(states), len(states))
    Phi, gamma = held_over(A, np.hstack([B, E]), period)
    m = len(outputs)
    y0, u0 = (np.array([value_at(linear, key) for key in keys]) for keys in (outputs, linear.inputs))
    matrices = Phi, gamma[:, :m], C, D, gamma[:, m:]
    bounds = dict(limits or {})
    return DigitalLaw(outputs, linear.inputs, states, float(period), *matrices, y0, u0, bounds, anti_windup)


def _observer(law: FeedbackLaw, estimator: Estimator | None, pick: np.ndarray) -> tuple[np.ndarray, ...]:
    """A, B, E of ẇ and C, D of u without the compensator."""
    k = len(law.linear.inputs)
    if estimator is None:
        nothing = np.zeros((0, 0)), np.zeros((0, pick.shape[1])), np.zeros((0, k)), np.zeros((k, 0))
        return (*nothing, law.gain @ pick)
    own = estimator.realization
    return own.A, own.L @ pick, own.B, law.gain @ own.P, law.gain @ own.R @ pick


def _refuse(law: FeedbackLaw, period: float, estimator: Estimator | None, limits: Mapping[sp.Expr, float]) -> None:
    problems = []
    if not (math.isfinite(period) and period > 0):
        problems.append(f"period is {period}; it must be a positive number of seconds.")
    problems += [f"{name_of(u)} is not an input of the law." for u in limits if u not in law.linear.inputs]
    problems += [
        f"The limit of {name_of(u)} is {bound}; it must be larger than its holding value {value_at(law.linear, u):.6g}."
        for u, bound in limits.items()
        if u in law.linear.inputs and not bound > abs(value_at(law.linear, u))
    ]
    used = () if law.compensator is None or estimator is None else law.compensator.outputs
    missing = [y for y in used if y not in estimator.outputs] if estimator is not None else []
    if missing:
        problems.append(f"The law uses {listed(missing)}, which the observer does not measure. Add it to the outputs.")
    if problems:
        raise ModelError("Invalid digital law", problems)
