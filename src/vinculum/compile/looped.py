"""Machine code of looped recursions: loops over the hinges of a tree, over states one by one or in SIMD lanes.

``void f(int64 rows, double *x, int64 *shape, double *table, double *out)``: x is (inputs, rows) with coordinates,
velocities, forces (or accelerations) and nine numbers of the base; shape has the numbers of hinges,
coordinates, turning hinges and columns of the table, then parent, pattern and first coordinate of each hinge, then
the turning hinges. The code depends only on the patterns, so trees with the same patterns share it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from vinculum.compile.llvm import TOGETHER, Assembly, declarations
from vinculum.compile.machine import MachineCode
from vinculum.compile.sincos import sincos
from vinculum.derivation.bodies import looped
from vinculum.derivation.bodies.looped import COSINE, SINE, TANGENT_SLOTS, Pattern, Step
from vinculum.graph import Node

Sweep = tuple[str, Callable[[Pattern], Step]]
SWEEPS: dict[str, Sequence[Sweep]] = {
    "forward": looped.FORWARD,
    "inverse": looped.INVERSE,
    "tangent": looped.TANGENT,
}
GROUPS = {"forward": 3, "inverse": 3, "tangent": 6}  # of inputs, each with as many entries as coordinates
GROUND_INPUTS = 9
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)
_INPUTS = "qvudef"  # coordinates, velocities, forces or accelerations, a direction
_ARGUMENTS = f"ptr %table, ptr %own, ptr %parent, {', '.join(f'ptr %{x}' for x in _INPUTS)}, ptr %o, i64 %rows"


class Body(Assembly):
    """The body of a sweep at one hinge."""

    late = True

    def symbol(self, node: Node) -> str:
        """A number of the table in all lanes, or values in memory."""
        _, where, i = node.value
        if where == "table":
            return self.load_everywhere(self.result(f"getelementptr double, ptr %table, i64 {i}"))
        return self.load(self._place(where, i))

    def _place(self, where: str, i: int) -> str:
        if where in ("own", "parent"):
            return self.result(f"getelementptr double, ptr %{where}, i64 {i * self.width}")
        offset = self.result(f"mul i64 %rows, {i}")
        return self.result(f"getelementptr double, ptr %{where}, i64 {offset}")

    def finish(self, step: Step) -> None:
        """All operations, then the results."""
        outputs = [node for _, node in step]
        self.arrange(outputs, {})
        self.write(outputs)
        for (where, i), node in step:
            value = self.number(node)
            self.store(value, self._place(where, i))


def _function(name: str, step: Step, width: int) -> str:
    body = Body(width)
    body.finish(step)
    return "\n".join([f"define internal void @{name}({_ARGUMENTS}) nounwind {{", *body.lines, "  ret void", "}"])


def _sweep(i: int, direction: str, patterns: int, width: int) -> str:
    """The loop over all hinges."""
    start, end, step = ("0", "%hinges", 1) if direction == "out" else ("%last", "-1", -1)
    cases = "\n    ".join(f"i64 {k}, label %p{k}" for k in range(patterns))
    given = ", ".join(f"ptr %{x}" for x in _INPUTS)
    pointers = "\n".join(f"  %{x} = getelementptr double, ptr %{before}, i64 %nrows" for before, x in pairwise(_INPUTS))
    blocks = "\n".join(
        f"p{k}:\n  call void @s{i}p{k}(ptr %row, ptr %own, ptr %up, {given}, ptr %o, i64 %rows)\n  br label %next"
        for k in range(patterns)
    )
    return f"""
