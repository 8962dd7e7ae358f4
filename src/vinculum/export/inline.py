"""Source text in which a value that is used once is written where it is used, which halves the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from vinculum.export.kernel import Source
from vinculum.graph import Node, order

_LONGEST = 160  # characters of an expression that is still written where it is used


class InlineSource(Source):
    """Lines for values that are used more than once; every template of the table must have its own brackets."""

    tables = False

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
