"""Compiled functions of time, state and parameters, called with numpy arrays or by address."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from vinculum.compile.llvm import MachineCode, module
from vinculum.graph.node import Node
from vinculum.graph.splines import in_pieces
from vinculum.graph.traverse import order

_DOUBLES = ctypes.c_void_p
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_double, _DOUBLES, _DOUBLES, _DOUBLES)
_MANY = ctypes.CFUNCTYPE(None, ctypes.c_int64, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


class Function:
    """y = f(t, x, p) as machine code.

    ``f(t, x, p)`` evaluates one state; ``f.rows(t, x, p)`` many, x being (rows, len(state)). ``f.address`` is the
    C pointer of ``void f(double t, double *x, double *p, double *out)`` for compiled loops.
    """

    def __init__(self, time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.width, self.parameters, self.size = len(state), len(parameters), len(outputs)
        outputs = in_pieces(outputs)
        self._code = MachineCode(module(time, state, parameters, outputs), len(order(outputs)))
        self._routines = [node.value for node in order(outputs) if node.op == "call"]  # their code is called from ours
        self.address = self._code.address
        self._one, self._many = _ONE(self._code.address), _MANY(self._code.rows_address)

    def __call__(self, t: float, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        out = np.empty(self.size)
        x, p = self._checked(x, (self.width,)), self._checked(p, (self.parameters,))
        self._one(t, x.ctypes.data, p.ctypes.data, out.ctypes.data)
        return out

    def rows(self, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """f at every row of x, as an array (rows, len(outputs))."""
        t, p = np.ascontiguousarray(t, dtype=float), self._checked(p, (self.parameters,))
        x = self._checked(x, (len(t), self.width))
        out = np.empty((len(t), self.size))
        self._many(len(t), t.ctypes.data, x.ctypes.data, p.ctypes.data, out.ctypes.data)
        return out

    @staticmethod
    def _checked(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        array = np.ascontiguousarray(array, dtype=float)
        if array.shape != shape:
            raise ValueError(f"an array of shape {shape} is needed, got {array.shape}")
        return array


@lru_cache(maxsize=512)
def _compiled(time: Node, state: tuple[Node, ...], parameters: tuple[Node, ...], outputs: tuple[Node, ...]) -> Function:
    return Function(time, state, parameters, outputs)


def function(time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]) -> Function:
    """The compiled function of these nodes; compiled once per process, since equal nodes are one node."""
    return _compiled(time, tuple(state), tuple(parameters), tuple(outputs))
