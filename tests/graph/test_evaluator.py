"""Nodes evaluated again and again: the same bits and refusals, before and after a function is made."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sp

from graph.random_expressions import expression, point
from vinculum.errors import DomainError
from vinculum.graph import Converter, constant, evaluate, symbol
from vinculum.graph.python_function import _PREPARED_AFTER, Entries, Evaluator

x, y = sp.symbols("x y")


def used(evaluator: Evaluator, values) -> Evaluator:
    """An evaluator that has made its function."""
    for _ in range(_PREPARED_AFTER + 1):
        evaluator.at(values)
    assert "_prepared" in vars(evaluator)
    return evaluator


@pytest.mark.parametrize("seed", range(30))
def test_the_same_bits_at_every_use(seed):
    random = np.random.default_rng(seed)
    outputs, values = [expression(random) for _ in range(3)], point(random)
    evaluator = used(Evaluator(outputs), values)
    for _ in range(5):
        values = point(random)
        assert evaluator.at(values) == evaluate(outputs, values)


@pytest.mark.parametrize("fresh", [True, False])
def test_what_has_no_value_is_named(fresh):
    evaluator = Evaluator([Converter()(1 / x + sp.log(y))])
    if not fresh:
        used(evaluator, {symbol(x): 1.0, symbol(y): 1.0})
    with pytest.raises(DomainError, match="division by zero: x = 0"):
        evaluator.at({symbol(x): 0.0, symbol(y): 1.0})
    with pytest.raises(DomainError, match="not positive: log"):
        evaluator.at({symbol(x): 1.0, symbol(y): -1.0})


def test_a_matrix_keeps_its_zeros_and_its_shape():
    nodes = np.array([[constant(0), symbol(x)], [symbol(y), constant(0)], [constant(2), constant(0)]], dtype=object)
    assert Entries(nodes).at({symbol(x): 3.0, symbol(y): -1.0}).tolist() == [[0, 3], [-1, 0], [2, 0]]
    assert Entries(nodes[:0]).at({}).shape == (0, 2)


def test_it_pickles_without_its_function():
    values = {symbol(x): 0.5}
    evaluator = used(Evaluator([Converter()(sp.sin(x))]), values)
    again = pickle.loads(pickle.dumps(evaluator))
    assert "_prepared" not in vars(again)
    assert again.at(values) == evaluator.at(values)
