"""Vinculum: constrained mechanical systems, from energies and constraints to a checked simulation.

State a system, derive its equations in a classical form, simulate them without drift:

    >>> import sympy as sp
    >>> import vinculum as vn
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> x, y = dynamicsymbols("x y")
    >>> m, g, l = sp.symbols("m g l")
    >>> pendulum = vn.System(
    ...     coordinates=[x, y],
    ...     kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
    ...     potential_energy=m * g * y,
    ...     constraints=[vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
    ...     parameters={m: 1.0, g: 9.81, l: 1.0},
    ... )
    >>> equations = vn.derive(pendulum, form="lyapunov")
    >>> equations.reactions["rod"]
    (g*y(t) - Derivative(x(t), t)**2 - Derivative(y(t), t)**2)/(x(t)**2/m + y(t)**2/m)
    >>> motion = vn.simulate(equations, initial={x: 0.6, y: -0.8}, times=(0, 10))
    >>> motion.energy_error < 1e-13 and max(motion.largest_residuals.values()) < 1e-13
    True
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vinculum.public import *

__all__ = [
    # describe
    "System",
    "Holonomic",
    "Nonholonomic",
    "Servo",
    "DCMotor",
    "motorize",
    "charge_of",
    "voltage_of",
    "AffineSystem",
    "spline",
    "Body",
    "BodyTree",
    "Loop",
    "Rolling",
    "Sliding",
    "from_urdf",
    "denavit_hartenberg",
    "rotation",
    "servo_path",
    "load",
    "loads",
    "Model",
    # derive
    "derive",
    "EquationsOfMotion",
    "ProgramEquations",
    "affine",
    "Binomial",
    "LinearPerturbation",
    "Perturbation",
    "residual",
    "helmholtz",
    "euler_lagrange",
    "multiplier",
    "inverse_problem",
    "kinetic_energy",
    "KineticEnergy",
    "quasi_velocities",
    "QuasiVelocities",
    "release",
    "release_matrices",
    # compile
    "dynamics",
    "Dynamics",
    # simulate
    "simulate",
    "consistent",
    "Baumgarte",
    "Sampled",
    "Guaranteed",
    "gain_interval",
    "decay",
    "Projection",
    "Unstabilized",
    "Event",
    "reaction",
    "Trajectory",
    "Outcome",
    "read",
    # analyze
    "equilibrium",
    "Equilibrium",
    "linearize",
    "LinearModel",
    "stability",
    "Verdict",
    "symbolic_matrices",
    "characteristic_polynomial",
    "hurwitz_conditions",
    "stability_region",
    "Region",
    "controllability",
    "observability",
    "least_number",
    "sufficient_inputs",
    "sufficient_outputs",
    "Mode",
    "realizability",
    "Realizability",
    "idealized",
    "servo_power",
    "internal_dynamics",
    "InternalDynamics",
    # control
    "stabilize",
    "FeedbackLaw",
    "observe",
    "Estimator",
    "close_loop",
    "closed_model",
    "region_of_attraction",
    "Attraction",
    "computed_torque",
    "gravity_compensation",
    "task_path",
    "stabilize_free_motion",
    # study
    "examine",
    "Findings",
    # present
    "write_report",
    "draw_tree",
    "tree_figure",
    # errors
    "VinculumError",
    "ModelError",
    "ModelFileError",
    "DomainError",
    "ConstraintError",
    "SingularError",
]
__version__ = "0.1.0"

_PARTS = (
    "graph",
    "describe",
    "derivation",
    "compile",
    "simulation",
    "analyze",
    "control",
    "model",
    "present",
    "errors",
    "names",
)


def __getattr__(name: str) -> Any:
    """A public name, or a part of the package: imported at its first use, so that ``vinculum --help`` is quick."""
    if name in _PARTS:
        return import_module(f"vinculum.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'vinculum' has no attribute {name!r}")
    value = getattr(import_module("vinculum.public"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_PARTS, "__version__"]


class _Package(ModuleType):
    """``derive`` and ``simulate`` are functions and folders: importing the folder must not hide the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
