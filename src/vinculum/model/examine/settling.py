"""Whether a closed loop came to its equilibrium, and how long its inputs were at their limits on the way.

A verdict on the first approximation says nothing of a start that is too far, or of an input that is too weak: the
motion itself does. The distance is the largest |x - x₀| over the states of the linear model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vinculum.control import FeedbackLaw
from vinculum.model.model import Model
from vinculum.names import variable_name
from vinculum.notebook_repr import html
from vinculum.simulation import Trajectory

_NEAR = 0.05  # share of the distance at the start that may be left at the end
_NOTHING = 1e-6  # a distance that counts as none
_AT_LIMIT = 1e-9  # relative


@dataclass(frozen=True)
class Arrival:
    """Distances from the equilibrium at the start and at the end, and the time each input spent at its limit."""

    start: float
    end: float
    lasted: float
    limits: Mapping[str, float] = field(default_factory=dict)  # largest |u|, by input
    limited: Mapping[str, float] = field(default_factory=dict)  # how long |u| was as large as that

    @property
    def came(self) -> bool:
        """Whether the motion ended near the equilibrium: within a twentieth of the distance at its start."""
        return self.end <= max(_NEAR * self.start, _NOTHING)

    @property
    def words(self) -> str:
        """The same in half a sentence, the inputs included that were at their limits."""
        ends = f"distance {self.start:.4g} at the start, {self.end:.4g} at the end"
        held = [f"{u} was at its limit ±{self.limits[u]:.6g} for {time:.4g} of {self.lasted:.4g}"
                for u, time in self.limited.items() if time]  # fmt: skip
        return "; ".join([f"{'came' if self.came else 'did not come'} to its equilibrium ({ends})", *held])

    @property
    def rows(self) -> dict[str, str]:
        """What there is to say, in labelled rows."""
        told = {
            f"{u} at its limit": f"±{limit:.6g}, for {self.limited[u]:.4g} of {self.lasted:.4g}"
            for u, limit in self.limits.items()
        }
        told["distance from the equilibrium"] = f"{self.start:.4g} at the start, {self.end:.4g} at the end"
        told["came to the equilibrium"] = "yes" if self.came else "no"
        return told

    def __bool__(self) -> bool:
        return self.came

    _repr_html_ = html


def arrival_of(model: Model, motion: Trajectory, law: FeedbackLaw) -> Arrival:
    """How a motion of the closed loop went, seen from the equilibrium."""
    states = law.linear.states
    away = np.max([np.abs(motion[x] - float(law.linear.at[x])) for x in states], axis=0)
    given = (model.closed_loop or {}).get("limits") or {}
    limits = {variable_name(u): float(limit) for u, limit in given.items()}
    limited = {u: _time_at(motion.t, motion.inputs[u], limit) for u, limit in limits.items()}
    return Arrival(float(away[0]), float(away[-1]), float(abs(motion.t[-1] - motion.t[0])), limits, limited)


def _time_at(t: np.ndarray, u: np.ndarray, limit: float) -> float:
    """How long |u| was at its limit, by the samples."""
    at_limit = (np.abs(u) >= (1 - _AT_LIMIT) * limit).astype(float)
    return float(abs(np.trapezoid(at_limit, t)))
