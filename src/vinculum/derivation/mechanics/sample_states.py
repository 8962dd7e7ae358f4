"""Sample states at which ranks and pivots are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np

from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.newton import newton
from vinculum.errors import ConstraintError, DomainError, Finding, Word, call
from vinculum.graph import Node, evaluate, jacobian
from vinculum.names import name_of

_MET = 1e-9  # what is left of a condition that counts as met
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


def closest(
    residual: Sequence[Node], variables: Sequence[Node], values: Values
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The variables at which Σf² is least, near their present values, and f there: what cannot be removed."""
    from scipy.optimize import least_squares  # imported late: only refusals need it

    slopes = jacobian(residual, variables)

    def at(outputs: np.ndarray | Sequence[Node], x: np.ndarray) -> np.ndarray:
        try:
            return numbers(outputs, {**values, **dict(zip(variables, map(float, x), strict=True))})
        except DomainError:
            return np.full(np.asarray(outputs, dtype=object).shape, 1e6)  # no place to stop at

    close = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-12)
    start = numbers(variables, values)
    found = least_squares(lambda x: at(residual, x), start, jac=lambda x: at(slopes, x), **close)
    return found.x, at(residual, found.x)


def left_over(named: Sequence[tuple[str, Node]], variables: Sequence[Node], values: Values) -> tuple[float, str]:
    """How far the nearest state is from meeting all conditions, and that in words; (0, "") where it meets them."""
    x, f = closest([node for _, node in named], variables, values)
    least = max(_MET, 1e-6 * float(np.abs(f).max(initial=0.0)))
    gaps = [f"{name} = {gap:.4g}" for (name, _), gap in zip(named, f, strict=True) if abs(gap) > least]
    if not gaps or not np.all(np.isfinite(f)):
        return 0.0, ""
    where = ", ".join(f"{name_of(q.value)} = {value:.4g}" for q, value in list(zip(variables, x, strict=True))[:8])
    more = ", ..." if len(variables) > 8 else ""
    return float(np.linalg.norm(f)), f" The nearest state found leaves {', '.join(gaps)}, at {where}{more}."


def unmet(mechanics: Mechanics, tries: int = 8) -> str:
    """Which constraints stay violated and by how much at the best of some random states, as a sentence."""
    system, nodes = mechanics.system, mechanics.system.nodes
    labels = [constraint.name for constraint in system.constraints]
    position = [(label, f) for label, f in zip(labels, mechanics.position, strict=True) if f is not None]
    random = np.random.default_rng(20_000)
    found = [left_over(position, nodes.q, _draw(mechanics, random, 0.5)) for _ in range(tries if position else 0)]
    return min(found)[1] if found else ""


def refuse_unmet(mechanics: Mechanics) -> NoReturn:
    """Raise where no state that meets the constraints was found."""
    raise ConstraintError(
        Finding(
            f"No state that meets the constraints of {mechanics.system.name!r} was found from random starts."
            f"{unmet(mechanics)}",
            ["If there is one, give it: ", call("derive", at={Word("coordinate"): Word("value")}), "."],
        )
    )


def solved_for(residual: Sequence[Node], variables: Sequence[Node], values: Values) -> tuple[np.ndarray, bool]:
    """The variables at which the residuals vanish, from their present values, and whether they were reached."""
    slopes = jacobian(residual, variables)

    def at(outputs: np.ndarray | Sequence[Node], x: np.ndarray) -> np.ndarray:
        try:
            return numbers(outputs, {**values, **dict(zip(variables, x, strict=True))})
        except DomainError:
            return np.full(np.asarray(outputs, dtype=object).shape, np.nan)

    return newton(lambda x: at(residual, x), lambda x: at(slopes, x), numbers(variables, values))
