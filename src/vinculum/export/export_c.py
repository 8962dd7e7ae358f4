"""The front door of the export to C."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy as sp

from vinculum.errors import VinculumError
from vinculum.export.c_code import REAL
from vinculum.export.c_units import c_unit
from vinculum.export.harness import harness
from vinculum.export.identifiers import identifier
from vinculum.writing import write_file


def export_c(
    what: Any,
    path: str | Path,
    *,
    real: str = "double",
    fold: bool = False,
    check: int = 0,
    units: Mapping[sp.Expr, str] | None = None,
    **options: Any,
) -> tuple[Path, ...]:
    """Write self-contained C99, ``path.h`` and ``path.c``: no allocation, no recursion, no variables outside functions.

    All names begin with the name of the file. ``what`` decides the functions and further options:

    - equations, a closed loop or a system: rates, outputs (accelerations, reactions), residuals, events, derivatives;
      ``project``, ``start`` (a consistent start) and ``step`` (a fixed-step integrator). Options: ``initial``,
      ``guess``, ``fixed``, ``inputs``, ``parameters``, ``events``, ``method`` (Runge-Kutta), ``stabilization``.
    - a `BodyTree`: forward and inverse dynamics, bias, mass matrix, positions and Jacobians. Option ``points``
      {name: (body, place in its frame)}; default: the origins of all bodies.
    - a feedback law: a digital controller with ``init`` and ``step``. Options ``period``, ``estimator``, ``limits``.
    - laws {input: expression}, for example of `computed_torque`: the inputs. Option ``parameters``.
    - a linear model: rates and outputs of the deviations. Options ``outputs`` and ``period`` (adds the exact step).

    ``real`` is "double" or "float". With ``fold=True`` the values of the parameters are written into the code. With
    ``check=n`` a test program ``path_check.c`` compares every function with Python's numbers at n random states.
    Returns the files. The same model always gives the same text.
    """
    if real not in REAL:
        raise VinculumError(f'real={real!r} is not a type of numbers. Use real="double" or real="float".')
    base = Path(path).with_suffix("") if Path(path).suffix in (".c", ".h") else Path(path)
    base = base.with_name(identifier(base.name))
    unit = c_unit(what, base.name, real, fold, units, options)
    texts = {".h": unit.header, ".c": unit.source}
    if check:
        texts["_check.c"] = harness(unit, check)
    return tuple(_written(base.with_name(base.name + ending), text) for ending, text in texts.items())


def _written(path: Path, text: str) -> Path:
    write_file(path, text)
    return path
