"""Names of the previous version. They still work for one more version and warn with the new name."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

MOVED = {
    # old name: its new place, as a path inside the package
    "DCMotor": "motors.DCMotor",
    "motorize": "motors.motorize",
    "charge_of": "motors.charge_of",
    "voltage_of": "motors.voltage_of",
    "Loop": "bodies.Loop",
    "Rolling": "bodies.Rolling",
    "Sliding": "bodies.Sliding",
    "denavit_hartenberg": "bodies.denavit_hartenberg",
    "rotation": "bodies.rotation_rpy",
    "servo_path": "bodies.servo_path",
    "dynamics": "bodies.dynamics",
    "Dynamics": "bodies.Dynamics",
    "kinetic_energy": "bodies.closed_form_kinetic_energy",
    "KineticEnergy": "bodies.KineticEnergy",
    "computed_torque": "bodies.computed_torque",
    "gravity_compensation": "bodies.gravity_compensation",
    "task_path": "bodies.task_path",
    "draw_tree": "bodies.draw_tree",
    "tree_figure": "bodies.tree_figure",
    "loads": "model.loads",
    "ModelFileError": "model.ModelFileError",
    "Findings": "model.examine.Results",
    "ProgramEquations": "program.ProgramEquations",
    "affine": "program.to_affine",
    "Binomial": "program.Binomial",
    "LinearPerturbation": "program.LinearPerturbation",
    "Perturbation": "program.Perturbation",
    "residual": "program.residual",
    "helmholtz": "program.helmholtz",
    "euler_lagrange": "program.euler_lagrange",
    "multiplier": "program.integrating_multiplier",
    "inverse_problem": "program.inverse_problem",
    "quasi_velocities": "quasi.quasi_velocities",
    "QuasiVelocities": "quasi.QuasiVelocities",
    "release": "quasi.release",
    "release_matrices": "quasi.release_matrices",
    "consistent": "consistent_state",
    "gain_interval": "simulation.gain_interval",
    "decay": "simulation.decay_bound",
    "Outcome": "simulation.Outcome",
    "read": "read_trajectory",
    "Equilibrium": "linear.Equilibrium",
    "LinearModel": "linear.LinearModel",
    "Verdict": "linear.Verdict",
    "Mode": "linear.Mode",
    "controllability": "linear.controllability",
    "observability": "linear.observability",
    "least_number": "linear.minimum_actuators",
    "sufficient_inputs": "linear.sufficient_inputs",
    "sufficient_outputs": "linear.sufficient_outputs",
    "symbolic_matrices": "hurwitz.symbolic_matrices",
    "characteristic_polynomial": "hurwitz.characteristic_polynomial",
    "hurwitz_conditions": "hurwitz.hurwitz_conditions",
    "stability_region": "hurwitz.stability_region",
    "Region": "hurwitz.Region",
    "realizability": "servo.realizability",
    "Realizability": "servo.Realizability",
    "idealized": "servo.idealized",
    "servo_power": "servo.servo_power",
    "internal_dynamics": "servo.internal_dynamics",
    "InternalDynamics": "servo.InternalDynamics",
    "FeedbackLaw": "feedback.FeedbackLaw",
    "Estimator": "feedback.Estimator",
    "closed_model": "feedback.closed_model",
    "region_of_attraction": "feedback.region_of_attraction",
    "Attraction": "feedback.Attraction",
    "stabilize_free_motion": "feedback.stabilize_free_motion",
    "DomainError": "errors.DomainError",
    "ConstraintError": "errors.ConstraintError",
    "SingularError": "errors.SingularError",
}


def renamed(old: str, new: str) -> property:
    """An attribute of a record under its old name."""

    def read(record: Any) -> Any:
        warn(f"{type(record).__name__}.{old} is now {type(record).__name__}.{new}", stacklevel=4)
        return getattr(record, new)

    return property(read, doc=f"The old name of `{new}`.")


def moved(old: str) -> Any:
    """The object behind an old name, with a warning that gives the new one."""
    module, _, name = f"vinculum.{MOVED[old]}".rpartition(".")
    warn(f"vinculum.{old} is now {module}.{name}", stacklevel=4)
    return getattr(import_module(module), name)


def warn(change: str, stacklevel: int) -> None:
    """Warn at the line that uses the old name: ``stacklevel`` counts the calls from there."""
    warnings.warn(f"{change}; the old name will be removed in version 0.3.", DeprecationWarning, stacklevel)
