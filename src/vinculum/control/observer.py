"""Incomplete state information: an observer from chosen outputs (Krasinskiy 2025, section on incomplete information).

    η̂' = F η̂ + H u + L (y - C η̂),   u = u₀ + K η̂.

A measured dependent coordinate gives a row of B. L is the transposed linear-quadratic gain: for unit weights, the
Kalman filter for white noise of unit strength in the states and outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import Mode, minimum_actuators, observability, sufficient_outputs
from vinculum.control.feedback import Weights, regulator, weights
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers


@dataclass(frozen=True, eq=False, repr=False)
class Estimator:
    """An observer of the linear model's state."""

    linear: LinearModel
    outputs: tuple[sp.Expr, ...]
    C: np.ndarray  # (outputs, states)
    gain: np.ndarray  # L, (states, outputs)
    modes: tuple[Mode, ...]  # with their distances to being unobservable

    @property
    def roots(self) -> np.ndarray:
        """Roots of the estimation error, slowest first."""
        found = np.linalg.eigvals(self.linear.system_matrix - self.gain @ self.C)
        return found[np.argsort(-found.real)]

    def __repr__(self) -> str:
        rows = {
            "outputs": listed(self.outputs),
            "roots of the error": numbers(self.roots),
            "slowest": f"{self.roots[0].real:.6g}",
            "distance to losing a mode": f"{min(mode.distance for mode in self.modes):.3g}",
        }
        return labelled_rows("Estimator", rows)

    _repr_html_ = html


def observe(
    linear: LinearModel,
    outputs: Sequence[sp.Expr],
    state_noise: Weights = None,
    output_noise: Weights = None,
) -> Estimator:
    """Design an observer from outputs: coordinates (also dependent ones), velocities, currents."""
    _refuse_unknown(linear, outputs)
    C = np.array([linear.measured[y] for y in outputs]).reshape(len(outputs), -1)
    modes = observability(linear, outputs)
    _refuse_unseen(linear, outputs, modes)
    W = weights(state_noise, len(linear.states), "state_noise", linear.states)
    V = weights(output_noise, len(outputs), "output_noise", tuple(outputs), definite=True)
    L = -regulator(linear.system_matrix.T, C.T, W, V).T
    return Estimator(linear, tuple(outputs), C, L, tuple(modes))


def _refuse_unknown(linear: LinearModel, outputs: Sequence[sp.Expr]) -> None:
    problems = [
        f"{name_of(y)} cannot be measured.{suggestion(name_of(y), map(name_of, linear.measured))}"
        for y in outputs
        if y not in linear.measured
    ]
    if not outputs:
        problems.append(f"No outputs were given. Choose from {listed(linear.measured)}.")
    if problems:
        raise ModelError("Invalid outputs", problems)


def _refuse_unseen(linear: LinearModel, outputs: Sequence[sp.Expr], modes: list[Mode]) -> None:
    """Raise an error that names the unobservable modes that do not decay by themselves."""
    size = max(float(np.abs(linear.roots).max(initial=0.0)), 1e-300)
    bad = [mode for mode in modes if mode.lost and mode.root.real >= -1e-9 * size]
    if not bad:
        return
    roots = numbers(mode.root for mode in bad)
    candidates = [key for key in linear.measured if not isinstance(key, sp.Derivative)]
    enough = sufficient_outputs(linear, candidates)
    advice = f"Sufficient outputs: {', or '.join(listed(s) for s in enough[:4])}." if enough else ""
    who = f"the output {listed(outputs)}" if len(outputs) == 1 else f"the outputs {listed(outputs)}"
    which = f"mode with root {roots} is" if len(bad) == 1 else f"modes with roots {roots} are"
    count = minimum_actuators(linear)
    needed = f"At least {count} {'sensor is' if count == 1 else 'sensors are'} needed."
    raise VinculumError(f"The {which} not observable in {who}. {needed} {advice}".rstrip())
