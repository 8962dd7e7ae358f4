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
from vinculum.writing import refuse_place, write_file


def export_c(
    what: Any,
    path: str | Path,
    *,
    real: str = "double",
    fold: bool = False,
    check: int = 0,
    units: Mapping[sp.Expr, str] | None = None,
    overwrite: bool = False,
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
    Returns the files. The same model always gives the same text. Files that exist are replaced only with
    ``overwrite=True``; otherwise they are refused before anything is computed.
    """
    if real not in REAL:
        raise VinculumError(f'real={real!r} is not a type of numbers. Use real="double" or real="float".')
    places = c_files(path, check > 0)
    for place in places:
        refuse_place(place, overwrite)
    unit = c_unit(what, places[0].stem, real, fold, units, options)
    texts = [unit.header, unit.source, *([harness(unit, check)] if check else [])]
    for place, text in zip(places, texts, strict=True):
        write_file(place, text, overwrite=overwrite)
    return places


def c_files(path: str | Path, check: bool = False) -> tuple[Path, ...]:
    """The header, the source and the test program; their names are identifiers of C."""
    base = Path(path).with_suffix("") if Path(path).suffix in (".c", ".h") else Path(path)
    name = identifier(base.name)
    return tuple(base.with_name(name + ending) for ending in (".h", ".c", *(["_check.c"] if check else [])))
