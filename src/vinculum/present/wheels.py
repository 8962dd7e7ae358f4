"""Wheels and balls of a tree of bodies, which are drawn as discs instead of lines.

What rolls on a plane has a radius. A last body whose center of mass is on its joint and whose inertia has an axis of
symmetry is drawn as the disc with this inertia, I = m r²/2, or as the ball with I = 2 m r²/5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies import Body, BodyTree, Rolling
from vinculum.expressions import as_expression


@dataclass(frozen=True)
class Wheel:
    """A disc across ``axis`` (in the body's frame) or, without one, a ball."""

    body: str
    center: Sequence[Any]
    radius: sp.Expr
    axis: Sequence[float] | None

    @property
    def rim(self) -> list[sp.Expr]:
        """A point on the rim, in the body's frame, to which a spoke is drawn."""
        axis = np.array([0.0, 0.0, 1.0] if self.axis is None else self.axis, dtype=float)
        aside = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
        aside /= np.linalg.norm(aside)
        return [as_expression(c) + self.radius * float(x) for c, x in zip(self.center, aside, strict=True)]


def wheels(tree: BodyTree, last: Sequence[str]) -> list[Wheel]:
    """What rolls, and of the ``last`` bodies those that are symmetric about their joint."""
    rolling = [
        Wheel(c.body, tuple(c.center), as_expression(c.radius), c.axis) for c in tree.contacts if isinstance(c, Rolling)
    ]
    known = {wheel.body for wheel in rolling}
    others = [_symmetric(tree.body(name)) for name in last if name not in known]
    return rolling + [wheel for wheel in others if wheel is not None]


def _symmetric(body: Body) -> Wheel | None:
    """The disc or ball with the inertia of a body whose mass is centered at its joint."""
    inertia = [[as_expression(x) for x in row] for row in body.inertia_matrix]
    mass, moments = as_expression(body.mass), [inertia[i][i] for i in range(3)]
    aside = any(inertia[i][j] != 0 for i in range(3) for j in range(3) if i != j)
    if mass == 0 or aside or 0 in moments or any(as_expression(x) != 0 for x in body.center_of_mass):
        return None
    if moments[0] == moments[1] == moments[2]:
        return Wheel(body.name, (0, 0, 0), sp.sqrt(5 * moments[0] / (2 * mass)), None)
    for k in range(3):
        one, other = (moments[i] for i in range(3) if i != k)
        if one == other:
            axis = [float(i == k) for i in range(3)]
            return Wheel(body.name, (0, 0, 0), sp.sqrt(2 * moments[k] / mass), axis)
    return None
