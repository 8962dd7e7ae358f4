"""The steps of an examination in order, one function each. A step that the model does not request raises an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from vinculum.analyze import (
    Border,
    Equilibrium,
    LinearModel,
    Verdict,
    equilibrium,
    linearize,
    nonsmooth,
    stability,
    stability_borders,
    steady,
)
from vinculum.control import Estimator, FeedbackLaw, close_loop, observe
from vinculum.control.closed_loop import gain_symbol
from vinculum.control.design import design
from vinculum.derivation import EquationsOfMotion, ProgramEquations, derive
from vinculum.describe import AffineSystem
from vinculum.ensembles.plan import Study, plan_study
from vinculum.ensembles.vary import Variation
from vinculum.errors import VinculumError
from vinculum.model.model import Model
from vinculum.simulation import Trajectory, simulate

Equations = EquationsOfMotion | ProgramEquations
Progress = Callable[[float], None]

_OF_THE_START = ("initial", "guess", "fixed", "inputs", "events")  # keys that apply only to the motion without feedback


def equations_of(model: Model) -> Equations:
    """The equations in the form the model requests; an affine system has one form, "program"."""
    choices = dict(model.derivation)
    if isinstance(model.system, AffineSystem):
        choices.setdefault("form", "program")
    return derive(model.system, **choices)


def motion_of(model: Model, equations: Equations, progress: Progress | None = None) -> Trajectory:
    """The motion the model requests, without feedback."""
    return simulate(equations, **_question(model, "simulation"), progress=progress or False)


def rest_of(model: Model, equations: Equations) -> Equilibrium:
    """The equilibrium or steady motion the model requests; its ``others`` are the further ones found."""
    asked = _question(model, "equilibrium")
    for further in ("drop", "borders", "modes"):
        asked.pop(further, None)
    find = steady if asked.pop("steady", False) or "moving" in asked else equilibrium
    return find(_analyzed(model, equations), asked.pop("given", None), **asked)


def borders_of(model: Model, equations: Equations, rest: Equilibrium) -> tuple[Border, ...]:
    """Where the motion becomes or ceases to be stable, if the model asks for it, with its names of modes."""
    asked = _question(model, "equilibrium")
    if "borders" not in asked:
        return ()
    given, borders = asked.get("given", {}), asked["borders"]
    runs = asked.get("steady") or any(isinstance(key, sp.Derivative) for key in (*given, borders["over"]))
    moving = asked.get("moving", None if runs else ())
    found = _analyzed(model, equations)
    named = linear_of(model, equations, rest) if asked.get("modes") else None
    return stability_borders(found, given, **borders, near=asked.get("near"), moving=moving, named=named)


def rests_of(rest: Equilibrium) -> tuple[Equilibrium, ...]:
    """All equilibria found, the requested one first."""
    return (rest, *rest.others)


def linear_of(model: Model, equations: Equations, rest: Equilibrium, named: bool = True) -> LinearModel:
    """The linear model at an equilibrium or steady motion, without the coordinates that the model drops.

    The names of modes belong to the first equilibrium; the others are linearized with ``named=False``.
    """
    asked = model.equilibrium or {}
    found = linearize(_analyzed(model, equations), at=rest, drop=asked.get("drop", ()))
    return found.named(asked["modes"]) if named and asked.get("modes") else found


def verdict_of(linear: LinearModel) -> Verdict:
    """Whether the equilibrium or steady motion is stable, and by which theorem."""
    return stability(linear)


def at_corner(model: Model, equations: Equations, rest: Equilibrium) -> bool:
    """Whether a force law has a corner there, so that there is no linear model: dry friction, stops."""
    return nonsmooth.at_corner(_analyzed(model, equations), rest)


def verdict_at(model: Model, equations: Equations, rest: Equilibrium) -> Verdict:
    """The verdict, also where force laws have corners."""
    if at_corner(model, equations, rest):
        return stability(_analyzed(model, equations), at=rest)
    return verdict_of(linear_of(model, equations, rest))


def law_of(model: Model, linear: LinearModel) -> FeedbackLaw:
    """The feedback that the model requests: from weights, poles, a gain, or a PID controller."""
    return design(linear, **_question(model, "control"))


def estimator_of(model: Model, linear: LinearModel) -> Estimator:
    """The observer from the outputs of the model."""
    return observe(linear, **_question(model, "observer"))


def loop_of(model: Model, equations: Equations, law: FeedbackLaw, estimator: Estimator | None) -> EquationsOfMotion:
    """The equations with the inputs given by the law, within the limits of the model."""
    limits = (model.closed_loop or {}).get("limits")
    return close_loop(_mechanical(equations), law, estimator, limits)


def closed_motion_of(
    model: Model, loop: EquationsOfMotion, law: FeedbackLaw, first: Equilibrium, progress: Progress | None = None
) -> Trajectory:
    """The motion with feedback, displaced from its equilibrium as the model's start is from the ``first`` one."""
    return simulate(loop, **_run_near(model, law.linear.at, first), progress=progress or False)


