"""Taylor steps in lanes for equations with steep functions of the state, such as tanh(v/0.01).

The loop of heyoka would pass over the steep place (`simulation.integrators.defects`). Here Python looks at the ends of
the steps of all lanes; a lane whose series left the motion repeats its step with a quarter of the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.compile.code_cache import heyoka
from vinculum.compile.function import function
from vinculum.graph import Node, order, symbols
from vinculum.simulation.integrators.defects import SHORTER, allowed_defect

_STEEP = {"tanh", "exp", "sinh", "cosh"}  # their series may vanish next to a place where they change
_MOST_STEPS = 100_000  # of a lane
SKIPPED = "skipped"  # a lane with too many steps, or too short ones: `simulate` decides


def is_steep(rates: Sequence[Node], state: Sequence[Node]) -> bool:
    """Whether the rates contain such a function of the state."""
    moving = set(state)
    return any(node.op in _STEEP and symbols([node]) & moving for node in order(rates))


class SteepSteps:
    """Steps of lanes with a look at their ends."""

    def __init__(
        self, time: Node, state: Sequence[Node], parameters: Sequence[Node], rates: Sequence[Node],
        tolerance: float | None, events: int,
    ) -> None:  # fmt: skip
        self.rates = function(time, (*state, *parameters), (), list(rates))
        self.parameters, self.events, self.allowed = len(parameters), events, allowed_defect(tolerance)
        known = heyoka().taylor_outcome
        self.continues = {int(known.success), int(known.time_limit)}

    def run(self, taylor: Any, plans: Sequence[tuple[np.ndarray, np.ndarray]], samples: np.ndarray) -> list[Any]:
        """Run the lanes from target to target; ``plans`` are the targets of every lane and the places of their states
        among the ``samples``, (instants, n, lanes). Returns how every lane ended: an outcome of heyoka, or SKIPPED.
        """
        lanes = np.arange(taylor.batch_size)
        ends: list[Any] = [SKIPPED] * len(lanes)
        most = max(len(targets) for targets, _ in plans)
        targets = np.array([np.append(own, np.repeat(own[-1:], most - len(own))) for own, _ in plans]).T
        at = np.zeros(len(lanes), dtype=int)  # numbers of the targets
        bound, going = np.full(len(lanes), np.inf), np.ones(len(lanes), dtype=bool)
        for _ in range(_MOST_STEPS):
            if not going.any():
                break
            t, x, goal = taylor.time.copy(), taylor.state.copy(), targets[at, lanes]
            taylor.step(np.where(going, np.clip(goal - t, -bound, bound), 0.0), True)
            outcomes = [result[0] for result in taylor.step_res]
            lost = going & self._lost(taylor, outcomes)
            if lost.any():
                longest = np.minimum(_finite(taylor.last_h), np.minimum(bound, np.abs(goal - t)))
                bound[lost] = SHORTER * longest[lost]
                self._step_back(taylor, lost, t, x)
            good = going & ~lost
            bound[good] *= 2
            _arrive(taylor, good, goal)
            for lane in np.flatnonzero(going).tolist():
                own, places = plans[lane]
                if lost[lane]:
                    ended = SKIPPED if bound[lane] <= np.spacing(abs(t[lane])) else None
                elif int(outcomes[lane]) not in self.continues:
                    ended = outcomes[lane]
                elif taylor.time[lane] == goal[lane]:
                    if places[at[lane]] > 0:
                        samples[places[at[lane]], :, lane] = taylor.state[:, lane]
                    ended = outcomes[lane] if at[lane] == len(own) - 1 else None
                    at[lane] += ended is None
                else:
                    ended = None
                if ended is not None:
                    ends[lane], going[lane] = ended, False
        return ends

    def _lost(self, taylor: Any, outcomes: Sequence[Any]) -> np.ndarray:
        """(lanes): h |ṗ - f(t, p)| > δ max(1, |x|) at the ends of the steps, but not at small pivots and ranges."""
        h, tc, k = taylor.last_h, taylor.tc, np.arange(1, taylor.order + 1)[:, None]
        rows = np.zeros((len(h), len(taylor.state) + self.parameters))
        rows[:, : len(taylor.state)] = taylor.state.T
        rows[:, len(taylor.state) : len(taylor.state) + len(taylor.pars)] = taylor.pars.T
        with np.errstate(all="ignore"):
            after = self.rates.rows(taylor.time, rows, np.empty(0))
            before = (tc[:, 1:] * (k * h ** (k - 1))).sum(axis=1).T
            errors = np.abs(h) * np.abs(before - after).max(axis=1)
            found = ~(errors <= self.allowed * np.maximum(1.0, np.abs(tc[:, 0]).max(axis=0)))
        watched = [not self._is_open(outcome) and -int(outcome) - 1 >= self.events for outcome in outcomes]
        return found & ~np.array(watched)

    def _is_open(self, outcome: Any) -> bool:
        """Whether an outcome is none of an event."""
        return -int(outcome) - 1 > 2**31

    def _step_back(self, taylor: Any, lost: np.ndarray, t: np.ndarray, x: np.ndarray) -> None:
        """Return to the starts of the steps of some lanes."""
        taylor.set_time(np.where(lost, t, taylor.time))
        taylor.state[:, lost] = x[:, lost]
        if taylor.with_events:
            for lane in np.flatnonzero(lost):
                taylor.reset_cooldowns(int(lane))


def _arrive(taylor: Any, good: np.ndarray, goal: np.ndarray) -> None:
    """Put the time where t + (goal - t) is the goal up to rounding."""
    near = good & (np.abs(goal - taylor.time) <= 2 * np.spacing(np.abs(goal))) & (goal != taylor.time)
    if near.any():
        taylor.set_time(np.where(near, goal, taylor.time))


def _finite(h: np.ndarray) -> np.ndarray:
    """Lengths of steps, infinite where they are unknown."""
    return np.where(np.isfinite(h), np.abs(h), np.inf)
