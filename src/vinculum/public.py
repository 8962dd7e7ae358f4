"""The public names of Vinculum and where they live, in the order of the flow. `vinculum` gives them when asked."""

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
from vinculum.model import ModelFileError, load, loads
from vinculum.model.model import Model
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
from vinculum.derivation import EquationsOfMotion, ProgramEquations, derive
from vinculum.derivation.program.affine_form import affine
from vinculum.derivation.program.helmholtz import euler_lagrange, helmholtz, multiplier
from vinculum.derivation.program.inverse_problem import inverse_problem
from vinculum.derivation.program.perturbation import Binomial, LinearPerturbation, Perturbation, residual
from vinculum.derivation.quasi.quasi_velocities import QuasiVelocities, quasi_velocities
from vinculum.derivation.quasi.release import release, release_matrices
from vinculum.derivation.bodies.closed_form import KineticEnergy, kinetic_energy

# compile
from vinculum.compile.dynamics import Dynamics, dynamics

# simulate
from vinculum.simulation import (
    Baumgarte,
    Event,
    Guaranteed,
    Outcome,
    Projection,
    Sampled,
    Trajectory,
    Unstabilized,
    consistent,
    reaction,
    read,
    simulate,
)
from vinculum.simulation import decay
from vinculum.simulation import gain_interval

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

# study
from vinculum.model.examine import Findings, examine

# present
from vinculum.present.report import write_report
from vinculum.present.tree_drawing import draw_tree, tree_figure

# errors
from vinculum.errors import ConstraintError, DomainError, ModelError, SingularError, VinculumError
