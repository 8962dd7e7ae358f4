"""The graph as lines of LLVM, one number at a time or several in the lanes of a SIMD register.

The three kinds of compiled functions (`function`, `simd`, `looped`) differ in the location of their arguments; the
rest of the code is the same and is written here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from vinculum.graph.canonical import CanonicalLines, canonical_order, digests
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import Node, Number
from vinculum.graph.splines import TABLES
from vinculum.graph.targets import DERIVED

TOGETHER = 4  # sines and cosines computed together for one state

INTRINSICS = {
    "sqrt": "llvm.sqrt.f64",
    "exp": "llvm.exp.f64",
    "log": "llvm.log.f64",
    "sin": "llvm.sin.f64",
    "cos": "llvm.cos.f64",
    "abs": "llvm.fabs.f64",
    "power": "llvm.pow.f64",
}


def called_name(op: str) -> str | None:
    """The function that is called for an operation, an LLVM intrinsic or a C library function; None if there is none.

    Functions added to the table at run time are in the C library too.
    """
    return INTRINSICS.get(op, op if op in FUNCTIONS and op not in DERIVED else None)


@cache
def operations(width: int) -> dict[str, str]:
    """The table of operations: the LLVM instruction of each, for numbers of ``width`` lanes."""
    V, B = vector("double", width), vector("i1", width)
    return {
        "add": f"fadd contract {V} {{0}}, {{1}}",
        "subtract": f"fsub contract {V} {{0}}, {{1}}",
        "multiply": f"fmul contract {V} {{0}}, {{1}}",
        "divide": f"fdiv contract {V} {{0}}, {{1}}",
        "negate": f"fneg {V} {{0}}",
        "less": f"fcmp olt {V} {{0}}, {{1}}",
        "less_equal": f"fcmp ole {V} {{0}}, {{1}}",
        "equal": f"fcmp oeq {V} {{0}}, {{1}}",
        "both": f"and {B} {{0}}, {{1}}",
        "either": f"or {B} {{0}}, {{1}}",
        "select": f"select {B} {{0}}, {V} {{1}}, {V} {{2}}",
    }


def vector(kind: str, width: int) -> str:
    """The type of one number, or of several in lanes."""
    return kind if width == 1 else f"<{width} x {kind}>"


def literal(value: float) -> str:
    """A double in LLVM's exact hexadecimal notation."""
    return f"0x{struct.pack('>d', value).hex().upper()}"


def spread(value: str, width: int, kind: str = "double") -> str:
    """One number in all lanes."""
    return f"<{', '.join(f'{kind} {value}' for _ in range(width))}>"


SEARCH = """define internal i64 @piece(ptr %knots, i64 %count, double %s) nounwind {
entry:
  br label %halve
halve:
  %low = phi i64 [0, %entry], [%left, %halve]
  %size = phi i64 [%count, %entry], [%rest, %halve]
  %half = lshr i64 %size, 1
  %middle = add i64 %low, %half
  %place = getelementptr double, ptr %knots, i64 %middle
  %knot = load double, ptr %place
  %above = fcmp ult double %s, %knot
  %left = select i1 %above, i64 %low, i64 %middle
  %rest = sub i64 %size, %half
  %more = icmp ugt i64 %rest, 1
  br i1 %more, label %halve, label %done
done:
  ret i64 %left
}"""  # the largest k with knots[k] <= s, at least 0


