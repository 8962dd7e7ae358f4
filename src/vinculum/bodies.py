"""Trees of rigid bodies: loops and contacts, poses, compiled dynamics, control of manipulators, drawings.

`vinculum.Body`, `vinculum.BodyTree` and `vinculum.from_urdf` build the tree itself. What computes, controls and draws
is loaded at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vinculum.describe.bodies import Helical, Loop, Rolling, Sliding, denavit_hartenberg, rotation_rpy, servo_path

if TYPE_CHECKING:
    from vinculum.compile.dynamics import Dynamics, dynamics
    from vinculum.control.manipulators import computed_torque, gravity_compensation, task_path
    from vinculum.derivation.bodies.theorem import KineticEnergy, closed_form_kinetic_energy
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

_LATE = {
    "vinculum.compile.dynamics": ("Dynamics", "dynamics"),
    "vinculum.control.manipulators": ("computed_torque", "gravity_compensation", "task_path"),
    "vinculum.derivation.bodies.theorem": ("KineticEnergy", "closed_form_kinetic_energy"),
    "vinculum.present.tree_drawing": ("draw_tree", "tree_figure"),
}


def __getattr__(name: str) -> Any:
    """Import a name at its first use."""
    for place, names in _LATE.items():
        if name in names:
            value = globals()[name] = getattr(import_module(place), name)
            return value
    raise AttributeError(f"module 'vinculum.bodies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
