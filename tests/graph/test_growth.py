"""A pendulum of thirty links goes through the graph without swelling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import sympy as sp

from vinculum.compile.function import function
from vinculum.graph import Converter, Node, along, evaluate, gradient, jacobian, operations, solve, symbol, vector

LINKS = 30


@dataclass
class Chain:
    """A planar chain of pendulums: unit masses on links of length 1/2, angles from the vertical."""

    angles: tuple[sp.Symbol, ...]
    rates: tuple[sp.Symbol, ...]
    kinetic: sp.Expr
    potential: sp.Expr


def chain(links: int) -> Chain:
    """T = Σ (ẋ² + ẏ²)/2 and V = g Σ y from the positions of the masses, as a person would write it."""
    angles, rates = sp.symbols(f"theta:{links}"), sp.symbols(f"omega:{links}")
    kinetic = potential = across = down = height = sp.S.Zero
    for angle, rate in zip(angles, rates, strict=True):
        across += sp.cos(angle) * rate / 2
        down += sp.sin(angle) * rate / 2
        height -= sp.cos(angle) / 2
        kinetic += (across**2 + down**2) / 2
        potential += sp.Float(9.81) * height
    return Chain(angles, rates, kinetic, potential)


def accelerations(pendulum: Chain, values: dict[Node, float]) -> list[Node]:
    """M q̈ = -h - V_q solved on the graph, pivots chosen at the given values."""
    convert = Converter()
    q, v = [symbol(x) for x in pendulum.angles], [symbol(x) for x in pendulum.rates]
    kinetic, potential = convert(pendulum.kinetic), convert(pendulum.potential)
    momenta = gradient(kinetic, v)
    M = jacobian(momenta, v)
    M[np.tril_indices(len(v), -1)] = M.T[np.tril_indices(len(v), -1)]
    h = vector(along(momenta, dict(zip(q, v, strict=True)))) - vector(gradient(kinetic, q))
    right = -(h + vector(gradient(potential, q)))
    numbers = np.reshape(evaluate(list(M.ravel()), values), M.shape)
    return list(solve(M, right[:, None], numbers, symmetric=True).solution[:, 0])


def by_hand(angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Σ_j m_ij cos(θ_i - θ_j) θ̈_j + m_ij sin(θ_i - θ_j) θ̇_j² + 2 g m_ii sin θ_i = 0, m_ij = (n - max(i, j))/4."""
    n = len(angles)
    mass = (n - np.maximum.outer(np.arange(n), np.arange(n))) / 4
    difference = np.subtract.outer(angles, angles)
    right = -(mass * np.sin(difference)) @ rates**2 - 2 * 9.81 * np.diag(mass) * np.sin(angles)
    return np.linalg.solve(mass * np.cos(difference), right)


@pytest.fixture(scope="module")
def state() -> np.ndarray:
    return np.random.default_rng(30).uniform(-1, 1, 2 * LINKS)


@pytest.fixture(scope="module")
def thirty(state) -> list[Node]:
    pendulum = chain(LINKS)
    return accelerations(pendulum, dict(zip(map(symbol, pendulum.angles + pendulum.rates), state, strict=True)))


def test_operations_stay_near_those_of_the_elimination(thirty):
    """An elimination of a dense symmetric matrix needs n³/3 = 9000 operations; all else is of order n²."""
    assert operations(thirty).total() < LINKS**3 / 3 + 15 * LINKS**2


def test_compiled_accelerations_are_those_of_the_closed_form(thirty, state):
    pendulum = chain(LINKS)
    arguments = [symbol(x) for x in pendulum.angles + pendulum.rates]
    found = function(symbol("t"), arguments, [], thirty)(0.0, state, np.empty(0))
    expected = by_hand(state[:LINKS], state[LINKS:])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_operations_grow_like_the_elimination(state):
    """From ten links to twenty the count grows less than eightfold."""
    counts = []
    for links in (10, 20):
        pendulum = chain(links)
        values = dict(zip(map(symbol, pendulum.angles + pendulum.rates), state, strict=False))
        counts.append(operations(accelerations(pendulum, values)).total())
    assert counts[1] < 8 * counts[0]
