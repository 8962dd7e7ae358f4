"""Projection onto the constraints: what it needs, and the step after which a Taylor integration goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vinculum.derivation.mechanics.sample_states import correction
from vinculum.graph import Node, jacobian
from vinculum.simulation.problem.problem import Problem

_MOST_ITERATIONS = 8


class Level(NamedTuple):
    """Residuals and the consecutive states that are moved to make them vanish."""

    first: int  # number of the first state that moves
    moved: int  # how many move
    residuals: int
    start: int  # where the residuals stand among the outputs, followed by the rows of their Jacobian


def projection_outputs(problem: Problem) -> tuple[list[Node], list[Level]]:
    """The outputs a projection needs, and how to read them."""
    outputs: list[Node] = []
    levels = []
    for residuals, variables in problem.integrable.projections:
        if residuals:
            first = problem.nodes.state.index(variables[0])
            levels.append(Level(first, len(variables), len(residuals), len(outputs)))
            outputs += [*residuals, *jacobian(residuals, variables).ravel()]
    return outputs, levels


def project_after_step(problem: Problem) -> Callable[[Any], bool]:
    """A callback for heyoka that moves the state onto the constraints, positions first, then velocities."""
    nodes, levels = projection_outputs(problem)
    values = problem.compiled(nodes)

    def project(integrator: Any) -> bool:
        x = integrator.state
        for first, count, rows, start in levels:
            moved = slice(first, first + count)
            for _ in range(_MOST_ITERATIONS):
                out = values(integrator.time, x, problem.values)[start:]
                step = correction(out[rows : rows + rows * count].reshape(rows, count), out[:rows])
                if not np.all(np.isfinite(step)):
                    return True
                x[moved] -= step
                if np.abs(step).max() <= 1e-14 * (1 + np.abs(x[moved]).max()):
                    break
        return True

    return project
