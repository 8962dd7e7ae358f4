"""The linear model of a motion near an equilibrium or steady motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.derivation import EquationsOfMotion
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html


@dataclass(frozen=True, eq=False)
class NormalForm:
    """The perturbed motion after the replacement z = y - B(0) x (Krasinskiy 2025, (21), (29)):

    ẍ = (a + hB) x + b ẋ + h z + V_u' u + ...,   ż = (B(x, z + Bx) - B(0)) ẋ,   which has no linear part.
    """

    a: np.ndarray  # (n, n)
    h: np.ndarray  # (n, m)
    b: np.ndarray  # (n, n)


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """A ẍ + (G - D) ẋ + K x = V_u u in n independent coordinates, with m dependent ones following.

    The paper's matrices by their names, and the first-order form η̇ = F η + H u with η = (x, ẋ, currents) in
    ``states``. Conserved momenta are eliminated, currents are states. ``critical`` counts the structural zero roots
    (one for each constraint and each conserved momentum): they are not in ``roots``.
    """

    equations: EquationsOfMotion
    at: Equilibrium
    states: tuple[sp.Expr, ...]  # what η perturbs
    inputs: tuple[sp.Expr, ...]
    A: np.ndarray
    G: np.ndarray
    D: np.ndarray
    C1: np.ndarray
    C2: np.ndarray
    C3: np.ndarray
    C4: np.ndarray
    CB: np.ndarray
    PB: np.ndarray
    P: np.ndarray
    B: np.ndarray  # (m, n) ṡ = B ṙ
    V_u: np.ndarray
    stiffness: np.ndarray  # K
    damping: np.ndarray  # of ẋ
    system_matrix: np.ndarray  # F
    input_matrix: np.ndarray  # H
    normal_form: NormalForm
    critical: int
    measured: dict[sp.Expr, np.ndarray] = field(default_factory=dict)  # rows of η for every coordinate and velocity
    closed: bool = False  # whether feedback is in the system matrix
    rebuilt: Callable[[np.ndarray], LinearModel] = field(repr=False, default=None)  # type: ignore[assignment]  # with another K; linearize sets it

    @cached_property
    def roots(self) -> np.ndarray:
        """The roots of the reduced characteristic equation, rightmost first."""
        found = np.linalg.eigvals(self.system_matrix)
        return found[np.lexsort((-found.imag, -found.real))]

    def without_curvature(self) -> LinearModel:
        """What the linearized constraint would have given: K without CB and PB."""
        return self.rebuilt(self.stiffness - self.CB + self.PB)

    def as_printed(self) -> LinearModel:
        """What the printed formula (24) gives: K without PB, which the paper forgot."""
        return self.rebuilt(self.stiffness + self.PB)

    def to_control(self) -> Any:
        """The model as a ``control.StateSpace`` with named states, inputs and all states as outputs."""
        import control

        n = len(self.states)
        return control.ss(
            self.system_matrix,
            self.input_matrix,
            np.eye(n),
            np.zeros((n, len(self.inputs))),
            states=[name_of(s) for s in self.states],
            inputs=[name_of(u) for u in self.inputs],
            outputs=[f"y_{name_of(s)}" for s in self.states],
        )

    def __repr__(self) -> str:
        roots = ", ".join(f"{root:.6g}" for root in self.roots)
        rows = {
            "states": listed(self.states),
            "inputs": listed(self.inputs) or "none",
            "roots": roots,
            "structural zeros": str(self.critical),
        }
        head = f'LinearModel of "{self.equations.system.name}"'
        return "\n".join([head, *(f"  {key:<18}{value}" for key, value in rows.items())])

    _repr_html_ = html
