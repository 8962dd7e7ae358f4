"""Stabilization by linear-quadratic feedback (Krasinskiy 2025, (34) to (37)).

u = u₀ + K η minimizes ∫ (ηᵀQη + uᵀRu) dt for η̇ = Fη + Hu:  K = -R⁻¹HᵀX,  FᵀX + XF - XHR⁻¹HᵀX + Q = 0.
Uncontrollable modes are left alone if they decay by themselves; otherwise the error names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import Mode, controllability, minimum_actuators, sufficient_inputs
from vinculum.errors import Finding, Formula, ModelError, VinculumError, call
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, number, numbers

Weights: TypeAlias = np.ndarray | Sequence | Mapping[sp.Expr, float] | float | None

_DECAY = 1e-9  # an uncontrollable root must have Re λ < -_DECAY·(largest |λ|)


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackLaw:
    """u = u₀ + gain·η with η = state - state at the equilibrium."""

    linear: LinearModel
    gain: np.ndarray  # (inputs, states)
    modes: tuple[Mode, ...]  # with their distances to being uncontrollable

    @property
    def roots(self) -> np.ndarray:
        """Roots of the closed loop, rightmost first."""
        found = np.linalg.eigvals(self.linear.system_matrix + self.linear.input_matrix @ self.gain)
        return found[np.lexsort((-found.imag, -found.real))]

    @property
    def laws(self) -> dict[sp.Expr, sp.Expr]:
        """The inputs as expressions of the state: {u: u₀ + Σ gain·(state - state₀)}."""
        rest = self.linear.at
        perturbed = [s - sp.Float(rest[s]) for s in self.linear.states]
        return {
            u: sp.Float(rest[u]) + sum(sp.Float(k) * x for k, x in zip(row, perturbed, strict=True))
            for u, row in zip(self.linear.inputs, self.gain, strict=True)
        }

    def __repr__(self) -> str:
        gains = zip(self.linear.inputs, self.gain, strict=True)
        rows = [
            ("roots", numbers(self.roots)),
            *((f"gains of {name_of(u)}", numbers(row)) for u, row in gains),
            ("distance to losing a mode", f"{min(mode.distance for mode in self.modes):.3g}"),
        ]
        return labelled_rows("FeedbackLaw", rows)

    _repr_html_ = html


def stabilize(linear: LinearModel, state_weights: Weights = None, input_weights: Weights = None) -> FeedbackLaw:
    """The linear-quadratic feedback law for the given weights (default: unit matrices).

    Weights are matrices, diagonals in the order of ``linear.states`` and ``linear.inputs``, or {symbol: number}.
    """
    n, k = linear.input_matrix.shape
    _refuse_idle_inputs(linear)
    Q = weights(state_weights, n, "state_weights", linear.states)
    R = weights(input_weights, k, "input_weights", linear.inputs, definite=True)
    modes = controllability(linear)
    _refuse_lost(linear, modes)
    F, H, T = reachable_part(linear.system_matrix, linear.input_matrix, modes)
    gain = regulator(F, H, T.T @ Q @ T, R) @ T.T
    return FeedbackLaw(linear, gain, tuple(modes))


def regulator(F: np.ndarray, H: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """K = -R⁻¹HᵀX from the algebraic Riccati equation."""
    import scipy.linalg

    X = scipy.linalg.solve_continuous_are(F, H, Q, R)
    return -np.linalg.solve(R, H.T @ X)


def reachable_part(F: np.ndarray, H: np.ndarray, modes: list[Mode]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pair on the controllable subspace, and an orthonormal basis T of it (the identity if no mode is lost)."""
    if not any(mode.lost for mode in modes):
        return F, H, np.eye(len(F))
    lost = []
    for mode in modes:
        if mode.lost:
            vectors = np.linalg.svd(np.hstack([mode.root * np.eye(len(F)) - F, H]))[0][:, -1]
            lost += [vectors.real, vectors.imag]
    basis, singular, _ = np.linalg.svd(np.array(lost).T)
    T = basis[:, np.sum(singular > 1e-9) :]
    return T.T @ F @ T, T.T @ H, T


