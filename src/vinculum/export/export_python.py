"""The front door of the export to Python: one file that needs NumPy alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sympy as sp

from vinculum.export.c_code import argument_groups
from vinculum.export.c_unit import CUnit
from vinculum.export.c_units import c_unit
from vinculum.export.equation_kernels import EquationKernels, Level
from vinculum.export.identifiers import identifier
from vinculum.export.kernel import tables
from vinculum.export.python_code import function
from vinculum.simulation.problem.pivots import WATCH_LIMIT
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS, CONTINUOUS, HELD
from vinculum.writing import refuse_place, write_file

HEAD = '''r"""{title}

Made by Vinculum; needs NumPy alone. States may have further axes: x[i] may be an array of many states.

{arguments}
"""

import numpy as np


def _stacked(*values):
    """An array of results, also of results of many states."""
    return np.array(np.broadcast_arrays(*values), dtype=float) if values else np.zeros(0)
'''

SOLVER = '''
def _solved(level, first, count, t, s, p, held=None, most=60):
    """Newton's method with the least change of s[first : first + count] that are not held."""
    s = np.array(s, dtype=float)
    free = np.arange(first, first + count)
    free = free if held is None else free[~np.asarray(held, dtype=bool)[free]]

    def masked(s):
        """Where a start may violate a constraint that nothing can move, its residual counts as 0."""
        f, J = level(t, s, p)
        J = J.reshape(len(f), count)[:, free - first]
        return (np.where(J.any(axis=1), f, 0.0) if {approached} and held is not None else f), J

    for _ in range(most):
        f, J = masked(s)
        length = np.linalg.norm(J, axis=1)
        scale = 1 / np.where(length > 0, length, 1.0)
        step = np.linalg.lstsq(scale[:, None] * J, scale * f, rcond=1e-10)[0]
        factor, size = 1.0, np.linalg.norm(f)
        if step.size and np.abs(step).max() > 1e-14 * (1 + np.abs(s).max()):
            while factor > 1e-4:
                near = s.copy()
                near[free] -= factor * step
                if np.linalg.norm(masked(near)[0]) <= (1 - 0.1 * factor) * size:
                    break
                factor /= 2
            else:
                break
            s = near
            continue
        s[free] -= step
        break
    if not np.linalg.norm(masked(s)[0]) <= 1e-9 * (1 + np.abs(s).max()):
        raise ValueError("the constraints cannot be reached from here")
    return s
'''

PROJECT = '''
def project(t, x, p):
    """The states moved onto the constraints with the least change, positions first."""
    x = np.array(x, dtype=float)
{project}    return x


def start(t, s, held, p):
    """A consistent start: (coordinates and velocities, states), where those that are held keep their values."""
    s = np.array(s, dtype=float)
{start}    x = initial()
    found = states(t, s, p)
    x[: len(found)] = found
    return s, x
'''

STEP = '''
A = np.array({A})
b = np.array({b})


def step(t, h, x, u, p):
    """One step h of the method {method} with constant inputs; constraints: {stabilization}."""
    x, K = np.asarray(x, dtype=float), []
    c = np.zeros({m})
{gains}    for j in range(len(b)):
        point = x + h * sum((A[j, i] * K[i] for i in range(j)), np.zeros_like(x))
        now = t + h * A[j].sum()
{feedback}        rate, pivots = rates(now, point, u, c, p)
        if j == 0 and np.any(pivots < {least!r}):
            raise ArithmeticError("the elimination is close to singular here")
        K.append(rate)
    x = x + h * sum(w * k for w, k in zip(b, K))
    if not np.all(np.isfinite(x)):
        raise ArithmeticError("a number is not finite")
    return {end}


def simulate(x, times, h, u=None, p=None):
    """The states at the given times with steps of at most h; u is an array, or a function of t and x."""
    p = parameters() if p is None else np.asarray(p, dtype=float)
    sent = (lambda t, x: u) if not callable(u) else u
    times, x = np.asarray(times, dtype=float), np.array(x, dtype=float)
    found = [x]
    for begin, end in zip(times[:-1], times[1:]):
        count = max(int(np.ceil((end - begin) / h - 1e-6)), 1)
        for k in range(count):
            t = begin + k * (end - begin) / count
            x = step(t, (end - begin) / count, x, sent(t, x), p)
        found.append(x)
    return np.array(found)
