"""Linear equations solved on the graph give what numpy gives, and keep structural zeros."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum.graph import ZERO, Elimination, SingularMatrix, evaluate, operations, solve, symbol, symbols
from vinculum.graph.eliminate import equilibrate


def nodes_of(numbers: np.ndarray, name: str, symmetric: bool = False) -> np.ndarray:
    """A matrix of symbols, one for every entry that is not zero; with a_ij = a_ji where it is symmetric."""
    nodes = np.full(numbers.shape, ZERO, dtype=object)
    for i, j in np.argwhere(numbers):
        nodes[i, j] = symbol((name, *sorted((int(i), int(j)))) if symmetric else (name, int(i), int(j)))
    return nodes


def values_of(nodes: np.ndarray, numbers: np.ndarray) -> dict:
    return {node: number for node, number in zip(nodes.ravel(), numbers.ravel(), strict=True) if node is not ZERO}


def solution(A: np.ndarray, B: np.ndarray, symmetric: bool, reference: np.ndarray | None = None) -> np.ndarray:
    """X of A X = B through the graph, with pivots chosen for the reference matrix."""
    a, b = nodes_of(A, "a", symmetric), nodes_of(B, "b")
    found = solve(a, b, A if reference is None else reference, symmetric=symmetric)
    return np.reshape(evaluate(list(found.solution.ravel()), values_of(a, A) | values_of(b, B)), B.shape)


def eliminated(A: np.ndarray, symmetric: bool = False, right: int = 1) -> Elimination:
    B = np.ones((len(A), right))
    return solve(nodes_of(A, "a", symmetric), nodes_of(B, "b"), A, symmetric=symmetric)


def dense(random: np.random.Generator, n: int) -> np.ndarray:
    return random.normal(size=(n, n))


def sparse(random: np.random.Generator, n: int) -> np.ndarray:
    """A third of the entries off a regular diagonal."""
    return np.where(random.random((n, n)) < 0.3, dense(random, n), 0.0) + np.diag(random.uniform(1, 3, n))


def definite(random: np.random.Generator, n: int) -> np.ndarray:
    L = sparse(random, n)
    return L @ L.T


def bordered(random: np.random.Generator, n: int) -> np.ndarray:
    """The matrix of Lagrange's equations with multipliers: definite block, constraint rows, zeros."""
    m = n // 3
    J = random.normal(size=(m, n - m))
    return np.block([[definite(random, n - m), J.T], [J, np.zeros((m, m))]])


def hollow(random: np.random.Generator, n: int) -> np.ndarray:
    """Symmetric and indefinite with nothing on the diagonal."""
    A = dense(random, n)
    return A + A.T - 2 * np.diag(np.diag(A))


MATRICES = {"dense": dense, "sparse": sparse, "definite": definite, "bordered": bordered, "hollow": hollow}
SYMMETRIC = ["definite", "bordered", "hollow"]
CASES = [(name, False) for name in MATRICES] + [(name, True) for name in SYMMETRIC]


@pytest.mark.parametrize(("name", "symmetric"), CASES)
def test_solution_is_that_of_numpy(name, symmetric, random):
    for n in (2, 3, 5, 8, 12):
        A, B = MATRICES[name](random, n), random.normal(size=(n, 2))
        expected = np.linalg.solve(A, B)
        tolerance = 1e-15 * n * np.linalg.cond(A) * np.abs(expected).max()
        np.testing.assert_allclose(solution(A, B, symmetric), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("name", "symmetric"), CASES)
def test_units_do_not_matter(name, symmetric, random):
    """R A C with R, C from 1e-8 to 1e8 has the solution C⁻¹ A⁻¹ R⁻¹ B."""
    for n in (3, 6, 9):
        A, B = MATRICES[name](random, n), random.normal(size=(n, 1))
        R = 10.0 ** random.uniform(-8, 8, n)
        C = R if symmetric else 10.0 ** random.uniform(-8, 8, n)
        scaled = solution(R[:, None] * A * C, R[:, None] * B, symmetric)
        expected = np.linalg.solve(A, B)
        tolerance = 1e-14 * n * np.linalg.cond(A) * np.abs(expected).max()
        np.testing.assert_allclose(C[:, None] * scaled, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("name", "symmetric"), CASES)
