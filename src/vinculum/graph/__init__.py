"""The expression graph: nodes, differentiation, elimination, SymPy in and out.

>>> import sympy as sp
>>> from vinculum.graph import from_sympy, gradient, symbol, to_sympy
>>> x, y = sp.symbols("x y")
>>> f = from_sympy(x**2 * sp.sin(y))
>>> [to_sympy(g) for g in gradient(f, [symbol(x), symbol(y)])]
[2*x*sin(y), x**2*cos(y)]
"""

from vinculum.graph.definite import solve_bordered, solve_definite
from vinculum.graph.differentiate import along, gradient, jacobian, vector
from vinculum.graph.eliminate import Elimination, Pivot, SingularMatrix, solve
from vinculum.graph.evaluate import evaluate
from vinculum.graph.expression import DeferredExpression, GraphExpression, as_sympy
from vinculum.graph.from_sympy import Converter, from_sympy
from vinculum.graph.node import ONE, ZERO, Node, apply, constant, lift, select, symbol
from vinculum.graph.routine import Routine, call_routine, expand_calls
from vinculum.graph.to_sympy import intermediates, to_sympy
from vinculum.graph.traverse import homogeneity, operations, order, substitute, symbols, tree_size

__all__ = [
    "ONE", "ZERO", "Converter", "DeferredExpression", "Elimination", "GraphExpression", "Node", "Pivot", "Routine",
    "SingularMatrix", "along", "apply", "as_sympy", "call_routine", "constant", "evaluate", "expand_calls",
    "from_sympy", "gradient", "homogeneity", "intermediates", "jacobian", "lift", "operations", "order", "select",
    "solve", "solve_bordered", "solve_definite", "substitute", "symbol", "symbols", "to_sympy", "tree_size",
    "vector",
]  # fmt: skip
