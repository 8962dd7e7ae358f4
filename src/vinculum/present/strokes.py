"""The moving lines of a scene, and the expressions and units of a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.expressions import as_expression

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Stroke:
    """One moving line."""

    name: str
    kind: str  # bar, line, disc, ring, point or arrow
    places: np.ndarray  # (frames, points, 2 or 3)

    @property
    def still(self) -> bool:
        """Whether it does not move."""
        return bool(np.ptp(self.places, axis=0).max(initial=0.0) == 0.0)


@dataclass(frozen=True, eq=False)
class Scene:
    """All lines of a mechanism at some instants, and the paths of points."""

    t: np.ndarray  # (frames)
    strokes: tuple[Stroke, ...]
    paths: Mapping[str, np.ndarray]  # (samples, 2 or 3)
    note: str = ""  # the scale of arrows

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self.strokes[0].places.shape[-1]

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounding box of everything drawn at any instant, without values that are not finite."""
        places = np.concatenate([s.places.reshape(-1, self.dimension) for s in self.strokes])
        places = places[np.all(np.isfinite(places), axis=1)]
        if not len(places):
            return -np.ones(self.dimension), np.ones(self.dimension)
        return places.min(axis=0), places.max(axis=0)


def has_units(motion: Trajectory) -> bool:
    """Whether the quantities of a motion have units."""
    system = None if motion.problem is None else getattr(motion.problem.equations, "system", None)
    return bool(getattr(system, "units", {}))


def values_of(motion: Trajectory, expressions: Sequence[sp.Expr]) -> np.ndarray:
    """Expressions at every sample, compiled together: (samples, expressions)."""
    given = [as_expression(e) for e in expressions]
    if motion.problem is None:
        return np.stack([motion(e) for e in given], axis=1)
    return motion.rows(lambda problem: [problem.nodes.node(e, "the drawing") for e in given])
