"""The questions of a model, one function each, in the order of the flow. What was not asked is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from vinculum.analyze import Equilibrium, LinearModel, Verdict, equilibrium, linearize, stability
from vinculum.control import Estimator, FeedbackLaw, close_loop, observe, stabilize
from vinculum.derivation import EquationsOfMotion, ProgramEquations, derive
from vinculum.describe import AffineSystem
from vinculum.errors import VinculumError
from vinculum.model.model import Model
from vinculum.simulation import Trajectory, simulate

Equations = EquationsOfMotion | ProgramEquations
Progress = Callable[[float], None]

_OF_THE_START = ("initial", "guess", "fixed", "inputs", "events")  # of the open motion alone


def equations_of(model: Model) -> Equations:
    """The equations in the form the model asks for; an affine system has one form, "program"."""
    choices = dict(model.derivation)
    if isinstance(model.system, AffineSystem):
        choices.setdefault("form", "program")
    return derive(model.system, **choices)


def motion_of(model: Model, equations: Equations, progress: Progress | None = None) -> Trajectory:
    """The motion the model asks for, without feedback."""
    return simulate(equations, **_question(model, "simulation"), progress=progress or False)


def rest_of(model: Model, equations: Equations) -> Equilibrium:
    """The equilibrium the model asks for; ``others`` of it are the further ones that were found."""
    asked = _question(model, "equilibrium")
    return equilibrium(_mechanical(equations, "equilibria"), asked.pop("given", None), **asked)


def rests_of(rest: Equilibrium) -> tuple[Equilibrium, ...]:
    """All equilibria that were found, the one asked for first."""
    return (rest, *rest.others)


def linear_of(equations: Equations, rest: Equilibrium) -> LinearModel:
    """The linear model at an equilibrium."""
    return linearize(_mechanical(equations, "linear models"), at=rest)


def verdict_of(linear: LinearModel) -> Verdict:
    """Whether the equilibrium is stable, and by which theorem."""
    return stability(linear)


def law_of(model: Model, linear: LinearModel) -> FeedbackLaw:
    """The feedback with the weights of the model."""
    return stabilize(linear, **_question(model, "control"))


def estimator_of(model: Model, linear: LinearModel) -> Estimator:
    """The observer from the outputs of the model."""
    return observe(linear, **_question(model, "observer"))


def loop_of(model: Model, equations: Equations, law: FeedbackLaw, estimator: Estimator | None) -> EquationsOfMotion:
    """The equations with the inputs given by the law, within the limits of the model."""
    limits = (model.closed_loop or {}).get("limits")
    return close_loop(_mechanical(equations, "closed loops"), law, estimator, limits)


def closed_motion_of(
    model: Model, loop: EquationsOfMotion, law: FeedbackLaw, first: Equilibrium, progress: Progress | None = None
) -> Trajectory:
    """The motion under feedback, displaced from its equilibrium as the model's start is from the ``first`` one."""
    return simulate(loop, **_run_near(model, law.linear.at, first), progress=progress or False)


def held_motion_of(
    model: Model, equations: Equations, law: FeedbackLaw, first: Equilibrium, progress: Progress | None = None
) -> Trajectory:
    """The motion from the same start with every input held at its value of rest: what the feedback is needed for."""
    held = {u: sp.Float(law.linear.at[u]) for u in law.linear.inputs}
    return simulate(equations, **_run_near(model, law.linear.at, first), inputs=held, progress=progress or False)


def _question(model: Model, question: str) -> dict[str, Any]:
    answer: Mapping[str, Any] | None = getattr(model, question)
    if answer is None:
        raise VinculumError(f"The model {model.name!r} does not say what to ask of its {question.replace('_', ' ')}.")
    return dict(answer)


def _mechanical(equations: Equations, what: str) -> EquationsOfMotion:
    if isinstance(equations, ProgramEquations):
        raise VinculumError(
            f"{what.capitalize()} are computed for systems stated by energies; {equations.name!r} has program "
            "equations. State it as a System in another form to ask for them."
        )
    return equations


def _run_near(model: Model, rest: Equilibrium, first: Equilibrium) -> dict[str, Any]:
    """Arguments of `simulate` near an equilibrium: the start moved from the first equilibrium to this one.

    Coordinates that were not given are guessed where the equilibrium has them. Method, times and tolerance are those
    of the open motion unless the closed loop has its own.
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
