"""Run every step that a model requests. A step that fails is recorded, and the others continue."""

from __future__ import annotations

import platform
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

import numpy as np

from vinculum.analyze import Equilibrium
from vinculum.control import FeedbackLaw, closed_model
from vinculum.errors import VinculumError
from vinculum.model.examine import digital_step, motion_steps, region_steps, steps
from vinculum.model.examine.motion_steps import Equations
from vinculum.model.examine.results import Interrupted, Point, Results, settling_of
from vinculum.model.examine.study_step import runs_of
from vinculum.model.model import Model

Answer = TypeVar("Answer")
Progress = Callable[[str, float], None]  # of the step and its fraction done

_MOST_POINTS = 12  # further equilibria are listed but not analyzed


def examine(model: Model, progress: Progress | None = None) -> Results:
    """Compute everything a model requests: equations, motion, equilibria, stability, feedback, observer, closed loop.

    ``progress(step, share)`` is called at the beginning and end of every step, and during simulations.
    """
    *_, found = examined(model, progress)
    return found


def examined(model: Model, progress: Progress | None = None) -> Iterator[Results]:
    """The results so far, after the equations, after the motion, and whole: what `examine` computes, as it comes."""
    work = _Work(progress)
    refused = work.refused
    equations = work.ask("equations", lambda: motion_steps.equations_of(model))
    found = Results(model, equations, refused=refused, seconds=work.seconds, versions=versions())
    yield replace(found, seconds=dict(work.seconds))
    if equations is None:
        return
    motion = rest = None
    if model.simulation is not None:
        motion = work.ask("motion", lambda: motion_steps.motion_of(model, equations, work.share))
        yield replace(found, motion=motion, seconds=dict(work.seconds))
    if model.digital_motion == "simulation":
        run = work.ask("digital motion", lambda: digital_step.digital_motion_of(model, equations, work.share))
        found = replace(found, digital=run)
        yield replace(found, motion=motion, seconds=dict(work.seconds))
    if model.equilibrium is not None:
        rest = work.ask("equilibria", lambda: steps.rest_of(model, equations))
    if rest is not None and "borders" in (model.equilibrium or {}):
        followed = work.ask("borders", lambda: steps.continuation_of(model, equations, rest))
        found = replace(found, continuation=followed)
    if model.equilibrium is not None:
        points = () if rest is None else tuple(_points(model, equations, rest, work))
        found = replace(found, points=points)
        yield replace(found, motion=motion, seconds=dict(work.seconds))
    work.refused = refused
    if rest is not None and model.attraction is not None:
        basin = work.ask("attraction", lambda: region_steps.attraction_of(model, equations, rest, work.share))
        found = replace(found, attraction=basin)
        yield replace(found, motion=motion, seconds=dict(work.seconds))
    if rest is not None and model.stability_map is not None:
        region = work.ask("stability map", lambda: region_steps.map_of(model, equations, rest, work.share))
        found = replace(found, stability_map=region)
        yield replace(found, motion=motion, seconds=dict(work.seconds))
    if model.study is not None:
        runs = work.ask("study", lambda: runs_of(model, equations, work.share, rest))
        yield replace(found, motion=motion, runs=runs, seconds=dict(work.seconds))


def _points(model: Model, equations: Equations, first: Equilibrium, work: _Work) -> Iterator[Point]:
    """All equilibria found, the first ones with their analysis."""
    for number, rest in enumerate(steps.rests_of(first)):
        yield _study(model, equations, rest, first, work) if number < _MOST_POINTS else Point(rest)


