"""The integrators: Taylor series, BDF, and fixed-step methods. Importing this package fills the registry of methods."""

from vinculum.simulation.integrators.adams import Adams
from vinculum.simulation.integrators.automatic import Automatic
from vinculum.simulation.integrators.bdf import BDF
from vinculum.simulation.integrators.methods import METHODS, Method, method_from, method_names, register
from vinculum.simulation.integrators.runge_kutta import RungeKutta
from vinculum.simulation.integrators.taylor import Taylor

__all__ = [
    "METHODS",
    "Adams",
    "Automatic",
    "BDF",
    "Method",
    "RungeKutta",
    "Taylor",
    "method_from",
    "method_names",
    "register",
]
