"""Forward, backward, by SymPy and by differences: one derivative."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from graph.numeric import numeric, without_corners
from graph.random_expressions import KEYS, VARIABLES, expression, point, single_operations
from vinculum.graph import ONE, ZERO, along, apply, evaluate, gradient, jacobian, operations, symbol, to_sympy

SEEDS = range(60)
SINGLE = single_operations()


def size(*numbers: np.ndarray) -> float:
    return 1.0 + max(np.abs(number).max() for number in numbers)


def by_differences(f, values: dict) -> np.ndarray:
    """∂f/∂x by central differences, extrapolated twice (Richardson): the error is of order h^6."""

    def central(x, h: float) -> float:
        ahead, behind = (evaluate([f], values | {x: values[x] + step})[0] for step in (h, -h))
        return (ahead - behind) / (2 * h)

    def extrapolated(x, h: float = 2e-3) -> float:
        first, second, third = (central(x, h / k) for k in (1, 2, 4))
        return (64 * third - 20 * second + first) / 45

    return np.array([extrapolated(x) for x in VARIABLES])


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_and_backward_agree(seed):
    """∇f·d, the rate of f along d and the row of the Jacobian times d are one number."""
    random = np.random.default_rng(seed)
    outputs = [expression(random) for _ in range(3)]
    values, d = point(random), random.normal(size=3)
    backward = np.array([evaluate(gradient(f, VARIABLES), values) for f in outputs])
    forward = np.array(evaluate(list(jacobian(outputs, VARIABLES).ravel()), values)).reshape(3, 3)
    directed = evaluate(along(outputs, dict(zip(VARIABLES, map(ONE.__mul__, d), strict=True))), values)
    np.testing.assert_allclose(forward, backward, rtol=0, atol=1e-13 * size(backward))
    np.testing.assert_allclose(directed, backward @ d, rtol=0, atol=1e-13 * size(backward))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_gradient_is_that_of_sympy(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random, steps=8), point(random)
    plain = without_corners(to_sympy(f))
    expected = numeric([plain.diff(key) for key in KEYS], KEYS)(*values.values())
    np.testing.assert_allclose(evaluate(gradient(f, VARIABLES), values), expected, rtol=0, atol=1e-13 * size(expected))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_gradient_is_the_limit_of_differences(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random, smooth=True), point(random)
    expected = by_differences(f, values)
    np.testing.assert_allclose(evaluate(gradient(f, VARIABLES), values), expected, rtol=0, atol=1e-8 * size(expected))


@pytest.mark.parametrize(("name", "f"), SINGLE, ids=[name for name, _ in SINGLE])
def test_every_operation_has_its_derivative(name, f, random):
    """First and second derivatives of each operation by itself, at five points."""
    plain = without_corners(to_sympy(f))
    first = gradient(f, VARIABLES)
    second = gradient(first[0], VARIABLES)
    expected = numeric([plain.diff(key) for key in KEYS] + [plain.diff(KEYS[0], key) for key in KEYS], KEYS)
    for _ in range(5):
        values = point(random)
        wanted = expected(*values.values())
        found = evaluate([*first, *second], values)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-14 * size(np.array(wanted)), err_msg=name)


def test_second_derivatives_are_symmetric(random):
    """∂²f/∂x∂y = ∂²f/∂y∂x."""
    for _ in range(20):
        f, values = expression(random), point(random)
        hessian = np.reshape(evaluate(list(jacobian(gradient(f, VARIABLES), VARIABLES).ravel()), values), (3, 3))
        np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=1e-13 * size(hessian))


def test_what_does_not_depend_is_structurally_zero():
    """∂f/∂y of a function of x is the node zero, not an expression that happens to vanish."""
    x, y = symbol("x"), symbol("y")
    f, g = apply("sin", x) * x, y * y
    assert gradient(f, [x, y])[1] is ZERO
    assert along([f], {y: ONE}) == [ZERO]
    rows = jacobian([f, g], [x, y])
    assert rows[0, 1] is ZERO
    assert rows[1, 0] is ZERO


def test_derivatives_of_linear_functions_are_numbers():
    """∂(3x - y/2)/∂(x, y) = (3, -1/2), exactly."""
    x, y = symbol("x"), symbol("y")
    f = 3 * x - y / 2
    assert gradient(f, [x, y]) == [ONE * 3, -ONE / 2]
    assert gradient(x, [x, y]) == [ONE, ZERO]


@pytest.mark.parametrize("twice", [3, 5])
def test_half_powers_are_flat_at_zero(twice):
    """d x^(k/2)/dx = k/2 x^(k/2 - 1), which is zero at x = 0 for k > 2 (the force of an elastic contact)."""
    x = symbol("x")
    slope = gradient(x ** Fraction(twice, 2), [x])
    assert evaluate(slope, {x: 0.0}) == [0.0]
    assert evaluate(slope, {x: 4.0}) == pytest.approx([twice / 2 * 2.0 ** (twice - 2)], rel=1e-15)


def test_time_derivative_by_the_chain_rule():
    """d/dt (q² v) = 2 q v² + q² a along {q: v, v: a}."""
    q, v, a = (symbol(name) for name in "qva")
    (rate,) = along([q * q * v], {q: v, v: a})
    values = {q: 0.7, v: -1.3, a: 2.1}
    assert evaluate([rate], values)[0] == pytest.approx(2 * 0.7 * 1.3**2 + 0.7**2 * 2.1, rel=1e-15)


def test_gradient_costs_a_few_times_the_function(random):
    """Backward differentiation of f(x_1, ..., x_n) costs a multiple of f that does not grow with n."""
    for n in (10, 100, 400):
        x = [symbol(("cost", i)) for i in range(n)]
        f = ZERO
        for i in range(n):
            f = apply("sin", x[i] * x[(i + 1) % n] + f)
        together = operations([f, *gradient(f, x)]).total()
        assert together < 6 * operations([f]).total()
