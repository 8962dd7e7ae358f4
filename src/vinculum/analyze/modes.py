"""Controllability and observability, mode by mode (Popov, Belevitch, Hautus).

A mode λ of η̇ = Fη + Hu is controllable if [λE - F, H] has full row rank. States that no input reaches in the graph of
F and H have uncontrollable modes by structure. For the others, the smallest singular value of [λE - F, H], in natural
units, is the distance to uncontrollability; below the bound of its error it cannot be told from zero. The Kalman matrix
is not used: with electrical and mechanical time scales in one model it is too badly conditioned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.root_bounds import BoundedRoots, bounded_roots
from vinculum.analyze.unit_free import unit_free
from vinculum.names import name_of
from vinculum.notebook_repr import html

_ROUNDING = 1e4 * np.finfo(float).eps  # errors of the entries relative to the norm, with a margin


@dataclass(frozen=True)
class Mode:
    """A root, its mode shape, and its distance to being uncontrollable (or unobservable)."""

    root: complex
    shape: dict[str, float]  # by state: |component| of the left vector in natural units, the largest one 1
    distance: float  # zero if the structure decides
    bound: float = 0.0  # of the error of the distance
    structural: bool = False  # whether no input reaches its states in the graph of the equations
    decays: bool = False  # whether the root has a negative real part for certain
    grows: bool = False  # whether the root has a positive real part for certain

    @property
    def lost(self) -> bool:
        """Whether the mode is uncontrollable (or unobservable), by structure or within rounding errors."""
        return self.structural or self.distance <= self.bound

    @property
    def undecided(self) -> bool:
        """Whether the distance is within its error and the structure does not decide."""
        return not self.structural and self.distance <= self.bound

    @property
    def states(self) -> list[str]:
        """The states with the largest shares in the mode."""
        return [name for name, share in self.shape.items() if share > 0.05]

    _repr_html_ = html


def reach(F: np.ndarray, H: np.ndarray, names: Sequence[str], errors: np.ndarray | None = None) -> list[Mode]:
    """Every mode of F with its distance to being uncontrollable by H, rightmost first; ``errors`` are those of F."""
    reached = reached_states(F, H)
    E = np.zeros_like(F) if errors is None else errors
    modes = _modes_out_of_reach(F, E, ~reached, names) + _modes_in_reach(F, E, H, reached, names)
    return sorted(modes, key=lambda mode: (-mode.root.real, -mode.root.imag))


def reached_states(F: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Which states an input reaches through nonzero entries of F and H."""
    reached = np.any(H != 0, axis=1)
    for _ in range(len(F)):
        reached = reached | np.any((F != 0) & reached[None, :], axis=1)
    return reached


def _modes_out_of_reach(F: np.ndarray, E: np.ndarray, which: np.ndarray, names: Sequence[str]) -> list[Mode]:
    part = F[np.ix_(which, which)]
    if not len(part):
        return []
    bounded = bounded_roots(part, E[np.ix_(which, which)])
    pencils = _pencils(part, np.zeros((len(part), 0)), bounded)
    return [
        Mode(root, _shape(vectors, which, names), 0.0, 0.0, True, left, right)
        for (root, left, right), (vectors, _, _) in zip(_placed(bounded), pencils, strict=True)
    ]


def _modes_in_reach(F: np.ndarray, E: np.ndarray, H: np.ndarray, which: np.ndarray, names: Sequence[str]) -> list[Mode]:
    """Modes of the states in reach; the others do not act on this decision."""
    part = F[np.ix_(which, which)]
    if not len(part):
        return []
    bounded = bounded_roots(part, E[np.ix_(which, which)])
    short = _pattern_is_short(part, H[which])
    pencils = _pencils(part, H[which], bounded)
    return [
        Mode(root, _shape(vectors, which, names), distance, bound, short and root == 0, left, right)
        for (root, left, right), (vectors, distance, bound) in zip(_placed(bounded), pencils, strict=True)
    ]


