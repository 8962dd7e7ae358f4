"""Dimensions of what a tree of bodies states: lengths, masses, and what belongs to a coordinate of a joint.

A coordinate q is an angle (a pure number) or a displacement; the power of a force Q on it is Q dq/dt, so that

    [Q] = E/[q],   [damping] = E s/[q]²,   [stiffness] = E/[q]²,   [rotor inertia] [gear]² = E s²/[q]².
"""

from __future__ import annotations

from vinculum.model.units.dimensions import ENERGY, LENGTH, MASS, NONE, TIME, Dimension, over

INERTIA = over(ENERGY, over(NONE, TIME), over(NONE, TIME))
OF_BODIES: dict[str, Dimension] = {"mass": MASS, "inertia": INERTIA}
OF_LINKS: dict[str, Dimension] = {"theta": NONE, "d": LENGTH, "a": LENGTH, "alpha": NONE}
_KINDS = {
    "revolute": (NONE,),
    "prismatic": (LENGTH,),
    "cylindrical": (LENGTH, NONE),
    "universal": (NONE, NONE),
    "planar": (LENGTH, LENGTH, NONE),
    "spherical": (NONE, NONE, NONE, NONE),
    "free": (LENGTH, LENGTH, LENGTH, NONE, NONE, NONE, NONE),
}


def of_coordinates(joint: str) -> tuple[Dimension, ...]:
    """Of the coordinates of a joint."""
    return _KINDS.get(joint, ())


def of_torques(joint: str) -> tuple[Dimension, ...]:
    """Of the inputs that act on a joint; a ball joint has three moments."""
    forces = tuple(over(ENERGY, q) for q in of_coordinates(joint))
    return forces[:-1] if joint in ("spherical", "free") else forces


def of_quantity(key: str, q: Dimension, gear: Dimension | None) -> Dimension | None:
    """Of damping, stiffness, ... of a joint coordinate; ``gear`` is None where it is a plain number."""
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
