"""A linear model given by its matrices: η̇ = A η + B u, y = C η."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.root_bounds import bounded_roots
from vinculum.errors import ModelError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers


@dataclass(frozen=True, eq=False, repr=False)
class MatrixModel:
    """η̇ = F η + H u with named states and inputs, and rows of what can be measured.

    It has the members of a `LinearModel` that feedback, observers and frequency responses use; its equilibrium is zero.
    """

    states: tuple[sp.Expr, ...]
    inputs: tuple[sp.Expr, ...]
    system_matrix: np.ndarray  # F
    input_matrix: np.ndarray  # H
    measured: Mapping[sp.Expr, np.ndarray] = field(default_factory=dict)  # by state or output: its row in terms of η
    closed: bool = False  # whether the system matrix includes feedback
    critical: int = 0
    equations: None = None

    @property
    def at(self) -> Equilibrium:
        """Zero for every state, input and output."""
        return Equilibrium(dict.fromkeys((*self.states, *self.inputs, *self.measured), 0.0), {}, 0.0)

    @cached_property
    def roots(self) -> np.ndarray:
        """The roots, rightmost first."""
        return bounded_roots(self.system_matrix).roots

    def to_control(self) -> Any:
        """The model as a ``control.StateSpace`` with named states, inputs and outputs."""
        from vinculum.analyze.state_space import state_space

        return state_space(self, self.inputs, tuple(self.measured))

    def __repr__(self) -> str:
        rows = {
            "states": listed(self.states),
            "inputs": listed(self.inputs) or "none",
            "outputs": listed(y for y in self.measured if y not in self.states) or "none",
            "roots": numbers(self.roots),
        }
        return labelled_rows("MatrixModel", rows)

    _repr_html_ = html


Names = Sequence[str | sp.Expr]


def model(
    A: Any,
    B: Any,
    C: Any = None,
    *,
    states: Names | None = None,
    inputs: Names | None = None,
    outputs: Names | None = None,
) -> MatrixModel:
    """A linear model η̇ = A η + B u, y = C η from its matrices; names are strings or symbols (default: x1, u1, y1, ...).

    Every state can be measured by its own name too.
    """
    F, H = np.atleast_2d(np.asarray(A, dtype=float)), np.asarray(B, dtype=float)
    n = len(F)
    H = H.reshape(n, -1) if H.ndim < 2 and H.size == n else H
    rows = np.zeros((0, n)) if C is None else np.atleast_2d(np.asarray(C, dtype=float))
    _refuse_shapes(F, H, rows)
    x, u, y = _symbols(states, n, "x"), _symbols(inputs, H.shape[1], "u"), _symbols(outputs, len(rows), "y")
    _refuse_equal_names((*x, *u, *(key for key in y if key not in x)))
    measured = dict(zip(x, np.eye(n), strict=True)) | dict(zip(y, rows, strict=True))
    return MatrixModel(x, u, F, H, measured)


def _symbols(given: Names | None, count: int, letter: str) -> tuple[sp.Expr, ...]:
    names = [f"{letter}{i + 1}" for i in range(count)] if given is None else list(given)
    if len(names) != count:
        kind = {"x": "states", "u": "inputs", "y": "outputs"}[letter]
        raise ModelError("Invalid linear model", [f"{len(names)} names for {count} {kind}."])
    return tuple(sp.Symbol(name) if isinstance(name, str) else name for name in names)


def _refuse_shapes(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    n = len(A)
    wanted = {"A": (A, f"({n}, {n})", A.shape == (n, n)), "B": (B, f"({n}, inputs)", B.ndim == 2 and len(B) == n)}
    wanted["C"] = (C, f"(outputs, {n})", C.shape[1:] == (n,))
    problems = [
        f"{name} has the shape {M.shape}; {shape} is needed." for name, (M, shape, ok) in wanted.items() if not ok
    ]
    problems += [
        f"{name} contains a number that is not finite."
        for name, (M, _, _) in wanted.items()
        if not np.all(np.isfinite(M))
    ]
    if problems:
        raise ModelError("Invalid linear model", problems)


def _refuse_equal_names(names: Sequence[sp.Expr]) -> None:
    twice = sorted({name_of(key) for key in names if names.count(key) > 1})
    if twice:
        raise ModelError("Invalid linear model", [f"The name {', '.join(twice)} is used twice."])