def _study(model: Model, equations: Equations, rest: Equilibrium, first: Equilibrium, work: _Work) -> Point:
    """Stability at an equilibrium or steady motion, and its stabilization if the model requests it."""
    work.refused = {}
    corner = steps.at_corner(model, equations, rest)
    if corner and model.control is None:
        return Point(rest, verdict=work.ask("verdict", lambda: steps.verdict_at(model, equations, rest)))
    linear = work.ask("linear model", lambda: steps.linear_of(model, equations, rest, rest is first))
    if linear is None:
        verdict = work.ask("verdict", lambda: steps.verdict_at(model, equations, rest)) if corner else None
        return Point(rest, verdict=verdict, refused=work.refused)
    point = Point(rest, linear, work.ask("verdict", lambda: steps.verdict_of(linear)))
    if model.control is not None:
        point = _stabilize(model, equations, point, first, work)
    return replace(point, refused=work.refused)


def _stabilize(model: Model, equations: Equations, point: Point, first: Equilibrium, work: _Work) -> Point:
    """Feedback, observer, and the stability of the equilibrium with them."""
    linear = point.linear
    assert linear is not None
    law = work.ask("feedback", lambda: steps.law_of(model, linear))
    if law is None:
        return point
    estimator = None
    if model.observer is not None:
        estimator = work.ask("observer", lambda: steps.estimator_of(model, linear))
        if estimator is None:
            return replace(point, law=law)
    closed = closed_model(law, estimator)
    point = replace(point, law=law, estimator=estimator, closed_model=closed, closed_verdict=steps.verdict_of(closed))
    return _close_loop(model, equations, point, law, first, work)


def _close_loop(
    model: Model, equations: Equations, point: Point, law: FeedbackLaw, first: Equilibrium, work: _Work
) -> Point:
    """The closed loop, its motion from the model's initial state, and the motion without feedback for comparison."""
    loop = work.ask("closed loop", lambda: steps.loop_of(model, equations, law, point.estimator))
    if loop is None or model.closed_loop is None:
        return replace(point, loop=loop)
    closed = work.ask("closed motion", lambda: steps.closed_motion_of(model, loop, law, first, work.share))
    held = work.ask("motion without feedback", lambda: steps.held_motion_of(model, equations, law, first, work.share))
    settling = None if closed is None else settling_of(model, closed, law)
    point = replace(point, loop=loop, closed_motion=closed, settling=settling, held_motion=held)
    if model.digital_motion != "closed_loop":
        return point
    ask = digital_step.digital_loop_of
    run = work.ask("digital loop", lambda: ask(model, equations, law, point.estimator, first, work.share))
    return replace(point, digital=run)


class _Work:
    """The steps so far: the time they took and the errors."""

    def __init__(self, progress: Progress | None) -> None:
        self.report = progress or (lambda step, share: None)
        self.step = ""
        self.seconds: dict[str, float] = {}
        self.refused: dict[str, VinculumError] = {}

    def share(self, done: float) -> None:
        """Report the progress of the current step."""
        self.report(self.step, min(max(done, 0.0), 1.0))

    def ask(self, step: str, question: Callable[[], Answer]) -> Answer | None:
        """The result, or None if the step fails or is interrupted; without equations nothing else can run."""
        with self._timed(step):
            try:
                return question()
            except VinculumError as error:
                self.refused[step] = copy(error)  # without its traceback
            except KeyboardInterrupt:
                if step == "equations":
                    raise
                self.refused[step] = Interrupted("The step was interrupted with Ctrl-C.")
            except np.linalg.LinAlgError as error:
                self.refused[step] = VinculumError(f"The equations could not be solved numerically: {error}.")
        return None

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        """Add the time of a step, summed over equilibria."""
        self.step, began = step, clock.perf_counter()
        self.report(step, 0.0)
        yield
        self.report(step, 1.0)
        self.seconds[step] = self.seconds.get(step, 0.0) + clock.perf_counter() - began


_PACKAGES = ("sympy", "numpy", "scipy", "heyoka", "llvmlite", "numba", "control", "plotly")


def versions() -> dict[str, str]:
    """Versions of Vinculum, Python and the numerical libraries, and the machine."""
    from vinculum import __version__

    found = {"vinculum": __version__, "python": platform.python_version()}
    found |= {name: number for name in _PACKAGES if (number := _version(name))}
    return found | {"system": f"{platform.system()} {platform.machine()}"}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
