"""Nodes in other processes: a pickled node comes back as the node of the process that reads it.

A node is stored as its operation and its operands, so pickle's own memo stores a shared subexpression once, however
many outputs of a record use it. Pickle follows operands recursively, and a deep graph would exhaust its stack.
Therefore some nodes are *landings*: with d = 0 at leaves and landings and d = 1 + max d(operand) elsewhere, a node that
would get d = _DEPTH is a landing. A node above landings is stored after these, the lowest first. While they are
written, each finds the landings below itself in the memo, so pickle never follows more than _DEPTH operands at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from threading import local
from typing import Any
from weakref import WeakKeyDictionary

from vinculum.graph.node import Node, constant, intern, symbol
from vinculum.graph.place import in_order

_DEPTH = 100  # operands that pickle follows before it meets a landing
_nearest: WeakKeyDictionary[Node, list[Node]] = WeakKeyDictionary()  # the landings next below a landing
_writing = local()  # ``landings`` is true while this thread writes landings


def reduced(node: Node) -> tuple[Any, ...]:
    """What pickle stores for a node: a function and its arguments."""
    if not node.args:
        return _leaf, (node.op, node.value)
    if getattr(_writing, "landings", False) or _depth(node) < _DEPTH:
        return intern, (node.op, node.value, *node.args)
    return _above, (_Below(node), node.op, node.value, *node.args)


def _leaf(op: str, value: Any) -> Node:
    return constant(value) if op == "constant" else symbol(value)


def _above(_: list[Node], op: str, value: Hashable, *args: Node) -> Node:
    """A node above landings, which were read first."""
    return intern(op, value, *args)


@dataclass(frozen=True, eq=False)
class _Below:
    """Everything that must be written before a node, for pickle to find its operands in the memo."""

    node: Node

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (), None, self.written()

    def written(self) -> Iterator[Node | None]:
        """Landings, then the operands of the node. Pickle asks for one item more before it writes a single one."""
        _writing.landings = True
        try:
            yield from _landings(self.node)
            yield from self.node.args
            yield None
        finally:
            _writing.landings = False


def _depth(root: Node) -> int:
    """d of a node, plus _DEPTH where it is a landing or stands above one; a landing has exactly _DEPTH."""
    stack = [root]
    while stack:
        node = stack[-1]
        unknown = [arg for arg in node.args if arg.depth < 0]
        if unknown:
            stack.extend(unknown)
            continue
        below = [arg.depth for arg in node.args]
        own = 1 + max((depth % _DEPTH for depth in below), default=-1)
        node.depth = own + _DEPTH if own < _DEPTH and any(depth >= _DEPTH for depth in below) else own
        stack.pop()
    return root.depth


def _landings(node: Node) -> list[Node]:
    """All landings below a node, operands before results."""
    found: set[Node] = set()
    new = {*_next_below(node)}
    while new:
        found |= new
        new = {landing for above in new for landing in _next_below(above)} - found
    return in_order(found)


def _next_below(node: Node) -> Iterable[Node]:
    """The landings that a node reaches without passing another one."""
    if node in _nearest:
        return _nearest[node]
    found: list[Node] = []
    seen, stack = {node}, [node]
    while stack:
        for arg in stack.pop().args:
            if arg not in seen and arg.depth >= _DEPTH:
                seen.add(arg)
                (found if arg.depth == _DEPTH else stack).append(arg)
    if node.depth == _DEPTH:
        _nearest[node] = found
    return found
