"""Homogeneous functions and Euler's theorem, x·∇f = k f."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from vinculum.graph import ONE, Node, apply, constant, evaluate, gradient, homogeneity, substitute, symbol

VELOCITIES = tuple(symbol(("velocity", i)) for i in range(3))
ANGLES = tuple(symbol(("angle", i)) for i in range(2))


def homogeneous(random: np.random.Generator, degree: int) -> Node:
    """A random function of the velocities, homogeneous of a whole degree, with coefficients of the angles."""
    kind = random.integers(5)
    if kind == 0:
        return _coefficient(random) * homogeneous(random, degree - 1) * _linear(random)
    if kind == 1:
        return homogeneous(random, degree + 1) / _norm()
    if kind == 2:
        return apply("sqrt", _norm() ** (2 * abs(degree))) * (1 if degree >= 0 else _norm() ** (2 * degree))
    if kind == 3:
        return -(_norm() ** degree) * apply("exp", apply("sin", ANGLES[1]))
    return _monomial(random, degree) - _coefficient(random) * _monomial(random, degree)


def _coefficient(random: np.random.Generator) -> Node:
    return apply("cos", ANGLES[random.integers(2)]) + float(random.normal())


def _linear(random: np.random.Generator) -> Node:
    return reduce(Node.__add__, [float(c) * v for c, v in zip(random.normal(size=3), VELOCITIES, strict=True)])


def _norm() -> Node:
    return apply("sqrt", reduce(Node.__add__, [v * v for v in VELOCITIES]))


def _monomial(random: np.random.Generator, degree: int) -> Node:
    above = [VELOCITIES[i] for i in random.integers(3, size=max(degree, 0) + 1)]
    below = [VELOCITIES[i] for i in random.integers(3, size=max(-degree, 0) + 1)]
    return reduce(Node.__mul__, above, ONE * 3) / reduce(Node.__mul__, below, constant(2) * _norm() / _norm())


def state(random: np.random.Generator) -> dict[Node, float]:
    return {node: float(value) for node, value in zip(VELOCITIES + ANGLES, random.uniform(0.5, 2, 5), strict=True)}


@pytest.mark.parametrize("degree", [-2, -1, 1, 2, 3])
def test_degree_of_random_homogeneous_functions(degree):
    """The degree found is the one built in, and v·∇f = k f."""
    random = np.random.default_rng(degree + 100)
    for _ in range(20):
        f, values = homogeneous(random, degree), state(random)
        assert homogeneity(f, VELOCITIES) == degree
        number, *slopes = evaluate([f, *gradient(f, VELOCITIES)], values)
        work = sum(slope * values[v] for slope, v in zip(slopes, VELOCITIES, strict=True))
        assert work == pytest.approx(degree * number, rel=1e-11, abs=1e-11)


def test_scaling_the_arguments_scales_the_function(random):
    """f(s v) = s^k f(v)."""
    for _ in range(20):
        f, values = homogeneous(random, 2), state(random)
        (scaled,) = substitute([f], {v: 3 * v for v in VELOCITIES})
        before, after = evaluate([f, scaled], values)
        assert after == pytest.approx(9 * before, rel=1e-11, abs=1e-11)


def test_functions_of_other_variables_have_degree_zero():
    assert homogeneity(apply("exp", ANGLES[0]) + 1, VELOCITIES) == 0


@pytest.mark.parametrize(
    "f",
    [
        VELOCITIES[0] + 1,
        VELOCITIES[0] * VELOCITIES[1] - VELOCITIES[2],
        apply("sin", VELOCITIES[0]),
        apply("exp", VELOCITIES[0] / ANGLES[0]),
        VELOCITIES[0] + ANGLES[0],
    ],
    ids=repr,
)
def test_functions_without_a_degree_have_none(f):
    assert homogeneity(f, VELOCITIES) is None
