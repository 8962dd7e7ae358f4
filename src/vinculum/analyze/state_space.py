"""A linear model as a ``control.StateSpace`` of python-control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.errors import ModelError
from vinculum.names import name_of, suggestion

if TYPE_CHECKING:
    from vinculum.analyze.linear_model import LinearModel


def state_space(linear: LinearModel, inputs: Sequence[sp.Expr], outputs: Sequence[sp.Expr]) -> Any:
    """η̇ = Fη + Hu, y = Cη + Du with the chosen inputs and outputs, all named."""
    import control

    columns = [linear.inputs.index(u) for u in inputs]
    rows = [output_row(linear, y) for y in outputs]
    C = np.array([row for row, _ in rows]).reshape(len(outputs), len(linear.states))
    D = np.array([direct for _, direct in rows]).reshape(len(outputs), len(linear.inputs))
    return control.ss(
        linear.system_matrix,
        linear.input_matrix[:, columns],
        C,
        D[:, columns],
        states=[name_of(s) for s in linear.states],
        inputs=[name_of(u) for u in inputs],
        outputs=[f"y_{name_of(y)}" for y in outputs],
    )


def output_row(linear: LinearModel, y: sp.Expr) -> tuple[np.ndarray, np.ndarray]:
    """The rows of η and of u for an output; accelerations and reactions feel the inputs directly."""
    if y in linear.measured:
        return linear.measured[y], np.zeros(len(linear.inputs))
    if y in linear.outputs:
        return linear.outputs[y]
    known = [*linear.measured, *linear.outputs]
    found = f"{name_of(y)} is not an output of the model.{suggestion(name_of(y), map(name_of, known))}"
    raise ModelError("Invalid outputs", [found])
