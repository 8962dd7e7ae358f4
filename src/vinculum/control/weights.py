"""Weight matrices of the quadratic cost, from numbers, lists, matrices or {symbol: number}."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import sympy as sp

from vinculum.errors import Finding, ModelError, Word, call
from vinculum.names import listed, name_of, suggestion

Weights: TypeAlias = np.ndarray | Sequence | Mapping[sp.Expr, float] | float | None


def weights(
    given: Weights,
    size: int,
    name: str,
    order: tuple[sp.Expr, ...],
    definite: bool = False,
    measured: Collection[sp.Expr] = (),
) -> np.ndarray:
    """A symmetric weight matrix, from a matrix, a diagonal or {symbol: number}.

    ``measured`` are quantities that could have weights as outputs, because they follow from those of ``order``.
    """
    if isinstance(given, Mapping):
        given = _by_symbol(given, name, order, measured)
    W = np.eye(size) if given is None else np.asarray(given, dtype=float)
    if W.ndim < 2:
        W = np.diag(np.broadcast_to(W, (size,)) if W.ndim == 0 else W)
    if W.shape != (size, size):
        needed = "1 number" if size == 1 else f"{size} numbers"
        raise ModelError(f"Invalid {name}", [f"The shape is {W.shape}. Pass {needed}, for {listed(order)}."])
    if not np.all(np.isfinite(W)):
        raise ModelError(f"Invalid {name}", ["It contains a number that is not finite."])
    smallest = float(np.linalg.eigvalsh((W + W.T) / 2).min(initial=0.0)) if size else 0.0
    if not np.allclose(W, W.T) or smallest < -1e-12 * np.abs(W).max(initial=1.0):
        problem = f"It must be symmetric and positive semidefinite; its smallest eigenvalue is {smallest:.3g}."
        raise ModelError(f"Invalid {name}", [problem])
    if definite and np.linalg.eigvalsh(W).min(initial=1.0) <= 0:
        raise ModelError(f"Invalid {name}", ["It must be positive definite."])
    return W


def _by_symbol(
    given: Mapping[sp.Expr, float], name: str, order: tuple[sp.Expr, ...], measured: Collection[sp.Expr]
) -> np.ndarray:
    """A diagonal in the order of the model; the default weight is zero."""
    unknown = [key for key in given if key not in order]
    if unknown and all(key in measured for key in unknown):
        follow = f"{listed(unknown)} {'follow' if len(unknown) > 1 else 'follows'} from the states {listed(order)}."
        advice = ("Give weights of outputs: ", call("stabilize", state_weights=Word("weights"), outputs=[*given]), ".")
        raise ModelError(f"Invalid {name}", [Finding(follow, advice)])
    problems = [
        f"{name_of(key)} is not among {listed(order)}.{suggestion(name_of(key), map(name_of, order))}"
        for key in unknown
    ]
    if problems:
        raise ModelError(f"Invalid {name}", problems)
    return np.array([float(given.get(key, 0.0)) for key in order])
