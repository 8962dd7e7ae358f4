"""Straight-line code for one state or for several states side by side in SIMD lanes.

``void f(int64 rows, double *x, double *p, double *out)``: x is (inputs, rows), out (outputs, rows), row after row in
memory, so that a lane load is one instruction; rows is a multiple of the width. With width 1 the sines and cosines
of the one state are computed four at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.compile.llvm import _CONDITIONS, _LOGIC, _optimize, _target_machine, called_name, literal
from vinculum.compile.sincos import sincos, spread
from vinculum.graph.node import COMPARISONS, Node
from vinculum.graph.routine import written_out
from vinculum.graph.splines import in_pieces
from vinculum.graph.traverse import order

_BINARY = {"add": "fadd contract", "subtract": "fsub contract", "multiply": "fmul contract", "divide": "fdiv contract"}
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_TOGETHER = 4  # sines and cosines of one state at a time
_PASSES_UP_TO = 6_000  # operations; beyond, LLVM's passes cost more time than they save


class _Lanes:
    """The body of the loop over states."""

    def __init__(self, inputs: Sequence[Node], parameters: Sequence[Node], width: int) -> None:
        self.width = width
        self.kind = "double" if width == 1 else f"<{width} x double>"
        self.bit = "i1" if width == 1 else f"<{width} x i1>"
        self.lines: list[str] = []
        self.names: dict[Node, str] = {}
        self.inputs = {node: i for i, node in enumerate(inputs)}
        self.parameters = {node: i for i, node in enumerate(parameters)}
        self.called: set[str] = set()

    def line(self, expression: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def run(self, outputs: Sequence[Node]) -> None:
        nodes = order(outputs)
        self.angles(nodes)
        for node in nodes:
            if node not in self.names:
                self.names[node] = self.operation(node) if node.args else self.leaf(node)
        for i, output in enumerate(outputs):
            value = self.number(output)
            self.lines.append(f"  store {self.kind} {value}, ptr {self.place('out', i)}, align 8")

    def place(self, array: str, i: int) -> str:
        row = self.line(f"mul i64 %rows, {i}")
        index = self.line(f"add i64 {row}, %k")
        return self.line(f"getelementptr double, ptr %{array}, i64 {index}")

    def angles(self, nodes: Sequence[Node]) -> None:
        """All sines and cosines whose arguments contain none, together."""
        turning = {node for node in nodes if node.op in ("sin", "cos")}
        after: dict[Node, bool] = {}
        for node in nodes:
            after[node] = any(after[arg] or arg in turning for arg in node.args)
        arguments = list(dict.fromkeys(node.args[0] for node in nodes if node in turning and not after[node]))
        for node in order(arguments):
            self.names[node] = self.operation(node) if node.args else self.leaf(node)
        pairs = self.sincos([self.number(arg) for arg in arguments])
        for node in turning:
            if node.args[0] in arguments:
                self.names[node] = pairs[arguments.index(node.args[0])][node.op == "cos"]

    def sincos(self, names: Sequence[str]) -> list[tuple[str, str]]:
        if self.width > 1:
            return [
                self.pair(self.line(f"call {{{self.kind}, {self.kind}}} @sine_cosine({self.kind} {x})")) for x in names
            ]
        found: list[tuple[str, str]] = []
        V = f"<{_TOGETHER} x double>"
        for start in range(0, len(names), _TOGETHER):
            group = names[start : start + _TOGETHER]
            packed = "zeroinitializer"
            for i, name in enumerate(group):
                packed = self.line(f"insertelement {V} {packed}, double {name}, i64 {i}")
            both = self.line(f"call {{{V}, {V}}} @sine_cosine({V} {packed})")
            s, c = (self.line(f"extractvalue {{{V}, {V}}} {both}, {j}") for j in (0, 1))
            for i in range(len(group)):
                lanes = [self.line(f"extractelement {V} {x}, i64 {i}") for x in (s, c)]
                found.append((lanes[0], lanes[1]))
        return found

    def pair(self, both: str) -> tuple[str, str]:
        kinds = f"{{{self.kind}, {self.kind}}}"
        return self.line(f"extractvalue {kinds} {both}, 0"), self.line(f"extractvalue {kinds} {both}, 1")

    def constant(self, value: float) -> str:
        return literal(value) if self.width == 1 else spread(literal(value), self.width)

    def leaf(self, node: Node) -> str:
        if node.op == "constant":
            return self.constant(float(node.value))
        if node in self.inputs:
            return self.line(f"load {self.kind}, ptr {self.place('x', self.inputs[node])}, align 8")
        if node not in self.parameters:
            raise KeyError(f"{node!r} is neither an input nor a parameter of this function")
        pointer = self.line(f"getelementptr double, ptr %p, i64 {self.parameters[node]}")
        value = self.line(f"load double, ptr {pointer}, align 8")
        if self.width == 1:
            return value
        one = self.line(f"insertelement {self.kind} undef, double {value}, i64 0")
        return self.line(f"shufflevector {self.kind} {one}, {self.kind} undef, <{self.width} x i32> zeroinitializer")

    def number(self, node: Node) -> str:
        if node.op in COMPARISONS:
            return self.line(f"uitofp {self.bit} {self.names[node]} to {self.kind}")
        return self.names[node]

    def condition(self, node: Node) -> str:
        if node.op in COMPARISONS:
            return self.names[node]
        return self.line(f"fcmp une {self.kind} {self.names[node]}, {self.constant(0.0)}")

    def operation(self, node: Node) -> str:
        if node.op == "select":
            truth = self.condition(node.args[0])
            a, b = (self.number(arg) for arg in node.args[1:])
            return self.line(f"select {self.bit} {truth}, {self.kind} {a}, {self.kind} {b}")
        if node.op in _LOGIC:
            a, b = (self.condition(arg) for arg in node.args)
            return self.line(f"{_LOGIC[node.op]} {self.bit} {a}, {b}")
        args = [self.number(arg) for arg in node.args]
        if node.op in _CONDITIONS:
            return self.line(f"fcmp {_CONDITIONS[node.op]} {self.kind} {args[0]}, {args[1]}")
        if node.op in _BINARY:
            return self.line(f"{_BINARY[node.op]} {self.kind} {args[0]}, {args[1]}")
        if node.op == "negate":
            return self.line(f"fneg {self.kind} {args[0]}")
        return self.sign(args[0]) if node.op == "sign" else self.call(node.op, args)

    def sign(self, a: str) -> str:
        zero, one, minus = (self.constant(x) for x in (0.0, 1.0, -1.0))
        above, below = (self.line(f"fcmp {side} {self.kind} {a}, {zero}") for side in ("ogt", "olt"))
        inner = self.line(f"select {self.bit} {below}, {self.kind} {minus}, {self.kind} {zero}")
        return self.line(f"select {self.bit} {above}, {self.kind} {one}, {self.kind} {inner}")

    def call(self, op: str, args: Sequence[str]) -> str:
        """An elementary function, lane by lane where LLVM has no vector form of it."""
        self.called.add(op)
        if self.width == 1:
            return self.line(f"call double @{called_name(op)}({', '.join(f'double {a}' for a in args)})")
        result = "undef"
        for i in range(self.width):
            lanes = [self.line(f"extractelement {self.kind} {a}, i64 {i}") for a in args]
            value = self.line(f"call double @{called_name(op)}({', '.join(f'double {a}' for a in lanes)})")
            result = self.line(f"insertelement {self.kind} {result}, double {value}, i64 {i}")
        return result


def text(inputs: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node], width: int) -> str:
    """The LLVM module of one function."""
    lanes = _Lanes(inputs, parameters, width)
    lanes.run(outputs)
    two = {"power", "atan2"}
    declared = [
        f"declare double @{called_name(op)}({'double, double' if op in two else 'double'}) nounwind"
        for op in sorted(lanes.called | {"sin", "cos"})
    ]
    return "\n".join(
        [
            *declared,
            sincos(_TOGETHER if width == 1 else width),
            "define void @f(i64 %rows, ptr noalias %x, ptr noalias %p, ptr noalias %out) nounwind {",
            "entry:",
            "  %empty = icmp sle i64 %rows, 0",
            "  br i1 %empty, label %done, label %row",
            "row:",
            "  %k = phi i64 [0, %entry], [%next, %row]",
            *lanes.lines,
            f"  %next = add i64 %k, {width}",
            "  %more = icmp slt i64 %next, %rows",
            "  br i1 %more, label %row, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


class Lanes:
    """outputs = f(inputs, parameters) as machine code, ``width`` states at a time."""

    def __init__(self, inputs: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node], width: int) -> None:
        import llvmlite.binding as llvm

        outputs = in_pieces(written_out(outputs))
        self.width, self.results = width, len(outputs)
        machine = _target_machine()
        module = llvm.parse_assembly(text(inputs, parameters, outputs, width))
        module.triple = machine.triple
        if len(order(outputs)) <= _PASSES_UP_TO:
            _optimize(module, machine)
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        self.address: int = self.engine.get_function_address("f")
        self._call = _CALL(self.address)

    def __call__(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """x (inputs, rows) to results (outputs, rows)."""
        rows = x.shape[1]
        padded = -(-rows // self.width) * self.width
        if padded != rows:
            x = np.concatenate([x, np.repeat(x[:, -1:], padded - rows, axis=1)], axis=1)
        x = np.ascontiguousarray(x, dtype=float)
        out = np.empty((self.results, padded))
        self._call(padded, x.ctypes.data, p.ctypes.data, out.ctypes.data)
        return out[:, :rows]


def native_width() -> int:
    """Doubles in a SIMD register of this machine."""
    import llvmlite.binding as llvm

    features: Any = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx") else 2


@lru_cache(maxsize=64)
def _compiled(inputs: tuple, parameters: tuple, outputs: tuple, width: int) -> Lanes:
    return Lanes(inputs, parameters, outputs, width)


def lanes(inputs: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node], width: int = 1) -> Lanes:
    """The compiled function; compiled once per process."""
    return _compiled(tuple(inputs), tuple(parameters), tuple(outputs), width)
