"""One door to the ways of choosing a feedback, for model files: weights, poles, a gain, or a PID controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vinculum.analyze.linear_model import LinearModel
from vinculum.control.feedback import FeedbackLaw
from vinculum.control.own_gain import Gains, law
from vinculum.control.pid import pid
from vinculum.control.placement import place
from vinculum.control.regulator import stabilize
from vinculum.errors import ModelError
from vinculum.options import mixed_keys


def design(linear: LinearModel, **control: Any) -> FeedbackLaw:
    """The law of a section [control]: ``poles``, ``gain`` or ``pid``, otherwise the arguments of `stabilize`."""
    problems = mixed_keys(control)
    if problems:
        raise ModelError("Invalid control", problems)
    if "poles" in control:
        return place(linear, conjugates(control["poles"]), control.get("inputs"))
    if "gain" in control:
        gain: Gains | Sequence = control["gain"]
        return law(linear, gain)
    if "pid" in control:
        options: Mapping[str, Any] = control["pid"]
        return pid(linear, **options)
    return stabilize(linear, **control)


def conjugates(poles: Sequence[complex | Sequence[float]]) -> list[complex]:
    """Roots from numbers and pairs [real, imaginary]; a pair stands for both conjugate roots."""
    found: list[complex] = []
    for pole in poles:
        if isinstance(pole, Sequence):
            real, imaginary = pole
            found += [complex(real, imaginary), complex(real, -imaginary)]
        else:
            found.append(complex(pole))
    return found
