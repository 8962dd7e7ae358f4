"""A tree with the values of its parameters written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies.body import Body
from vinculum.describe.bodies.tree import BodyTree

_QUANTITIES = (
    "origin", "mass", "center_of_mass", "inertia", "damping", "stiffness", "rest", "friction", "rotor_inertia",
    "gear_ratio",
)  # fmt: skip


def with_numbers(tree: BodyTree) -> BodyTree:
    """The same tree without parameters: every symbol replaced by its value."""
    if not tree.parameters:
        return tree
    bodies = [_body(body, tree.parameters) for body in tree.bodies]
    gravity = [_number(x, tree.parameters) for x in tree.gravity]
    moving: dict[str, Any] = {
        key: None if value is None else sp.Matrix(value).subs(dict(tree.parameters)).tolist()
        for key, value in (("base_rotation", tree.base_rotation),)
    }
    for key in ("base_velocity", "base_angular_velocity"):
        given = getattr(tree, key)
        moving[key] = None if given is None else [sp.sympify(x).subs(dict(tree.parameters)) for x in given]
    return replace(tree, bodies=bodies, gravity=gravity, parameters={}, **moving)


def _body(body: Body, parameters: Mapping[sp.Symbol, float]) -> Body:
    joint = body.joint
    if not isinstance(joint, str):
        joint = replace(joint, **{key: _number(x, parameters) for key, x in joint.numbers().items()})
    return replace(body, joint=joint, **{key: _number(getattr(body, key), parameters) for key in _QUANTITIES})


def _number(value: Any, parameters: Mapping[sp.Symbol, float]) -> Any:
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(_number(x, parameters) for x in value)
    if isinstance(value, sp.MatrixBase):
        return tuple(tuple(_number(x, parameters) for x in value.row(i)) for i in range(value.rows))
    return float(sp.sympify(value).subs(dict(parameters))) if isinstance(value, sp.Basic) else value