def held_motion_of(
    model: Model, equations: Equations, law: FeedbackLaw, first: Equilibrium, progress: Progress | None = None
) -> Trajectory:
    """The motion from the same start with every input held at its equilibrium value, for comparison."""
    held = {u: sp.Float(law.linear.at[u]) for u in law.linear.inputs}
    return simulate(equations, **_run_near(model, law.linear.at, first), inputs=held, progress=progress or False)


_WHERE = ("motion", "store", "chunk")  # keys of a study that are not arguments of `plan_study`


def study_of(model: Model, equations: Equations, samples: int | None = None) -> Study:
    """The many runs the model requests, checked and prepared; ``samples`` replaces that of the model."""
    asked = _question(model, "study")
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
    loop = close_loop(_mechanical(equations), law, estimator, limits, symbolic_gains=bool(gains & set(varied)))
    own = {key: value for key, value in (model.study or {}).items() if key in ("initial", "times")}
    return loop, _run_near(replace(model, closed_loop={**(model.closed_loop or {}), **own}), rest, rest)


def _question(model: Model, question: str) -> dict[str, Any]:
    answer: Mapping[str, Any] | None = getattr(model, question)
    if answer is None:
        raise VinculumError(f"The model {model.name!r} has no settings for its {question.replace('_', ' ')}.")
    return dict(answer)


def _analyzed(model: Model, equations: Equations) -> Equations | AffineSystem:
    """What is analyzed: the equations, or an affine system without constraints itself, whose inputs are given."""
    system = model.system
    return system if isinstance(system, AffineSystem) and not system.constraints else equations


def _mechanical(equations: Equations) -> EquationsOfMotion:
    if isinstance(equations, ProgramEquations):
        raise VinculumError(
            f"Closed loops are simulated for systems stated by energies; {equations.name!r} has program equations. "
            "State it as a System and choose another form."
        )
    return equations


def _run_near(model: Model, rest: Equilibrium, first: Equilibrium) -> dict[str, Any]:
    """Arguments of `simulate` near an equilibrium: the start is moved from the first equilibrium to this one.

    The equilibrium provides guesses for the other coordinates. Method, times and tolerance are those of the motion
    without feedback unless the closed loop has its own.
    """
    common = {key: value for key, value in (model.simulation or {}).items() if key not in _OF_THE_START}
    own = {key: value for key, value in (model.closed_loop or {}).items() if key != "limits"}
    start = own.pop("initial", None) or (model.simulation or {}).get("initial")
    how = common | own
    if not start or "times" not in how:
        missing = "initial" if not start else "times"
        raise VinculumError(f"The closed loop of {model.name!r} has no {missing}. Give it in closed_loop.")
    moved = {key: value + rest.get(key, 0.0) - first.get(key, 0.0) for key, value in start.items()}
    system = model.system
    assert not isinstance(system, AffineSystem)
    guess = {q: rest[q] for q in system.coordinates if q in rest and q not in moved}
    return how | {"initial": moved, "guess": guess | dict(how.get("guess") or {})}
