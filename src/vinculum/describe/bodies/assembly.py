"""Whether the loops of a tree can be closed: Gauss-Newton from the given pose and from random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vinculum.errors import About, Finding, ModelError
from vinculum.graph import Node, evaluate, from_sympy, jacobian, symbol
from vinculum.graph.traverse import order

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree

_CLOSED, _STARTS, _STEPS = 1e-9, 12, 60
_WORK = 500_000  # operations of all starts together


def refuse_open(tree: BodyTree) -> None:
    """Raise a `ModelError` with the distance left where no pose closes all loops."""
    conditions = {name: f for loop in tree.loops for name, f in loop.conditions(tree).items()}
    if not conditions:
        return
    f = [*conditions.values(), *(from_sympy(norm.expression) for norm in tree.normalizations)]
    q = [symbol(x) for x in tree.coordinates]
    known = {symbol(p): float(x) for p, x in tree.parameters.items()} | {symbol(tree.time): 0.0}
    slopes = jacobian(f, q)
    random = np.random.default_rng(7)
    best = (np.inf, np.zeros(len(f)))
    for attempt in range(_starts(f, slopes)):
        x = home(tree) + (random.normal(0, 0.3 * attempt, len(q)) if attempt else 0.0)
        left = _closed(f, slopes, q, x, known)
        best = min(best, (float(np.abs(left).max()), left), key=lambda pair: pair[0])
        if best[0] < _CLOSED:
            return
    worst = {name: x for name, x in zip(conditions, best[1], strict=False) if abs(x) > _CLOSED}
    table = ", ".join(f"{name}: {x:.6g}" for name, x in worst.items())
    raise ModelError(
        f"the loops of {tree.name!r} cannot be closed",
        [Finding(f"the nearest pose found leaves {table} (distance {np.linalg.norm(list(worst.values())):.6g}).",
                 ["Check lengths, points and axes of the bodies on the loop."], _loop_of(tree, next(iter(worst), "")))],
    )  # fmt: skip


def _loop_of(tree: BodyTree, condition: str) -> About:
    """The loop that a condition belongs to."""
    return About("loop", next((loop.label for loop in tree.loops if condition.startswith(loop.label)), ""))


def _starts(f: list[Node], slopes: np.ndarray) -> int:
    """How many starts: fewer for a large tree, so that one that cannot be closed is refused within a second."""
    operations = _STEPS * (len(order(f)) + len(order(list(slopes.ravel()))))
    return int(np.clip(_WORK // operations, 2, _STARTS))


def home(tree: BodyTree) -> np.ndarray:
    """Zero coordinates, quaternions without a turn."""
    return np.array([x for body in tree.bodies for part in body.parts for x in part.joint.home])


def _closed(f: list[Node], slopes: np.ndarray, q: list[Node], x: np.ndarray, known: dict[Node, float]) -> np.ndarray:
    """The residual after damped Gauss-Newton steps."""
    entries = list(slopes.ravel())
    below = {id(nodes): order(nodes) for nodes in (f, entries)}

    def at(nodes: list[Node], x: np.ndarray) -> np.ndarray:
        values = known | dict(zip(q, map(float, x), strict=True))
        return np.array(evaluate(nodes, values, below[id(nodes)]))

    left, damping = at(f, x), 1e-3
    for _ in range(_STEPS):
        J = at(entries, x).reshape(slopes.shape)
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(x)), J.T @ left)
        new = at(f, x - step)
        if np.linalg.norm(new) < np.linalg.norm(left):
            x, left, damping = x - step, new, max(damping / 10, 1e-15)
        else:
            damping *= 10
        if np.abs(left).max() < _CLOSED / 10 or damping > 1e6:
            break
    return left
