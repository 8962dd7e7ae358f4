"""Sample states: numbers at which structure is looked at (pivots, ranks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vinculum.derive.mechanics import Mechanics
from vinculum.derive.newton import newton
from vinculum.errors import DomainError
from vinculum.graph import Node, evaluate, jacobian

Values = Mapping[Node, float]
Samples = Sequence[Values]  # the first is the state in question, the others stand for the states around


def numbers(nodes: np.ndarray | Sequence[Node], values: Values) -> np.ndarray:
    """An array of nodes as an array of numbers of the same shape."""
    array = np.asarray(nodes, dtype=object)
    return np.array(evaluate(list(array.ravel()), values), dtype=float).reshape(array.shape)


def stacked(nodes: np.ndarray, samples: Sequence[Values]) -> np.ndarray:
    """An array of nodes at every sample that lies in its domain, the first always: (samples, *shape)."""
    found = [numbers(nodes, samples[0])]
    for values in samples[1:]:
        try:
            found.append(numbers(nodes, values))
        except DomainError:
            continue
    return np.array(found)


def generic_states(mechanics: Mechanics, wanted: int = 6, tries: int = 30) -> list[dict[Node, float]]:
    """States in general position that meet the constraints, as many as wanted or as could be found.

    Deterministic: the same system always gets the same states.
    """
    random = np.random.default_rng(20_000)
    found: list[dict[Node, float]] = []
    for attempt in range(tries):
        values = _draw(mechanics, random, spread=0.5 + 0.05 * attempt)
        try:
            if _settle(mechanics, values):
                found.append(values)
        except DomainError:
            continue
        if len(found) == wanted:
            break
    return found


def _draw(mechanics: Mechanics, random: np.random.Generator, spread: float) -> dict[Node, float]:
    system, nodes = mechanics.system, mechanics.system.nodes
    free = [*nodes.q, *nodes.v, *nodes.inputs]
    values = dict(zip(free, random.normal(0.3, spread, len(free)), strict=True))
    values[nodes.time] = float(random.uniform(0.1, 0.9))
    return values | dict(zip(nodes.parameters, system.parameters.values(), strict=True))


def _settle(mechanics: Mechanics, values: dict[Node, float]) -> bool:
    """Move q onto the holonomic constraints, then q̇ onto the velocity constraints; update ``values``."""
    nodes = mechanics.system.nodes
    position = [f for f in mechanics.position if f is not None]
    done = True
    for residual, variables in ((position, nodes.q), (mechanics.velocity, nodes.v)):
        x, reached = solved_for(residual, variables, values)
        values.update(zip(variables, x, strict=True))
        done &= reached
    return done


def solved_for(residual: Sequence[Node], variables: Sequence[Node], values: Values) -> tuple[np.ndarray, bool]:
    """The variables at which the residuals vanish, from their present values, and whether they were reached."""
    slopes = jacobian(residual, variables)

    def at(outputs: np.ndarray | Sequence[Node], x: np.ndarray) -> np.ndarray:
        try:
            return numbers(outputs, {**values, **dict(zip(variables, x, strict=True))})
        except DomainError:
            return np.full(np.asarray(outputs, dtype=object).shape, np.nan)

    return newton(lambda x: at(residual, x), lambda x: at(slopes, x), numbers(variables, values))