define internal void @sweep{i}(ptr %x, ptr %shape, ptr %table, ptr %scratch, ptr %out, i64 %rows, i64 %k) nounwind {{
entry:
  %hinges = load i64, ptr %shape
  %last = sub i64 %hinges, 1
  %np = getelementptr i64, ptr %shape, i64 1
  %n = load i64, ptr %np
  %cp = getelementptr i64, ptr %shape, i64 3
  %columns = load i64, ptr %cp
  %nrows = mul i64 %n, %rows
  br label %hinge
hinge:
  %i = phi i64 [{start}, %entry], [%following, %next]
  %three = mul i64 %i, 3
  %place = add i64 %three, 4
  %link = getelementptr i64, ptr %shape, i64 %place
  %link1 = getelementptr i64, ptr %link, i64 1
  %link2 = getelementptr i64, ptr %link, i64 2
  %above = load i64, ptr %link
  %kind = load i64, ptr %link1
  %first = load i64, ptr %link2
  %ri = mul i64 %i, %columns
  %row = getelementptr double, ptr %table, i64 %ri
  %slot = add i64 %i, 1
  %oi = mul i64 %slot, {TANGENT_SLOTS * width}
  %own = getelementptr double, ptr %scratch, i64 %oi
  %ui = mul i64 %above, {TANGENT_SLOTS * width}
  %up = getelementptr double, ptr %scratch, i64 %ui
  %fr = mul i64 %first, %rows
  %at = add i64 %fr, %k
  %q = getelementptr double, ptr %x, i64 %at
{pointers}
  %o = getelementptr double, ptr %out, i64 %at
  switch i64 %kind, label %next [
    {cases}
  ]
{blocks}
next:
  %following = add i64 %i, {step}
  %finished = icmp eq i64 %following, {end}
  br i1 %finished, label %done, label %hinge
done:
  ret void
}}"""


def _angles(width: int) -> str:
    """Cosines and sines of all turning hinges: four hinges at a time for one state, hinge by hinge for several."""
    together = TOGETHER if width == 1 else 1
    V = f"<{TOGETHER if width == 1 else width} x double>"
    lines = []
    packed = "zeroinitializer"
    for j in range(together):
        lines += [
            f"  %w{j} = add i64 %i, {j}",
            f"  %tp{j} = getelementptr i64, ptr %turning, i64 %w{j}",
            f"  %h{j} = load i64, ptr %tp{j}",
            f"  %m{j} = mul i64 %h{j}, 3",
            f"  %f{j} = add i64 %m{j}, 6",
            f"  %fp{j} = getelementptr i64, ptr %shape, i64 %f{j}",
            f"  %first{j} = load i64, ptr %fp{j}",
            f"  %fr{j} = mul i64 %first{j}, %rows",
            f"  %at{j} = add i64 %fr{j}, %k",
            f"  %q{j} = getelementptr double, ptr %x, i64 %at{j}",
            f"  %c{j} = mul i64 %h{j}, %columns",
            f"  %dp{j} = getelementptr double, ptr %table, i64 %c{j}",
            f"  %d{j} = load double, ptr %dp{j}",
            f"  %s{j} = add i64 %h{j}, 1",
            f"  %o{j} = mul i64 %s{j}, {TANGENT_SLOTS * width}",
            f"  %own{j} = getelementptr double, ptr %scratch, i64 %o{j}",
        ]
        if width == 1:
            lines += [
                f"  %y{j} = load double, ptr %q{j}",
                f"  %z{j} = fadd double %y{j}, %d{j}",
                f"  %x{j} = insertelement {V} {packed}, double %z{j}, i64 {j}",
            ]
            packed = f"%x{j}"
        else:
            lines += [
                f"  %y0 = load {V}, ptr %q0, align 8",
                f"  %e0 = insertelement {V} undef, double %d0, i64 0",
                f"  %b0 = shufflevector {V} %e0, {V} undef, <{width} x i32> zeroinitializer",
                f"  %x0 = fadd {V} %y0, %b0",
            ]
            packed = "%x0"
    lines += [
        f"  %both = call {{{V}, {V}}} @sine_cosine({V} {packed})",
        f"  %sine = extractvalue {{{V}, {V}}} %both, 0",
        f"  %cosine = extractvalue {{{V}, {V}}} %both, 1",
    ]
    for j in range(together):
        for name, value, slot in (("c", "%cosine", COSINE), ("s", "%sine", SINE)):
            lines.append(f"  %p{name}{j} = getelementptr double, ptr %own{j}, i64 {slot * width}")
            if width == 1:
                lines.append(f"  %v{name}{j} = extractelement {V} {value}, i64 {j}")
                lines.append(f"  store double %v{name}{j}, ptr %p{name}{j}")
            else:
                lines.append(f"  store {V} {value}, ptr %p{name}{j}, align 8")
    body = "\n".join(lines)
    return f"""
