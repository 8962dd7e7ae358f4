"""The law of a model on a processor: its motion, and the margins of the sampled loop."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze import Equilibrium, LinearModel
from vinculum.control import Estimator, FeedbackLaw
from vinculum.control.digital import Digital
from vinculum.control.digital_law import DigitalLaw
from vinculum.control.discrete_design import digital as designed
from vinculum.control.feedback import value_at
from vinculum.derivation import ProgramEquations, derive
from vinculum.describe import System
from vinculum.errors import VinculumError
from vinculum.model.examine.motion_steps import Equations, Progress, question_of
from vinculum.model.examine.results import DigitalRun, settling_of
from vinculum.model.examine.steps import run_near
from vinculum.model.model import Model
from vinculum.simulation import simulate
from vinculum.simulation.problem.events import Event

_OF_THE_LAW = (
    "period", "delay", "before", "limits", "rates", "resolution", "noise", "disturbances", "seed", "anti_windup",
)  # fmt: skip
_FAR = 1e4  # distance from the equilibrium relative to that at the start at which a run ends
_SAMPLES = 1001  # of a run whose instants were not given
_MOST_COMMANDS = 50_000  # samples that are added to a motion


def digital_of(
    model: Model, equations: Equations, law: FeedbackLaw | None = None, estimator: Estimator | None = None
) -> Digital:
    """The law on its processor: the feedback with its observer, or without one the laws of the motion."""
    asked = question_of(model, "digital")
    options = {key: asked[key] for key in _OF_THE_LAW if key in asked}
    options["disturbances"] = {**asked.get("disturbances", {}), **asked.get("loads", {})}
    if law is None:
        laws = (
            equations if isinstance(equations, ProgramEquations) else dict((model.simulation or {}).get("inputs", {}))
        )
        return Digital(laws, **options)
    options.setdefault("limits", (model.closed_loop or {}).get("limits") or {})
    if asked.get("design") == "sampled":
        return Digital(sampled_law(model, law.linear), **options)
    return Digital(law, estimator=estimator, **options)


def sampled_law(model: Model, linear: LinearModel, period: float | None = None) -> DigitalLaw:
    """The law that the model asks to design at the samples, for its own period or another one."""
    asked, control, observer = question_of(model, "digital"), dict(model.control or {}), dict(model.observer or {})
    observer.pop("order", None)
    return designed(linear, period or asked["period"], **control, **observer, delay=asked.get("delay", 0.0))


def plant_of(model: Model, equations: Equations) -> Equations:
    """The equations of the plant, which may have further forces and energies."""
    differs, system = question_of(model, "digital").get("plant", {}), model.system
    if not set(differs) - {"parameters"}:
        return equations
    assert isinstance(system, System)
    forces: dict[sp.Expr, sp.Expr] = dict(system.forces)
    for q, force in differs.get("forces", {}).items():
        forces[q] = forces.get(q, sp.S.Zero) + force
    energies = {
        key: getattr(system, key) + differs[key] for key in ("kinetic_energy", "potential_energy") if key in differs
    }
    return derive(replace(system, forces=forces, **energies), **model.derivation)


def digital_motion_of(model: Model, equations: Equations, progress: Progress | None = None) -> DigitalRun:
    """The requested motion with its laws at samples."""
    how = question_of(model, "simulation")
    how.pop("inputs", None)
    return _run(model, digital_of(model, equations), plant_of(model, equations), how, progress)


def digital_loop_of(
    model: Model,
    equations: Equations,
    law: FeedbackLaw,
    estimator: Estimator | None,
    first: Equilibrium,
    progress: Progress | None = None,
) -> DigitalRun:
    """The closed loop with its feedback at samples, from the start of the continuous one."""
    controller = digital_of(model, equations, law, estimator)
    how = run_near(model, law.linear.at, first)
    how["events"] = [*how.get("events", ()), *_far_away(law.linear, how["initial"])]
    found = _run(model, controller, plant_of(model, equations), how, progress)
    limits = {u: limit for u, limit in controller.limits.items() if u not in controller.disturbances}
    settling = settling_of(model, found.motion, law, limits, held=True)
    try:
        return replace(found, settling=settling, margins=controller.margins(law.linear))
    except VinculumError as error:
        return replace(found, settling=settling, without_margins=str(error))


def _far_away(linear: LinearModel, start: Mapping[Any, float]) -> list[Event]:
    """The end of a run that diverges, which would otherwise take ever smaller steps: far beyond the start."""
    away = {x: x - sp.Float(value_at(linear, x)) for x in linear.states}
    first = sum(float(deviation.subs(x, start.get(x, value_at(linear, x)))) ** 2 for x, deviation in away.items())
    square = sp.Add(*(deviation**2 for deviation in away.values()))
    return [Event(square - _FAR**2 * first, name="far from the equilibrium", terminal=True)] if first > 0 else []


def _run(
    model: Model, controller: Digital, plant: Equations, how: Mapping[str, Any], progress: Progress | None
) -> DigitalRun:
    """The motion, with the warnings of the law."""
    parameters = question_of(model, "digital").get("plant", {}).get("parameters")
    how = {**how, "times": _with_commands(how["times"], controller)}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        motion = simulate(plant, **how, inputs=controller, parameters=parameters, progress=progress or False)
    return DigitalRun(controller, motion, tuple(str(one.message) for one in said))


def _with_commands(times: Any, controller: Digital) -> np.ndarray:
    """The instants of a run with those at which commands arrive: each held value of an input is sampled."""
    asked = np.asarray(times, dtype=float)
    grid = np.linspace(asked[0], asked[-1], _SAMPLES) if len(asked) == 2 else asked
    count = int((asked[-1] - asked[0] - controller.delay) / controller.period) + 1
    if not 0 < count <= _MOST_COMMANDS:
        return grid
    commands = asked[0] + controller.period * np.arange(count) + controller.delay
    near = np.abs(grid[np.clip(np.searchsorted(grid, commands), 0, len(grid) - 1)] - commands)
    before = np.abs(grid[np.clip(np.searchsorted(grid, commands) - 1, 0, len(grid) - 1)] - commands)
    return np.union1d(grid, commands[np.minimum(near, before) > 1e-6 * controller.period])
