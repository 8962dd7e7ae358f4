"""Shared subexpressions get names, so that what is printed grows with the graph and not with the tree."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from graph.numeric import numeric
from graph.random_expressions import KEYS, VARIABLES, expression, point
from vinculum.graph import Node, apply, evaluate, gradient, intermediates, operations, tree_size


def values_through(definitions: list, outputs: list, values: list[float]) -> list[float]:
    """The outputs after every definition, in its turn, was replaced by its number."""
    names = [name for name, _ in definitions]
    known = list(values)
    for i, (_, definition) in enumerate(definitions):
        known += numeric([definition], [*KEYS, *names[:i]])(*known)
    return numeric(outputs, [*KEYS, *names])(*known)


def tower(levels: int) -> Node:
    """x ↦ x cos(x) + x/3, again and again: every level uses the one below twice or more."""
    x = VARIABLES[0] + VARIABLES[1]
    for _ in range(levels):
        x = x * apply("cos", x) + x / 3
    return x


@pytest.mark.parametrize("seed", range(20))
def test_definitions_put_back_give_the_same_numbers(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random), point(random)
    outputs = [f, *gradient(f, VARIABLES)]
    definitions, results = intermediates(outputs)
    found = values_through(definitions, results, list(values.values()))
    assert found == pytest.approx(evaluate(outputs, values), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_every_name_is_defined_once_before_it_is_used(seed):
    f = expression(np.random.default_rng(seed), steps=30)
    definitions, results = intermediates([f, *gradient(f, VARIABLES)])
    known = set(KEYS)
    for name, definition in definitions:
        assert name not in known
        assert definition.free_symbols <= known
        known.add(name)
    assert set().union(*(result.free_symbols for result in results)) <= known


def test_a_name_is_worth_its_line():
    """What is named is used at least twice and is more than one operation on leaves."""
    f = expression(np.random.default_rng(5), steps=40)
    definitions, results = intermediates([f, *gradient(f, VARIABLES)])
    assert len(definitions) > 3
    text = [str(expr).replace(" ", "") for expr in [*(d for _, d in definitions), *results]]
    for name, definition in definitions:
        assert sum(sp.sympify(t).count(name) for t in text) >= 2
        assert definition.args


@pytest.mark.parametrize("levels", [10, 20, 40, 80])
def test_printing_a_tower_is_linear_in_the_graph(levels):
    """The tree of a tower has more than 2^levels operations, its printed form a few for each level."""
    top = tower(levels)
    assert tree_size(top) > 2.0**levels
    definitions, results = intermediates([top])
    printed = sum(sp.count_ops(expr) for expr in [*(d for _, d in definitions), *results])
    assert len(definitions) <= 2 * levels
    assert printed <= 2 * operations([top]).total()


def test_a_tower_printed_has_the_value_of_the_tower(random):
    values = point(random)
    top = tower(40)
    definitions, results = intermediates([top])
    found = values_through(definitions, results, list(values.values()))
    assert found == pytest.approx(evaluate([top], values), rel=1e-12)


def test_taken_names_are_avoided():
    definitions, _ = intermediates([tower(6)], taken=["z_1", "z3"])
    names = {str(name) for name, _ in definitions}
    assert len(names) == len(definitions) >= 3
    assert not names & {"z_1", "z_3"}


def test_size_of_the_tree_and_of_the_graph():
    """((x²)²)²: three products, seven if nothing were shared."""
    x = VARIABLES[0]
    eighth = x**8
    assert operations([eighth]) == {"multiply": 3}
    assert tree_size(eighth) == 7
    assert tree_size(eighth, limit=5) == 5
