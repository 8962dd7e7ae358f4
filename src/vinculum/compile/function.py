"""Compiled functions of time, state and parameters, called with numpy arrays or by address.

Every function has the signature ``void f(double t, double *x, double *p, double *out)`` with time, state,
parameters and results, and a twin ``void f_rows(int64 rows, double *t, double *x, double *p, double *out)``
that runs over many states in one call. Both can be called from compiled loops by their address.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.compile.division import divided
from vinculum.compile.kernel import Kernel, kernel_of
from vinculum.compile.llvm import Assembly
from vinculum.compile.machine import COMPILING, MachineCode
from vinculum.graph.node import Node
from vinculum.graph.traverse import order

_DOUBLES = ctypes.c_void_p
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_double, _DOUBLES, _DOUBLES, _DOUBLES)
_MANY = ctypes.CFUNCTYPE(None, ctypes.c_int64, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)
_OFTEN = 20_000  # calls from which importing Numba pays
_SOME = 100  # calls, if it was imported already
_OPTIMIZE_UP_TO = 20_000  # operations; above this, LLVM's passes cost more time than they save, and code is divided


class Body(Assembly):
    """The lines of ``f``; routines of the graph become calls of their machine code."""

    routines = True

    def __init__(self, time: Node, state: Sequence[Node], parameters: Sequence[Node]) -> None:
        super().__init__(known={time: "%t"})
        self.places = {node: f"%x, i64 {i}" for i, node in enumerate(state)}
        self.places |= {node: f"%p, i64 {i}" for i, node in enumerate(parameters)}
        self.kernels: list[Kernel] = []

    def symbol(self, node: Node) -> str:
        """A state or a parameter."""
        if node not in self.places:
            raise KeyError(f"{node!r} is not the time, a state or a parameter of this function")
        return self.load(self.result(f"getelementptr double, ptr {self.places[node]}"))

    def operation(self, node: Node, args: Sequence[str]) -> str:
        """A routine is an array of its results, a component one of them."""
        if node.op == "component":
            return self.result(f"load double, ptr {self._entry(args[0], node.value)}")
        return self._routine(kernel_of(node.value), args) if node.op == "call" else super().operation(node, args)

    def _routine(self, kernel: Kernel, args: Sequence[str]) -> str:
        self.kernels.append(kernel)
        x, out = (self.result(f"alloca [{size} x double]") for size in (len(args), kernel.coordinates))
        for i, arg in enumerate(args):
            self.lines.append(f"  store double {arg}, ptr {self._entry(x, i)}")
        self.lines.append(kernel.call_line(x, out))
        return out

    def _entry(self, array: str, i: int) -> str:
        return self.result(f"getelementptr double, ptr {array}, i64 {i}")

    def finish(self, outputs: Sequence[Node]) -> None:
        """All operations, then the results."""
        self.arrange(outputs, self.values | self.places)
        self.write(outputs)
        for i, output in enumerate(outputs):
            value = self.number(output)
            self.store(value, self._entry("%out", i))


_ARGUMENTS = "ptr noalias %x, ptr noalias %p, ptr noalias %out"


def module(body: Body, width: int, results: int, large: bool = False) -> str:
    """The text of an LLVM module with the function and its twin, the loop over rows: t[i], x[i, :] -> out[i, :]."""
    parts, code = divided(body.lines, f"double %t, {_ARGUMENTS}") if large else ([], body.lines)
    lines = "\n".join([*body.declarations, *parts, f"define void @f(double %t, {_ARGUMENTS}) nounwind {{", *code])
    return f"""{lines}
  ret void
}}

define void @f_rows(i64 %rows, ptr %ts, {_ARGUMENTS}) nounwind {{
entry:
  %empty = icmp sle i64 %rows, 0
  br i1 %empty, label %done, label %row
row:
  %i = phi i64 [0, %entry], [%next, %row]
  %tp = getelementptr double, ptr %ts, i64 %i
  %t = load double, ptr %tp, align 8
  %xi = mul i64 %i, {width}
  %xp = getelementptr double, ptr %x, i64 %xi
  %oi = mul i64 %i, {results}
  %op = getelementptr double, ptr %out, i64 %oi
  call void @f(double %t, ptr %xp, ptr %p, ptr %op)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %row, label %done
done:
  ret void
}}"""


class Function:
    """y = f(t, x, p) as machine code.

    ``f(t, x, p)`` evaluates one state; ``f.rows(t, x, p)`` evaluates many, with x of shape (rows, len(state)).
    ``f.address`` is the C pointer of ``void f(double t, double *x, double *p, double *out)`` for compiled loops. A
    pickled function is compiled again when it is loaded.
    """

    def __init__(self, time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]) -> None:
        self._made_of = time, tuple(state), tuple(parameters), tuple(outputs)
        self.width, self.parameters, self.size = len(state), len(parameters), len(outputs)
        body = Body(time, state, parameters)
        outputs = body.prepare(outputs)
        body.finish(outputs)
        self._kernels = body.kernels  # their code is called from this function's code
        large = len(order(outputs)) > _OPTIMIZE_UP_TO
        self._code = MachineCode(module(body, self.width, self.size, large), optimize=not large, unroll=False)
        self.address = self._code.address("f")
        self._quick: Any = None
        self._calls = 0
        self._one, self._many = _ONE(self.address), _MANY(self._code.address("f_rows"))

    def __reduce__(self) -> tuple[Any, ...]:
        return function, self._made_of

    def __call__(self, t: float, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        if self._quick is not None:
            try:
                if len(x) == self.width and len(p) == self.parameters:
                    return self._quick(self.address, t, x, p, self.size)
            except (TypeError, AttributeError):
                pass  # not rows of doubles: converted below
        else:
            self._count()
        out = np.empty(self.size)
        x, p = self._check_shape(x, (self.width,)), self._check_shape(p, (self.parameters,))
        self._one(t, x.ctypes.data, p.ctypes.data, out.ctypes.data)
        return out

    def _count(self) -> None:
        """After many calls, load the call that takes a microsecond; it needs Numba, a third of a second to import."""
        self._calls += 1
        if self._calls > _OFTEN or (self._calls > _SOME and "vinculum.compile.pointer" in sys.modules):
            with COMPILING:
                from vinculum.compile.pointer import value_of

                self._quick = value_of

    def rows(self, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """f at every row of x, as an array (rows, len(outputs))."""
        t, p = np.ascontiguousarray(t, dtype=float), self._check_shape(p, (self.parameters,))
        x = self._check_shape(x, (len(t), self.width))
        out = np.empty((len(t), self.size))
        self._many(len(t), t.ctypes.data, x.ctypes.data, p.ctypes.data, out.ctypes.data)
        return out

    @staticmethod
    def _check_shape(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        array = np.ascontiguousarray(array, dtype=float)
        if array.shape != shape:
            raise ValueError(f"an array of shape {shape} is needed, got {array.shape}")
        return array


@lru_cache(maxsize=512)
def _compiled(time: Node, state: tuple[Node, ...], parameters: tuple[Node, ...], outputs: tuple[Node, ...]) -> Function:
    return Function(time, state, parameters, outputs)


def function(time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]) -> Function:
    """The compiled function of these nodes; compiled once per process, since equal nodes are one node."""
    with COMPILING:  # a second thread that needs the same function waits for it
        return _compiled(time, tuple(state), tuple(parameters), tuple(outputs))
