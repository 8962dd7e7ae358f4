"""A test program in C: random arguments, the numbers that Python found there, and the errors that rounding allows."""

from __future__ import annotations

from collections.abc import Sequence

from vinculum.derivation.mechanics.sample_states import Values
from vinculum.export.c_code import literal
from vinculum.export.c_unit import CUnit
from vinculum.export.kernel import Kernel
from vinculum.export.samples import expected, random_values

_FLOAT = 2.0**29  # rounding of float in units of that of double
_MOST = {"double": 1e-9, "float": 1e-2}  # of the largest number of an array: an error that is never rounding

MAIN = """/* Compares {title} with numbers from Python. Prints the largest error in units of the allowed one. */

#include "{name}.h"

#include <math.h>
#include <stdio.h>

static double compare(const char *what, int count, const {real} found[], const double wanted[], const double allowed[])
{{
    double worst = 0;
    int i;
    for (i = 0; i < count; ++i) {{
        const double error = fabs((double)found[i] - wanted[i]) / allowed[i];
        if (!(error <= worst)) worst = error;
    }}
    if (!(worst <= 1)) printf("%s: error %g of what rounding allows\\n", what, worst);
    return worst;
}}

{functions}
int main(void)
{{
    double worst = 0, error;
{calls}    printf("{name}: largest error %.3g of what rounding allows, %d comparisons\\n", worst, {count});
    return worst <= 1 ? 0 : 1;
}}
"""


def harness(unit: CUnit, states: int = 5) -> str:
    """The text of the test program: every kernel at some random states near the one of the export."""
    functions, calls, count = [], [], 0
    for kernel in unit.public:
        if not kernel.outputs:
            continue
        for k, numbers in enumerate(random_values(kernel, unit.values, states, seed=1)):
            own = f"check_{kernel.name}_{k}"
            functions.append(_comparison(unit, kernel, numbers, own))
            calls.append(f"    error = {own}();\n    if (!(error <= worst)) worst = error;\n")
            count += len(kernel.outputs)
    body = {"functions": "\n".join(functions), "calls": "".join(calls), "count": count}
    return MAIN.format(title=unit.title, name=unit.name, real=unit.real, **body)


def _comparison(unit: CUnit, kernel: Kernel, values: Values, own: str) -> str:
    """A function that calls a kernel once and compares its results."""
    real, pairs = unit.real, expected(kernel, values)
    limits = _limits(kernel, [number for number, _ in pairs], real)
    widened = [
        max(min(allowed * (_FLOAT if real == "float" else 1.0), limit), 1e-300)
        for (_, allowed), limit in zip(pairs, limits, strict=True)
    ]
    lines = []
    for group in kernel.arguments:
        numbers = [literal(values[node], real) for node in group.nodes]
        lines.append(
            f"    const {real} {group.name} = {numbers[0]};"
            if group.scalar
            else f"    static const {real} {group.name}[] = {{{', '.join(numbers) or '0'}}};"
        )
    lines += [f"    {real} {group.name}_found[{max(len(group), 1)}];" for group in kernel.results]
    lines += [_numbers("wanted", [number for number, _ in pairs]), _numbers("allowed", widened)]
    lines.append("    double worst = 0, error;")
    results = [f"{group.name}_found" for group in kernel.results]
    lines.append(f"    {unit.name}_{kernel.name}({', '.join([*(g.name for g in kernel.arguments), *results])});")
    start = 0
    for group in kernel.results:
        if len(group):
            what = f'"{kernel.name} {group.name}"'
            lines.append(
                f"    error = compare({what}, {len(group)}, {group.name}_found, wanted + {start}, allowed + {start});"
            )
            lines.append("    if (!(error <= worst)) worst = error;")
        start += len(group)
    return "\n".join([f"static double {own}(void)", "{", *lines, "    return worst;", "}\n"])


def _limits(kernel: Kernel, numbers: Sequence[float], real: str) -> list[float]:
    """The largest error of every result, from the largest number of its array."""
    limits, start = [], 0
    for group in kernel.results:
        own = numbers[start : start + len(group)]
        limits += [_MOST[real] * max(map(abs, own), default=0.0)] * len(group)
        start += len(group)
    return limits


def _numbers(name: str, numbers: Sequence[float]) -> str:
    return f"    static const double {name}[] = {{{', '.join(repr(float(x)) for x in numbers)}}};"
