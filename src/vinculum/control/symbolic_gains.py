"""A feedback law with symbols in place of its gains, so that compiled or exported code gets them as parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.control.feedback import FeedbackLaw
from vinculum.control.pid import compensator
from vinculum.names import gain_symbol

Gains = dict[sp.Symbol, float]


def symbolic_gains(law: FeedbackLaw, pid: Mapping[str, Any] | None = None) -> tuple[FeedbackLaw, Gains]:
    """The law with symbols for all gains that are not zero, and their values.

    ``pid`` are the arguments with which `pid` made the law: its symbols are then kp, ki and kd.
    """
    if pid is not None:
        return _pid(law, pid)
    inputs, states = law.linear.inputs, law.linear.states
    gain, numbers = _symbols(law.gain, inputs, states, gain_symbol)
    own = law.compensator
    if own is not None:
        C, first = _symbols(own.C, inputs, own.states, gain_symbol)
        D, second = _symbols(own.D, inputs, own.outputs, _direct)
        numbers |= first | second
        own = replace(own, C=C, D=D)
    return replace(law, gain=gain, compensator=own), numbers


def _direct(u: sp.Expr, y: sp.Expr) -> sp.Symbol:
    """The symbol of D for an input and an output."""
    return sp.Symbol(f"direct_{gain_symbol(u, y)}")


def _symbols(
    matrix: np.ndarray, rows: tuple, columns: tuple, named: Callable[[sp.Expr, sp.Expr], sp.Symbol]
) -> tuple[np.ndarray, Gains]:
    """A matrix of symbols for the entries that are not zero."""
    found, numbers = np.array(matrix, dtype=object), {}
    for (i, j), value in np.ndenumerate(matrix):
        if value:
            found[i, j] = named(rows[i], columns[j])
            numbers[found[i, j]] = float(value)
    return found, numbers


def _pid(law: FeedbackLaw, made: Mapping[str, Any]) -> tuple[FeedbackLaw, Gains]:
    numbers = {sp.Symbol(name): float(made[name]) for name in ("kp", "ki", "kd") if made.get(name)}
    gains = {name: sp.Symbol(name) if made.get(name) else 0.0 for name in ("kp", "ki", "kd")}
    column = law.linear.inputs.index(made["input"])
    own = compensator(law.linear, made["output"], column, **gains, filter=made.get("filter"))
    return replace(law, compensator=own), numbers
