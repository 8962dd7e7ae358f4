"""Nodes as one Python function: for numbers at many states where machine code would not pay for its compilation.

It takes a hundredth of the time of LLVM to prepare and runs ten to twenty times as fast as `evaluate`, which walks the
graph again at each state. Branches are left to `evaluate`, since the one that is not taken may have any value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vinculum.errors import DomainError
from vinculum.graph.evaluate import evaluate
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, Node, Number
from vinculum.graph.splines import TABLES
from vinculum.graph.targets import Lines
from vinculum.graph.traverse import order

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
