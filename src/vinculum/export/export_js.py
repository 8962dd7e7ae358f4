"""The front door of the export to JavaScript: one ES module without dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sympy as sp

from vinculum.export.c_code import argument_groups, comment, listing
from vinculum.export.c_unit import CUnit
from vinculum.export.c_units import c_unit
from vinculum.export.identifiers import identifier
from vinculum.export.js_code import function, literal
from vinculum.export.kernel import Kernel
from vinculum.writing import refuse_place, write_file


def export_javascript(
    what: Any,
    path: str | Path,
    *,
    fold: bool = False,
    units: Mapping[sp.Expr, str] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Path:
    """Write one ES module, for browsers and Node.

    ``what`` and its options are those of `export_c`, and so are the functions: each takes its arguments and then the
    arrays that it fills, ``rates(t, x, u, c, p, dx, k)``. The last arrays may be left out; what only they need is then
    not computed. ``parameters()`` and, for equations of motion, ``initial()`` give the numbers of the export. Returns
    the file. One that exists is replaced only with ``overwrite=True``.
    """
    path = Path(path).with_suffix(".js")
    refuse_place(path, overwrite)
    unit = c_unit(what, identifier(path.stem), "double", fold, units, options)
    kernels = [kernel for kernel in (*unit.public, *unit.private) if kernel.outputs]
    parts = [_head(unit), *(f"{_described(kernel)}\nexport {function(kernel)}" for kernel in kernels), _numbers(unit)]
    write_file(path, "\n\n".join(parts) + "\n", overwrite=overwrite)
    return path


def _head(unit: CUnit) -> str:
    lines = [line for group in argument_groups(unit.public) for line in listing(group)]
    return _comment([f"{unit.title}. Made by Vinculum.", "", "Arguments of the functions:", *(f"  {x}" for x in lines)])


def _described(kernel: Kernel) -> str:
    return _comment([kernel.about, *(f"  {line}" for g in kernel.results if len(g) for line in listing(g))])


def _comment(lines: Sequence[str]) -> str:
    return "\n".join(["/*", *(f" * {comment(line)}".rstrip() for line in lines), " */"])


def _numbers(unit: CUnit) -> str:
    """Functions that give the parameters and the start of the export."""
    group = next((group for kernel in unit.public for group in kernel.arguments if group.name == "p"), None)
    found = {"parameters": [] if group is None else [unit.values[node] for node in group.nodes]}
    if unit.equations is not None:
        found["initial"] = unit.equations.plant.start
    return "\n".join(
        f"export const {name} = () => Float64Array.of({', '.join(literal(float(x)) for x in numbers)});"
        for name, numbers in found.items()
    )
