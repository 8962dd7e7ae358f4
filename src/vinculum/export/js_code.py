"""JavaScript: its table of operations, and how a kernel is printed as a function that fills arrays.

Groups of results may be left out by the caller, from the last one back: the function returns before it computes them.
"""

from __future__ import annotations

from vinculum.export.inline import InlineSource
from vinculum.export.js_division import MOST, divided
from vinculum.export.kernel import Kernel
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


class JsSource(InlineSource):
    """The lines of a function of JavaScript."""

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


def literal(value: float) -> str:
    """The shortest text of a number: 3 instead of 3.0."""
    text = repr(value)
    return text.removesuffix(".0")


def function(kernel: Kernel) -> str:
    """A function of arrays that fills the arrays of its results, which follow its arguments; a long one is divided."""
    code, groups, done = JsSource(kernel), [], 0
    outputs = iter(code.outputs)
    for group in kernel.results:
        own = [next(outputs) for _ in group.nodes]
        code.write(own)
        numbers = [code.number(output) for output in own]
        groups.append([*code.lines[done:], *(f"  {group.name}[{i}] = {value};" for i, value in enumerate(numbers))])
        done = len(code.lines)
    ends = ["" if k == 0 else f"  if ({group.name} === undefined) return;" for k, group in enumerate(kernel.results)]
    names = [group.name for group in (*kernel.arguments, *kernel.results)]
    if sum(len(line) for lines in groups for line in lines) > MOST:
        return divided(kernel.name, names, groups, ends)
    body = [line for end, lines in zip(ends, groups, strict=True) for line in (end, *lines) if line]
    return "\n".join([f"function {kernel.name}({', '.join(names)}) {{", *body, "}"])
