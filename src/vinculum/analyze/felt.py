"""Which coordinates a motion must feel: a quick test by numbers before the exact one.

With dependent velocities v_D(q, v_I) the energy E has the slope

    dE/dq = E_q + E_v dv/dq,    dv_D/dq = -J_D⁻¹ (J v + c)_q,    dv_I/dq = 0.

A coordinate whose slope differs from point to point changes a force, so it is not ignorable with these velocities. (A
constant slope is a constant force, such as a weight.) This bounds the size of a closed set from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.analyze.descriptor import Descriptor
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import DomainError
from vinculum.graph import Node, jacobian, substitute, symbols

_POINTS, _CLEARLY = 3, 1e-6


@dataclass(frozen=True, eq=False)
class Slopes:
    """E_q, E_v, J and (J v + c)_q at a few points."""

    energy: np.ndarray  # (points, 2n)
    rows: np.ndarray  # (points, m, 2n)
    velocities: np.ndarray  # (points, n)

    def felt(self, dependent: Sequence[int]) -> np.ndarray:
        """Whether each coordinate changes a force, with these dependent velocities."""
        n, D = self.energy.shape[1] // 2, list(dependent)
        found, terms = [], []
        for E, Z in zip(self.energy, self.rows, strict=True):
            follow = np.linalg.lstsq(Z[:, n:][:, D], Z[:, :n], rcond=1e-12)[0] if D else np.zeros((0, n))
            found.append(E[:n] - E[n:][D] @ follow)
            terms.append(np.abs(E[:n]) + np.abs(E[n:][D]) @ np.abs(follow))
        return _differ(np.array(found), np.array(terms))

    def turns(self, x: int, y: int, heading: int) -> bool:
        """Whether a turn of the velocities ẋ, ẏ together with a heading changes a force: E_ψ - ẏ E_ẋ + ẋ E_ẏ."""
        n, v = self.velocities.shape[1], self.velocities.T
        terms = np.array([self.energy.T[heading], -v[y] * self.energy.T[n + x], v[x] * self.energy.T[n + y]])
        return bool(_differ(terms.sum(axis=0), np.abs(terms).sum(axis=0)))


def slopes_at_points(form: Descriptor, rows: Sequence[Node], values: Values) -> Slopes | None:
    """The slopes of the energy and of the velocity constraints near a sample state."""
    if form.mechanics is None:
        return None
    x = form.states[: 2 * form.coordinates]
    energy = substitute([form.mechanics.energy], form.turned)
    nodes = [*jacobian(energy, x).ravel(), *jacobian(list(rows), x).ravel()]
    points = _points(form, nodes, values)
    try:
        found = np.array([numbers(nodes, point) for point in points])
    except DomainError:
        return None
    if not np.all(np.isfinite(found)):
        return None
    velocities = np.array([[point.get(v, 0.0) for v in form.velocities] for point in points])
    return Slopes(found[:, : len(x)], found[:, len(x) :].reshape(_POINTS, len(rows), len(x)), velocities)


def _points(form: Descriptor, nodes: Sequence[Node], values: Values) -> list[dict[Node, float]]:
    random, present = np.random.default_rng(5), symbols(nodes)
    moved = [x for x in (*form.states, form.time) if x in present]
    sizes = [max(abs(values.get(x, 0.0)), 0.1) for x in moved]
    drawn = [[values.get(x, 0.0) + 0.3 * s * random.normal() for x, s in zip(moved, sizes, strict=True)]
             for _ in range(_POINTS)]  # fmt: skip
    return [{**values, **dict(zip(moved, map(float, numbers), strict=True))} for numbers in drawn]


def _differ(found: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Whether numbers differ from point to point by more than rounding errors of the terms they sum."""
    return np.ptp(found, axis=0) > _CLEARLY * terms.max(axis=0)
