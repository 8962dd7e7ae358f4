"""The steps after the motion, in order, one function each. A step that the model does not request raises an error."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sympy as sp

from vinculum.analyze import (
    Border,
    Continuation,
    Equilibrium,
    LinearModel,
    Verdict,
    continuation,
    equilibrium,
    linearize,
    nonsmooth,
    stability,
    steady,
)
from vinculum.control import Estimator, FeedbackLaw, close_loop, observe
from vinculum.control.design import design
from vinculum.derivation import EquationsOfMotion, ProgramEquations
from vinculum.describe import AffineSystem
from vinculum.errors import VinculumError
from vinculum.model.examine.motion_steps import Equations, Progress, question_of
from vinculum.model.model import Model
from vinculum.names import gain_symbol
from vinculum.simulation import Trajectory, simulate

_OF_THE_START = ("initial", "guess", "fixed", "inputs", "events")  # keys that apply only to the motion without feedback


def rest_of(model: Model, equations: Equations) -> Equilibrium:
    """The equilibrium or steady motion the model requests; its ``others`` are the further ones found."""
    asked = question_of(model, "equilibrium")
    for further in ("drop", "borders", "modes"):
        asked.pop(further, None)
    find = steady if asked.pop("steady", False) or "moving" in asked else equilibrium
    return find(_analyzed(model, equations), asked.pop("given", None), **asked)


def borders_of(model: Model, equations: Equations, rest: Equilibrium) -> tuple[Border, ...]:
    """Where the motion becomes or ceases to be stable, if the model asks for it, with its names of modes."""
    found = continuation_of(model, equations, rest)
    return () if found is None else found.borders


def continuation_of(model: Model, equations: Equations, rest: Equilibrium) -> Continuation | None:
    """The motion and its roots over one value, if the model asks for borders."""
    asked = question_of(model, "equilibrium")
    if "borders" not in asked:
        return None
    given, borders = asked.get("given", {}), asked["borders"]
    runs = asked.get("steady") or any(isinstance(key, sp.Derivative) for key in (*given, borders["over"]))
    moving = asked.get("moving", None if runs else ())
    found = _analyzed(model, equations)
    named = linear_of(model, equations, rest) if asked.get("modes") else None
    return continuation(found, given, **borders, near=asked.get("near"), moving=moving, named=named)


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
    return design(linear, **question_of(model, "control"))


def estimator_of(model: Model, linear: LinearModel) -> Estimator:
    """The observer from the outputs of the model."""
    return observe(linear, **question_of(model, "observer"))


def loop_of(model: Model, equations: Equations, law: FeedbackLaw, estimator: Estimator | None) -> EquationsOfMotion:
    """The equations with the inputs given by the law, within the limits of the model."""
    limits = (model.closed_loop or {}).get("limits")
    return close_loop(mechanical(equations), law, estimator, limits)


def loop_at(model: Model, equations: Equations, rest: Equilibrium, varied: Collection[Any] = ()) -> EquationsOfMotion:
    """The loop at an equilibrium, with its gains as symbols if one varies; without control, the equations."""
    if model.control is None:
        return mechanical(equations)
    law = law_of(model, linear_of(model, equations, rest))
    estimator = None if model.observer is None else estimator_of(model, law.linear)
    gains = {gain_symbol(u, x) for u in law.linear.inputs for x in law.linear.states}
    limits = (model.closed_loop or {}).get("limits")
    return close_loop(mechanical(equations), law, estimator, limits, symbolic_gains=bool(gains & set(varied)))


def closed_motion_of(
    model: Model, loop: EquationsOfMotion, law: FeedbackLaw, first: Equilibrium, progress: Progress | None = None
) -> Trajectory:
    """The motion with feedback, displaced from its equilibrium as the model's start is from the ``first`` one."""
    return simulate(loop, **run_near(model, law.linear.at, first), progress=progress or False)


def held_motion_of(
    model: Model, equations: Equations, law: FeedbackLaw, first: Equilibrium, progress: Progress | None = None
) -> Trajectory:
    """The motion from the same start with every input held at its equilibrium value, for comparison."""
    held = {u: sp.Float(law.linear.at[u]) for u in law.linear.inputs}
    return simulate(equations, **run_near(model, law.linear.at, first), inputs=held, progress=progress or False)


def _analyzed(model: Model, equations: Equations) -> Equations | AffineSystem:
    """What is analyzed: the equations, or an affine system without constraints itself, whose inputs are given."""
    system = model.system
    return system if isinstance(system, AffineSystem) and not system.constraints else equations


def mechanical(equations: Equations) -> EquationsOfMotion:
    """The equations, if a loop can be closed around them."""
    if isinstance(equations, ProgramEquations):
        raise VinculumError(
            f"Closed loops are simulated for systems stated by energies; {equations.name!r} has program equations. "
            "State it as a System and choose another form."
        )
    return equations


def run_near(model: Model, rest: Equilibrium, first: Equilibrium) -> dict[str, Any]:
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