class Assembly(CanonicalLines):
    """The lines of one function body. Subclasses load their symbols.

    A product and a sum may become one instruction (``contract``), and which product does depends on the order of
    lines and operands. In canonical order the results have the same bits whatever the process did before.
    """

    tables = True
    row = "@table{}"
    name = "%v{}"
    line = "  {name} = {value}"

    def __init__(self, width: int = 1, known: Mapping[Node, str] | None = None) -> None:
        super().__init__(known or {})
        self.width = width
        self.table = operations(width)
        self.kind, self.bit = vector("double", width), vector("i1", width)
        self.called: dict[str, int] = {}  # functions and their numbers of arguments

    def arrange(self, outputs: Sequence[Node], names: Mapping[Node, str]) -> None:
        """Find the canonical order; ``names`` are those of the inputs."""
        self.digest = digests(outputs, names)

    def constant(self, value: Number) -> str:
        """The same number in all lanes."""
        text = literal(float(value))
        return text if self.width == 1 else spread(text, self.width)

    def as_number(self, truth: str) -> str:
        """1.0 or 0.0."""
        return self.result(f"uitofp {self.bit} {truth} to {self.kind}")

    def as_truth(self, number: str) -> str:
        """Whether a number is nonzero; NaN counts as nonzero."""
        return self.result(f"fcmp une {self.kind} {number}, {self.constant(0.0)}")

    def applied(self, op: str, args: Sequence[str]) -> str:
        """An instruction, or a call of a function, lane by lane if LLVM has no vector version of it."""
        if op in TABLES:
            return self._in_lanes(lambda k: self._looked_up(op, k, *args[1:]), args[:1])
        if called_name(op) is None:
            return super().applied(op, args)
        self.called[op] = len(args)
        return self._in_lanes(lambda *numbers: self._call(op, numbers), args)

    def _in_lanes(self, make: Callable[..., str], args: Sequence[str]) -> str:
        """An operation on doubles, lane by lane."""
        if self.width == 1:
            return make(*args)
        result = "undef"
        for i in range(self.width):
            value = make(*[self.result(f"extractelement {self.kind} {a}, i64 {i}") for a in args])
            result = self.result(f"insertelement {self.kind} {result}, double {value}, i64 {i}")
        return result

    def _call(self, op: str, args: Sequence[str]) -> str:
        return self.result(f"call double @{called_name(op)}({', '.join(f'double {a}' for a in args)})")

    def _looked_up(self, op: str, value: str, table: str, size: str) -> str:
        """The number of the piece, or an entry of a table."""
        if op == "piece":
            found = self.result(f"call i64 @piece(ptr {table}, i64 {size}, double {value})")
            return self.result(f"uitofp i64 {found} to double")
        place = self.result(f"fptoui double {value} to i64")
        return self.result(f"load double, ptr {self.result(f'getelementptr double, ptr {table}, i64 {place}')}")

    @property
    def declarations(self) -> list[str]:
        """The functions that are called, and the tables."""
        tables = [
            f"{name} = private constant [{len(row.values)} x double] "
            f"[{', '.join(f'double {literal(x)}' for x in row.values)}]"
            for row, name in self.rows.items()
        ]
        return [*declarations(self.called), *tables, *([SEARCH] if tables else [])]

    # -- memory ----------------------------------------------------------------------------------------------

    def load(self, pointer: str) -> str:
        """A number, or the numbers of all lanes."""
        return self.result(f"load {self.kind}, ptr {pointer}, align 8")

    def load_everywhere(self, pointer: str) -> str:
        """One number into all lanes."""
        value = self.result(f"load double, ptr {pointer}, align 8")
        if self.width == 1:
            return value
        one = self.result(f"insertelement {self.kind} undef, double {value}, i64 0")
        return self.result(f"shufflevector {self.kind} {one}, {self.kind} undef, <{self.width} x i32> zeroinitializer")

    def store(self, value: str, pointer: str) -> None:
        """A number, or the numbers of all lanes."""
        self.lines.append(f"  store {self.kind} {value}, ptr {pointer}, align 8")

    # -- sines and cosines -----------------------------------------------------------------------------------

    def write_angles(self, outputs: Sequence[Node]) -> None:
        """All sines and cosines whose arguments contain no other sine or cosine, both computed together by `sincos`."""
        nodes = canonical_order(outputs, {}, self.digest)
        turning = {node for node in nodes if node.op in ("sin", "cos")}
        after: dict[Node, bool] = {}
        for node in nodes:
            after[node] = any(after[arg] or arg in turning for arg in node.args)
        arguments = list(dict.fromkeys(node.args[0] for node in nodes if node in turning and not after[node]))
        self.write(arguments)
        pairs = dict(zip(arguments, self._pairs([self.number(arg) for arg in arguments]), strict=True))
        self.values |= {node: pairs[node.args[0]][node.op == "cos"] for node in turning if node.args[0] in pairs}

    def _pairs(self, angles: Sequence[str]) -> list[tuple[str, str]]:
        """(sine, cosine) of every angle: four angles at a time for one state, all lanes for several states."""
        if self.width > 1:
            return [self._sine_cosine(x, self.kind) for x in angles]
        V, found = vector("double", TOGETHER), []
        for start in range(0, len(angles), TOGETHER):
            group, packed = angles[start : start + TOGETHER], "zeroinitializer"
            for i, x in enumerate(group):
                packed = self.result(f"insertelement {V} {packed}, double {x}, i64 {i}")
            both = self._sine_cosine(packed, V)
            for i in range(len(group)):
                sine, cosine = (self.result(f"extractelement {V} {x}, i64 {i}") for x in both)
                found.append((sine, cosine))
        return found

    def _sine_cosine(self, x: str, V: str) -> tuple[str, str]:
        both = self.result(f"call {{{V}, {V}}} @sine_cosine({V} {x})")
        sine, cosine = (self.result(f"extractvalue {{{V}, {V}}} {both}, {j}") for j in (0, 1))
        return sine, cosine


def declarations(called: Mapping[str, int]) -> list[str]:
    """Declarations of functions of doubles, by their number of arguments."""
    return [
        f"declare double @{called_name(op)}({', '.join(['double'] * called[op])}) nounwind" for op in sorted(called)
    ]
