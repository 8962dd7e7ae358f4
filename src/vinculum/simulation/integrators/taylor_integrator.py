"""heyoka's Taylor integrator of a problem: compiled once for all its numbers, then set to a state."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.graph import ZERO, Node, operations
from vinculum.simulation.problem.events import DIRECTIONS
from vinculum.simulation.problem.pivot_watch import WATCH_LIMIT
from vinculum.simulation.problem.problem import Problem

_SMALL = 1e-6  # heyoka measures its tolerance on states and event functions together; these must not be the larger


@dataclass
class Hits:
    """Receives the non-terminal events of one run."""

    found: list[tuple[float, int]] = field(default_factory=list)

    def __deepcopy__(self, memo: dict) -> Hits:
        return self  # heyoka copies its callbacks; the hits must arrive here

    def __call__(self, integrator: Any, time: float, sign: int) -> None:
        """Called by heyoka."""
        self.found.append((float(time), int(sign)))


@dataclass
class Integrator:
    """heyoka's integrator of one problem, compiled once, with the receivers of its events."""

    taylor: Any
    hits: dict[int, Hits]  # by number of the event, non-terminal ones
    terminal: list[int]  # numbers of the terminal events, in heyoka's order; corners come next, then the pivot watch
    corners: int


@lru_cache(maxsize=64)
def compiled(
    time: Node, state: tuple[Node, ...], parameters: tuple[Node, ...], rates: tuple[Node, ...], watch: Node,
    events: tuple[tuple[Node, int, bool], ...], margins: tuple[Node, ...], forward: bool,
    tolerance: float | None, compact: bool | None = None,
) -> Integrator:  # fmt: skip
    """Compile the integrator of ẋ = rates with events (node, direction, terminal), corners and the pivot watch."""
    import heyoka as hy

    nodes = [*rates, *(node for node, _, _ in events), *margins, watch / WATCH_LIMIT - 1]
    variables, outputs = expressions(time, state, parameters, nodes)
    functions = [_SMALL * function for function in outputs[len(rates) :]]
    ends = [terminal for _, _, terminal in events]
    directions = [_direction(direction) for _, direction, _ in events]
    hits = {j: Hits() for j, terminal in enumerate(ends) if not terminal}
    plain = [hy.nt_event(functions[j], callback=hits[j], direction=directions[j]) for j in hits]
    terminal = [j for j, ending in enumerate(ends) if ending]
    ending = [hy.t_event(functions[j], direction=directions[j]) for j in terminal]
    leaving = _direction(-1 if forward else 1)
    ending += [hy.t_event(margin, direction=leaving) for margin in functions[len(events) : -1]]
    ending += [hy.t_event(functions[-1])] if watch is not ZERO else []
    equations = list(zip(variables, outputs[: len(rates)], strict=True))
    options = _options(rates, tolerance, compact)
    taylor = hy.taylor_adaptive(equations, np.zeros(len(state)), t_events=ending, nt_events=plain, **options)
    return Integrator(taylor, hits, terminal, len(margins))


def _direction(sign: int) -> Any:
    """+1 rising, -1 falling, 0 any, in heyoka's words."""
    import heyoka as hy

    return {0: hy.event_direction.any, 1: hy.event_direction.positive, -1: hy.event_direction.negative}[sign]


def _options(rates: tuple[Node, ...], tolerance: float | None, compact: bool | None) -> dict[str, Any]:
    """heyoka's own default where no tolerance is given; compact code for large systems where nothing else is asked."""
    small_code = operations(rates).total() > COMPACT_FROM if compact is None else compact
    return {"compact_mode": small_code} | ({} if tolerance is None else {"tol": tolerance})


def started(problem: Problem, tolerance: float | None, t: float, x: np.ndarray) -> Integrator:
    """The compiled integrator, set to a state."""
    nodes, branch = problem.nodes, problem.branch
    events = tuple(
        (node, DIRECTIONS[event.direction], event.terminal)
        for node, event in zip(branch.prepared(nodes.event_functions), nodes.events, strict=True)
    )
    integrator = compiled(
        nodes.time, nodes.state, branch.parameters, branch.prepared(nodes.rates),
        branch.prepared([nodes.watch.plain])[0], events, branch.prepared(branch.margins),
        problem.sides is None or problem.sides.forward, tolerance, problem.compact,
    )  # fmt: skip
    taylor = integrator.taylor
    taylor.time = t
    taylor.state[:] = x
    taylor.pars[:] = problem.values[: len(taylor.pars)]
    if taylor.with_events:
        taylor.reset_cooldowns()
    for hits in integrator.hits.values():
        hits.found.clear()
    return integrator
