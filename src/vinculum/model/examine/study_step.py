"""The many runs that a model requests."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from vinculum.control.closed_loop import close_loop
from vinculum.ensembles.plan import Study, plan_study
from vinculum.ensembles.vary import Variation
from vinculum.model.examine.motion_steps import Equations, question_of
from vinculum.model.examine.steps import estimator_of, law_of, linear_of, mechanical, rest_of, run_near
from vinculum.model.model import Model
from vinculum.names import gain_symbol

_WHERE = ("motion", "store", "chunk")  # keys of a study that are not arguments of `plan_study`


def study_of(model: Model, equations: Equations, samples: int | None = None) -> Study:
    """The many runs the model requests, checked and prepared; ``samples`` replaces that of the model."""
    asked = question_of(model, "study")
    if samples is not None:
        asked["samples"] = samples
    closed = asked.get("motion") == "closed_loop"
    over = asked["over"]
    varied = over.columns if isinstance(over, Variation) else over
    run, how = _varied_loop(model, equations, varied) if closed else (equations, _run_alone(model))
    how |= {key: value for key, value in asked.items() if key not in (*_WHERE, "initial")}
    start = {**how.pop("initial", {}), **asked.get("initial", {})}
    how["initial"] = {key: value for key, value in start.items() if key not in varied}
    how["inputs"] = {u: law for u, law in how.get("inputs", {}).items() if u not in varied}
    how.pop("dense", None)
    return plan_study(run, **how)


def _run_alone(model: Model) -> dict[str, Any]:
    """Arguments of the motion without feedback; its terminal events end the runs."""
    how = dict(model.simulation or {})
    return how | {"until": [event for event in how.pop("events", ()) if event.terminal]}


def _varied_loop(model: Model, equations: Equations, varied: Collection[Any]) -> tuple[Equations, dict[str, Any]]:
    """The closed loop at the first equilibrium and the arguments of its motion; gains are symbols if one varies."""
    rest = rest_of(model, equations)
    law = law_of(model, linear_of(model, equations, rest))
    estimator = None if model.observer is None else estimator_of(model, law.linear)
    gains = {gain_symbol(u, x) for u in law.linear.inputs for x in law.linear.states}
    limits = (model.closed_loop or {}).get("limits")
    loop = close_loop(mechanical(equations), law, estimator, limits, symbolic_gains=bool(gains & set(varied)))
    own = {key: value for key, value in (model.study or {}).items() if key in ("initial", "times")}
    return loop, run_near(replace(model, closed_loop={**(model.closed_loop or {}), **own}), rest, rest)
