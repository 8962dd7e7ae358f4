"""JavaScript: its table of operations, and how a kernel is printed as a function that fills arrays.

A value that is used once is written where it is used, which halves the text. Groups of results may be left out by the
caller, from the last one back: the function returns before it computes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from vinculum.export.kernel import Kernel, Source
from vinculum.graph import Node, order
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import Number

TABLE = {name: f"Math.{name}({{0}})" for name in FUNCTIONS} | {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "negate": "(-{0})",
    "power": "Math.pow({0}, {1})",
    "atan2": "Math.atan2({0}, {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "equal": "({0} === {1})",
    "both": "({0} && {1})",
    "either": "({0} || {1})",
    "select": "({0} ? {1} : {2})",
}
_LONGEST = 160  # characters of an expression that is still written where it is used


class JsSource(Source):
    """The lines of a function of JavaScript."""

    tables = False
    table = TABLE
    line = "  const {name} = {value};"

    def constant(self, value: Number) -> str:
        """A number, in brackets if it is negative."""
        text = literal(float(value))
        return f"({text})" if text.startswith("-") else text

    def as_number(self, truth: str) -> str:
        """1 or 0."""
        return f"({truth} ? 1 : 0)"

    def as_truth(self, number: str) -> str:
        """Whether a number is not zero."""
        return f"({number} !== 0)"

    @cached_property
    def uses(self) -> Counter[bytes]:
        """How often every formula is used; equal formulas are one."""
        operands = {self.digest[node]: [self.digest[arg] for arg in node.args] for node in order(self.outputs)}
        return Counter([arg for args in operands.values() for arg in args] + [self.digest[o] for o in self.outputs])

    def operation(self, node: Node, args: Sequence[str]) -> str:
        """A line, or the expression itself where it is used once."""
        self.single = self.uses[self.digest[node]] == 1
        return super().operation(node, args)

    def result(self, value: str) -> str:
        """The name of a line without the outer brackets of its expression."""
        if self.single and len(value) <= _LONGEST:
            return value
        return super().result(value[1:-1] if value.startswith("(") else value)


def literal(value: float) -> str:
    """The shortest text of a number: 3 instead of 3.0."""
    text = repr(value)
    return text.removesuffix(".0")


def function(kernel: Kernel) -> str:
    """A function of arrays that fills the arrays of its results, which follow its arguments."""
    code, body, done = JsSource(kernel), [], 0
    outputs = iter(code.outputs)
    for k, group in enumerate(kernel.results):
        own = [next(outputs) for _ in group.nodes]
        code.write(own)
        numbers = [code.number(output) for output in own]
        body += [f"  if ({group.name} === undefined) return;"] if k else []
        body += [*code.lines[done:], *(f"  {group.name}[{i}] = {value};" for i, value in enumerate(numbers))]
        done = len(code.lines)
    names = [group.name for group in (*kernel.arguments, *kernel.results)]
    return "\n".join([f"function {kernel.name}({', '.join(names)}) {{", *body, "}"])
