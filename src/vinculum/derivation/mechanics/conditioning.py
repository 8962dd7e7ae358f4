"""How far large sparse matrices are from singular, without their dense decompositions.

The least singular value σ of J (m, n), m ≤ n, is the root of the least eigenvalue of J Jᵀ. With its rows in the order
of Cuthill and McKee, J Jᵀ of mechanisms with many loops is a narrow band, whose eigenvalue costs m² times the band
instead of m³. Squaring costs digits: σ is known to 1e-8 of the largest one.

A symmetric A is regular for certain if 1/‖A⁻¹‖₁, a lower bound of its least singular value, is large enough; the norm
is estimated from a sparse factorization (Higham, Tisseur, SIAM J. Matrix Anal. Appl. 21, 2000).
"""

from __future__ import annotations

import numpy as np

LARGE = 60  # rows from which matrices are treated as sparse; SciPy's sparse matrices take a quarter of a second to load
_WIDE = 0.1  # share of the rows, from which a band is as expensive as the whole matrix
_SURE = 30.0  # how much larger an estimated bound must be; estimates of the norm are rarely wrong by a factor of 3


class Band:
    """J Jᵀ as a band, from the places of the entries of J that are not zero by structure."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> None:
        self.rows, self.columns, self.shape = rows, columns, shape
        self.width = shape[0]
        if shape[0] > LARGE:
            self._arrange()

    def _arrange(self) -> None:
        """The order of the rows, and all pairs of entries of one column with their place in the lower band."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        m, count = self.shape[0], len(self.rows)
        J = coo_array((np.ones(count), (self.rows, self.columns)), shape=self.shape).tocsr()
        place = np.argsort(reverse_cuthill_mckee((J @ J.T).tocsr(), symmetric_mode=True))
        entry = coo_array((np.ones(count), (self.columns, np.arange(count)))).tocsr()
        pairs = (entry.T @ entry).tocoo()  # of entries in one column
        row, column = place[self.rows[pairs.row]], place[self.rows[pairs.col]]
        lower = row >= column
        self.first, self.second, self.width = pairs.row[lower], pairs.col[lower], int((row - column).max(initial=0))
        self.target = (row - column)[lower] * m + column[lower]

    def least_singular(self, entries: np.ndarray) -> float:
        """The least singular value of J with these entries, m ≤ n."""
        m = self.shape[0]
        if self.width > _WIDE * m:
            J = np.zeros(self.shape)
            J[self.rows, self.columns] = entries
            return float(np.linalg.svd(J, compute_uv=False)[-1])
        from scipy.linalg import eigvals_banded

        products = entries[self.first] * entries[self.second]
        band = np.bincount(self.target, products, minlength=(self.width + 1) * m).reshape(self.width + 1, m)
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
