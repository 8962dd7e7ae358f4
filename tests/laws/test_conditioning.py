"""Sparse measures of singularity agree with dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum.derivation.mechanics.conditioning import Band, surely_regular


def chain(links: int, least: float, random: np.random.Generator) -> np.ndarray:
    """A matrix of a chain, two rows for each link, in random order, with about a given least singular value."""
    m = 2 * links
    J = np.zeros((m, m + 3))
    for i in range(m):
        J[i, i // 2 * 2 : i // 2 * 2 + 5] = random.normal(size=5)
    J[m // 2] = J[m // 2 + 1] + least * J[m // 2]
    return J[random.permutation(m)]


@pytest.mark.parametrize("links", [3, 20, 60, 150])
@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-6])
def test_the_least_singular_value_of_a_chain(links, least, random):
    J = chain(links, least, random)
    rows, columns = np.nonzero(J)
    band = Band(rows, columns, J.shape)
    exact = np.linalg.svd(J, compute_uv=False)
    assert band.least_singular(J[rows, columns]) == pytest.approx(exact[-1], abs=1e-7 * exact[0])
    assert links <= 20 or band.width < 10


def test_a_full_matrix_needs_no_band(random):
    J = random.normal(size=(70, 80))
    rows, columns = np.nonzero(J)
    exact = np.linalg.svd(J, compute_uv=False)[-1]
    assert Band(rows, columns, J.shape).least_singular(J[rows, columns]) == pytest.approx(exact, rel=1e-9)


def test_what_is_called_regular_is(random):
    """Of bordered matrices between regular and singular; the clear cases are recognized."""
    said = []
    for share in 10.0 ** random.uniform(-12, 0, 60):
        J = chain(40, share, random)
        n = J.shape[1]
        A = np.block([[np.eye(n), J.T], [J, np.zeros((len(J), len(J)))]])
        sizes = np.linalg.svd(A, compute_uv=False)
        said.append((surely_regular(A, 1e-7), sizes[-1] / sizes[0]))
    assert all(ratio > 1e-7 for sure, ratio in said if sure)
    assert all(sure for sure, ratio in said if ratio > 1e-3)
    assert not surely_regular(np.zeros((80, 80)), 1e-7)
