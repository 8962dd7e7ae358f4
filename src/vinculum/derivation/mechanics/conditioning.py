"""How far large sparse matrices are from singular, without their dense decompositions.

The least singular value σ of J (m, n), m ≤ n, is the root of the least eigenvalue of J Jᵀ. With its rows in the order of
Cuthill and McKee, J Jᵀ of mechanisms with many loops is a narrow band, whose eigenvalue costs m² times the band instead
of m³. Squaring costs digits: σ is known to 1e-8 of the largest one.

A symmetric A is regular for certain if 1/‖A⁻¹‖₁, a lower bound of its least singular value, is large enough; the norm is
estimated from a sparse factorization (Higham, Tisseur, SIAM J. Matrix Anal. Appl. 21, 2000).
"""

from __future__ import annotations

import numpy as np

LARGE = 60  # rows from which matrices are treated as sparse; SciPy's sparse matrices take a quarter of a second to load
_WIDE = 0.1  # share of the rows, from which a band is as expensive as the whole matrix
_SURE = 30.0  # how much larger an estimated bound must be; estimates of the norm are rarely wrong by a factor of 3


def least_singular(J: np.ndarray) -> float:
    """The least singular value of a matrix with at most as many rows as columns."""
    if len(J) <= LARGE:
        return float(np.linalg.svd(J, compute_uv=False)[-1])
    from scipy.linalg import eigvals_banded
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows = csr_array(J)
    squares = (rows @ rows.T).tocsr()
    order = reverse_cuthill_mckee(squares, symmetric_mode=True)
    entries = squares[order][:, order].tocoo()
    width = int(np.abs(entries.row - entries.col).max(initial=0))
    if width > _WIDE * len(J):
        return float(np.linalg.svd(J, compute_uv=False)[-1])
    band, lower = np.zeros((width + 1, len(J))), entries.row >= entries.col
    band[(entries.row - entries.col)[lower], entries.col[lower]] = entries.data[lower]
    least = eigvals_banded(band, lower=True, select="i", select_range=(0, 0), check_finite=False)[0]
    return float(np.sqrt(max(least, 0.0)))


def surely_regular(A: np.ndarray, share: float) -> bool:
    """Whether the least singular value of a symmetric matrix is certainly above a share of its largest one."""
    if len(A) <= LARGE:
        return False
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import LinearOperator, onenormest, splu

    try:
        factors = splu(csc_array(A))
    except RuntimeError:
        return False
    inverse = LinearOperator(A.shape, matvec=factors.solve, rmatvec=factors.solve, dtype=float)
    largest = float(np.abs(A).sum(axis=1).max())  # not below the largest singular value
    return bool(_SURE * share * largest * onenormest(inverse) < 1)
