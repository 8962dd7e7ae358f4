"""Dimensions of the numbers of bodies and joints.

A joint coordinate q is an angle (a pure number) or a displacement; the power of a force Q on it is Q dq/dt, so

    [Q] = E/[q],   [damping] = E s/[q]²,   [stiffness] = E/[q]²,   [rotor inertia] [gear]² = E s²/[q]².
"""

from __future__ import annotations

from dataclasses import fields

from vinculum.describe.bodies.joints import JOINTS, Joint
from vinculum.units.dimensions import ENERGY, LENGTH, MASS, NONE, TIME, Dimension, over

INERTIA = over(ENERGY, over(NONE, TIME), over(NONE, TIME))
OF_BODIES: dict[str, Dimension] = {"mass": MASS, "inertia": INERTIA}
OF_PLACES: dict[str, Dimension] = {"origin": LENGTH, "center_of_mass": LENGTH}
QUANTITIES = ("damping", "stiffness", "rest", "friction", "rotor_inertia", "gear_ratio")
OF_LINKS: dict[str, Dimension] = {"theta": NONE, "d": LENGTH, "a": LENGTH, "alpha": NONE}


def of_coordinates(joint: str | Joint) -> tuple[Dimension, ...]:
    """The dimensions of a joint's coordinates."""
    return tuple(LENGTH if is_length else NONE for is_length in JOINTS[str(joint)].lengths)


def of_torques(joint: str | Joint) -> tuple[Dimension, ...]:
    """The dimensions of the inputs that act on a joint; a ball joint has three moments."""
    forces = tuple(over(ENERGY, q) for q in of_coordinates(joint))
    return forces[:-1] if JOINTS[str(joint)].quaternion else forces


def of_joint(joint: str) -> dict[str, Dimension]:
    """The dimensions of the numbers of a joint, such as a pitch."""
    return {f.name: LENGTH if f.metadata.get("length") else NONE for f in fields(JOINTS[joint])}


def of_quantity(key: str, q: Dimension, gear: Dimension | None) -> Dimension | None:
    """The dimensions of damping, stiffness, ... of a joint coordinate; ``gear`` is None if it is a plain number."""
    if key == "gear_ratio":
        return NONE if q == NONE else None
    if key == "rotor_inertia":
        known = NONE if q == NONE else gear
        return None if known is None else over(ENERGY, over(q, TIME), over(q, TIME), known, known)
    return {
        "damping": over(ENERGY, q, over(q, TIME)),
        "stiffness": over(ENERGY, q, q),
        "rest": q,
        "friction": over(ENERGY, q),
    }[key]
