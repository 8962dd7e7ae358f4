"""From a run to the functions with which a page computes it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Equations, level
from vinculum.derivation.program.perturbation import binomial
from vinculum.export.live_kernels import LiveMotion
from vinculum.graph import ZERO, Converter, Node, evaluate, jacobian, order, symbol, symbols
from vinculum.simulation import Trajectory
from vinculum.simulation.problem.motion_expressions import MotionNodes

Columns = Callable[[MotionNodes], Mapping[str, Node]]
_MOST_KNOTS = 200  # of a spline in a page
_NOISE = 1e-13  # a state below this share of the largest one is rounding
_SHARE = 1e-4  # of the largest state, for one that is rounding


def live_motion(
    motion: Trajectory,
    columns: Columns,
    given: Iterable[sp.Expr] = (),
    loop: tuple[Equations, Mapping[sp.Symbol, float]] | None = None,
) -> LiveMotion:
    """The functions of a run; ``loop`` are its equations with symbols for the gains of the feedback, and their values.

    ``given`` are the start values that the user chose, and ``columns`` gives what the page shows, by key.
    """
    problem = motion.problem
    assert problem is not None
    first = motion.segments[0]
    values = problem.everything(float(first.t[0]), first.states[0])
    nodes, gains = problem.nodes, {}
    if loop is not None:
        nodes, gains = _closed(nodes, *loop, values), {symbol(key): value for key, value in loop[1].items()}
    nodes, rates = _with_rates(nodes, dict(zip(problem.nodes.gains, problem.gains, strict=True)))
    parameters = dict(zip(nodes.integrable.parameters, map(float, problem.parameter_values), strict=True))
    settings = {**parameters, **gains, **rates}
    sizes = dict(zip(problem.nodes.state, state_sizes(motion), strict=True))
    found = np.array([sizes.get(node, 1.0) for node in nodes.state])
    return LiveMotion(nodes, settings, {**values, **settings}, frozenset(given), columns(nodes), found)


def refusal(motion: Trajectory) -> str:
    """Why a page cannot compute a motion again; empty if it can."""
    if motion.problem is None:
        return "the motion comes from a file, which holds numbers without equations"
    if _jumps(motion.problem.nodes.held_rates):
        return "its forces jump (dry friction, switches, samples), and the page cannot follow a motion through jumps"
    splines = [node.value for node in order(motion.problem.nodes.held_rates) if node.op == "spline"]
    if any(len(pieces.knots) > _MOST_KNOTS for pieces in splines):
        return "it has a measured signal of many points, which the page does not carry"
    if any(segment.problem.integrable is not motion.problem.integrable for segment in motion.segments):
        return "the run changed its variables or its order of elimination on the way, which the page cannot do"
    return ""


def _jumps(rates: Sequence[Node]) -> bool:
    """Whether rates contain sign or comparisons, apart from the smaller or larger of two quantities."""
    known = order(rates)
    kinks = {node.args[0] for node in known if node.op == "select" and set(node.args[1:]) == set(node.args[0].args)}
    compared = ("less", "less_equal", "equal", "both", "either")
    jumping = any(node.op == "spline" and node.value.jumps for node in known)
    return jumping or any(node.op == "sign" or (node.op in compared and node not in kinks) for node in known)


def state_sizes(motion: Trajectory) -> np.ndarray:
    """The size of every state in a run; one that is zero but for rounding gets a share of the largest."""
    largest = np.max([np.abs(segment.states).max(axis=0) for segment in motion.segments], axis=0)
    most = float(largest.max(initial=0.0)) or 1.0
    return np.where(largest > _NOISE * most, largest, _SHARE * most)


def _closed(nodes: MotionNodes, equations: Equations, gains: Mapping[sp.Symbol, float], values: Any) -> MotionNodes:
    """The nodes of a closed loop with symbols for its gains."""
    known = {**values, **{symbol(key): value for key, value in gains.items()}}
    laws = {symbol(u): Converter()(law) for u, law in equations.laws.items()}
    return MotionNodes(equations.integrable(known), laws, nodes.feedback, nodes.gains, nodes.is_law, nodes.events)


def _with_rates(nodes: MotionNodes, gains: Mapping[Node, float]) -> tuple[MotionNodes, dict[Node, float]]:
    """The nodes with one symbol for the rate of each constraint that is approached with equal roots."""
    if not nodes.is_law:
        return nodes, {}
    feedback, found = list(nodes.feedback), {}
    for i, held in enumerate(nodes.integrable.constraints):
        rate = _rate(nodes.feedback[i], i, len(held.chain), gains)
        if rate is not None:
            own = symbol(sp.Symbol(f"rate of {held.name}"))
            found[own] = rate
            row = [factor * level(i, j) for j, factor in enumerate(binomial(len(held.chain), own))]
            feedback[i] = sum(row[1:], row[0])
    left = symbols(feedback) & set(gains)
    found |= {node: value for node, value in gains.items() if node in left}
    return replace(nodes, feedback=tuple(feedback), gains=tuple(left)), found


def _rate(row: Node, i: int, degree: int, gains: Mapping[Node, float]) -> float | None:
    """κ of a row with all roots -κ; None for any other, and where κ is an expression of parameters."""
    slopes = jacobian([row], [level(i, j) for j in range(degree)]).ravel().tolist()
    others = symbols([row]) - {level(i, j) for j in range(degree)} - set(gains)
    if others or any(slope is ZERO for slope in slopes):
        return None
    numbers = evaluate(slopes, dict(gains))
    rate = numbers[-1] / degree
    return rate if np.allclose(numbers, binomial(degree, rate), rtol=1e-12, atol=0) else None
