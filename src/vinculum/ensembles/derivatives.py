"""Derivatives of a motion and of its measures, as the user asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.ensembles.measured import Measured
from vinculum.ensembles.measures import Measure, check_measures
from vinculum.ensembles.variational import Variational, make_variational
from vinculum.errors import VinculumError
from vinculum.expressions import as_expression
from vinculum.names import listed, name_of, suggestion, variable_name
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """A motion with its derivatives: ``found[x]`` and ``found.derivative(x, m)`` at the instants ``t``.

    A measure, by its name, is one number: ``found["peak"]``, ``found.derivative("peak", m)``.
    """

    variational: Variational
    values: Mapping[Any, float]
    t: np.ndarray
    states: np.ndarray  # (instants, states)
    slopes: np.ndarray  # (instants, states, θ)

    def __getitem__(self, expression: sp.Expr | str) -> Any:
        """An expression of the motion at every instant, or a measure by its name."""
        return self._found(expression)[0]

    def derivative(self, expression: sp.Expr | str, by: Any) -> Any:
        """d(expression)/d(by) at every instant; ``by`` is a parameter or the start of a coordinate or velocity.

        A measure, by its name, has one derivative.
        """
        names = {name(key): key for name in (name_of, variable_name) for key in self.variational.keys}
        key = names.get(by, by) if isinstance(by, str) else by
        if key not in self.variational.keys:
            raise VinculumError(f"{name_of(key)} is not among {listed(self.variational.keys)}.")
        return self._found(expression)[1][..., self.variational.keys.index(key)]

    def _found(self, expression: sp.Expr | str) -> tuple[Any, np.ndarray]:
        """A quantity and its derivatives by θ."""
        if isinstance(expression, str):
            if expression not in self._measured:
                near = suggestion(expression, self._measured)
                raise VinculumError(f"There is no measure {expression!r}.{near} Pass measure={{name: ...}}.")
            return self._measured[expression].value(self.values, (self.states, self.slopes))
        return self._outputs(as_expression(expression))

    @cached_property
    def _measured(self) -> dict[str, Measured]:
        one = self.variational
        return {name: Measured(one, measure, name) for name, measure in one.ensemble.measures.items()}

    def _outputs(self, expression: sp.Expr) -> tuple[np.ndarray, np.ndarray]:
        found = self.variational.outputs([expression])
        y, slopes = found.at(self.values, self.t, self.states, self.slopes)
        return y[:, 0], slopes[:, 0]

    @cached_property
    def rows(self) -> dict[str, str]:
        """Labeled rows."""
        return {
            "time": f"{self.t[0]:.6g} to {self.t[-1]:.6g}, {len(self.t)} instants",
            "by": listed(self.variational.keys),
        }

    def __repr__(self) -> str:
        return labelled_rows("Sensitivity", self.rows)

    _repr_html_ = html


def sensitivity(
    equations: Any,
    initial: Mapping[Any, float],
    times: Sequence[float] | np.ndarray,
    by: Any,
    *,
    measure: Mapping[str, Measure] | None = None,
    tolerance: float | None = None,
    stabilization: Any = None,
    inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    fixed: Sequence[sp.Expr] | None = None,
) -> Sensitivity:
    """The motion and its derivatives by parameters and by starts of coordinates and velocities.

    ``by`` is one of these or a list, by symbol or by name.

    ``measure`` = {name: `vn.measure.maximum`, ...} adds measures, with their derivatives. The other arguments are those
    of `simulate`. The equations must be smooth.
    """
    variational, values = make_variational(
        equations,
        initial,
        times,
        by,
        check_measures(measure),
        tolerance,
        stabilization,
        inputs,
        parameters,
        guess,
        fixed,
    )
    x, S = variational.run(values, variational.ensemble.grid)
    if not np.isfinite(x).all():
        raise VinculumError("The motion has no finite state at its end. Simulate it first, or give earlier times.")
    return Sensitivity(variational, values, variational.ensemble.grid, x, S)
