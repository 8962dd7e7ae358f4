"""Controllability and observability, mode by mode (Popov, Belevitch, Hautus).

A mode λ of η̇ = Fη + Hu is controllable if [λE - F, H] has full row rank. The smallest singular value of that matrix,
for the balanced pair, is the distance to uncontrollability. The Kalman matrix is not used: with electrical and
mechanical time scales in one model it is too badly conditioned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.names import name_of
from vinculum.notebook_repr import html

_LOST = 1e-12  # distance, for the balanced pair of unit norm, below which a mode counts as uncontrollable
_EQUAL = 1e-6  # relative difference below which two roots count as one when multiplicities are counted


@dataclass(frozen=True)
class Mode:
    """A root, its mode shape, and its distance to being uncontrollable (or unobservable)."""

    root: complex
    shape: dict[str, float]  # by state: |component| of the singular vector, the largest one 1
    distance: float

    @property
    def lost(self) -> bool:
        """Whether the mode is uncontrollable (or unobservable) within rounding errors."""
        return self.distance < _LOST

    _repr_html_ = html


def balanced(F: np.ndarray, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The balanced pair, with unit columns for the inputs, and the scaling of the states."""
    import scipy.linalg

    F_b, (scale, _) = scipy.linalg.matrix_balance(F, permute=False, separate=True)
    H_b = H / scale[:, None]
    size = np.linalg.norm(H_b, axis=0)
    return F_b, H_b / np.where(size > 0, size, 1.0), scale


def reach(F: np.ndarray, H: np.ndarray, names: Sequence[str]) -> list[Mode]:
    """Every mode of F with its distance to being uncontrollable by H, rightmost first."""
    F_b, H_b, scale = balanced(F, H)
    size = max(np.linalg.norm(F_b, 2), 1e-300)
    modes = []
    for root in sorted(np.linalg.eigvals(F_b), key=lambda r: (-r.real, -r.imag)):
        pencil = np.hstack([(root * np.eye(len(F_b)) - F_b) / size, H_b])
        vectors, singular, _ = np.linalg.svd(pencil)
        shape = np.abs(vectors[:, -1] / scale)
        shape /= max(shape.max(), 1e-300)
        modes.append(Mode(complex(root), dict(zip(names, map(float, shape), strict=True)), float(singular[-1])))
    return modes


def controllability(linear: LinearModel, inputs: Sequence[sp.Expr] | None = None) -> list[Mode]:
    """The modes and their distances to being uncontrollable by the inputs (default: all of them)."""
    chosen = list(linear.inputs if inputs is None else inputs)
    columns = [linear.inputs.index(u) for u in chosen]
    return reach(linear.system_matrix, linear.input_matrix[:, columns], [name_of(s) for s in linear.states])


def observability(linear: LinearModel, outputs: Sequence[sp.Expr]) -> list[Mode]:
    """The modes and their distances to being unobservable in the outputs, by duality."""
    rows = np.array([linear.measured[y] for y in outputs]).reshape(len(outputs), -1)
    return reach(linear.system_matrix.T, rows.T, [name_of(s) for s in linear.states])


def minimum_actuators(linear: LinearModel) -> int:
    """The minimum number of inputs (or sensors) that control (or observe) every mode: the number of nontrivial
    invariant polynomials of F, which is the largest number of independent eigenvectors of one root.
    """
    F_b, _, _ = balanced(linear.system_matrix, np.eye(len(linear.system_matrix)))
    size = max(float(np.linalg.norm(F_b, 2)), 1e-300)
    most = 1
    for root in np.linalg.eigvals(F_b):
        singular = np.linalg.svd(root * np.eye(len(F_b)) - F_b, compute_uv=False)
        most = max(most, int(np.sum(singular < _EQUAL * size)))
    return most


def sufficient_inputs(linear: LinearModel) -> list[tuple[sp.Expr, ...]]:
    """The smallest subsets of the inputs that control every mode."""
    return _smallest_sets(linear.inputs, lambda chosen: controllability(linear, chosen), minimum_actuators(linear))


def sufficient_outputs(linear: LinearModel, candidates: Sequence[sp.Expr]) -> list[tuple[sp.Expr, ...]]:
    """The smallest subsets of the candidate outputs in which every mode is observable."""
    return _smallest_sets(candidates, lambda chosen: observability(linear, chosen), minimum_actuators(linear))


def _smallest_sets(
    candidates: Sequence[sp.Expr], modes_of: Callable[[Sequence[sp.Expr]], list[Mode]], first: int
) -> list[tuple[sp.Expr, ...]]:
    for count in range(first, len(candidates) + 1):
        found = [chosen for chosen in combinations(candidates, count) if not any(m.lost for m in modes_of(chosen))]
        if found:
            return found
    return []
