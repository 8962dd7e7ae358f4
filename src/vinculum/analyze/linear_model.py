"""The linear model of a motion near an equilibrium or steady motion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.derivation import EquationsOfMotion
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers


@dataclass(frozen=True, eq=False)
class NormalForm:
    """The perturbed motion after the replacement z = y - B(0) x (Krasinskiy 2025, (21), (29)):

    ẍ = (a + hB) x + b ẋ + h z + V_u' u + ...,   ż = (B(x, z + Bx) - B(0)) ẋ,   which has no linear part.
    """

    a: np.ndarray  # (n, n)
    h: np.ndarray  # (n, m)
    b: np.ndarray  # (n, n)


@dataclass(frozen=True)
class StateRows:
    """Rows of A, damping and K by the role of their coordinates in a steady motion."""

    independent: tuple[int, ...]  # x and ẋ are states
    driven: tuple[int, ...]  # ẋ alone is a state: currents
    conserved: tuple[int, ...]  # eliminated by the conserved momentum


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """A ẍ + (G - D) ẋ + K x = V_u u in n independent coordinates; m dependent ones follow by B.

    It has the paper's matrices by their names, and the first-order form η̇ = F η + H u with η = (x, ẋ, currents) in
    ``states``. Conserved momenta are eliminated; currents are states. ``critical`` counts the structural zero roots,
    one for each constraint and each conserved momentum; ``roots`` does not contain them.
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
    rows: StateRows
    momentum_slopes: np.ndarray  # (n, n) of the momenta along the constraints
    critical: int
    measured: dict[sp.Expr, np.ndarray] = field(
        default_factory=dict
    )  # by coordinate or velocity: its row in terms of η
    closed: bool = False  # whether the system matrix includes feedback

    @cached_property
    def roots(self) -> np.ndarray:
        """The roots of the reduced characteristic equation, rightmost first."""
        found = np.linalg.eigvals(self.system_matrix)
        return found[np.lexsort((-found.imag, -found.real))]

    def without_curvature(self) -> LinearModel:
        """The model that linearized constraints would give: K without CB and PB."""
        return self.with_stiffness(self.stiffness - self.CB + self.PB)

    def as_printed(self) -> LinearModel:
        """The model of the printed formula (24): K without PB, which is missing in the paper."""
        return self.with_stiffness(self.stiffness + self.PB)

    def with_stiffness(self, K: np.ndarray) -> LinearModel:
        """The same model, without feedback, with another K."""
        F, H = first_order(self.A, self.damping, K, self.V_u, self.momentum_slopes, self.rows)
        n, inputs = len(F), tuple(self.equations.system.inputs)
        return replace(
            self, stiffness=K, system_matrix=F, input_matrix=H, states=self.states[:n], inputs=inputs, closed=False
        )

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
        rows = {
            "states": listed(self.states),
            "inputs": listed(self.inputs) or "none",
            "roots": numbers(self.roots),
            "structural zeros": str(self.critical),
        }
        head = f'LinearModel of "{self.equations.system.name}"'
        return labelled_rows(head, rows)

    _repr_html_ = html


def first_order(
    A: np.ndarray, damping: np.ndarray, K: np.ndarray, V_u: np.ndarray, momentum_slopes: np.ndarray, rows: StateRows
) -> tuple[np.ndarray, np.ndarray]:
    """F and H of η̇ = F η + H u with η = (x, ẋ, currents); conserved momenta are eliminated.

    δp = A_cr ẋ + A_cc δċ + p_q x = 0 gives δċ; inserting it into the other equations changes A, damping and K.
    """
    x, moving, c = list(rows.independent), [*rows.independent, *rows.driven], list(rows.conserved)
    if c:
        inverse = np.linalg.inv(A[np.ix_(c, c)])
        spin, shift = -inverse @ A[np.ix_(c, range(len(A)))], -inverse @ momentum_slopes[c]
        K = K + damping[:, c] @ shift
        damping = damping + damping[:, c] @ spin + A[:, c] @ shift
        A = A + A[:, c] @ spin
    M, C = A[np.ix_(moving, moving)], damping[np.ix_(moving, moving)]
    n, total = len(x), len(x) + len(moving)
    F, H = np.zeros((total, total)), np.zeros((total, V_u.shape[1]))
    F[:n, n : 2 * n] = np.eye(n)
    F[n:, :n] = -np.linalg.solve(M, K[np.ix_(moving, x)])
    F[n:, n:] = -np.linalg.solve(M, C)
    H[n:] = np.linalg.solve(M, V_u[moving])
    return F, H