def weights(given: Weights, size: int, name: str, order: tuple[sp.Expr, ...], definite: bool = False) -> np.ndarray:
    """A symmetric weight matrix, from a matrix, a diagonal or {symbol: number}."""
    if isinstance(given, Mapping):
        given = _by_symbol(given, name, order)
    W = np.eye(size) if given is None else np.asarray(given, dtype=float)
    if W.ndim < 2:
        W = np.diag(np.broadcast_to(W, (size,)) if W.ndim == 0 else W)
    if W.shape != (size, size):
        needed = "1 number" if size == 1 else f"{size} numbers"
        raise ModelError(f"Invalid {name}", [f"The shape is {W.shape}. Pass {needed}, for {listed(order)}."])
    if not np.all(np.isfinite(W)):
        raise ModelError(f"Invalid {name}", ["It contains a number that is not finite."])
    smallest = float(np.linalg.eigvalsh((W + W.T) / 2).min(initial=0.0)) if size else 0.0
    if not np.allclose(W, W.T) or smallest < -1e-12 * np.abs(W).max(initial=1.0):
        problem = f"It must be symmetric and positive semidefinite; its smallest eigenvalue is {smallest:.3g}."
        raise ModelError(f"Invalid {name}", [problem])
    if definite and np.linalg.eigvalsh(W).min(initial=1.0) <= 0:
        raise ModelError(f"Invalid {name}", ["It must be positive definite."])
    return W


def _by_symbol(given: Mapping[sp.Expr, float], name: str, order: tuple[sp.Expr, ...]) -> np.ndarray:
    """A diagonal in the order of the model; the default weight is zero."""
    problems = [
        f"{name_of(key)} is not among {listed(order)}.{suggestion(name_of(key), map(name_of, order))}"
        for key in given
        if key not in order
    ]
    if problems:
        raise ModelError(f"Invalid {name}", problems)
    return np.array([float(given.get(key, 0.0)) for key in order])


def _refuse_idle_inputs(linear: LinearModel) -> None:
    if not linear.inputs:
        advice = ("Add them: ", call("System", inputs=[Formula("u")]), ".")
        raise VinculumError(Finding("The system has no inputs.", advice))
    idle = [u for u, column in zip(linear.inputs, linear.input_matrix.T, strict=True) if not np.any(column)]
    if idle:
        which = f"Input {listed(idle)} has" if len(idle) == 1 else f"Inputs {listed(idle)} have"
        raise VinculumError(f"{which} no effect at this point (a zero column of B). Remove it from the inputs.")


def _needed(count: int) -> str:
    return f"At least {count} {'input is' if count == 1 else 'inputs are'} needed that act on these states."


def _refuse_lost(linear: LinearModel, modes: list[Mode]) -> None:
    """Raise an error that names the uncontrollable modes that do not decay by themselves."""
    size = max(float(np.abs(linear.roots).max(initial=0.0)), 1e-300)
    bad = [mode for mode in modes if mode.lost and mode.root.real >= -_DECAY * size]
    if not bad:
        return
    shapes = "; ".join(
        f"root {number(mode.root)} in {', '.join(n for n, share in mode.shape.items() if share > 0.05)}" for mode in bad
    )
    enough = sufficient_inputs(linear)
    advice = (
        f"Sufficient inputs: {', or '.join(listed(s) for s in enough)}."
        if enough
        else _needed(minimum_actuators(linear))
    )
    who = "input" if len(linear.inputs) == 1 else "inputs"
    count = "1 mode" if len(bad) == 1 else f"{len(bad)} modes"
    raise VinculumError(f"The {who} {listed(linear.inputs)} cannot control {count}: {shapes}. {advice}")
