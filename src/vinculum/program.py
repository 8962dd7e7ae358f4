"""Program constraints and inverse problems: perturbation equations, Helmholtz conditions, integrating multipliers."""

from vinculum.derivation import ProgramEquations
from vinculum.derivation.program.affine_form import to_affine
from vinculum.derivation.program.helmholtz import euler_lagrange, helmholtz, integrating_multiplier
from vinculum.derivation.program.inverse_problem import inverse_problem
from vinculum.derivation.program.perturbation import Binomial, LinearPerturbation, Perturbation, residual

__all__ = [
    "ProgramEquations",
    "to_affine",
    "Binomial",
    "LinearPerturbation",
    "Perturbation",
    "residual",
    "helmholtz",
    "euler_lagrange",
    "integrating_multiplier",
    "inverse_problem",
]
