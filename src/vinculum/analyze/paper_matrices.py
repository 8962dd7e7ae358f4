"""The matrices of the first approximation by their names in the paper, as numbers (Krasinskiy 2025, (19) to (29))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.analyze.first_approximation import FirstApproximation, first_approximation
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.mechanics.partition import Partition
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.describe import Holonomic, System
from vinculum.errors import ModelError

if TYPE_CHECKING:
    from vinculum.analyze.linear_model import LinearModel


@dataclass(frozen=True, eq=False)
class NormalForm:
    """The perturbed motion after the replacement z = y - B(0) x (Krasinskiy 2025, (21), (29)):

    ẍ = (a + hB) x + b ẋ + h z + V_u' u + ...,   ż = (B(x, z + Bx) - B(0)) ẋ,   which has no linear part.
    """

    a: np.ndarray  # (n, n)
    h: np.ndarray  # (n, m)
    b: np.ndarray  # (n, n)


@dataclass(frozen=True, eq=False)
class PaperMatrices:
    """A ẍ + (G - D) ẋ + K x = V_u u in n independent coordinates; m dependent ones follow by B."""

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
    damping: np.ndarray  # of ẋ; G - D where all velocities are zero
    stiffness: np.ndarray  # K
    normal_form: NormalForm
    coordinates: tuple[sp.Expr, ...]  # independent, in the order of the matrices
    inputs: tuple[sp.Expr, ...]

    def first_order(self, K: np.ndarray, linear: LinearModel) -> tuple[np.ndarray, np.ndarray]:
        """F and H of η̇ = F η + H u, η = (x, ẋ) without the coordinates that the model drops."""
        x = [i for i, q in enumerate(self.coordinates) if q in linear.states]
        every, n = range(len(self.A)), len(x)
        F, H = np.zeros((n + len(every), n + len(every))), np.zeros((n + len(every), self.V_u.shape[1]))
        F[:n, [n + i for i in x]] = np.eye(n)
        F[n:, :n] = -np.linalg.solve(self.A, K[:, x])
        F[n:, n:] = -np.linalg.solve(self.A, self.damping)
        H[n:] = np.linalg.solve(self.A, self.V_u)
        return F, H


def paper_matrices(linear: LinearModel) -> PaperMatrices:
    """All matrices at the point of a linear model of a holonomic system."""
    from vinculum.analyze.linearize import point

    equations = linear.equations
    if not isinstance(equations, EquationsOfMotion):
        raise ModelError("The matrices of the paper are those of a mechanical system", ["This model has none."])
    _refuse_nonholonomic(equations.system)
    where = point(equations, linear.at)
    n = where.form.coordinates
    r = [i for i in where.tangent.chart if i < n]
    partition = Partition(tuple(r), tuple(i for i in range(n) if i not in r))
    nodes = first_approximation(equations.mechanics, partition, [where.values])
    known = {name: numbers(getattr(nodes, name), where.values) for name in FirstApproximation.__dataclass_fields__}
    named = {name: known[name] for name in PaperMatrices.__dataclass_fields__ if name in known}
    parts = (known["slopes_r"], known["slopes_s"], known["damping"])
    return PaperMatrices(
        **named,
        stiffness=_stiffness(known),
        normal_form=NormalForm(*(-np.linalg.solve(known["A"], part) for part in parts)),
        coordinates=tuple(equations.system.coordinates[i] for i in r),
        inputs=tuple(equations.system.inputs),
    )


def _refuse_nonholonomic(system: System) -> None:
    others = [c.name for c in system.constraints if not isinstance(c, Holonomic)]
    if others:
        found = f"{', '.join(others)} is not holonomic. Use linear.system_matrix and linear.input_matrix."
        raise ModelError("The matrices of the paper are those of a holonomic system", [found])


def _stiffness(known: dict[str, np.ndarray]) -> np.ndarray:
    """K = C1 + C2 B + Bᵀ C3 + Bᵀ C4 B + CB - PB - P."""
    B = known["B"]
    W = known["C1"] + known["C2"] @ B + B.T @ known["C3"] + B.T @ known["C4"] @ B
    return W + known["CB"] - known["PB"] - known["P"]