def _placed(bounded: BoundedRoots) -> list[tuple[complex, bool, bool]]:
    """Every root, and whether it is on the left or on the right of the imaginary axis for certain."""
    return [
        (complex(root), bool(left), bool(right))
        for root, left, right in zip(bounded.roots, bounded.left, bounded.right, strict=True)
    ]


def _pattern_is_short(F: np.ndarray, H: np.ndarray) -> bool:
    """Whether [F, H] has less than full rank for any values of its nonzero entries: the root zero is then lost."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import structural_rank

    return bool(structural_rank(csr_matrix(np.hstack([F, H]) != 0)) < len(F))


def _pencils(F: np.ndarray, H: np.ndarray, bounded: BoundedRoots) -> list[tuple[np.ndarray, float, float]]:
    """For each root, the last left singular vector of [λE - F, H], its singular value, and the error of that.

    F has unit norm and each column of H too.
    """
    own = unit_free(F, H)
    size = float(np.linalg.norm(own.F, 2)) or 1.0
    columns = np.linalg.norm(own.H, axis=0)
    H = own.H / np.where(columns > 0, columns, 1.0)
    found = []
    for root, error in zip(bounded.roots, bounded.bounds, strict=True):
        pencil = np.hstack([(root / own.rate * np.eye(len(F)) - own.F) / size, H])
        vectors, singular, _ = np.linalg.svd(pencil)
        found.append((vectors[:, -1], float(singular[-1]), float(_ROUNDING + error / own.rate / size)))
    return found


def _shape(vector: np.ndarray, which: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    shape = np.zeros(len(which))
    shape[which] = np.abs(vector) / np.abs(vector).max()
    return dict(zip(names, map(float, shape), strict=True))


def controllability(linear: LinearModel, inputs: Sequence[sp.Expr] | None = None) -> list[Mode]:
    """The modes and their distances to being uncontrollable by the inputs (default: all of them)."""
    chosen = list(linear.inputs if inputs is None else inputs)
    columns = [linear.inputs.index(u) for u in chosen]
    names = [name_of(s) for s in linear.states]
    return reach(linear.system_matrix, linear.input_matrix[:, columns], names, linear.errors)


def observability(linear: LinearModel, outputs: Sequence[sp.Expr]) -> list[Mode]:
    """The modes and their distances to being unobservable in the outputs, by duality."""
    rows = np.array([linear.measured[y] for y in outputs]).reshape(len(outputs), -1)
    errors = None if linear.errors is None else linear.errors.T
    return reach(linear.system_matrix.T, rows.T, [name_of(s) for s in linear.states], errors)


def minimum_actuators(linear: LinearModel) -> int:
    """The minimum number of inputs (or sensors) that control (or observe) every mode: the number of nontrivial
    invariant polynomials of F, which is the largest number of independent eigenvectors of one root.

    Roots are equal if their difference is within the bounds of their errors.
    """
    bounded = bounded_roots(linear.system_matrix, linear.errors)
    return max((_eigenvectors(linear.system_matrix, bounded, i) for i in range(len(bounded.roots))), default=1)


def _eigenvectors(F: np.ndarray, bounded: BoundedRoots, i: int) -> int:
    """The number of independent eigenvectors of a root: singular values of λE - F that are zero within their errors."""
    errors = bounded.bounds + bounded.bounds[i]
    multiplicity = int(np.sum(np.abs(bounded.roots - bounded.roots[i]) <= errors))
    if multiplicity == 1:
        return 1
    own = unit_free(F, np.zeros((len(F), 0)))
    singular = np.linalg.svd(bounded.roots[i] / own.rate * np.eye(len(F)) - own.F, compute_uv=False)
    zero = _ROUNDING * max(float(np.linalg.norm(own.F, 2)), 1e-300) + bounded.bounds[i] / own.rate
    return min(max(1, int(np.sum(singular <= zero))), multiplicity)


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
