"""The results about a model, and whether its closed loop settles at the equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from vinculum.analyze import Border, Continuation, Equilibrium, LinearModel, Region, Verdict
from vinculum.control import Estimator, FeedbackLaw
from vinculum.control.attraction import deviations_of, relative_distance
from vinculum.control.digital import Digital
from vinculum.control.digital_law import DigitalLaw
from vinculum.control.margins import Margin
from vinculum.derivation import EquationsOfMotion
from vinculum.errors import VinculumError
from vinculum.model.examine.motion_steps import Equations
from vinculum.model.examine.region_steps import RegionOfAttraction
from vinculum.model.examine.study_step import Runs
from vinculum.model.model import Model
from vinculum.model.text.file_words import in_file_words
from vinculum.names import name_of, variable_name
from vinculum.notebook_repr import html
from vinculum.simulation import Trajectory
from vinculum.text_printer import labelled_rows

_NEAR = 0.05  # fraction of its largest deviation that may remain of any state at the end
_NOTHING = 1e-9  # a distance that counts as zero
_AT_LIMIT = 1e-9  # relative


@dataclass(frozen=True)
class Settling:
    """Distances from the equilibrium at the start and at the end, and the time each input spent at its limit."""

    start: float
    end: float
    lasted: float
    remaining: float  # the largest fraction of its maximal deviation that a state has at the end
    limits: Mapping[str, float] = field(default_factory=dict)  # largest |u|, by input
    limited: Mapping[str, float] = field(default_factory=dict)  # how long |u| was at the limit

    @property
    def settled(self) -> bool:
        """Whether every state of the linear model ended within a twentieth of its largest deviation."""
        return self.remaining < _NEAR or max(self.start, self.end) <= _NOTHING

    @property
    def words(self) -> str:
        """The result as the end of a sentence, with the inputs that reached their limits."""
        ends = f"distance {self.start:.4g} at the start, {self.end:.4g} at the end"
        held = [f"{u} was at its limit ±{self.limits[u]:.6g} for {time:.4g} of {self.lasted:.4g}"
                for u, time in self.limited.items() if time]  # fmt: skip
        return "; ".join([f"{'converged' if self.settled else 'did not converge'} to its equilibrium ({ends})", *held])

    @property
    def rows(self) -> dict[str, str]:
        """Distances, limits and result in labeled rows."""
        rows = {
            f"{u} at its limit": f"±{limit:.6g}, for {self.limited[u]:.4g} of {self.lasted:.4g}"
            for u, limit in self.limits.items()
        }
        rows["distance from the equilibrium"] = f"{self.start:.4g} at the start, {self.end:.4g} at the end"
        rows["converged to the equilibrium"] = "yes" if self.settled else "no"
        return rows

    def __bool__(self) -> bool:
        return self.settled

    _repr_html_ = html


def settling_of(
    model: Model,
    motion: Trajectory,
    law: FeedbackLaw,
    given: Mapping[sp.Expr, float] | None = None,
    held: bool = False,
) -> Settling:
    """Whether a motion of the closed loop settles: |x - x₀| of every state of the linear model.

    ``given`` are the limits of the inputs, by default those of the closed loop; ``held`` inputs keep their values from
    sample to sample.
    """
    given = (model.closed_loop or {}).get("limits") or {} if given is None else given
    away = np.max(deviations_of(law.linear, motion), axis=0)
    remaining = relative_distance(law.linear, motion) if np.any(away) else 0.0
    limits = {variable_name(u): float(limit) for u, limit in given.items()}
    limited = {u: _time_at(motion.t, motion.inputs[u], limit, held) for u, limit in limits.items()}
    lasted = float(abs(motion.t[-1] - motion.t[0]))
    return Settling(float(away[0]), float(away[-1]), lasted, remaining, limits, limited)


def _time_at(t: np.ndarray, u: np.ndarray, limit: float, held: bool) -> float:
    """How long |u| was at its limit, according to the samples."""
    at_limit = (np.abs(u) >= (1 - _AT_LIMIT) * limit).astype(float)
    if held:
        return float(abs(at_limit[:-1] @ np.diff(t)))
    return float(abs(np.trapezoid(at_limit, t)))


@dataclass(frozen=True, eq=False)
class DigitalRun:
    """The motion with a law at its samples; of a feedback also whether it settles, and its margins."""

    controller: Digital
    motion: Trajectory
    warnings: tuple[str, ...] = ()  # such as that the period is too long for the law
    settling: Settling | None = None
    margins: Mapping[sp.Expr, Margin] = field(default_factory=dict)  # of the sampled loop
    without_margins: str = ""  # why there are none

    @property
    def rows(self) -> dict[str, str]:
        """Sensors, processor and actuators in labeled rows."""
        own = self.controller
        rows = {"sample period": f"{own.period:.6g} s", "delay": f"{own.delay:.6g} s"}
        given = (("limits", "±{:.6g}"), ("rates", "at most {:.6g} per s"), ("resolution", "in steps of {:.6g}"),
                 ("noise", "noise {:.6g}"), ("disturbances", "disturbance {:.6g}"))  # fmt: skip
        for name, words in given:
            for key, value in getattr(own, name).items():
                shown = f"load {value}" if isinstance(value, sp.Basic) else words.format(value)
                place = name_of(key)
                rows[place] = f"{rows[place]}, {shown}" if place in rows else shown
        return rows

    @property
    def held(self) -> tuple[sp.Expr, ...]:
        """The inputs that the law sets."""
        return () if self.motion.problem is None else tuple(self.motion.problem.equations.laws)

    @property
    def observed(self) -> bool:
        """Whether the law has an observer."""
        law = self.controller.law
        return self.controller.estimator is not None or (isinstance(law, DigitalLaw) and len(law.states) > 0)

    @property
    def failures(self) -> list[str]:
        """Why the law does not do its work at samples."""
        found = [] if self.motion.outcome else [f"did not reach the end of its motion: {self.motion.outcome}"]
        found += [] if self.settling is None or self.settling else [f"{self.settling.words}."]
        return [*found, *(f"warns: {words}" for words in self.warnings)]

    _repr_html_ = html


class Interrupted(VinculumError):
    """A step that the user ended with Ctrl-C."""


@dataclass(frozen=True, eq=False)
class Point:
    """One equilibrium and its analysis. Results that were not requested or failed are None."""

    rest: Equilibrium
    linear: LinearModel | None = None
    verdict: Verdict | None = None
    law: FeedbackLaw | None = None
    estimator: Estimator | None = None
    loop: EquationsOfMotion | None = None  # the closed equations
    closed_model: LinearModel | None = None
    closed_verdict: Verdict | None = None
    closed_motion: Trajectory | None = None
    settling: Settling | None = None  # whether the closed motion converged to the equilibrium
    held_motion: Trajectory | None = None  # from the same start, with the inputs held at their equilibrium values
    digital: DigitalRun | None = None  # the closed loop with its feedback at samples
    refused: Mapping[str, VinculumError] = field(default_factory=dict)  # {step: why not}

    @property
    def failures(self) -> list[str]:
        """The failures of its closed loop."""
        failures = []
        if self.closed_verdict is not None and not self.closed_verdict:
            failures.append(f"is {self.closed_verdict.kind}.")
        if self.closed_motion is not None and not self.closed_motion.outcome:
            failures.append(f"did not reach the end of its motion: {self.closed_motion.outcome}")
        if self.settling is not None and not self.settling:
            failures.append(f"{self.settling.words}.")
        return failures + [f"at samples {words}" for words in (self.digital.failures if self.digital else ())]

    _repr_html_ = html


@dataclass(frozen=True, eq=False)
class Results:
    """All results about a model. Results that were not requested or failed are None."""

    model: Model
    equations: Equations | None = None
    motion: Trajectory | None = None
    points: tuple[Point, ...] = ()  # one for each equilibrium, the requested one first
    refused: Mapping[str, VinculumError] = field(default_factory=dict)  # {step: why not}
    seconds: Mapping[str, float] = field(default_factory=dict)  # wall time of each step
    versions: Mapping[str, str] = field(default_factory=dict)
    continuation: Continuation | None = None  # the motion and its roots over one value
    attraction: RegionOfAttraction | None = None  # starts from which the motion converges
    stability_map: Region | None = None  # stability over two parameters
    runs: Runs | None = None  # many runs
    digital: DigitalRun | None = None  # the motion with its laws at samples

    @property
    def point(self) -> Point | None:
        """The requested equilibrium."""
        return self.points[0] if self.points else None

    @property
    def borders(self) -> tuple[Border, ...]:
        """Where the motion becomes or ceases to be stable."""
        return () if self.continuation is None else self.continuation.borders

    @property
    def main_motion(self) -> Trajectory | None:
        """The requested motion; if there is none, the first one with feedback."""
        closed = [point.closed_motion for point in self.points if point.closed_motion is not None]
        return self.motion if self.motion is not None else next(iter(closed), None)

    @property
    def nominal_motion(self) -> Trajectory | None:
        """The motion that the study varies, as the file has it."""
        closed = (self.model.study or {}).get("motion") == "closed_loop"
        return (self.point.closed_motion if self.point else None) if closed else self.motion

    @property
    def refusals(self) -> dict[str, str]:
        """Every step that failed, with the reason; for a model from a file, the advice names its keys."""
        several = len(self.points) > 1
        of_points = {
            f"{step} at equilibrium {number}" if several else step: error
            for number, point in enumerate(self.points, start=1)
            for step, error in point.refused.items()
        }
        found = dict(self.refused) | of_points
        write = str if self.model.source is None else in_file_words
        return {step: write(error) for step, error in found.items()}

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a motion or another step."""
        errors = [*self.refused.values(), *(error for point in self.points for error in point.refused.values())]
        if any(isinstance(error, Interrupted) for error in errors):
            return True
        of_points = [motion for point in self.points for motion in (point.closed_motion, point.held_motion)]
        at_samples = [
            run.motion for run in (self.digital, *(point.digital for point in self.points)) if run is not None
        ]
        every = (self.motion, *of_points, *at_samples)
        return any(motion is not None and motion.outcome.kind == "interrupted" for motion in every)

    @property
    def failures(self) -> list[str]:
        """Everything that failed, ended early or did not converge, in sentences."""
        failures = [f"Not done: {step}. {reason}" for step, reason in self.refusals.items()]
        if self.motion is not None and not self.motion.outcome:
            failures.append(f"The motion did not reach its end: {self.motion.outcome}")
        failures += [
            f"The motion with its laws at samples {words}" for words in (self.digital.failures if self.digital else ())
        ]
        for number, point in enumerate(self.points, start=1):
            where = f" of equilibrium {number}" if len(self.points) > 1 else ""
            failures += [f"The closed loop{where} {words}" for words in point.failures]
        return failures

    def __repr__(self) -> str:
        answered = [name for name in ("equations", "motion", "points") if getattr(self, name)]
        rows = {
            "answered": ", ".join(answered) or "nothing",
            "equilibria": str(len(self.points)),
            "refused": ", ".join(self.refusals) or "nothing",
            "seconds": f"{sum(self.seconds.values()):.3g}",
        }
        head = f'Results of "{self.model.name}"'
        return labelled_rows(head, rows)

    _repr_html_ = html
