"""The integrators: Taylor series, BDF, and fixed-step methods. Importing this package fills the registry of methods."""
# ruff: noqa: I001 - methods are registered, and listed, in this order

from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.integrators.bdf import BDF
from vinculum.simulation.integrators.automatic import Automatic
from vinculum.simulation.integrators.runge_kutta import RungeKutta
from vinculum.simulation.integrators.adams import Adams
from vinculum.simulation.integrators.methods import METHODS, Method, method_from, method_names, register

__all__ = [
    "BDF",
    "METHODS",
    "Adams",
    "Automatic",
    "Method",
    "RungeKutta",
    "Taylor",
    "method_from",
    "method_names",
    "register",
]
