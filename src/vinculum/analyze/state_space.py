"""A linear model as a ``control.StateSpace`` of python-control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.analyze.linear_model import LinearModel


def state_space(linear: LinearModel, inputs: Sequence[sp.Expr], outputs: Sequence[sp.Expr]) -> Any:
    """η̇ = Fη + Hu, y = Cη with the chosen inputs and outputs, all named."""
    import control

    columns = [linear.inputs.index(u) for u in inputs]
    C = np.array([linear.measured[y] for y in outputs]).reshape(len(outputs), len(linear.states))
    return control.ss(
        linear.system_matrix,
        linear.input_matrix[:, columns],
        C,
        np.zeros((len(outputs), len(columns))),
        states=[name_of(s) for s in linear.states],
        inputs=[name_of(u) for u in inputs],
        outputs=[f"y_{name_of(y)}" for y in outputs],
    )
