"""Nodes as one Python function: for numbers at many states where machine code would not pay for its compilation.

It takes a hundredth of the time of LLVM to prepare and runs ten to twenty times as fast as `evaluate`, which walks the
graph again at each state. Branches are left to `evaluate`, since the one that is not taken may have any value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from vinculum.errors import DomainError
from vinculum.graph.evaluate import evaluate
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, ZERO, Node, Number
from vinculum.graph.place import in_order
from vinculum.graph.splines import TABLES
from vinculum.graph.targets import Lines
from vinculum.graph.traverse import order, symbols

_PREPARED_AFTER = 16  # calls of `evaluate`, which take about as long as the preparation of a function
_BRANCHES = {"select", "call", "component", "spline", *TABLES, *COMPARISONS}


class _Python(Lines):
    """Python's operators, and functions by their names."""

    line = "    {name} = {value}"
    table: Mapping[str, str] = {
        "add": "{0} + {1}",
        "subtract": "{0} - {1}",
        "multiply": "{0} * {1}",
        "divide": "{0} / {1}",
        "negate": "-{0}",
        "power": "pow({0}, {1})",
    }

    def __init__(self, known: Mapping[Node, str]) -> None:
        super().__init__(known)
        calls = {name: f"{name}({{0}}, {{1}})" if name == "atan2" else f"{name}({{0}})" for name in FUNCTIONS}
        self.table = {**_Python.table, **calls}  # functions may have been added at run time

    def constant(self, value: Number) -> str:
        """The number with all its digits, in parentheses for its sign."""
        return f"({float(value)!r})"


def python_function(inputs: Sequence[Node], outputs: Sequence[Node]) -> Callable[[Sequence[float]], list[float] | None]:
    """f(numbers of the inputs) -> numbers of the outputs; None where an operation has no finite value."""
    nodes = order(outputs)
    if any(node.op in _BRANCHES for node in nodes):
        return _interpreted(inputs, outputs, nodes)
    code = _Python({node: f"x[{i}]" for i, node in enumerate(inputs)})
    code.write(outputs)
    results = ", ".join(code.number(node) for node in outputs)
    text = "\n".join(["def f(x):", *code.lines, f"    return [{results}]"])
    known: dict[str, Any] = {name: function.number for name, function in FUNCTIONS.items()} | {"pow": math.pow}
    exec(compile(text, "<nodes>", "exec"), known)  # the text has only operators, numbers and the names above
    function = known["f"]

    def at(x: Sequence[float]) -> list[float] | None:
        try:
            return function(x)
        except (ValueError, ZeroDivisionError, OverflowError):
            return None

    return at


class Evaluator:
    """Outputs that may be needed at many states: by `evaluate` at first, by a Python function once that pays.

    >>> from vinculum.graph import symbol
    >>> x = symbol("x")
    >>> square = Evaluator([x * x])
    >>> square.at({x: 2.0}), square.at({x: 3.0})
    ([4.0], [9.0])
    """

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.outputs = list(outputs)
        self._uses = 0

    def at(self, values: Mapping[Node, float]) -> list[float]:
        """The outputs at given values of the symbols; a `DomainError` names the operation that has no finite value."""
        self._uses += 1
        if self._uses <= _PREPARED_AFTER:
            return evaluate(self.outputs, values)
        inputs, function = self._prepared
        found = function([values[node] for node in inputs])
        return found if found is not None and all(map(math.isfinite, found)) else evaluate(self.outputs, values)

    @cached_property
    def _prepared(self) -> tuple[list[Node], Callable[[Sequence[float]], list[float] | None]]:
        """The symbols of the outputs, and the function of their numbers."""
        inputs = in_order(symbols(self.outputs))
        return inputs, python_function(inputs, self.outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Evaluator, (self.outputs,)


class Entries:
    """An array of nodes, most of which are zero, to be evaluated at many states."""

    def __init__(self, nodes: np.ndarray) -> None:
        self.shape, self.places = nodes.shape, np.nonzero(nodes != ZERO)
        self.evaluator = Evaluator(nodes[self.places].tolist())

    def at(self, values: Mapping[Node, float]) -> np.ndarray:
        """The array of numbers."""
        found = np.zeros(self.shape)
        found[self.places] = self.evaluator.at(values)
        return found


def _interpreted(
    inputs: Sequence[Node], outputs: Sequence[Node], ordered: Sequence[Node]
) -> Callable[[Sequence[float]], list[float] | None]:
    """The same by `evaluate`."""

    def at(x: Sequence[float]) -> list[float] | None:
        try:
            return evaluate(outputs, dict(zip(inputs, x, strict=True)), ordered)
        except DomainError:
            return None

    return at
