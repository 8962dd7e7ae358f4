"""Values of the polynomials of Taylor steps, computed by machine code, against NumPy."""

import weakref

import numpy as np
import pytest
from numpy.polynomial import polynomial

from vinculum.compile import polynomials
from vinculum.compile.polynomials import polynomial_values
from vinculum.simulation.integrators.taylor_steps import Polynomials


def test_the_machine_code_is_kept_while_it_runs(monkeypatch):
    """Where two threads compile the program at once, the cache keeps the code of one of them."""
    kept = []

    class Code:
        pass

    def program():
        code = Code()
        alive = weakref.ref(code)
        return code, lambda *_: kept.append(alive() is not None)

    monkeypatch.setattr(polynomials, "_program", program)
    polynomial_values(np.ones((1, 2, 3)), np.zeros(1), np.ones(1))
    assert kept == [True]


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("order", [0, 1, 5, 20])
@pytest.mark.parametrize("count", [0, 1, 50])
def test_values_are_those_of_the_polynomials(n, order, count, random):
    coefficients = random.normal(size=(6, n, order + 1))
    places, tau = random.integers(0, 6, count), random.uniform(-1.2, 1.2, count)
    found = polynomial_values(coefficients, places, tau)
    assert found.shape == (count, n)
    for value, place, at in zip(found, places, tau, strict=True):
        np.testing.assert_allclose(value, polynomial.polyval(at, coefficients[place].T), rtol=1e-13, atol=1e-13)


def test_arrays_of_any_layout_and_kind_are_accepted(random):
    coefficients, tau = random.normal(size=(4, 9, 3)).transpose(2, 0, 1), np.array([0, 1, 2], dtype=np.int32)
    found = polynomial_values(coefficients, np.array([2, 0, 1], dtype=np.int8)[::-1], tau)
    for value, place, at in zip(found, [1, 0, 2], tau, strict=True):
        np.testing.assert_allclose(value, polynomial.polyval(float(at), coefficients[place].T), rtol=1e-12)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_dense_output_takes_the_step_of_every_instant(direction, random):
    """Forward and backward, at the ends of steps and inside them; a cubic in four steps is one polynomial."""
    times = direction * np.array([0.0, 0.3, 0.4, 1.1, 2.0])
    cubic = random.normal(size=(2, 4))
    shifted = [[polynomial.polyfit(np.arange(4), polynomial.polyval(t + np.arange(4), row), 3) for row in cubic]
               for t in times[:-1]]  # fmt: skip
    dense = Polynomials(times, np.array(shifted))
    at = direction * np.sort(np.append(random.uniform(0, 2, 30), np.abs(times)))
    np.testing.assert_allclose(dense(at), polynomial.polyval(at, cubic.T).T, rtol=1e-11, atol=1e-11)
    instants, states = dense.inside(np.array([0.0, 0.5]), np.array([1, 3]))
    np.testing.assert_allclose(instants, direction * np.array([0.3, 0.35, 1.1, 1.55]))
    np.testing.assert_allclose(states, polynomial.polyval(instants, cubic.T).T, rtol=1e-11, atol=1e-11)
