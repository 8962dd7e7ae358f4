"""Functions with many results as one operation of the graph.

A ``call`` node stands for all results of a `Routine` on its operands, a ``component`` node for one of them. Compiled
code may call separate machine code for it; whatever needs the operations themselves (differentiation, Taylor series,
printing) writes it out with `expand_calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import uuid4

from vinculum.graph.node import Node, intern
from vinculum.graph.traverse import order, substitute


def _new_key() -> str:
    return uuid4().hex


@dataclass(frozen=True, eq=False)
class Routine:
    """outputs(formals) under a name; the compiler makes its code from ``machine``.

    A routine equals its copies from other processes, which have the same key. To be sent there, ``body`` must be a
    function that pickles: a module's function or a record with ``__call__``.
    """

    name: str
    formals: Sequence[Node]
    body: Callable[[], Sequence[Node]]
    machine: Any
    key: str = field(default_factory=_new_key)

    @cached_property
    def outputs(self) -> list[Node]:
        """The results as nodes of the formals, built on first use."""
        return list(self.body())

    def on(self, operands: Sequence[Node]) -> list[Node]:
        """The results on given operands, written out."""
        return substitute(self.outputs, dict(zip(self.formals, operands, strict=True)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Routine) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return Routine, (self.name, self.formals, self.body, self.machine, self.key)

    def __deepcopy__(self, _: dict[int, Any]) -> Routine:
        return self

    def __repr__(self) -> str:
        return self.name


def call_routine(routine: Routine, operands: Sequence[Node], results: int) -> list[Node]:
    """The results of a call as nodes."""
    call = intern("call", routine, *operands)
    return [intern("component", i, call) for i in range(results)]


def expand_calls(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with all calls replaced by what they compute."""
    outputs = list(outputs)
    while calls := [node for node in order(outputs) if node.op == "call"]:
        outputs = substitute(outputs, _written_out(calls[0], outputs))  # the deepest: its operands contain no other
    return outputs


def _written_out(call: Node, outputs: Sequence[Node]) -> dict[Node, Node]:
    """The components of a call, each with what it computes."""
    results = call.value.on(call.args)
    return {node: results[node.value] for node in order(outputs) if node.op == "component" and node.args[0] is call}
