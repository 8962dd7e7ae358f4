"""When the order of elimination must change during a run, and when the form itself is no longer valid.

The run watches the pivots of the elimination: when one of them becomes too small, pivots (and dependent coordinates, if
Vinculum chose them) are chosen again at the present state. When a condition of the form is violated, the run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from vinculum.derivation.integrable import Integrable
from vinculum.derivation.mechanics.lagrange import total
from vinculum.errors import DomainError, Finding, SingularError
from vinculum.graph import ONE, ZERO, Node, Pivot, constant, order, select, symbol
from vinculum.graph.node import compare, multiply
from vinculum.simulation.trajectory.outcome import Cause, Outcome

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem

WATCH_LIMIT = 1e3  # Σ (reference pivot / pivot)² - 1: some pivot has shrunk about thirty times
JUMPED = 1e200  # value of the strict watch when a pivot has changed its sign
CHART_LIMIT = 2e-3  # a condition of the form below this fraction of its first value counts as violated
_MOST_IN_PLACE = 6  # new choices without any progress in time


@dataclass(frozen=True, eq=False)
class PivotWatch:
    """Σ (reference pivot / pivot)² - 1 over the pivots that change along the motion and so may go to zero."""

    integrable: Integrable

    @cached_property
    def changing(self) -> tuple[Pivot, ...]:
        """The pivots that do not depend on parameters alone."""
        moving = set[Node]()
        parameters = {*self.integrable.parameters}
        for node in order([pivot.node for pivot in self.integrable.pivots]):
            if any(arg in moving for arg in node.args) or (node.op == "symbol" and node not in parameters):
                moving.add(node)
        return tuple(pivot for pivot in self.integrable.pivots if pivot.node in moving)

    @cached_property
    def references(self) -> tuple[Node, ...]:
        """Symbols for the pivots at the state where they were chosen."""
        return tuple(symbol(("reference pivot", k)) for k in range(len(self.changing)))

    def numbers(self, pivots: Sequence[Pivot]) -> tuple[float, ...]:
        """The values of ``references``, from the same pivots at a state."""
        value = {pivot.node: pivot.value for pivot in pivots}
        return tuple(value[pivot.node] for pivot in self.changing)

    @cached_property
    def plain(self) -> Node:
        """Large when the order of elimination has become bad."""
        return total([ratio * ratio for ratio in self.ratios]) - len(self.ratios)

    @cached_property
    def strict(self) -> Node:
        """The same for methods that may step over a zero: `JUMPED` or more when a pivot has changed its sign."""
        gone = constant(JUMPED)
        squares = [select(compare("less", ZERO, ratio), ratio * ratio, gone) for ratio in self.ratios]
        return total(squares) - len(squares)

    @cached_property
    def ratios(self) -> list[Node]:
        """Reference pivot times the reciprocal of the pivot, which the elimination has already computed.

        Their product replaces the determinant for a condition of the equations without an expression.
        """
        pairs = zip(self.references, self.changing, strict=True)
        ratios = [reference * (ONE / pivot.node) for reference, pivot in pairs]
        measured = any(limit.node is None for limit in self.integrable.conditions)
        return [*ratios, reduce(multiply, ratios)] if measured and len(ratios) > 1 else ratios


def renew(problem: Problem, outcome: Outcome, t: float, x: np.ndarray, stuck: int) -> tuple[Problem, np.ndarray]:
    """The problem after a pivot became small, with variables and pivots that are good here, and the state in them.

    Where a step jumped over the zero of a pivot, they must be good at both ends of the step. Raises at a true
    singularity, or where nothing better is found.
    """
    known, before = problem.everything(t, x), problem.integrable
    jumped = outcome.beyond is not None and bool(np.all(np.isfinite(outcome.beyond[1])))
    ends = [problem.everything(*outcome.beyond)] if outcome.beyond and jumped else []
    after = before.equations.integrable(known, *ends)
    reason = after.equations.singular_at(known)
    if not reason and outcome.beyond and _same_pivots(before, after):
        reason = f"{outcome.reason}; take a smaller step, or another form"
    if not reason and stuck > _MOST_IN_PLACE:
        reason = "the equations stay next to a singular configuration"
    if reason:
        raise SingularError(reason)
    same = after.states == before.states
    y = x if same else np.array([*after.state_values(known), *x[len(before.states) :]])
    return problem.with_integrable(after), y


def refreshed(problem: Problem, t: float, x: np.ndarray) -> Problem:
    """The problem with its pivots here as references: for a state where no other order is better."""
    pivots = [pivot.node for pivot in problem.nodes.watch.changing]
    return replace(problem, references=tuple(problem.compiled(pivots)(t, x, problem.values)))


def _same_pivots(a: Integrable, b: Integrable) -> bool:
    """Whether two records have the same order of elimination."""
    return [pivot.node for pivot in a.pivots] == [pivot.node for pivot in b.pivots]


def condition_values(problem: Problem, t: float, x: np.ndarray) -> tuple[float, ...]:
    """The conditions of the equations at a state; zero outside their domain."""
    conditions = problem.integrable.conditions
    try:
        known = problem.everything(t, x) if conditions else {}
        return tuple(limit.value(known) for limit in conditions)
    except DomainError:
        return (0.0,) * len(conditions)


def violated_condition(
    problem: Problem, t: float, x: np.ndarray, beyond: tuple[float, np.ndarray] | None
) -> Outcome | None:
    """The outcome if a condition of the form has gone to zero since the start, here or at the state ``beyond``."""
    for instant, state in ((t, x), beyond or (t, x)):
        now = condition_values(problem, instant, state)
        for limit, value, first in zip(problem.integrable.conditions, now, problem.at_start, strict=True):
            if abs(value) < CHART_LIMIT * abs(first) or value * first < 0:
                reason = limit.reason(problem.everything(t, x))
                finding = Finding(reason, [limit.advice])
                return Outcome(limit.kind, t, Cause("condition", (), {"start": first, "value": value}, finding))
    return None
