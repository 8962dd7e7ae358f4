"""Straight-line code for one state, or for several states in the lanes of a SIMD register.

``void f(int64 rows, double *x, double *p, double *out)``: x is (inputs, rows), out (outputs, rows), with each input
contiguous in memory, so one instruction loads all lanes; rows is a multiple of the width. With width 1 the sines and
cosines of the one state are computed four at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.compile.llvm import TOGETHER, Assembly
from vinculum.compile.machine import MachineCode
from vinculum.compile.sincos import sincos
from vinculum.graph.node import Node
from vinculum.graph.traverse import order

_CALL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_OPTIMIZE_UP_TO = 6_000  # operations; above this, LLVM's passes cost more time than they save


class Body(Assembly):
    """The body of the loop over states."""

    def __init__(self, inputs: Sequence[Node], parameters: Sequence[Node], width: int) -> None:
        super().__init__(width)
        self.inputs = {node: i for i, node in enumerate(inputs)}
        self.parameters = {node: i for i, node in enumerate(parameters)}

    def symbol(self, node: Node) -> str:
        """An input, or a parameter in all lanes."""
        if node in self.inputs:
            return self.load(self._place("x", self.inputs[node]))
        if node not in self.parameters:
            raise KeyError(f"{node!r} is not an input or a parameter of this function")
        return self.load_everywhere(self.result(f"getelementptr double, ptr %p, i64 {self.parameters[node]}"))

    def _place(self, array: str, i: int) -> str:
        row = self.result(f"mul i64 %rows, {i}")
        index = self.result(f"add i64 {row}, %k")
        return self.result(f"getelementptr double, ptr %{array}, i64 {index}")

    def finish(self, outputs: Sequence[Node]) -> None:
        """Sines and cosines, all other operations, then the results."""
        places = {"x": self.inputs, "p": self.parameters}
        self.arrange(outputs, {node: f"{name} {i}" for name, group in places.items() for node, i in group.items()})
        self.write_angles(outputs)
        self.write(outputs)
        for i, output in enumerate(outputs):
            value = self.number(output)
            self.store(value, self._place("out", i))


def module(body: Body) -> str:
    """The text of an LLVM module: the loop over states around the body."""
    body.called |= {"sin": 1, "cos": 1}
    head = "\n".join([*body.declarations, sincos(TOGETHER if body.width == 1 else body.width)])
    lines = "\n".join(body.lines)
    return f"""{head}
define void @f(i64 %rows, ptr noalias %x, ptr noalias %p, ptr noalias %out) nounwind {{
entry:
  %empty = icmp sle i64 %rows, 0
  br i1 %empty, label %done, label %row
row:
  %k = phi i64 [0, %entry], [%next, %row]
{lines}
  %next = add i64 %k, {body.width}
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %row, label %done
done:
  ret void
}}"""


class SimdFunction:
    """outputs = f(inputs, parameters) as machine code, ``width`` states at a time."""

    def __init__(self, inputs: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node], width: int) -> None:
        self._made_of = tuple(inputs), tuple(parameters), tuple(outputs), width
        self.width, self.results = width, len(outputs)
        body = Body(inputs, parameters, width)
        outputs = body.prepare(outputs)
        body.finish(outputs)
        self._code = MachineCode(module(body), len(order(outputs)) <= _OPTIMIZE_UP_TO)
        self.address = self._code.address("f")
        self.call = _CALL(self.address)

    def __reduce__(self) -> tuple[Any, ...]:
        return simd_function, self._made_of

    def __call__(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """x (inputs, rows) to results (outputs, rows)."""
        rows = x.shape[1]
        x = pad(x, self.width)
        out = np.empty((self.results, x.shape[1]))
        self.call(x.shape[1], x.ctypes.data, p.ctypes.data, out.ctypes.data)
        return out[:, :rows]


def pad(x: np.ndarray, width: int) -> np.ndarray:
    """x (inputs, rows) with the last row repeated up to a multiple of the width."""
    missing = -x.shape[1] % width
    if missing:
        x = np.concatenate([x, np.repeat(x[:, -1:], missing, axis=1)], axis=1)
    return np.ascontiguousarray(x, dtype=float)


@lru_cache(maxsize=64)
def _compiled(inputs: tuple, parameters: tuple, outputs: tuple, width: int) -> SimdFunction:
    return SimdFunction(inputs, parameters, outputs, width)


def simd_function(
    inputs: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node], width: int = 1
) -> SimdFunction:
    """The compiled function; compiled once per process."""
    return _compiled(tuple(inputs), tuple(parameters), tuple(outputs), width)
