"""A function of exported code before it is written in a language: arrays in, arrays out, straight-line in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import ClassVar

from vinculum.graph import Node, substitute
from vinculum.graph.canonical import CanonicalLines, digests
from vinculum.graph.node import constant
from vinculum.graph.splines import TABLES, Numbers, expand_splines
from vinculum.graph.traverse import order


@dataclass(frozen=True, eq=False)
class Group:
    """An array of arguments or results: its name in the code, its nodes, their names for the user, and its meaning."""

    name: str
    nodes: tuple[Node, ...]
    labels: tuple[str, ...]
    about: str
    scalar: bool = False  # passed by value, as the time is

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, eq=False)
class Kernel:
    """results = f(arguments)."""

    name: str
    about: str
    arguments: tuple[Group, ...]
    results: tuple[Group, ...]

    @property
    def outputs(self) -> list[Node]:
        """All results, one after the other."""
        return [node for group in self.results for node in group.nodes]

    def folded(self, values: Mapping[Node, float]) -> Kernel:
        """The same with numbers in place of symbols."""
        given = {node: constant(value) for node, value in values.items()}
        results = tuple(
            Group(g.name, tuple(substitute(list(g.nodes), given)), g.labels, g.about, g.scalar) for g in self.results
        )
        return Kernel(self.name, self.about, self.arguments, results)


def table_name(numbers: Numbers) -> str:
    """A name that depends on the numbers alone."""
    return f"table_{blake2b(repr(numbers.values).encode(), digest_size=6).hexdigest()}"


def tables(kernels: Iterable[Kernel]) -> dict[str, tuple[float, ...]]:
    """The tables of all kernels by name: knots and coefficients of splines."""
    nodes = order(expand_splines([node for kernel in kernels for node in kernel.outputs]))
    rows = {node.value for node in nodes if node.op in TABLES}
    return dict(sorted((table_name(row), row.values) for row in rows))


class Source(CanonicalLines):
    """Source text of a kernel. The order of lines and operands depends on the formulas alone."""

    tables = True
    subscript: ClassVar[str] = "{}[{}]"

    def __init__(self, kernel: Kernel, names: Mapping[Node, str] | None = None) -> None:
        self.kernel = kernel
        self.names = names or {
            node: group.name if group.scalar else self.subscript.format(group.name, i)
            for group in kernel.arguments
            for i, node in enumerate(group.nodes)
        }
        super().__init__({})
        self.lines_of: dict[bytes, str] = {}  # the name of every formula by its digest
        self.outputs = self.prepare(kernel.outputs)
        self.digest = digests(self.outputs, self.names)

    def symbol(self, node: Node) -> str:
        """An argument."""
        return self.names[node] if node in self.names else super().symbol(node)

    def operation(self, node: Node, args: Sequence[str]) -> str:
        """Equal formulas have one line."""
        key = self.digest[node]
        if key not in self.lines_of:
            self.lines_of[key] = super().operation(node, args)
        return self.lines_of[key]

    def numbers(self, numbers: Numbers) -> str:
        """The name of a table, which all kernels share."""
        return table_name(numbers)

    def written(self) -> list[tuple[Group, list[str]]]:
        """Every group of results with the names of its numbers; the lines come before."""
        self.write(self.outputs)
        names = iter([self.number(output) for output in self.outputs])
        return [(group, [next(names) for _ in group.nodes]) for group in self.kernel.results]

    @cached_property
    def used(self) -> set[str]:
        """The arguments on which the results depend."""
        own = {node: group.name for group in self.kernel.arguments for node in group.nodes}
        return {own[node] for node in self.digest if node in own}
