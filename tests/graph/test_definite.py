"""Bordered matrices are eliminated in an order that is good at every state, whatever the state it was chosen at."""

from __future__ import annotations

import numpy as np
import pytest

from vinculum.graph import (
    ZERO,
    Elimination,
    Node,
    SingularMatrix,
    constant,
    definite,
    evaluate,
    operations,
    solve,
    solve_bordered,
    solve_definite,
    symbol,
)

Pattern = tuple[np.ndarray, np.ndarray]  # which entries of M and J are not zero


def pattern(random: np.random.Generator, n: int, m: int) -> Pattern:
    """A sparse M and a J of full structural rank."""
    M = random.random((n, n)) < 0.2
    J = random.random((m, n)) < 0.3
    J[range(m), random.permutation(n)[:m]] = True
    return M | M.T | np.eye(n, dtype=bool), J


def star(legs: int, own: int, shared: int) -> Pattern:
    """Legs of ``own`` coordinates, closed onto a platform of ``shared`` coordinates by ``own`` conditions each."""
    n = legs * own + shared
    M, J = np.zeros((n, n), dtype=bool), np.zeros((legs * own, n), dtype=bool)
    for k in range(legs):
        leg = slice(k * own, (k + 1) * own)
        M[leg, leg] = J[leg, leg] = J[leg, -shared:] = True
    M[-shared:, -shared:] = True
    return M, J


def draw(random: np.random.Generator, where: Pattern, massless: int = 0, fixed: float = 0.0) -> np.ndarray:
    """[[M, Jᵀ], [J, 0]] with that pattern; ``massless`` coordinates at the end, a share ``fixed`` of J being ones."""
    M, J = where
    inertia = np.where(M, random.normal(size=M.shape), 0.0)
    inertia = inertia + inertia.T
    inertia += np.diag(np.abs(inertia).sum(axis=1) + random.uniform(0.1, 1.0, len(M)))
    inertia[len(M) - massless :] = inertia[:, len(M) - massless :] = 0.0
    slopes = np.where(J, random.normal(size=J.shape), 0.0)
    slopes[np.random.default_rng(1).random(J.shape) < fixed] = 1.0
    slopes[~J] = 0.0
    return np.block([[inertia, slopes.T], [slopes, np.zeros((len(J), len(J)))]])


def nodes_of(A: np.ndarray, m: int) -> np.ndarray:
    """Symbols where A is not zero; the number itself where a constraint has the coefficient one."""
    nodes = np.full(A.shape, ZERO, dtype=object)
    n = len(A) - m
    for i, j in np.argwhere(A):
        border = (i < n) != (j < n)
        nodes[i, j] = constant(1) if border and A[i, j] == 1.0 else symbol(("a", *sorted((int(i), int(j)))))
    return nodes


def right(n: int) -> np.ndarray:
    return np.array([[symbol(("b", i))] for i in range(n)], dtype=object)


def numbers(nodes: np.ndarray | tuple[Node, ...], A: np.ndarray, b: np.ndarray, m: int) -> np.ndarray:
    known = {node: x for node, x in zip(nodes_of(A, m).ravel(), A.ravel(), strict=True) if node.op == "symbol"}
    known |= {symbol(("b", i)): x for i, x in enumerate(b)}
    return np.array(evaluate(list(np.ravel(nodes)), known))


def eliminated(samples: list[np.ndarray], m: int) -> Elimination:
    return solve_definite(nodes_of(samples[0], m), right(len(samples[0])), np.array(samples), m)


def backward_error(A: np.ndarray, x: np.ndarray, b: np.ndarray, n: int) -> float:
    """|b - A x| / (|A| |x| + |b|) in the worst equation, |x| being that of accelerations or of multipliers."""
    size = np.repeat([np.abs(x[:n]).max(), np.abs(x[n:]).max()], [n, len(x) - n])
    return float(np.max(np.abs(b - A @ x) / (np.abs(A) @ size + np.abs(b))))


