"""The linear model of a motion near an equilibrium or steady motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.root_bounds import BoundedRoots
from vinculum.names import listed
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers

if TYPE_CHECKING:
    from vinculum.analyze.discrete_model import DiscreteModel
    from vinculum.analyze.linearize import Point
    from vinculum.analyze.mode_shapes import ModeShape
    from vinculum.analyze.paper_matrices import PaperMatrices
    from vinculum.analyze.structure import Structure

_PAPER = frozenset(
    ("A", "G", "D", "C1", "C2", "C3", "C4", "CB", "PB", "P", "B", "V_u", "damping", "stiffness", "normal_form")
)


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """η̇ = F η + H u on the constraints; η perturbs ``states``, independent coordinates and velocities of the user.

    Every coordinate is a state unless it was dropped; in a steady motion the states are those that are constant.
    ``critical`` counts the structural zero roots: one for each holonomic constraint, and those of families of
    equilibria or steady motions and of conserved quantities, listed by reason in ``zeros``. ``roots`` are the others.
    A holonomic system also has the matrices of A ẍ + (G - D) ẋ + K x = V_u u by their names in Krasinskiy's paper:
    A, G, D, C1, ..., C4, CB, PB, P, B, V_u, damping, stiffness (K), normal_form.
    """

    equations: Analyzed | None
    at: Equilibrium
    states: tuple[sp.Expr, ...]  # what η perturbs
    inputs: tuple[sp.Expr, ...]
    system_matrix: np.ndarray  # F
    input_matrix: np.ndarray  # H
    measured: dict[sp.Expr, np.ndarray] = field(default_factory=dict)  # coordinates and velocities as rows of η
    outputs: dict[sp.Expr, tuple[np.ndarray, np.ndarray]] = field(
        default_factory=dict
    )  # accelerations and reactions: rows (of η, of u)
    errors: np.ndarray | None = None  # bounds of the rounding errors of F
    dropped: tuple[sp.Expr, ...] = ()  # coordinates left out
    definitions: dict[sp.Expr, sp.Expr] = field(default_factory=dict)  # states that are not the user's symbols
    closed: bool = False  # whether the system matrix includes feedback that the equations do not have
    mode_names: Mapping[str, complex] = field(default_factory=dict)  # names of modes with their roots

    @cached_property
    def structure(self) -> Structure:
        """The structural zeros by reason, and the other roots with their error bounds."""
        from vinculum.analyze.structure import structure

        return structure(self)

    @cached_property
    def point(self) -> Point:
        """The motion at which the model was made, with everything known there."""
        from vinculum.analyze.linearize import point

        assert self.equations is not None
        return point(self.equations, self.at)

    @property
    def zeros(self) -> Mapping[str, int]:
        """The number of structural zero roots by reason."""
        return self.structure.zeros

    @property
    def critical(self) -> int:
        """The number of structural zero roots."""
        return sum(self.zeros.values())

    @property
    def bounded_roots(self) -> BoundedRoots:
        """The other roots with bounds of their errors."""
        return self.structure.roots

    @property
    def roots(self) -> np.ndarray:
        """The roots that are not structural zeros, rightmost first."""
        return self.bounded_roots.roots

    @cached_property
    def modes(self) -> tuple[ModeShape, ...]:
        """The modes of ``roots`` in the user's coordinates, one of each conjugate pair, rightmost first."""
        from vinculum.analyze.mode_shapes import mode_shapes

        return mode_shapes(self)

    def named(self, names: Mapping[str, complex]) -> LinearModel:
        """The same model with names for modes: {name: a number near the root}, such as {"weave": -0.8 + 4.5j}.

        Verdicts, tables and pages show the names; `stability_borders` carries them to other parameters and speeds.
        """
        from vinculum.analyze.mode_shapes import named_roots

        other = replace(self, mode_names=named_roots(self.modes, names))
        other.__dict__.update({key: self.__dict__[key] for key in ("point", "structure") if key in self.__dict__})
        return other

    @cached_property
    def matrices(self) -> PaperMatrices:
        """The matrices of Krasinskiy's paper; an error for systems that are not holonomic."""
        from vinculum.analyze.paper_matrices import paper_matrices

        return paper_matrices(self)

    def __getattr__(self, name: str) -> Any:
        if name in _PAPER:
            return getattr(self.matrices, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def without_curvature(self) -> LinearModel:
        """The model that linearized constraints would give: K without CB and PB."""
        return self.with_stiffness(self.matrices.stiffness - self.matrices.CB + self.matrices.PB)

    def as_printed(self) -> LinearModel:
        """The model of the printed formula (24): K without PB, which is missing in the paper."""
        return self.with_stiffness(self.matrices.stiffness + self.matrices.PB)

    def with_stiffness(self, K: np.ndarray) -> LinearModel:
        """The same model, without feedback, with another K."""
        F, H = self.matrices.first_order(K, self)
        other = replace(
            self, system_matrix=F, input_matrix=H, errors=None, states=self.states[: len(F)],
            inputs=self.matrices.inputs, closed=True, mode_names={},
        )  # fmt: skip
        other.__dict__["matrices"] = replace(self.matrices, stiffness=K)
        return other

    def to_control(self, outputs: Sequence[sp.Expr] | None = None) -> Any:
        """The model as a ``control.StateSpace`` with named states, inputs and outputs (default: all states).

        Outputs may be coordinates, velocities, accelerations, reactions (``vn.reaction(name)``) and inputs of servos.
        """
        from vinculum.analyze.state_space import state_space

        return state_space(self, self.inputs, self.states if outputs is None else tuple(outputs))

    def discrete(self, period: float, delay: float = 0.0) -> DiscreteModel:
        """The exact model of what a processor sees: states at the samples, inputs held, with a delay of any length."""
        from vinculum.analyze.discrete_model import discrete_model

        return discrete_model(self, period, delay)

    def __repr__(self) -> str:
        zeros = ", ".join(f"{count} ({reason})" for reason, count in self.zeros.items())
        rows = {
            "states": listed(self.states),
            "inputs": listed(self.inputs) or "none",
            "roots": numbers(self.bounded_roots.shown),
            "structural zeros": zeros or "0",
        }
        name = "matrices" if self.equations is None else self.equations.name
        return labelled_rows(f'LinearModel of "{name}"', rows)

    _repr_html_ = html
