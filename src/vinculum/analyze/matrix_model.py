"""A linear model given by its matrices: η̇ = A η + B u, y = C η."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linear_model import LinearModel
from vinculum.errors import ModelError
from vinculum.names import name_of

Names = Sequence[str | sp.Expr]


def model(
    A: Any,
    B: Any,
    C: Any = None,
    *,
    states: Names | None = None,
    inputs: Names | None = None,
    outputs: Names | None = None,
) -> LinearModel:
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
    at = Equilibrium(dict.fromkeys((*x, *u, *measured), 0.0), {}, 0.0)
    return LinearModel(None, at, x, u, F, H, measured)


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
