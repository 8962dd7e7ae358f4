"""Maggi's equations: Lagrange's equations projected on the directions of the quasi-velocities (Maggi 1896).

    L_a = Σ_i K_ia (M q̈ + h)_i,    K = ∂q̇/∂e

They need no derivatives of T̃(q, e, t).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, rates_option, register
from vinculum.derivation.forms.hamel import characteristics_option, inverse_option, release_option
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import Mechanics, product
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line
from vinculum.derivation.quasi.characteristics import Inverse, build_characteristics
from vinculum.derivation.quasi.chart import Chart
from vinculum.derivation.quasi.quasi_equations import eliminate_quasi, quasi_lines, quasi_variables
from vinculum.derivation.variables import Variables


@register
@dataclass(frozen=True)
class Maggi(MechanicalForm):
    """Lagrange's equations projected on the directions of the ``characteristics``; the options are those of Hamel."""

    name = "maggi"
    summary = "Maggi's equations in quasi-velocities."

    characteristics: Mapping[sp.Expr, sp.Expr] | None = characteristics_option()
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
        return eliminate_quasi(mechanics, variables.chart, maggi_type, samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """q̇ = q̇(q, e, t), then the n equations."""
        return quasi_lines(equations, maggi_type)


def maggi_type(mechanics: Mechanics, at: Chart) -> np.ndarray:
    """L_a = Σ_i K_ia (M q̈ + h)_i."""
    accelerations = at.rate(at.velocities)
    return product(at.K.T, product(at.seen(mechanics.M), accelerations) + at.seen(mechanics.h))