'''


def export_python(
    what: Any,
    path: str | Path,
    *,
    fold: bool = False,
    units: Mapping[sp.Expr, str] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Path:
    """Write one Python file that needs NumPy alone, for those who may not install Vinculum.

    ``what`` and its options are those of `export_c`, and so are the functions. Equations of motion get ``project``,
    ``start``, ``step`` and ``simulate`` too. Returns the file. One that exists is replaced only with
    ``overwrite=True``.
    """
    path = Path(path).with_suffix(".py")
    refuse_place(path, overwrite)
    unit = c_unit(what, identifier(path.stem), "double", fold, units, options)
    kernels = (*unit.public, *unit.private)
    rows = [f"{name} = np.array({list(row)!r})" for name, row in tables(kernels).items()]
    text = "\n\n".join([_head(unit), *rows, *(function(kernel) + "\n" for kernel in kernels)])
    names = _constant_names(unit)
    ending = _motion(unit.equations) if unit.equations is not None else _parameters(unit)
    write_file(path, "\n".join([text, names, ending]), overwrite=overwrite)
    return path


def _head(unit: CUnit) -> str:
    lines = []
    for group in argument_groups(unit.public):
        names = ", ".join(label for label in group.labels if label)
        lines.append(f"{group.name}: {group.about}" + (f" ({names})" if names and not group.scalar else ""))
    return HEAD.format(title=unit.title.replace('"""', "'''"), arguments="\n".join(lines).replace('"""', "'''"))


def _constant_names(unit: CUnit) -> str:
    """The names of the numbers in every array of arguments."""
    groups = [group for group in argument_groups(unit.public) if not group.scalar and any(group.labels)]
    return "\n" + "\n".join(f"{group.about.split(',')[0].upper().replace(' ', '_')} = {tuple(group.labels)!r}"
                            for group in groups if group.name in "xupsqv") + "\n"  # fmt: skip


def _parameters(unit: CUnit) -> str:
    group = next((group for kernel in unit.public for group in kernel.arguments if group.name == "p"), None)
    numbers = [] if group is None else [unit.values[node] for node in group.nodes]
    return _constant("parameters", "The parameters with which the code was exported.", numbers)


def _constant(name: str, about: str, numbers: Sequence[float]) -> str:
    return f'\ndef {name}():\n    """{about}"""\n    return np.array({list(map(float, numbers))!r})\n'


def _motion(kernels: EquationKernels) -> str:
    """Projection, consistent start and steps."""
    plant, method = kernels.plant, kernels.plant.method
    acts, constrained = plant.stabilization.acts, len(kernels.c) > 0
    feeds = constrained and acts in (CONTINUOUS, HELD)
    gains = [" / ".join([repr(gain.number), *["h"] * gain.power]) for gain in plant.gains]
    condition = "if j == 0:\n            " if acts == HELD else ""
    words = {
        "A": method.A.tolist(), "b": method.b.tolist(), "method": method.name, "m": len(kernels.c),
        "stabilization": plant.stabilization.name, "least": float(WATCH_LIMIT**-0.5),
        "gains": f"    g = np.array([{', '.join(gains)}])\n" if feeds else "",
        "feedback": f"        {condition}c = corrections(now, point, g, p)\n" if feeds else "",
        "end": "project(t + h, x, p)" if constrained and acts == AFTER_STEPS else "x",
    }  # fmt: skip
    project = _solving(kernels.projections, "x", "None", 8)
    start = _solving(kernels.starts, "s", "held", 60)
    return "\n".join([
        _constant("parameters", "The parameters with which the code was exported.",
                  [plant.values[p] for p in kernels.p.nodes]),
        _constant("initial", "The state with which the code was exported.", plant.start),
        SOLVER.format(approached=plant.approached) if project or start else "",
        PROJECT.format(project=project, start=start),
        STEP.format(**words),
    ])  # fmt: skip


def _solving(levels: Sequence[Level], space: str, held: str, most: int) -> str:
    return "".join(
        f"    {space} = _solved({level.kernel.name}, {level.first}, {level.moved}, t, {space}, p, {held}, {most})\n"
        for level in levels
    )
