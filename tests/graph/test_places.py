"""The order of the graph depends on the formulas alone."""

import json
import subprocess
import sys

from graph.random_expressions import expression
from vinculum.graph import constant, order, symbol
from vinculum.graph.place import in_order

FORMULA = """
import json, sympy as sp
from vinculum.graph import from_sympy, gradient, order, symbol
t, m = sp.symbols("t m")
x, y = sp.Function("x")(t), sp.Function("y")(t)
BEFORE
f = from_sympy((m*x*sp.sin(x + y) + y**2*x.diff(t)/3 - x*y*m)**2 + sp.sqrt(x*x + 0.25*m) - x/4)
print(json.dumps([[node.place, repr(node)] for node in order([f, *gradient(f, [symbol(x), symbol(y)])])]))
"""
LATER = "kept = [from_sympy(e) for e in (y**2*x.diff(t)/3, y*m*x, sp.sin(x + y)*m, m, y, 0.25*m, x**3*y)]"


def places(before: str) -> list:
    ran = subprocess.run([sys.executable, "-c", FORMULA.replace("BEFORE", before)], capture_output=True, check=True)
    return json.loads(ran.stdout)


def test_places_are_the_same_in_another_process_with_another_history():
    assert places("") == places(LATER)


def test_operands_come_before_results(random):
    nodes = order([expression(random, steps=60)])
    seen = set()
    for node in nodes:
        assert seen.issuperset(node.args)
        assert all(arg.place < node.place for arg in node.args)
        seen.add(node)


def test_numbers_and_symbols_that_look_alike_have_places_of_their_own():
    leaves = [constant(x) for x in (-1, -2, 1, 2, 0.5, -0.5)] + [symbol(x) for x in ("x", "y", ("x", 0), ("x", 1))]
    assert len({leaf.place for leaf in leaves}) == len(leaves)
    assert in_order(leaves) == in_order(reversed(leaves))
