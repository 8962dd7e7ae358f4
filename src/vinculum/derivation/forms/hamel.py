"""Equations in quasi-velocities of the user's choice, of Voronets' and Hamel's type (8) or of Chaplygin's type (7).

The equations and their elimination are in `quasi.quasi_equations`. The characteristics e = e(q, q̇, t) may be nonlinear
in the velocities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, rates_option, register
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line
from vinculum.derivation.quasi.characteristics import Inverse, build_characteristics
from vinculum.derivation.quasi.quasi_equations import (
    LeftSide,
    chaplygin_type,
    eliminate_quasi,
    hamel_type,
    quasi_lines,
    quasi_variables,
)
from vinculum.derivation.variables import Variables
from vinculum.options import option

KINDS: dict[str, LeftSide] = {"voronets-hamel": hamel_type, "chaplygin-type": chaplygin_type}


def characteristics_option() -> Any:
    """``characteristics`` of the forms in quasi-velocities."""
    return option("characteristics", "Quasi-velocities: a new name and what it is, an expression of q, q̇ and t.")


def inverse_option() -> Any:
    """``inverse`` of the forms in quasi-velocities."""
    return option(
        "inverse", 'The velocities by the quasi-velocities, or "newton"; left out, one in closed form if found.'
    )


def release_option() -> Any:
    """``release`` of the forms in quasi-velocities."""
    return option("release", "New names for the deviations from constraints, xi_<constraint> when left out.")


@register
@dataclass(frozen=True)
class Hamel(MechanicalForm):
    """Quasi-velocities, the ``characteristics`` {e1: expression of q, q̇ and t} of the user's choice.

    ``kind`` is "voronets-hamel" (8) or "chaplygin-type" (7). ``inverse`` is a closed form {q̇: expression of e} or
    "newton"; ``release`` {constraint: ξ} names release parameters.
    """

    name = "hamel"
    summary = "Hamel's equations in quasi-velocities."

    characteristics: Mapping[sp.Expr, sp.Expr] | None = characteristics_option()
    kind: str = option(
        "choice", "How the equations in quasi-velocities are written.", default="voronets-hamel", allowed=tuple(KINDS)
    )
    inverse: Inverse = inverse_option()  # noqa: RUF009  # a field
    release: Mapping[str, sp.Expr] | None = release_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def refuse(self, mechanics: Mechanics) -> None:
        """Every system is accepted."""

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """The state (q, e)."""
        of = build_characteristics(mechanics, self.characteristics, self.release, self.inverse, self.at, samples)
        return quasi_variables(mechanics, of)

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """ė from the first k equations, the reactions from the others."""
        return eliminate_quasi(mechanics, variables.chart, KINDS[self.kind], samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """q̇ = q̇(q, e, t), then the n equations."""
        return quasi_lines(equations, KINDS[self.kind])
