"""Roots of a real matrix with error bounds, so that rounding decides no verdict.

The matrix is divided into its irreducible blocks (strongly connected components of its graph), whose roots together are
its roots: zeros of the structure stay exact. Each block is balanced. With unit left and right eigenvectors y and x,

    κ = 1/|y*x|,   bound = 10⁴ ε ‖A‖ κ,   a root is off the imaginary axis only if |Re λ| > bound

(Wilkinson, The Algebraic Eigenvalue Problem, chapter 2). κ grows near multiple roots in the way the error does: both
halves of a defective pair are off by √ε, and κ is about 1/√ε.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SAFETY = 1e4  # errors of the entries of A in units of ε‖A‖, with a margin
_SHOWN = 1e-12  # relative to the largest root; smaller real parts within their bounds are displayed as zero
_COARSE = 1e-4  # a bound above this share of ‖A‖ comes from an eigenvector pair that is orthogonal to rounding


@dataclass(frozen=True, eq=False)
class BoundedRoots:
    """Roots, rightmost first, and the bounds of their errors."""

    roots: np.ndarray  # (n) complex
    bounds: np.ndarray  # (n)

    @property
    def right(self) -> np.ndarray:
        """Which roots have a positive real part for certain."""
        return self.roots.real > self.bounds

    @property
    def left(self) -> np.ndarray:
        """Which roots have a negative real part for certain."""
        return self.roots.real < -self.bounds

    @property
    def on_axis(self) -> np.ndarray:
        """Which roots lie on the imaginary axis within their bounds."""
        return ~(self.right | self.left)

    @property
    def shown(self) -> np.ndarray:
        """The roots for display: real parts that are rounding errors, |Re λ| ≤ min(bound, 10⁻¹² max|λ|), as zero."""
        least = np.minimum(self.bounds, _SHOWN * np.abs(self.roots).max(initial=0.0))
        return np.where(np.abs(self.roots.real) <= least, 1j * self.roots.imag, self.roots)


def bounded_roots(A: np.ndarray, errors: np.ndarray | None = None) -> BoundedRoots:
    """The roots of A with the bounds of their errors.

    ``errors`` are the largest absolute errors of the entries, if they exceed rounding: sums whose terms cancel.
    """
    A = np.asarray(A, dtype=float)
    E = np.zeros_like(A) if errors is None else np.asarray(errors, dtype=float)
    parts = [_block_roots(A[np.ix_(block, block)], E[np.ix_(block, block)]) for block in irreducible_blocks(A)]
    if not parts:
        return BoundedRoots(np.zeros(0, complex), np.zeros(0))
    roots, bounds = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((-roots.imag, -roots.real))
    return BoundedRoots(roots[order], bounds[order])


def irreducible_blocks(A: np.ndarray) -> list[np.ndarray]:
    """Numbers of the states of each irreducible block on the diagonal of A."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(csr_matrix(A != 0), connection="strong")
    return [np.flatnonzero(label == k) for k in range(count)]


def balance(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """D⁻¹ A D with rows and columns of like size, and the diagonal of D (powers of two).

    LAPACK's routine is called directly: scipy.linalg.matrix_balance converts D to integers, with a warning above 2⁶³.
    """
    from scipy.linalg.lapack import dgebal

    balanced, _, _, scale, _ = dgebal(A, scale=1, permute=0)
    return balanced, scale


def _block_roots(A: np.ndarray, E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    A, scale = balance(A)
    E = E * scale[None, :] / scale[:, None]
    roots, bounds = _first_order(A, E)
    if np.any(bounds > _COARSE * np.linalg.norm(A, 2)):
        bounds = np.minimum(bounds, _bounds_nearby(A, E, roots))
    return roots, bounds


def _first_order(A: np.ndarray, E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots with the bounds (10⁴ ε ‖A‖ + 2n |y|ᵀ E |x|) κ. A root of multiplicity m ≤ n moves by up to m κ yᵀE x."""
    import scipy.linalg

    roots, left, right = scipy.linalg.eig(A, left=True)
    rounding = _SAFETY * np.finfo(float).eps * np.linalg.norm(A, 2)
    given = 2 * len(A) * np.einsum("ij,ik,kj->j", np.abs(left), E, np.abs(right))
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = (rounding + given) / np.abs(np.sum(left.conj() * right, axis=0))
    return roots, np.where(np.isnan(bounds), np.inf, bounds) if np.any(A) else bounds * 0.0


def _bounds_nearby(A: np.ndarray, E: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Bounds from a matrix within rounding of A, whose roots are simple: κ is infinite where A is exactly defective."""
    from scipy.optimize import linear_sum_assignment

    change = np.random.default_rng(0).uniform(-1.0, 1.0, A.shape)
    near, bounds = _first_order(A + 100 * np.finfo(float).eps * np.linalg.norm(A, 2) * change, E)
    distance = np.abs(roots[:, None] - near[None, :])
    _, partner = linear_sum_assignment(distance)
    return bounds[partner] + distance[np.arange(len(roots)), partner]
