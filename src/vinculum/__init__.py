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

# describe
from vinculum.describe import (
    AffineSystem,
    DCMotor,
    Holonomic,
    Nonholonomic,
    Servo,
    System,
    charge_of,
    motorize,
    spline,
    voltage_of,
)
from vinculum.describe.bodies import (
    Body,
    BodyTree,
    Loop,
    Rolling,
    Sliding,
    denavit_hartenberg,
    from_urdf,
    rotation,
    servo_path,
)

# derive
from vinculum.derive import EquationsOfMotion, ProgramEquations, derive
from vinculum.derive.affine_form import affine
from vinculum.derive.helmholtz import euler_lagrange, helmholtz, multiplier
from vinculum.derive.inverse import inverse_problem
from vinculum.derive.perturbation import Binomial, LinearPerturbation, Perturbation, residual
from vinculum.derive.release import release, release_matrices
from vinculum.derive.bodies.closed_form import KineticEnergy, kinetic_energy

# compile
from vinculum.compile.dynamics import Dynamics, dynamics

# simulate
from vinculum.simulate import (
    Baumgarte,
    Event,
    Guaranteed,
    Outcome,
    Projection,
    Sampled,
    Trajectory,
    Unstabilized,
    consistent,
    decay,
    gain_interval,
    reaction,
    read,
    simulate,
)

# analyze
from vinculum.analyze import (
    Equilibrium,
    LinearModel,
    Mode,
    Region,
    Verdict,
    characteristic_polynomial,
    controllability,
    equilibrium,
    hurwitz_conditions,
    least_number,
    linearize,
    observability,
    stability,
    stability_region,
    sufficient_inputs,
    sufficient_outputs,
    symbolic_matrices,
)

from vinculum.analyze.internal import InternalDynamics, internal_dynamics
from vinculum.analyze.servo import Realizability, idealized, realizability, servo_power

# control
from vinculum.control import (
    Attraction,
    Estimator,
    FeedbackLaw,
    close_loop,
    closed_model,
    observe,
    region_of_attraction,
    stabilize,
)
from vinculum.control.free_motion import stabilize_free_motion
from vinculum.control.manipulators import computed_torque, gravity_compensation, task_path

# present
from vinculum.present.tree_drawing import draw_tree, tree_figure

# errors
from vinculum.errors import ConstraintError, DomainError, ModelError, SingularError, VinculumError

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
    # compile
    "dynamics",
    "Dynamics",
    "release",
    "release_matrices",
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
    # present
    "draw_tree",
    "tree_figure",
    "stabilize_free_motion",
    # errors
    "VinculumError",
    "ModelError",
    "DomainError",
    "ConstraintError",
    "SingularError",
]
__version__ = "0.1.0"