def test_pivots_chosen_at_one_matrix_serve_its_neighbors(name, symmetric, random):
    A, B = MATRICES[name](random, 8), random.normal(size=(8, 1))
    near = A * (1 + 0.01 * (dense(random, 8) if not symmetric else hollow(random, 8)))
    expected = np.linalg.solve(near, B)
    tolerance = 1e-14 * np.linalg.cond(near) ** 2 * np.abs(expected).max()
    np.testing.assert_allclose(solution(near, B, symmetric, reference=A), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("name", "symmetric"), CASES)
def test_product_of_the_pivots_is_the_determinant(name, symmetric, random):
    """|∏ p_i| = |det A|, and the numbers recorded are the values of the pivots."""
    A = MATRICES[name](random, 7)
    found = eliminated(A, symmetric)
    pivots = evaluate([pivot.node for pivot in found.pivots], values_of(nodes_of(A, "a", symmetric), A))
    assert np.abs(np.prod(pivots)) == pytest.approx(np.abs(np.linalg.det(A)), rel=1e-11)
    np.testing.assert_allclose([pivot.value for pivot in found.pivots], pivots, rtol=1e-10)
    rows, columns = ([place[k] for place in found.places] for k in (0, 1))
    assert len(set(rows)) == len(set(columns)) == len(found.places)


def test_a_right_side_of_zeros_has_the_solution_zero(random):
    A = dense(random, 4)
    found = solve(nodes_of(A, "a"), np.full((4, 1), ZERO, dtype=object), A)
    assert all(x is ZERO for x in found.solution.ravel())


def test_blocks_do_not_mix(random):
    """The solution in one diagonal block knows nothing of the other block's entries and right side."""
    A = np.zeros((7, 7))
    A[:3, :3], A[3:, 3:] = dense(random, 3), definite(random, 4)
    shuffle = random.permutation(7)
    A = A[np.ix_(shuffle, shuffle)]
    first = {i for i in range(7) if shuffle[i] < 3}
    for i, x in enumerate(eliminated(A).solution[:, 0]):
        own = first if i in first else set(range(7)) - first
        assert {node.value[1] for node in symbols([x])} <= own


def test_right_side_in_one_block_leaves_the_other_structurally_zero(random):
    A = np.zeros((6, 6))
    A[:3, :3], A[3:, 3:] = definite(random, 3) + 1.0, definite(random, 3) + 1.0
    B = np.zeros((6, 1))
    B[0] = 1.0
    found = solve(nodes_of(A, "a", True), nodes_of(B, "b"), A, symmetric=True).solution[:, 0]
    assert all(x is not ZERO for x in found[:3])
    assert all(x is ZERO for x in found[3:])


def test_symmetry_halves_the_work(random):
    """Symmetric elimination needs n³/3 operations and a dense one 2n³/3, to leading order."""
    A = definite(random, 16) + 1.0
    half, whole = (operations(list(eliminated(A, symmetric).solution.ravel())).total() for symmetric in (True, False))
    assert half < 0.7 * whole
    assert half < 1.3 * 16**3 / 3 + 4 * 16**2


@pytest.mark.parametrize("symmetric", [True, False])
def test_work_on_a_chain_is_linear(symmetric, random):
    """A tridiagonal matrix in any order is eliminated without fill: at most 9 operations for each unknown."""
    for n in (10, 40):
        A = np.diag(random.uniform(3, 4, n)) + np.diag(np.full(n - 1, 1.0), 1) + np.diag(np.full(n - 1, 1.0), -1)
        shuffle = random.permutation(n)
        found = eliminated(A[np.ix_(shuffle, shuffle)], symmetric)
        assert operations(list(found.solution.ravel())).total() <= 9 * n


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("rank", [0, 1, 3, 4])
def test_a_singular_matrix_is_refused_with_its_rank(rank, symmetric, random):
    V, W = random.normal(size=(5, rank)), random.normal(size=(rank, 5))
    A = V @ V.T if symmetric else V @ W
    with pytest.raises(SingularMatrix, match=f"rank {rank}") as caught:
        eliminated(A, symmetric)
    assert caught.value.rank == rank
    assert len(caught.value.rows) == len(caught.value.columns) == 5 - rank


