"""Feedback laws: gains of the state, and dynamics of the controller itself (integrals, filters).

    u = u₀ + K η + C_c z + D_c (y - y₀),   ż = A_c z + B_c (y - y₀)

η is the deviation of the state from the equilibrium, y are chosen coordinates or velocities, z are states of the
controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import Mode
from vinculum.analyze.root_bounds import bounded_roots
from vinculum.control.loop_matrices import loop_matrices
from vinculum.errors import ModelError
from vinculum.names import TIME, listed, name_of, suggestion, variable_name
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers


@dataclass(frozen=True, eq=False)
class Compensator:
    """States z of a controller: ż = A z + B (y - y₀), with C z + D (y - y₀) added to the inputs."""

    outputs: tuple[sp.Expr, ...]  # y
    states: tuple[sp.Expr, ...]  # z, functions of time
    A: np.ndarray  # (states, states)
    B: np.ndarray  # (states, outputs)
    C: np.ndarray  # (inputs, states)
    D: np.ndarray  # (inputs, outputs)

    _repr_html_ = html


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackLaw:
    """u = u₀ + gain·η with η = state - state at the equilibrium, and what a compensator adds."""

    linear: LinearModel
    gain: np.ndarray  # (inputs, states)
    modes: tuple[Mode, ...]  # with their distances to being uncontrollable
    compensator: Compensator | None = None

    @property
    def roots(self) -> np.ndarray:
        """Roots of the closed loop, rightmost first."""
        return bounded_roots(loop_matrices(self).A).roots

    @property
    def laws(self) -> dict[sp.Expr, sp.Expr]:
        """The inputs as expressions of the state: {u: u₀ + Σ gain·(state - state₀) + ...}."""
        return inputs_of(self, deviations(self.linear, self.linear.states))

    def __repr__(self) -> str:
        gains = zip(self.linear.inputs, self.gain, strict=True)
        rows = [("roots", numbers(self.roots)), ("states", listed(self.linear.states))]
        rows += [(f"gains of {name_of(u)}", numbers(row)) for u, row in gains]
        if self.compensator is not None:
            rows.append(("states of the controller", listed(self.compensator.states) or "none"))
        rows.append(("distance to losing a mode", f"{min(mode.distance for mode in self.modes):.3g}"))
        return labelled_rows("FeedbackLaw", rows)

    _repr_html_ = html


def inputs_of(law: FeedbackLaw, eta: Sequence[sp.Expr], gains: np.ndarray | None = None) -> dict[sp.Expr, sp.Expr]:
    """Every input as an expression, for given expressions of η (the state itself, or its estimate).

    ``gains`` are symbols in the place of the gain's numbers.
    """
    numbers = law.gain if gains is None else gains
    terms = [[_factor(k) * x for k, x in zip(row, eta, strict=True) if k != 0] for row in numbers]
    if law.compensator is not None:
        own = (*law.compensator.states, *deviations(law.linear, law.compensator.outputs))
        rows = np.hstack([law.compensator.C, law.compensator.D])
        for term, row in zip(terms, rows, strict=True):
            term += [_factor(k) * x for k, x in zip(row, own, strict=True) if k]
    return {
        u: sp.Float(value_at(law.linear, u)) + sp.Add(*term) for u, term in zip(law.linear.inputs, terms, strict=True)
    }


def _factor(gain: float | sp.Expr) -> sp.Expr:
    """A gain as an expression; `symbolic_gains` makes gains that are symbols."""
    return gain if isinstance(gain, sp.Basic) else sp.Float(gain)


def deviations(linear: LinearModel, keys: Sequence[sp.Expr]) -> list[sp.Expr]:
    """y - y₀ for every key, in the user's symbols."""
    return [linear.definitions.get(key, key) - sp.Float(value_at(linear, key)) for key in keys]


def value_at(linear: LinearModel, key: sp.Expr) -> float:
    """The value at the equilibrium. A velocity that the point does not name is zero, as in `linearize`."""
    return float(linear.at[key]) if key in linear.at else 0.0


def controller_state(kind: str, key: sp.Expr, linear: LinearModel) -> sp.Expr:
    """A state of a controller as a function of time, such as ``integral_x``."""
    time = TIME if linear.equations is None else linear.equations.time
    return sp.Function(f"{kind}_{variable_name(key)}")(time)


def _not_measured(linear: LinearModel, y: sp.Expr) -> str:
    name = name_of(y)
    if y in linear.dropped or (isinstance(y, sp.Derivative) and y.expr in linear.dropped):
        return f"{name} cannot be measured: the linear model was made without it, linearize(..., drop=[...])."
    return f"{name} cannot be measured.{suggestion(name, map(name_of, linear.measured))}"


def output_rows(linear: LinearModel, outputs: Sequence[sp.Expr]) -> np.ndarray:
    """The rows C of y = C η; raises for what the model cannot measure."""
    problems = [_not_measured(linear, y) for y in outputs if y not in linear.measured]
    if not outputs:
        problems.append(f"No outputs were given. Choose from {listed(linear.measured)}.")
    if problems:
        raise ModelError("Invalid outputs", problems)
    return np.array([linear.measured[y] for y in outputs]).reshape(len(outputs), -1)


def input_columns(linear: LinearModel, inputs: Sequence[sp.Expr] | None) -> list[int]:
    """The columns of H that the chosen inputs have (default: all); raises for unknown inputs."""
    chosen = list(linear.inputs if inputs is None else inputs)
    problems = [
        f"{name_of(u)} is not an input.{suggestion(name_of(u), map(name_of, linear.inputs))}"
        for u in chosen
        if u not in linear.inputs
    ]
    if not chosen and linear.inputs:
        problems.append(f"No inputs were given. Choose from {listed(linear.inputs)}.")
    if problems:
        raise ModelError("Invalid inputs", problems)
    return [linear.inputs.index(u) for u in chosen]


def whole_gain(linear: LinearModel, columns: Sequence[int], gain: np.ndarray) -> np.ndarray:
    """The gain of all inputs from that of the chosen ones; the others keep their holding values."""
    whole = np.zeros((len(linear.inputs), gain.shape[1]))
    whole[list(columns)] = gain
    return whole
