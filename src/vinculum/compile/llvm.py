"""The graph as LLVM: straight-line machine code behind a C pointer.

Every function has the signature ``void f(double t, double *x, double *p, double *out)`` with time, state,
parameters and results, and a twin ``void f_rows(int64 rows, double *t, double *x, double *p, double *out)``
that runs over many states in one call. Both can be called from compiled loops by their address.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from vinculum.graph.node import COMPARISONS, Node
from vinculum.graph.traverse import order

_BINARY = {"add": "fadd contract", "subtract": "fsub contract", "multiply": "fmul contract", "divide": "fdiv"}
_INTRINSICS = {name: f"llvm.{name}.f64" for name in ("sqrt", "exp", "log", "sin", "cos")}
_INTRINSICS |= {"abs": "llvm.fabs.f64", "power": "llvm.pow.f64"}
_CONDITIONS = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
_LOGIC = {"both": "and", "either": "or"}
_OPTIMIZE_UP_TO = 20_000  # operations; beyond, LLVM's passes cost more time than they save


class Emitter:
    """The lines of one function body, and the name every node got."""

    def __init__(self, time: Node, state: Sequence[Node], parameters: Sequence[Node]) -> None:
        self.lines: list[str] = []
        self.names: dict[Node, str] = {time: "%t"}
        self.sources = {node: f"%x, i64 {i}" for i, node in enumerate(state)}
        self.sources |= {node: f"%p, i64 {i}" for i, node in enumerate(parameters)}
        self.called: set[str] = set()

    def line(self, expression: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def number(self, node: Node) -> str:
        """The name of a node as a double."""
        if node.op in COMPARISONS:
            return self.line(f"uitofp i1 {self.names[node]} to double")
        return self.names[node]

    def condition(self, node: Node) -> str:
        """The name of a node as a truth value."""
        if node.op in COMPARISONS:
            return self.names[node]
        return self.line(f"fcmp une double {self.names[node]}, 0.0")

    def emit(self, node: Node) -> None:
        if node not in self.names:
            self.names[node] = self.operation(node) if node.args else self.leaf(node)

    def leaf(self, node: Node) -> str:
        if node.op == "constant":
            return literal(float(node.value))
        if node not in self.sources:
            raise KeyError(f"{node!r} is neither time, state nor parameter of this function")
        pointer = self.line(f"getelementptr double, ptr {self.sources[node]}")
        return self.line(f"load double, ptr {pointer}, align 8")

    def operation(self, node: Node) -> str:
        if node.op == "select":
            truth = self.condition(node.args[0])
            a, b = (self.number(arg) for arg in node.args[1:])
            return self.line(f"select i1 {truth}, double {a}, double {b}")
        if node.op in _LOGIC:
            a, b = (self.condition(arg) for arg in node.args)
            return self.line(f"{_LOGIC[node.op]} i1 {a}, {b}")
        if node.op == "component":
            place = self.line(f"getelementptr double, ptr {self.names[node.args[0]]}, i64 {node.value}")
            return self.line(f"load double, ptr {place}")
        args = [self.number(arg) for arg in node.args]
        if node.op == "call":
            return self.routine(node, args)
        if node.op in _CONDITIONS:
            return self.line(f"fcmp {_CONDITIONS[node.op]} double {args[0]}, {args[1]}")
        if node.op in _BINARY:
            return self.line(f"{_BINARY[node.op]} double {args[0]}, {args[1]}")
        if node.op == "negate":
            return self.line(f"fneg double {args[0]}")
        if node.op == "sign":
            return self.sign(args[0])
        self.called.add(node.op)
        return self.line(f"call double @{called_name(node.op)}({', '.join(f'double {a}' for a in args)})")

    def routine(self, node: Node, args: Sequence[str]) -> str:
        """Call machine code made for a routine; the name is that of the array of its results."""
        from vinculum.compile.kernel import Kernel

        kernel = Kernel.of(node.value)
        x, out = (self.line(f"alloca [{size} x double]") for size in (len(args), kernel.coordinates))
        for i, arg in enumerate(args):
            place = self.line(f"getelementptr double, ptr {x}, i64 {i}")
            self.lines.append(f"  store double {arg}, ptr {place}")
        self.lines.append(kernel.calling(x, out))
        return out

    def sign(self, a: str) -> str:
        above = self.line(f"fcmp ogt double {a}, 0.0")
        below = self.line(f"fcmp olt double {a}, 0.0")
        inner = self.line(f"select i1 {below}, double -1.0, double 0.0")
        return self.line(f"select i1 {above}, double 1.0, double {inner}")

    def store(self, outputs: Sequence[Node]) -> None:
        for i, output in enumerate(outputs):
            value = self.number(output)
            pointer = self.line(f"getelementptr double, ptr %out, i64 {i}")
            self.lines.append(f"  store double {value}, ptr {pointer}, align 8")


def called_name(op: str) -> str:
    """What is called for an operation: an intrinsic of LLVM, or the function of the same name in the C library."""
    return _INTRINSICS.get(op, op)


def literal(value: float) -> str:
    """A double in LLVM's exact hexadecimal notation."""
    return f"0x{struct.pack('>d', value).hex().upper()}"


def module(time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]) -> str:
    """The text of an LLVM module with the function and its twin for many rows."""
    emitter = Emitter(time, state, parameters)
    for node in order(outputs):
        emitter.emit(node)
    emitter.store(outputs)
    return "\n".join(
        [
            *_declarations(emitter.called),
            _HEAD,
            *emitter.lines,
            "  ret void",
            "}",
            _rows(len(state), len(outputs)),
        ]
    )


_ARGUMENTS = "ptr noalias %x, ptr noalias %p, ptr noalias %out"
_HEAD = f"define void @f(double %t, {_ARGUMENTS}) nounwind {{"


def _declarations(called: Iterable[str]) -> list[str]:
    two = {"power", "atan2"}
    return [
        f"declare double @{called_name(name)}({'double, double' if name in two else 'double'}) nounwind"
        for name in sorted(called)
    ]


def _rows(width: int, results: int) -> str:
    """The loop over rows: t[i], x[i, :] -> out[i, :]."""
    return f"""
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


@cache
def _host() -> tuple[Any, str, str]:
    """The target of this machine, its processor and the processor's features."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target_machine() -> Any:
    """A new target machine: an engine takes ownership of the one it is given."""
    target, processor, features = _host()
    return target.create_target_machine(cpu=processor, features=features, opt=2, jit=True)


class MachineCode:
    """A compiled module; the code lives as long as this object."""

    def __init__(self, text: str, size: int) -> None:
        import llvmlite.binding as llvm

        machine = _target_machine()
        parsed = llvm.parse_assembly(text)
        parsed.triple = machine.triple
        if size <= _OPTIMIZE_UP_TO:
            _optimize(parsed, machine)
        self.engine = llvm.create_mcjit_compiler(parsed, machine)
        self.engine.finalize_object()
        self.address: int = self.engine.get_function_address("f")
        self.rows_address: int = self.engine.get_function_address("f_rows")


def _optimize(parsed: Any, machine: Any) -> None:
    import llvmlite.binding as llvm

    tuning = llvm.create_pipeline_tuning_options(speed_level=1)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(parsed, builder)
