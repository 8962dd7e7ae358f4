"""Roots with error bounds: multiple roots, border cases, and verdicts that do not depend on units."""

import numpy as np
import pytest

from vinculum.analyze.root_bounds import bounded_roots


def second_order(K, G=None):
    """First-order form of ẍ + Gẋ + Kx = 0."""
    n = len(K)
    G = np.zeros((n, n)) if G is None else G
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.asarray(K, float), -np.asarray(G, float)]])


def scaled(A, random, decades=12):
    """A in other units of the states."""
    d = 10.0 ** random.uniform(-decades, decades, len(A))
    return A * d[None, :] / d[:, None]


def masks(A):
    found = bounded_roots(A)
    return found.right.sum(), found.left.sum(), found.on_axis.sum()


BORDER = {
    "oscillator": (second_order([[1.0]]), (0, 0, 2)),
    "damping of 1e-7": (second_order([[1.0]], [[1e-7]]), (0, 2, 0)),
    "negative damping of 1e-7": (second_order([[1.0]], [[-1e-7]]), (2, 0, 0)),
    "critically damped": (second_order([[25.0]], [[10.0]]), (0, 2, 0)),
    "free mass": (second_order([[0.0]]), (0, 0, 2)),
    "unanchored pair": (second_order([[1.0, -1.0], [-1.0, 1.0]]), (0, 0, 4)),
    "gyroscopic border": (second_order(-np.eye(2), 2 * np.array([[0.0, 1.0], [-1.0, 0.0]])), (0, 0, 4)),
    "gyroscopic, above": (second_order(-np.eye(2), 2.01 * np.array([[0.0, 1.0], [-1.0, 0.0]])), (0, 0, 4)),
    "gyroscopic, below": (second_order(-np.eye(2), 1.99 * np.array([[0.0, 1.0], [-1.0, 0.0]])), (2, 2, 0)),
    "skate with equal springs": (second_order([[4.0, -3.0], [0.0, 4.0]]), (0, 0, 4)),
    "flutter": (second_order([[4.0, -2.0], [1.0, 4.0]]), (2, 2, 0)),
    "jordan block of order 3": (np.eye(3, k=1), (0, 0, 3)),
    "fast electrical pole": (np.array([[-1e6, -10.0, 0.0], [1.0, -0.1, -1.0], [0.0, 1.0, 0.0]]), (0, 3, 0)),
}


@pytest.mark.parametrize("name", BORDER)
def test_roots_of_border_cases_are_placed_within_their_bounds(name):
    A, expected = BORDER[name]
    assert masks(A) == expected


@pytest.mark.parametrize("name", BORDER)
def test_units_of_the_states_do_not_change_the_verdict(name):
    A, expected = BORDER[name]
    random = np.random.default_rng(1)
    for _ in range(50):
        assert masks(scaled(A, random)) == expected


def test_defective_pairs_stay_on_the_axis_in_random_coordinates():
    random = np.random.default_rng(2)
    for name in ("unanchored pair", "gyroscopic border", "skate with equal springs", "free mass"):
        A, expected = BORDER[name]
        for _ in range(100):
            S = random.normal(size=A.shape)
            assert masks(S @ A @ np.linalg.inv(S)) == expected


def test_random_conservative_systems_have_no_root_off_the_axis():
    random = np.random.default_rng(3)
    for _ in range(200):
        n = int(random.integers(1, 7))
        L, S = random.normal(size=(2, n, n))
        K = L @ L.T
        S = S - S.T
        assert bounded_roots(scaled(second_order(K, S), random, 6)).on_axis.all()


def test_random_dissipative_systems_have_all_roots_on_the_left():
    random = np.random.default_rng(4)
    for _ in range(200):
        n = int(random.integers(1, 7))
        L, D, S = random.normal(size=(3, n, n))
        A = second_order(L @ L.T + 0.1 * np.eye(n), D @ D.T + 0.1 * np.eye(n) + S - S.T)
        assert bounded_roots(scaled(A, random, 6)).left.all()


def test_bounds_hold_against_roots_of_many_digits():
    import mpmath

    random = np.random.default_rng(5)
    for _ in range(20):
        A = random.normal(size=(5, 5)) * 10.0 ** random.uniform(-3, 3, (5, 5))
        with mpmath.workdps(50):
            exact = np.array([complex(r) for r in mpmath.eig(mpmath.matrix(A.tolist()), right=False)])
        found = bounded_roots(A)
        distance = np.abs(found.roots[:, None] - exact[None, :]).min(axis=1)
        assert np.all(distance <= found.bounds)


def test_exact_zeros_of_the_structure_are_exact_roots():
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -3.0]])
    found = bounded_roots(A)
    assert list(found.roots) == [0, 0, -3]
    assert list(found.bounds[:2]) == [0, 0]


def test_errors_of_entries_widen_the_bounds():
    A = second_order([[-1e-17]])  # a stiffness left over from a sum of terms of size 1
    assert bounded_roots(A).right.sum() == 1
    errors = np.zeros((2, 2))
    errors[1, 0] = 1e-15
    assert bounded_roots(A, errors).on_axis.all()


def test_no_states():
    found = bounded_roots(np.zeros((0, 0)))
    assert len(found.roots) == 0
    assert not found.right.any()


def test_rounding_errors_are_not_shown():
    """A real part within its bound and far below the largest root is shown as zero; a small true one is not."""
    A = np.block([[second_order([[2.0]]), np.zeros((2, 2))], [np.zeros((2, 2)), second_order([[3.0]], [[1e-9]])]])
    T = np.random.default_rng(4).normal(size=(4, 4))
    found = bounded_roots(T @ A @ np.linalg.inv(T))
    shown = found.shown[np.argsort(np.abs(found.shown.imag))]
    assert np.all(shown[:2].real == 0)
    assert shown[2].real == pytest.approx(-5e-10, rel=1e-2)
    np.testing.assert_array_equal(found.shown.imag, found.roots.imag)
