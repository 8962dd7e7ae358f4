"""The first steps of an examination, which load neither analysis nor control: equations and motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vinculum.derivation import EquationsOfMotion, ProgramEquations, derive
from vinculum.describe import AffineSystem
from vinculum.errors import VinculumError
from vinculum.model.model import Model
from vinculum.simulation import Trajectory, simulate

Equations = EquationsOfMotion | ProgramEquations
Progress = Callable[[float], None]


def equations_of(model: Model) -> Equations:
    """The equations in the form the model requests; an affine system has one form, "program"."""
    choices = dict(model.derivation)
    if isinstance(model.system, AffineSystem):
        choices.setdefault("form", "program")
    return derive(model.system, **choices)


def motion_of(model: Model, equations: Equations, progress: Progress | None = None) -> Trajectory:
    """The motion the model requests, without feedback."""
    return simulate(equations, **question_of(model, "simulation"), progress=progress or False)


def question_of(model: Model, question: str) -> dict[str, Any]:
    """The settings of one section of the model."""
    answer: Mapping[str, Any] | None = getattr(model, question)
    if answer is None:
        raise VinculumError(f"The model {model.name!r} has no settings for its {question.replace('_', ' ')}.")
    return dict(answer)
