"""Curves through points that a motion used beyond their points, where nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.graph import order
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.recorder import Segment


@dataclass(frozen=True)
class Beyond:
    """The range in which a curve was used, and the range of its points."""

    name: str
    used: tuple[float, float]
    points: tuple[float, float]

    def __str__(self) -> str:
        used, points = (f"{low:.6g} to {high:.6g}" for low, high in (self.used, self.points))
        return f"{self.name} was used from {used}, beyond its points ({points})"


def beyond_points(segments: tuple[Segment, ...]) -> tuple[Beyond, ...]:
    """The curves of a run that went beyond their points at one of its samples."""
    found: dict[str, Beyond] = {}
    for segment in segments:
        for beyond in _beyond(segment.problem, segment):
            before = found.get(beyond.name, beyond)
            low, high = min(beyond.used[0], before.used[0]), max(beyond.used[1], before.used[1])
            found[beyond.name] = Beyond(beyond.name, (low, high), beyond.points)
    outside = [b for b in found.values() if b.used[0] < _slack(b, 0) or b.used[1] > _slack(b, 1)]
    return tuple(outside)


def _slack(beyond: Beyond, end: int) -> float:
    """The end of the points, with rounding."""
    low, high = beyond.points
    return beyond.points[end] + (-1, 1)[end] * 1e-9 * (high - low)


def _beyond(problem: Problem, segment: Segment) -> list[Beyond]:
    """The range of every curve in a stretch."""
    curves = {(node.value.name, node.args[0]): node.value for node in order(problem.nodes.rates) if node.op == "spline"}
    if not curves:
        return []
    values = segment.rows([argument for _, argument in curves])
    ranges = zip(curves.values(), np.min(values, axis=0), np.max(values, axis=0), strict=True)
    return [Beyond(p.name, (float(low), float(high)), (p.knots[0], p.end)) for p, low, high in ranges]