define internal void @angles(ptr %x, ptr %shape, ptr %table, ptr %scratch, i64 %rows, i64 %k) nounwind {{
entry:
  %hinges = load i64, ptr %shape
  %count = getelementptr i64, ptr %shape, i64 2
  %end = load i64, ptr %count
  %cp = getelementptr i64, ptr %shape, i64 3
  %columns = load i64, ptr %cp
  %links = mul i64 %hinges, 3
  %start = add i64 %links, 4
  %turning = getelementptr i64, ptr %shape, i64 %start
  %none = icmp eq i64 %end, 0
  br i1 %none, label %done, label %group
group:
  %i = phi i64 [0, %entry], [%next, %group]
{body}
  %next = add i64 %i, {together}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %group, label %done
done:
  ret void
}}"""


def _main(sweeps: int, groups: int, width: int) -> str:
    none = ", ".join("ptr %u" if x == "u" else "ptr null" for x in f"{_INPUTS}o")
    calls = "\n".join(
        f"  call void @sweep{i}(ptr %x, ptr %shape, ptr %table, ptr %scratch, ptr %out, i64 %rows, i64 %k)"
        for i in range(sweeps)
    )
    return f"""
declare ptr @malloc(i64)
declare void @free(ptr)
define void @f(i64 %rows, ptr %x, ptr %shape, ptr %table, ptr %out) nounwind {{
entry:
  %hinges = load i64, ptr %shape
  %slots = add i64 %hinges, 1
  %bytes = mul i64 %slots, {TANGENT_SLOTS * width * 8}
  %scratch = call ptr @malloc(i64 %bytes)
  %np = getelementptr i64, ptr %shape, i64 1
  %n = load i64, ptr %np
  %before = mul i64 %n, {groups}
  %gi = mul i64 %before, %rows
  %gp = getelementptr double, ptr %x, i64 %gi
  %empty = icmp sle i64 %rows, 0
  br i1 %empty, label %done, label %row
row:
  %k = phi i64 [0, %entry], [%next, %row]
  %u = getelementptr double, ptr %gp, i64 %k
  call void @ground(ptr null, ptr %scratch, ptr null, {none}, i64 %rows)
  call void @angles(ptr %x, ptr %shape, ptr %table, ptr %scratch, i64 %rows, i64 %k)
{calls}
  %next = add i64 %k, {width}
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %row, label %done
done:
  call void @free(ptr %scratch)
  ret void
}}"""


def text(what: str, patterns: Sequence[Pattern], width: int) -> str:
    """The LLVM module of a kernel."""
    sweeps = SWEEPS[what]
    steps = [
        _function(f"s{i}p{k}", step(pattern), width)
        for i, (_, step) in enumerate(sweeps)
        for k, pattern in enumerate(patterns)
    ]
    loops = [_sweep(i, direction, len(patterns), width) for i, (direction, _) in enumerate(sweeps)]
    head = [*declarations({"sin": 1, "cos": 1}), sincos(TOGETHER if width == 1 else width)]
    return "\n".join([*head, _function("ground", looped.ground(), width), *steps, _angles(width), *loops,
                      _main(len(sweeps), GROUPS[what], width)])  # fmt: skip


class Code:
    """A compiled kernel."""

    def __init__(self, what: str, patterns: Sequence[Pattern], width: int) -> None:
        self.width = width
        self._code = MachineCode(text(what, patterns, width))
        self.address = self._code.address("f")
        self.call = _CALL(self.address)


@lru_cache(maxsize=64)
def code(what: str, patterns: tuple[Pattern, ...], width: int) -> Code:
    """The compiled kernel; compiled once per process for all trees with the same patterns."""
    return Code(what, patterns, width)
