"""Functions with many results as one operation of the graph.

A ``call`` node stands for all results of a `Routine` on its operands, a ``component`` node for one of them. Compiled
code may call machine code of its own for it; whoever needs the operations themselves (differentiation, Taylor series,
printing) writes it out with `written_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vinculum.graph.node import Node, _intern_with
from vinculum.graph.traverse import order, substitute


@dataclass(frozen=True, eq=False)
class Routine:
    """outputs(formals) under a name; ``machine`` is what the compiler makes its code from."""

    name: str
    formals: Sequence[Node]
    body: Callable[[], Sequence[Node]]
    machine: Any

    @cached_property
    def outputs(self) -> list[Node]:
        """The results as nodes of the formals, written when first asked for."""
        return list(self.body())

    def on(self, operands: Sequence[Node]) -> list[Node]:
        """The results on given operands, written out."""
        return substitute(self.outputs, dict(zip(self.formals, operands, strict=True)))

    def __repr__(self) -> str:
        return self.name


def called(routine: Routine, operands: Sequence[Node], results: int) -> list[Node]:
    """The results of a call as nodes."""
    call = _intern_with("call", routine, tuple(operands))
    return [_intern_with("component", i, (call,)) for i in range(results)]


def written_out(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with all calls replaced by what they compute."""
    calls = [node for node in order(outputs) if node.op == "call"]
    if not calls:
        return list(outputs)
    call = calls[0]  # the deepest: its operands contain no other
    results = call.value.on(call.args)
    parts = {node: results[node.value] for node in order(outputs) if node.op == "component" and node.args[0] is call}
    return written_out(substitute(list(outputs), parts))
