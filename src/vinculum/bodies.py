"""Trees of rigid bodies: loops and contacts, poses, compiled dynamics, control of manipulators, drawings.

`vinculum.Body`, `vinculum.BodyTree` and `vinculum.from_urdf` build the tree itself.
"""

from vinculum.compile.dynamics import Dynamics, dynamics
from vinculum.control.manipulators import computed_torque, gravity_compensation, task_path
from vinculum.derivation.bodies.theorem import KineticEnergy, closed_form_kinetic_energy
from vinculum.describe.bodies import Helical, Loop, Rolling, Sliding, denavit_hartenberg, rotation_rpy, servo_path
from vinculum.present.tree_drawing import draw_tree, tree_figure

__all__ = [
    # describe
    "Helical",
    "Loop",
    "Rolling",
    "Sliding",
    "denavit_hartenberg",
    "rotation_rpy",
    "servo_path",
    # compute
    "dynamics",
    "Dynamics",
    "closed_form_kinetic_energy",
    "KineticEnergy",
    # control
    "computed_torque",
    "gravity_compensation",
    "task_path",
    # draw
    "draw_tree",
    "tree_figure",
]