@pytest.mark.parametrize("seed", range(12))
def test_one_order_serves_all_matrices_of_a_pattern(seed, monkeypatch):
    """Chosen at one matrix: right at hundreds of others, with n positive and m negative pivots at each of them."""
    monkeypatch.setattr(definite, "_CHEAPER", 0.0)  # no order that is only likely
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 12))
    m = int(random.integers(1, n))
    where, fixed = pattern(random, n, m), seed % 3 / 3
    found = eliminated([draw(random, where, fixed=fixed)], m)
    for _ in range(100):
        A, b = draw(random, where, fixed=fixed), random.normal(size=n + m)
        if np.linalg.cond(A) > 1e8:
            continue  # a constraint Jacobian that is dependent, or nearly
        x = numbers(found.solution, A, b, m)
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(x).max())
        pivots = numbers([pivot.node for pivot in found.pivots], A, b, m)
        assert all((p > 0) == (i < n) for p, (i, _) in zip(pivots, found.places, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_coordinates_without_inertia(seed):
    """M is singular, the bordered matrix is not: accelerations and multipliers are those of numpy, everywhere."""
    random = np.random.default_rng(seed)
    n, m, massless = 7, 4, 1 + seed % 3
    where = pattern(random, n, m)
    where[1][:massless, -massless:] |= np.eye(massless, dtype=bool)
    found = eliminated([draw(random, where, massless) for _ in range(3)], m)
    for _ in range(50):
        A, b = draw(random, where, massless), random.normal(size=n + m)
        if np.linalg.cond(A) > 1e6:
            continue
        x = numbers(found.solution, A, b, m)
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=1e-12 * np.linalg.cond(A) * np.abs(x).max())
        pivots = numbers([pivot.node for pivot in found.pivots], A, b, m)
        assert all((p > 0) == (i < n) for p, (i, _) in zip(pivots, found.places, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_a_border_that_is_not_symmetric(seed):
    """[[M, C], [D, 0]]: after the pivots of M, all positive, the determinant of -D M⁻¹ C is the only one."""
    random = np.random.default_rng(seed)
    n, m = 6, 1 + seed % 3
    known = {(n + i, j): symbol(("d", i, j)) for i in range(m) for j in range(n)}
    nodes = nodes_of(draw(random, (np.ones((n, n), dtype=bool), np.ones((m, n), dtype=bool))), m)
    for place, node in known.items():
        nodes[place] = node

    def at_random() -> np.ndarray:
        A = draw(random, (np.ones((n, n), dtype=bool), np.ones((m, n), dtype=bool)))
        A[n:, :n] = random.normal(size=(m, n))
        return A

    found = solve_bordered(nodes, right(n + m), np.array([at_random() for _ in range(3)]), m)
    assert len(found.pivots) == n + 1
    for _ in range(50):
        A, b = at_random(), random.normal(size=n + m)
        if np.linalg.cond(A) > 1e5:
            continue
        values = {node: x for node, x in zip(nodes.ravel(), A.ravel(), strict=True) if node.op == "symbol"}
        values |= {symbol(("b", i)): x for i, x in enumerate(b)}
        x = np.array(evaluate(list(found.solution[:, 0]), values))
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(x).max())
        pivots = evaluate([pivot.node for pivot in found.pivots], values)
        assert all(p > 0 for p in pivots[:n])
        schur = -A[n:, :n] @ np.linalg.solve(A[:n, :n], A[:n, n:])
        assert pivots[-1] == pytest.approx(np.linalg.det(schur), rel=1e-9)


def test_inertia_that_is_lost_in_a_direction_between_coordinates():
    """T = (ẋ + ẏ)²/2 has no inertia in ẋ - ẏ, which the constraint a x - b y = 0 fixes."""
    A = np.array([[1.0, 1.0, 0.7], [1.0, 1.0, -0.4], [0.7, -0.4, 0.0]])
    found = eliminated([A], 1)
    for a, b in ((0.7, -0.4), (1.1, 0.3), (0.2, -3.0), (1e-9, 1.1)):
        A[2, :2] = A[:2, 2] = a, b
        np.testing.assert_allclose(numbers(found.solution, A, np.arange(3.0), 1), np.linalg.solve(A, np.arange(3.0)))


@pytest.mark.parametrize("seed", range(8))
def test_units_do_not_matter(seed):
    """D A D with factors from 1e-6 to 1e6 has the solution D⁻¹ x, to as many digits."""
    random = np.random.default_rng(seed)
    n, m = 8, 3
    where = pattern(random, n, m)
    A, b = draw(random, where, massless=seed % 2), random.normal(size=n + m)
    D = 10.0 ** random.uniform(-6, 6, n + m)
    scaled = D[:, None] * A * D
    x = numbers(eliminated([scaled], m).solution, scaled, D * b, m)
    np.testing.assert_allclose(D * x, np.linalg.solve(A, b), rtol=0, atol=1e-9 * np.abs(np.linalg.solve(A, b)).max())


@pytest.mark.parametrize("seed", range(20))
def test_masses_of_very_different_size(seed):
    """Masses from 1e-6 to 1e6 in one mechanism, light ones following heavy ones: every equation holds to 12 digits."""
    random = np.random.default_rng(seed)
    n, m = 6, 3
    A = np.zeros((n + m, n + m))
    A[range(n), range(n)] = 10.0 ** random.uniform(-6, 6, n)
    J = pattern(random, n, m)[1] * random.normal(size=(m, n))
    A[n:, :n], A[:n, n:] = J, J.T
    b = np.concatenate([random.normal(size=n), np.zeros(m)])
    assert backward_error(A, numbers(eliminated([A], m).solution, A, b, m), b, n) < 1e-12


def test_legs_of_a_platform_are_eliminated_one_by_one():
    """Six legs of three coordinates: early constraints, where they are regular, save most of the work."""
    random = np.random.default_rng(3)
    samples = [draw(random, star(6, 3, 6)) for _ in range(3)]
    nodes = nodes_of(samples[0], 18)
    chosen = solve(nodes, right(42), np.array(samples), symmetric=True)
    found = solve_definite(nodes, right(42), np.array(samples), 18)
    assert operations(found.solution.ravel()).total() < 1.05 * operations(chosen.solution.ravel()).total()


def test_a_leg_that_is_singular_at_a_sample_waits_for_the_platform():
    """Where the coordinates of a leg alone do not carry its conditions, the order is the one that is always good."""
    random = np.random.default_rng(3)
    samples = [draw(random, star(6, 3, 6)) for _ in range(3)]
    for A in samples:
        A[24:, :18] = A[:18, 24:] = 0.0
        for i in range(18):
            A[24 + i, i] = A[i, 24 + i] = 0.05 * random.normal()
    found = eliminated(samples, 18)
    b = random.normal(size=42)
    assert backward_error(samples[0], numbers(found.solution, samples[0], b, 18), b, 24) < 1e-11
    order = [i for i, _ in found.places]
    assert max(order.index(i) for i in range(24)) < min(order.index(i) for i in range(24, 42))


@pytest.mark.parametrize("seed", range(4))
def test_a_definite_matrix_needs_no_constraints(seed):
    random = np.random.default_rng(seed)
    where = (pattern(random, 9, 1)[0], np.zeros((0, 9), dtype=bool))
    A, b = draw(random, where), random.normal(size=9)
    found = eliminated([A], 0)
    np.testing.assert_allclose(numbers(found.solution, A, b, 0), np.linalg.solve(A, b), rtol=1e-10)
    assert all(pivot.value > 0 for pivot in found.pivots)


def test_dependent_constraints_are_refused():
    """Two equal rows: rank 4 of 5."""
    A = draw(np.random.default_rng(2), (np.ones((3, 3), dtype=bool), np.ones((2, 3), dtype=bool)))
    A[4, :3] = A[:3, 4] = A[3, :3]
    with pytest.raises(SingularMatrix, match="rank 4"):
        eliminated([A], 2)


def test_an_indefinite_matrix_gets_chosen_pivots():
    """[[0, 1], [1, 0]] as an inertia has no order of signs; it is solved all the same."""
    A = np.array([[0.0, 2.0], [2.0, 0.0]])
    np.testing.assert_allclose(numbers(eliminated([A], 0).solution, A, np.array([1.0, 3.0]), 0), [1.5, 0.5])
