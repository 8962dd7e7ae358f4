"""Expressions in other processes and threads: a node comes back as the node that stands there."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from graph.random_expressions import expression
from vinculum.frozen import FrozenMapping
from vinculum.graph import (
    ZERO,
    Converter,
    GraphExpression,
    Node,
    Routine,
    apply,
    call_routine,
    constant,
    from_sympy,
    lift,
    order,
    select,
    symbol,
)
from vinculum.graph.node import compare
from vinculum.graph.splines import Pieces, spline

x, y, z = (symbol(name) for name in "xyz")
q = dynamicsymbols("q")
PIECES = Pieces("lift", [0.0, 1.0], [[0.0, 1.0], [1.0, 2.0]], 2.0)


@dataclass(frozen=True)
class Rotation:
    """x cos z - y sin z, x sin z + y cos z."""

    def __call__(self) -> list[Node]:
        c, s = apply("cos", z), apply("sin", z)
        return [x * c - y * s, x * s + y * c]


ROUTINE = Routine("rotation", (x, y, z), Rotation(), None)
NODES = {
    "symbol": x,
    "tuple": symbol(("gain", 1, 2)),
    "coordinate": symbol(q),
    "velocity": symbol(q.diff()),
    "integer": constant(3),
    "fraction": lift(constant(1) / 3),
    "float": constant(0.1),
    "sum": 2 + x,
    "product": y * x,
    "multiple": 0.3 * x,
    "difference": x - y,
    "power": x**y,
    "function": apply("atan2", x, y),
    "branch": select(compare("less", x, y), x, -y),
    "spline": spline(PIECES, x),
    "call": call_routine(ROUTINE, (x, y, z), 2)[1],
    "formula": from_sympy(sp.sin(q) * q.diff() / (1 + q**2)),
}


def again(value: object) -> object:
    return pickle.loads(pickle.dumps(value))


def deep(length: int) -> Node:
    """sin(... sin(x y + y) y + y ...)."""
    node = x
    for _ in range(length // 3):
        node = apply("sin", node * y + y)
    return node


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_a_node_comes_back_as_itself(node):
    assert again(node) is node
    assert copy.deepcopy(node) is copy.copy(node) is node
    assert node - again(node) is ZERO


@pytest.mark.parametrize("seed", range(10))
def test_random_expressions_come_back(seed):
    node = expression(np.random.default_rng(seed), steps=60)
    assert again(node) is node
    assert again([node, {node: node.args}]) == [node, {node: node.args}]


def test_a_chain_as_deep_as_a_long_run_comes_back():
    """Ten thousand operations, one below the other, where pickle's own recursion ends at a few hundred."""
    node = deep(10_000)
    data = pickle.dumps(node)
    assert pickle.loads(data) is node
    assert len(data) < 25 * len(order([node]))


def test_a_record_stores_a_shared_graph_once():
    """A hundred outputs on one deep graph take little more room than the graph."""
    base = deep(1500)
    outputs = [apply("cos", base + constant(i)) for i in range(100)]
    alone, together = len(pickle.dumps(base)), len(pickle.dumps(outputs))
    assert together < 2 * alone
    assert again(outputs) == outputs


def test_an_interrupted_write_does_not_disturb_the_next():
    """A payload that does not pickle ends one write in the middle; the next deep one is complete."""
    bad = deep(3000) + symbol(lambda: 0)
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        pickle.dumps([bad, deep(3000) * symbol(lambda: 1)])
    assert again(deep(3000)) is deep(3000)


def test_operands_are_ordered_by_the_process_that_reads():
    """The reader has made y before x, so its own x + y and x y have another order of operands."""
    data = pickle.dumps([x + y, x * y, 2 + x, 2 * x])
    program = """
import pickle, sys
from vinculum.graph import symbol
y, x = symbol("y"), symbol("x")
nodes = pickle.loads(bytes.fromhex(sys.argv[1]))
expected = [x + y, x * y, 2 + x, 2 * x]
assert all(a is b for a, b in zip(nodes, expected, strict=True)), nodes
"""
    subprocess.run([sys.executable, "-c", program, data.hex()], check=True)


def doubled(node: Node, held: sp.Expr) -> tuple[Node, sp.Expr]:
    """What another process makes of a node and an expression that holds one."""
    assert node - pickle.loads(pickle.dumps(node)) is ZERO
    return node + node, held.diff(q)


def test_a_spawned_process_works_on_nodes(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, [str(Path(__file__).parents[1]), *sys.path])))
    node, held = deep(600) * spline(PIECES, x), GraphExpression(from_sympy(q**2 * sp.sin(q)))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        twice, slope = pool.submit(doubled, node, held).result()
    assert twice is node + node
    assert slope == held.diff(q)


def test_what_holds_nodes_comes_back():
    held = GraphExpression(from_sympy(sp.exp(q) * q))
    assert again(held) == copy.deepcopy(held) == held
    assert (again(held) - held) == 0
    assert again(PIECES) == PIECES
    assert again(ROUTINE) == copy.deepcopy(ROUTINE) == ROUTINE
    assert again(ROUTINE).outputs == ROUTINE.outputs
    converter = Converter()
    assert again(converter)(sp.sin(q)) is converter(sp.sin(q))


def test_threads_build_one_node():
    """Threads that build the same operations at the same time get the same objects."""
    count, nodes = 4, 3000
    barrier = Barrier(count)

    def build(_: int) -> list[Node]:
        barrier.wait()
        found = [symbol(("fresh", 0))]
        for i in range(1, nodes):
            found.append(apply("sin", found[-1] * symbol(("fresh", i % 7)) + i))
        return found

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(count) as pool:
            first, *others = pool.map(build, range(count))
    finally:
        sys.setswitchinterval(interval)
    assert all(other == first for other in others)


def test_a_frozen_mapping_is_a_value():
    frozen = FrozenMapping({"a": 1, "b": (x, 2)})
    assert frozen == again(frozen) == {"b": (x, 2), "a": 1}
    assert list(again(frozen)) == ["a", "b"]
    assert hash(frozen) == hash(FrozenMapping([("b", (x, 2)), ("a", 1)]))
    assert copy.deepcopy(frozen) is frozen
    assert frozen | {"a": 3} == {"a": 3, "b": (x, 2)}
    assert {"a": 3, "c": 0} | frozen == {"a": 1, "c": 0, "b": (x, 2)}
    with pytest.raises(TypeError, match="unhashable"):
        hash(FrozenMapping({"a": []}))
    with pytest.raises(TypeError):
        frozen["a"] = 2
    with pytest.raises(AttributeError, match="is immutable"):
        frozen._entries = {}
