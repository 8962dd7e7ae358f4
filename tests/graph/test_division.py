"""Long code is divided into functions; the numbers are those of the undivided code."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from benchmarks.chains import branching
from vinculum.compile import division, function
from vinculum.graph import node as n
from vinculum.graph import symbol

TIME, STATE, PARAMETER = symbol("t"), [symbol(f"x{i}") for i in range(6)], symbol("p")


def random_graph(random, count):
    """Outputs of random operations on the last few hundred values: numbers, comparisons, functions."""
    pool = [*STATE, PARAMETER, TIME]
    for _ in range(count):
        a, b = (pool[k] for k in random.integers(max(0, len(pool) - 300), len(pool), 2))
        make = (
            lambda a=a, b=b: a + b,
            lambda a=a, b=b: a - b,
            lambda a=a, b=b: a * b / 2,
            lambda a=a, b=b: a / (b * b + 2),
            lambda a=a, b=b: n.apply("sin", a) - b,
            lambda a=a, b=b: n.select(n.compare("less", a, b), a, b + 1),
            lambda a=a, b=b: -a,
        )
        pool.append(make[random.integers(len(make))]())
    return pool[-30:]


def dividing(monkeypatch, length):
    """Divide all code into parts of some length."""
    monkeypatch.setattr(function, "_OPTIMIZE_UP_TO", 10)
    monkeypatch.setattr(function, "divided", lambda lines, arguments: division.divided(lines, arguments, length))


@pytest.mark.parametrize("length", [1, 7, 100, 5000])
def test_divided_code_gives_the_same_numbers(monkeypatch, length):
    random = np.random.default_rng(3)
    outputs = random_graph(random, 2000)
    whole = function.Function(TIME, STATE, [PARAMETER], outputs)
    dividing(monkeypatch, length)
    parts = function.Function(TIME, STATE, [PARAMETER], outputs)
    t, x, p = random.normal(size=40), random.normal(size=(40, 6)) / 3, np.array([0.7])
    np.testing.assert_allclose(parts.rows(t, x, p), whole.rows(t, x, p), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(parts(t[0], x[0], p), whole(t[0], x[0], p), rtol=1e-13, atol=1e-13)


def test_a_tree_with_a_routine_moves_the_same(monkeypatch):
    """The forward dynamics of a large tree is a routine, whose arguments and results cross the parts."""
    tree = branching(40)
    start = dict.fromkeys(tree.coordinates, 0.3) | dict.fromkeys(tree.velocities, 0.5)
    ends = []
    for length in (None, 50):
        if length:
            dividing(monkeypatch, length)
            function._compiled.cache_clear()
        motion = vn.simulate(vn.derive(tree.system()), start, (0, 0.01), "rk4", step=1e-4)
        assert motion.energy_error < 1e-10
        ends.append([motion[q][-1] for q in tree.coordinates])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)
