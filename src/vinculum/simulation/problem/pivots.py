"""Pivots (and dependent coordinates, if they are ours to choose) chosen anew along a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vinculum.errors import SingularError
from vinculum.graph import evaluate
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.outcome import Outcome

_MOST_IN_PLACE = 20  # new choices without getting any further


def repivoted(
    problem: Problem, t: float, x: np.ndarray, beyond: tuple[float, np.ndarray] | None = None
) -> tuple[Problem, np.ndarray]:
    """The same problem with pivots (and dependent coordinates) chosen at a state, which comes in its own variables.

    Raises where no choice is good. ``beyond`` is a state further on for which the choice must be good too.
    """
    known = problem.everything(t, x)
    equations = problem.equations.adapted(known)
    if beyond is not None and np.all(np.isfinite(beyond[1])):
        explicit = equations.chosen_for(known, problem.everything(*beyond))
    else:
        explicit = equations.explicit(known)
    explicit = replace(explicit, numbers=tuple(evaluate(explicit.pivots, known)))
    changed = problem.with_nodes(equations=equations, explicit=explicit)
    if equations is problem.equations:
        return changed, x
    further = x[len(problem.equations.states) :]
    return changed, np.array([*equations.state_values(known), *further])


def repivoted_after(
    problem: Problem, outcome: Outcome, t: float, x: np.ndarray, stuck: int
) -> tuple[Problem, np.ndarray]:
    """The problem with new pivots where a stretch ended; next to a singular configuration, or stuck, an error."""
    changed, y = repivoted(problem, t, x, outcome.beyond)
    reason = changed.equations.singular_at(changed.everything(t, y))
    if not reason and outcome.beyond and changed.nodes.explicit.pivots == problem.nodes.explicit.pivots:
        reason = f"{outcome.reason}; take a smaller step, or another form"
    if not reason and stuck > _MOST_IN_PLACE:
        reason = "the equations stay next to a singular configuration"
    if reason:
        raise SingularError(reason)
    return changed, y
