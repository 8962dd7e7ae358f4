"""C99: its table of operations, and how a kernel and its declaration are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from vinculum.export.kernel import Group, Kernel, Source, tables
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import Number

REAL = {"double": "", "float": "f"}  # the types of numbers, and the suffix of their constants and functions


@cache
def operations(real: str) -> dict[str, str]:
    """The table of operations: an expression of C for each."""
    f = REAL[real]
    functions = {name: f"{name}{f}({{0}})" for name in FUNCTIONS}
    return functions | {
        "add": "{0} + {1}",
        "subtract": "{0} - {1}",
        "multiply": "{0} * {1}",
        "divide": "{0} / {1}",
        "negate": "-{0}",
        "power": f"pow{f}({{0}}, {{1}})",
        "atan2": f"atan2{f}({{0}}, {{1}})",
        "abs": f"fabs{f}({{0}})",
        "sign": f"({real})(({{0}} > 0) - ({{0}} < 0))",
        "less": "{0} < {1}",
        "less_equal": "{0} <= {1}",
        "equal": "{0} == {1}",
        "both": "{0} && {1}",
        "either": "{0} || {1}",
        "select": "{0} ? {1} : {2}",
        "piece": "piece({1}, {2}, {0})",
        "entry": "{1}[(int){0}]",
    }


def literal(value: Number, real: str = "double") -> str:
    """A number of C."""
    return f"{float(value)!r}{REAL[real]}"


class CSource(Source):
    """The lines of a function of C."""

    def __init__(self, kernel: Kernel, real: str = "double") -> None:
        self.real, self.table = real, operations(real)
        self.line = f"    const {real} {{name}} = {{value}};"
        super().__init__(kernel)

    def constant(self, value: Number) -> str:
        """A number."""
        return literal(value, self.real)


def comment(text: str) -> str:
    """A text on one line that cannot end its comment."""
    return " ".join(text.splitlines()).replace("*/", "* /").replace("/*", "/ *")


def signature(kernel: Kernel, prefix: str, real: str) -> str:
    """The declaration of a kernel, without semicolon. Arrays without numbers keep their place: they may be NULL."""
    arguments = [f"{real} {g.name}" if g.scalar else f"const {real} {g.name}[]" for g in kernel.arguments]
    results = [f"{real} {g.name}[]" for g in kernel.results]
    return f"void {prefix}_{kernel.name}({', '.join(arguments + results)})"


def function(kernel: Kernel, prefix: str, real: str) -> str:
    """The definition of a kernel."""
    code = CSource(kernel, real)
    stores = [f"    {g.name}[{i}] = {value};" for g, values in code.written() for i, value in enumerate(values)]
    idle = [g.name for g in kernel.arguments if g.name not in code.used]
    unused = [f"    (void){name};" for name in (*idle, *(g.name for g in kernel.results if not len(g)))]
    return "\n".join([signature(kernel, prefix, real), "{", *unused, *code.lines, *stores, "}"])


def described(kernel: Kernel, prefix: str, real: str) -> str:
    """The declaration of a kernel with its meaning and its results by name, for the header."""
    rows = [f" * {comment(kernel.about)}", *(f" *   {line}" for g in kernel.results if len(g) for line in listing(g))]
    return "\n".join(["/*", *rows, " */", f"{signature(kernel, prefix, real)};"])


def listing(group: Group) -> list[str]:
    """What every number of an array is, in lines."""
    head = f"{group.name}: {comment(group.about)}"
    if group.scalar or all(not label for label in group.labels):
        return [f"{head} ({len(group)} numbers)" if not group.scalar else head]
    return [head, *(f"  {group.name}[{i}] {comment(label)}" for i, label in enumerate(group.labels))]


def argument_groups(kernels: Iterable[Kernel]) -> list[Group]:
    """The arguments of all kernels, each once."""
    found: dict[str, Group] = {}
    for kernel in kernels:
        for group in kernel.arguments:
            if len(group):
                found.setdefault(group.name, group)
    return list(found.values())


PIECE = """/* The largest k with knots[k] <= s, at least 0. */
static {real} piece(const {real} knots[], int count, {real} s)
{{
    int low = 0;
    while (count > 1) {{
        const int half = count / 2;
        if (knots[low + half] <= s) low += half;
        count -= half;
    }}
    return ({real})low;
}}"""


def lookup(kernels: Sequence[Kernel], real: str) -> list[str]:
    """The tables of splines, each once, and the search in them."""
    found = [vector(name, row, real) for name, row in tables(kernels).items()]
    return [*found, PIECE.format(real=real)] if found else []


def array(name: str, rows: Sequence[Sequence[float]], real: str) -> str:
    """A constant matrix inside a function."""
    body = ", ".join("{" + ", ".join(literal(x, real) for x in row) + "}" for row in rows)
    return f"static const {real} {name}[{len(rows)}][{len(rows[0])}] = {{{body}}};"


def vector(name: str, numbers: Sequence[float], real: str) -> str:
    """A constant array inside a function; C has no empty ones, so that one without numbers holds a zero."""
    body = ", ".join(literal(x, real) for x in (numbers or [0.0]))
    return f"static const {real} {name}[{max(len(numbers), 1)}] = {{{body}}};"
