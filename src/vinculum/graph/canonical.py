"""An order of operations that depends on the formulas alone, so that the same formulas give the same source text.

The serial numbers of nodes tell the history of the process: which formula was built first. Here operands come before
results, outputs in their order, and the operands of a sum or product in the order of a digest of their formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from vinculum.graph.node import Node
from vinculum.graph.targets import Lines
from vinculum.graph.traverse import order

COMMUTATIVE = frozenset({"add", "multiply", "equal", "both", "either"})


def digests(outputs: Iterable[Node], names: Mapping[Node, str]) -> dict[Node, bytes]:
    """A digest of the formula of every node below the outputs; ``names`` are those of the symbols."""
    found: dict[Node, bytes] = {}
    for node in order(outputs):
        args = [found[arg] for arg in node.args]
        if node.op in COMMUTATIVE:
            args.sort()
        text = names.get(node) or (_operation(node) if node.args else _leaf(node))
        found[node] = blake2b(b"".join([text.encode(), b"\0", *args]), digest_size=16).digest()
    return found


def _operation(node: Node) -> str:
    """An operation with its payload, such as the numbers of a table."""
    return node.op if node.value is None or node.op == "call" else f"{node.op} {node.value!r}"


def _leaf(node: Node) -> str:
    """A number by its value as a double: 1/4 and 0.25 are the same in source text."""
    return f"{node.op} {float(node.value) if node.op == 'constant' else node.value!r}"


def arranged(node: Node, digest: Mapping[Node, bytes]) -> tuple[Node, ...]:
    """The operands, those of a commutative operation by their digests, numbers first."""
    if node.op not in COMMUTATIVE:
        return node.args
    return tuple(sorted(node.args, key=lambda arg: (arg.op != "constant", digest[arg])))


def canonical_order(outputs: Sequence[Node], known: Mapping[Node, object], digest: Mapping[Node, bytes]) -> list[Node]:
    """The nodes below the outputs, operands before results; nodes in ``known`` are not entered."""
    found: list[Node] = []
    seen: set[Node] = set(known)
    for output in outputs:
        stack = [(output, False)]
        while stack:
            node, entered = stack.pop()
            if entered:
                found.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(arranged(node, digest)) if arg not in seen)
    return found


class CanonicalLines(Lines):
    """Text whose lines and operands are in canonical order. Set ``digest`` before writing."""

    digest: Mapping[Node, bytes]

    def sequence(self, outputs: Iterable[Node]) -> list[Node]:
        """The same order in every process."""
        return canonical_order(list(outputs), self.values, self.digest)

    def operation(self, node: Node, args: Sequence[str]) -> str:
        """Operands of sums and products in canonical order."""
        if node.op in COMMUTATIVE and arranged(node, self.digest) != node.args:
            args = args[::-1]
        return super().operation(node, args)
