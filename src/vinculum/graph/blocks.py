"""The block triangular form of a sparse matrix: a block of rows contains its own unknowns and those of blocks before.

The determinant of the matrix is, but for its sign, the product of the determinants of the blocks.
"""

from __future__ import annotations

import numpy as np

Block = tuple[list[int], list[int]]  # rows, columns


def block_triangular(pattern: np.ndarray) -> list[Block]:
    """Blocks in the order in which they can be solved; ``pattern`` (n, n) is true where an entry is not zero.

    A matrix that is singular by its structure is one block.
    """
    from scipy.sparse import csr_array  # imported late: it takes a quarter of a second
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    matched = maximum_bipartite_matching(csr_array(pattern), perm_type="column")  # the column of every row
    if np.any(matched < 0):
        return [(list(range(len(pattern))), list(range(len(pattern))))]
    count, labels = connected_components(csr_array(pattern[:, matched]), connection="strong")
    left = [
        ([int(i) for i in rows], [int(j) for j in matched[rows]])
        for rows in map(np.flatnonzero, labels == np.arange(count)[:, None])
    ]
    return _in_order(pattern, left)


def _in_order(pattern: np.ndarray, left: list[Block]) -> list[Block]:
    """The blocks, each after those that determine its other unknowns."""
    known, order = np.zeros(len(pattern), dtype=bool), []
    while left:
        block = next(b for b in left if not np.any(np.delete(pattern[b[0]], b[1], axis=1)[:, ~np.delete(known, b[1])]))
        left = [b for b in left if b is not block]
        known[block[1]] = True
        order.append(block)
    return order
