"""A test program in C: random arguments, the numbers that Python found there, and the errors that rounding allows.

The allowed errors are strict bounds (`expected`). Where numbers cancel they may exceed the numbers, which then show
little; the program counts the comparisons whose bound is below one percent of the largest number of their array.
"""

from __future__ import annotations

from collections.abc import Sequence

from vinculum.derivation.mechanics.sample_states import Values
from vinculum.export.c_code import comment, literal
from vinculum.export.c_unit import CUnit
from vinculum.export.kernel import Kernel
from vinculum.export.samples import expected, random_values

MAIN = """/* Compares {title} with numbers from Python. Prints the largest error in units of the allowed one. */

#include "{name}.h"

#include <math.h>
#include <stdio.h>

/* The larger error; one that is not a number is infinite. */
static double larger(double a, double b)
{{
    if (b != b) return HUGE_VAL;
    return b > a ? b : a;
}}

static double compare(const char *what, int count, const {real} found[], const double wanted[], const double allowed[])
{{
    double worst = 0;
    int i;
    for (i = 0; i < count; ++i) {{
        const double error = fabs((double)found[i] - wanted[i]);
        worst = larger(worst, error > 0 ? error / allowed[i] : error);
    }}
    if (worst > 1) printf("%s: error %g of what rounding allows\\n", what, worst);
    return worst;
}}

{functions}
int main(void)
{{
    double worst = 0;
{calls}    printf("{name}: largest error %.3g of what rounding allows, %d comparisons, %d within 1 percent\\n", worst,
           {count}, {telling});
    return worst <= 1 ? 0 : 1;
}}
"""


def harness(unit: CUnit, states: int = 5) -> str:
    """The text of the test program: every kernel at some random states near the one of the export."""
    functions, calls, count, telling = [], [], 0, 0
    for kernel in unit.public:
        if not kernel.outputs:
            continue
        chosen = random_values(kernel, unit.values, states, seed=1, real=unit.real)
        for k, (values, pairs) in enumerate(zip(chosen, expected(kernel, chosen, unit.real), strict=True)):
            own = f"check_{kernel.name}_{k}"
            functions.append(_comparison(unit, kernel, values, pairs, own))
            calls.append(f"    worst = larger(worst, {own}());\n")
            count += len(kernel.outputs)
            telling += sum(_telling(kernel, pairs))
    body = {"functions": "\n".join(functions), "calls": "".join(calls), "count": count, "telling": telling}
    return MAIN.format(title=comment(unit.title), name=unit.name, real=unit.real, **body)


def _comparison(unit: CUnit, kernel: Kernel, values: Values, pairs: Sequence[tuple[float, float]], own: str) -> str:
    """A function that calls a kernel once and compares its results."""
    real, lines = unit.real, []
    for group in kernel.arguments:
        numbers = [literal(values[node], real) for node in group.nodes]
        lines.append(
            f"    const {real} {group.name} = {numbers[0]};"
            if group.scalar
            else f"    static const {real} {group.name}[] = {{{', '.join(numbers) or '0'}}};"
        )
    lines += [f"    {real} {group.name}_found[{max(len(group), 1)}];" for group in kernel.results]
    lines += [_numbers("wanted", [number for number, _ in pairs]), _numbers("allowed", [error for _, error in pairs])]
    lines.append("    double worst = 0;")
    results = [f"{group.name}_found" for group in kernel.results]
    lines.append(f"    {unit.name}_{kernel.name}({', '.join([*(g.name for g in kernel.arguments), *results])});")
    start = 0
    for group in kernel.results:
        if len(group):
            places = f"{group.name}_found, wanted + {start}, allowed + {start}"
            compared = f'compare("{kernel.name} {group.name}", {len(group)}, {places})'
            lines.append(f"    worst = larger(worst, {compared});")
        start += len(group)
    return "\n".join([f"static double {own}(void)", "{", *lines, "    return worst;", "}\n"])


def _telling(kernel: Kernel, pairs: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether the bound of every result is below one percent of the largest number of its array."""
    found: list[bool] = []
    for group in kernel.results:
        own = pairs[len(found) : len(found) + len(group)]
        largest = max((abs(number) for number, _ in own), default=0.0)
        found += [error <= 0.01 * largest for _, error in own]
    return found


def _numbers(name: str, numbers: Sequence[float]) -> str:
    return f"    static const double {name}[] = {{{', '.join(repr(float(x)) for x in numbers)}}};"