def test_a_singular_matrix_is_recognized_in_any_units(random):
    V = random.normal(size=(5, 3))
    units = 10.0 ** np.linspace(-6, 6, 5)
    with pytest.raises(SingularMatrix, match="rank 3"):
        eliminated(units[:, None] * (V @ V.T) * units, symmetric=True)


@pytest.mark.parametrize("n", [2, 3])
def test_a_small_matrix_has_no_pivot_but_its_determinant(n, random):
    """Chosen at one matrix, the solution is good at every other regular one: rows that turn as far as they like."""
    found = eliminated(dense(random, n), right=2)
    assert len(found.pivots) == 1
    for _ in range(100):
        A, B = np.linalg.qr(dense(random, n))[0], random.normal(size=(n, 2))
        known = values_of(nodes_of(A, "a"), A) | values_of(nodes_of(B, "b"), B)
        X = np.reshape(evaluate(list(found.solution.ravel()), known), B.shape)
        np.testing.assert_allclose(X, A.T @ B, rtol=0, atol=1e-14)
        assert evaluate([found.pivots[0].node], known)[0] == pytest.approx(np.linalg.det(A), abs=1e-14)


def test_small_blocks_have_no_pivots_but_their_determinants(random):
    """A block triangular matrix with its rows and columns shuffled: blocks of 2, 1 and 3."""
    where = np.zeros((6, 6), dtype=bool)
    where[:2, :2] = where[2, [0, 2]] = where[3:, [1, 2, 3, 4, 5]] = True
    where = where[np.ix_(random.permutation(6), random.permutation(6))]
    found = eliminated(np.where(where, dense(random, 6), 0.0))
    assert len(found.pivots) == 3
    for _ in range(100):
        A, B = np.where(where, dense(random, 6), 0.0), random.normal(size=(6, 1))
        known = values_of(nodes_of(A, "a"), A) | values_of(nodes_of(B, "b"), B)
        X, expected = evaluate(list(found.solution[:, 0]), known), np.linalg.solve(A, B)[:, 0]
        tolerance = 1e-14 * np.linalg.cond(A) ** 2 * np.abs(expected).max()  # of one block after another
        np.testing.assert_allclose(X, expected, rtol=0, atol=tolerance)
        pivots = evaluate([pivot.node for pivot in found.pivots], known)
        assert abs(np.prod(pivots)) == pytest.approx(abs(np.linalg.det(A)), rel=1e-9)


def test_an_entry_alone_in_its_row_is_divided_by_at_once(random):
    """x = b/a does not become (b c)/(a c): the solution is good where c is zero, if it does not need c."""
    A, B = np.array([[2.0, 0.0], [3.0, 5.0]]), np.ones((2, 1))
    found = eliminated(A)
    known = values_of(nodes_of(A, "a"), A) | values_of(nodes_of(B, "b"), B) | {symbol(("a", 1, 1)): 0.0}
    assert evaluate([found.solution[0, 0]], known) == [0.5]


def test_a_pivot_that_vanishes_at_one_of_the_samples_is_avoided():
    """[[a, 1], [1, 1]] with a = 5 at one state and a = 0 at another: the first pivot is not a."""
    samples = np.array([[[5.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 1.0]]])
    a = nodes_of(samples[0], "a", symmetric=True)
    found = solve(a, nodes_of(np.ones((2, 1)), "b"), samples, symmetric=True)
    assert found.places[0] != (0, 0)
    for A in samples:
        pivots = evaluate([pivot.node for pivot in found.pivots], values_of(a, A))
        assert np.abs(np.prod(pivots)) == pytest.approx(np.abs(np.linalg.det(A)), rel=1e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tiny", [1e-320, 1e-308, 1e-200, 1e-100])
def test_absurdly_small_entries_leave_the_factors_finite(tiny):
    """The factors of a row of denormal numbers would overflow."""
    size = np.array([[[1.0, 0.0, tiny], [0.0, tiny, tiny], [tiny, tiny, 0.0]]])
    r, c = equilibrate(size)
    scaled = r[:, :, None] * size * c[:, None, :]
    assert np.all(np.isfinite([r, c]))
    assert np.all((scaled <= 1.5) & ((scaled.max(axis=2) > 0.5) | (tiny < 1e-150)))
