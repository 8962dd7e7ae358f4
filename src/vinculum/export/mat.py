"""MATLAB files of linear models and motions."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze import LinearModel
from vinculum.analyze.state_space import output_row
from vinculum.control.feedback import value_at
from vinculum.errors import VinculumError
from vinculum.export.identifiers import distinct, identifier, label_of
from vinculum.simulation import Trajectory
from vinculum.writing import refuse_place, write_file


def export_mat(
    what: LinearModel | Trajectory,
    path: str | Path,
    outputs: Sequence[sp.Expr] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Write a MATLAB file (version 5, readable by MATLAB, Octave and SciPy).

    A linear model gives A, B, C, D of η̇ = A η + B u, y = C η + D u, the equilibrium x0, u0, and the names of states,
    inputs and ``outputs`` (default: the states). A motion gives t and every state, input, reaction and residual by its
    name. A file that exists is replaced only with ``overwrite=True``.
    """
    from scipy.io import savemat

    path = Path(path).with_suffix(".mat")
    refuse_place(path, overwrite)
    if isinstance(what, LinearModel):
        data = _linear(what, tuple(what.states if outputs is None else outputs))
    elif isinstance(what, Trajectory):
        data = _motion(what)
    else:
        raise VinculumError(f"{type(what).__name__} cannot be written as .mat. Give a linear model or a trajectory.")
    packed = BytesIO()
    savemat(packed, data, long_field_names=True, oned_as="column")
    write_file(path, packed.getvalue(), overwrite=overwrite)
    return path


def _linear(linear: LinearModel, outputs: tuple[sp.Expr, ...]) -> dict[str, Any]:
    rows = [output_row(linear, y) for y in outputs]
    names = {"states": linear.states, "inputs": linear.inputs, "outputs": outputs}
    return {
        "A": linear.system_matrix,
        "B": linear.input_matrix,
        "C": np.array([row for row, _ in rows]).reshape(len(rows), len(linear.states)),
        "D": np.array([direct for _, direct in rows]).reshape(len(rows), len(linear.inputs)),
        "x0": np.array([value_at(linear, key) for key in linear.states]),
        "u0": np.array([value_at(linear, key) for key in linear.inputs]),
        **{key: np.array([label_of(name) for name in keys], dtype=object) for key, keys in names.items()},
    }


def _motion(motion: Trajectory) -> dict[str, Any]:
    found = {"t": motion.t, **motion.own_columns, **motion.inputs}
    found |= {f"reaction_{name}": values for name, values in motion.reactions.items()}
    found |= {f"residual_{name}_{level}": values for (name, level), values in motion.residuals.items()}
    found["energy"] = motion.energy
    names = distinct(identifier(str(name))[:60] for name in found)
    return dict(zip(names, found.values(), strict=True)) | {"outcome": str(motion.outcome)}
