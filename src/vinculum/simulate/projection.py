"""Projection onto the constraints after every step of a Taylor integration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vinculum.derive.newton import correction
from vinculum.graph import Node
from vinculum.simulate.problem import Problem


def projection_nodes(problem: Problem) -> tuple[list[Node], int]:
    """Position residuals, velocity residuals, rows of J (holonomic ones first) and the number of holonomic rows."""
    mechanics = problem.equations.mechanics
    position = [f for f in mechanics.position if f is not None]
    order = sorted(range(len(mechanics.position)), key=lambda i: mechanics.position[i] is None)
    velocity = [mechanics.velocity[i] for i in order]
    return [*position, *velocity, *mechanics.J[order].ravel()], len(position)


def after_step(problem: Problem) -> Callable[[Any], bool]:
    """A callback for heyoka that moves the state onto the constraints, positions first, then velocities."""
    nodes, holonomic = projection_nodes(problem)
    values = problem.compiled(nodes)
    rows, n = len(problem.equations.system.constraints), len(problem.equations.system.coordinates)

    def project(integrator: Any) -> bool:
        x = integrator.state
        for count, first, offset in ((holonomic, 0, 0), (rows, holonomic, n)):
            for _ in range(8 if count else 0):
                out = values(integrator.time, x, problem.values)
                J = out[holonomic + rows :][: count * n].reshape(count, n)
                step = correction(J, out[first : first + count])
                if not np.all(np.isfinite(step)):
                    return True
                x[offset : offset + n] -= step
                if np.abs(step).max() <= 1e-14 * (1 + np.abs(x[offset : offset + n]).max()):
                    break
        return True

    return project
