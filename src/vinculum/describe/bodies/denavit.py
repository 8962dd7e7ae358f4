"""Bodies from Denavit-Hartenberg tables.

standard   link frame at the far end:   A_i = Rz(θ) Tz(d) Tx(a) Rx(α)
modified   link frame at its own joint: A_i = Rx(α) Tx(a) Rz(θ) Tz(d)   (Craig), with a and α of the previous link
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies.body import Body, has_symbols
from vinculum.describe.bodies.joint_dimensions import OF_LINKS
from vinculum.errors import ModelError
from vinculum.names import suggestion
from vinculum.units.dimensions import NONE
from vinculum.units.given import number_in_si

_KEYS = ("theta", "d", "a", "alpha", "joint", "name", "center_of_mass", "inertia")


def rotation_rpy(roll: Any = 0.0, pitch: Any = 0.0, yaw: Any = 0.0) -> np.ndarray:
    """The rotation Rz(yaw) Ry(pitch) Rx(roll) of URDF, body axes as columns; quarter turns are exact.

    Angles may be SymPy expressions of parameters; the matrix then contains expressions.
    """
    roll, pitch, yaw = number_in_si((roll, pitch, yaw), NONE, "angles", "Invalid rotation")
    return axis_rotation(2, yaw) @ axis_rotation(1, pitch) @ axis_rotation(0, roll)


def axis_rotation(k: int, angle: Any) -> np.ndarray:
    """The rotation about coordinate axis k."""
    if has_symbols([angle]):
        R = np.eye(3).astype(object)
        i, j = (k + 1) % 3, (k + 2) % 3
        R[i, i] = R[j, j] = sp.cos(angle)
        R[i, j], R[j, i] = -sp.sin(angle), sp.sin(angle)
        return R
    quarter = round(float(angle) / (np.pi / 2))
    exact = abs(float(angle) - quarter * np.pi / 2) < 4e-16 * max(1, abs(quarter))
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarter % 4] if exact else (np.cos(float(angle)), np.sin(float(angle)))
    R = np.eye(3)
    i, j = (k + 1) % 3, (k + 2) % 3
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def denavit_hartenberg(
    links: Sequence[Mapping[str, Any]], parent: str | None = None, convention: str = "standard"
) -> list[Body]:
    """A chain of bodies from rows {d, a, alpha, theta, joint, name, mass, center_of_mass, inertia, ...}.

    Missing numbers are zero, and numbers may have units ("90 deg"); ``joint`` is "revolute" (θ is the offset) or
    "prismatic" (d is the offset). Center of mass and inertia are in the link frame of the convention; all other keys
    are passed to `Body`. The origin of each body's frame lies on the joint axis; `link_frame` gives the table's frame
    in it.

    >>> [body.name for body in denavit_hartenberg([{"a": 1.0, "mass": 1}, {"a": 1.0, "mass": 1}])]
    ['link 1', 'link 2']
    """
    if convention not in ("standard", "modified"):
        raise ModelError(
            "Invalid Denavit-Hartenberg table", [f"its convention is {convention!r}; use 'standard' or 'modified'."]
        )
    _refuse_unknown(links)
    links = [
        link | {k: number_in_si(link[k], OF_LINKS[k], k, f"Invalid row {i}") for k in OF_LINKS if k in link}
        for i, link in enumerate(map(dict, links), start=1)
    ]
    bodies: list[Body] = []
    before = (np.eye(3), np.zeros(3))  # the joint's frame in the previous body
    for i, link in enumerate(links, start=1):
        made, before = _standard(link, i, parent, before) if convention == "standard" else _modified(link, i, parent)
        bodies.append(made)
        parent = made.name
    return bodies


def _refuse_unknown(links: Sequence[Mapping[str, Any]]) -> None:
    known = {*_KEYS, *(f.name for f in fields(Body))} - {"parent", "axis", "origin", "rotation"}
    found = [
        f"row {i} has {key!r}.{suggestion(key, known)} The keys are {', '.join(sorted(known))}."
        for i, link in enumerate(links, start=1)
        for key in link
        if key not in known
    ]
    if found:
        raise ModelError("Invalid Denavit-Hartenberg table", found)


def link_frame(link: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and origin of a standard row's frame in its body's frame: Tx(a) Rx(α), after Tz(d)."""
    d = 0.0 if link.get("joint") == "prismatic" else float(link.get("d", 0))
    return axis_rotation(0, float(link.get("alpha", 0))), np.array([float(link.get("a", 0)), 0.0, d])


def _standard(link: Mapping[str, Any], i: int, parent: str | None, before: tuple) -> tuple[Body, tuple]:
    R, p = before
    offset = axis_rotation(2, float(link.get("theta", 0)))
    shift = float(link.get("d", 0)) if link.get("joint") == "prismatic" else 0.0
    turn, place = link_frame(link)
    center = place + turn @ np.array(link.get("center_of_mass", (0, 0, 0)), dtype=float)
    center = center if link.get("mass", 0) != 0 else np.zeros(3)
    body = _body(link, i, parent, p + R @ (0, 0, shift), R @ offset, center, turn)
    return body, (turn, place)


def _modified(link: Mapping[str, Any], i: int, parent: str | None) -> tuple[Body, tuple]:
    R = axis_rotation(0, float(link.get("alpha", 0)))
    p = np.array([float(link.get("a", 0)), 0.0, 0.0]) + R @ (0, 0, float(link.get("d", 0)))
    center = np.array(link.get("center_of_mass", (0, 0, 0)), dtype=float)
    return _body(link, i, parent, p, R @ axis_rotation(2, float(link.get("theta", 0))), center, np.eye(3)), ()


def _body(link: Mapping[str, Any], i: int, parent: str | None, p: Any, R: Any, center: Any, turn: Any) -> Body:
    from vinculum.describe.bodies.body import inertia_matrix

    J = np.array(inertia_matrix(link.get("inertia", 0)), dtype=float)
    others = {key: value for key, value in link.items() if key not in _KEYS}
    name = str(link.get("name", f"link {i}"))
    return Body(
        name, parent, joint=link.get("joint", "revolute"), origin=tuple(map(float, p)),
        rotation=R, center_of_mass=tuple(map(float, center)), inertia=turn @ J @ turn.T, **others,
    )  # fmt: skip
