"""A method of integration is an object; the registry has all of them by name.

A new method is a class in one file, registered at the end of that file or at run time. Simulations, model files, their
schema, the command line and the documentation read the registry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.errors import Finding, VinculumError, Word, call
from vinculum.names import suggestion
from vinculum.notebook_repr import html
from vinculum.options import Choice, options_listed, real_number, refuse_unknown
from vinculum.simulation.stabilization.stabilization import Baumgarte, Stabilization, Unstabilized

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.outcome import Outcome
    from vinculum.simulation.trajectory.recorder import Plan, Run

SHARPEST = 1e-18  # the smallest tolerance; double precision has 16 digits
_FIRST_STEPS, _MOST_STEPS = 100, 1e15  # after the first of them, the number of all is estimated
Reached = tuple["Outcome", float, np.ndarray]  # how a segment ended, and the time and state there


class Method(Choice):
    """How ẋ = f(t, x, p) is integrated. A method is a frozen record; ``options`` are the fields that a user may set.

    Every method implements `feedback_rate` and `integrate`; everything else has the defaults below.
    """

    step: float | None = None  # of a method with fixed steps
    about: ClassVar[str] = ""  # one line for the documentation
    options: ClassVar[tuple[str, ...]] = ()
    adaptive: ClassVar[bool] = True  # chooses its own steps
    follows_corners: ClassVar[bool] = False  # stops at every discontinuity; other methods step over it
    finds_events: ClassVar[bool] = True
    misses_events_at_corners: ClassVar[bool] = False  # an event at the very instant of a corner is not reported
    keeps_polynomials: ClassVar[bool] = False  # its dense output is a polynomial for every step
    stabilizations: ClassVar[tuple[type[Stabilization], ...]] = (
        Baumgarte,
        Unstabilized,
    )  # those it accepts, its default first

    @classmethod
    def refuse_unknown(cls, given: Iterable[str], known: Sequence[str]) -> None:
        """Raise for options that the method does not have."""
        for key in (key for key in given if key not in known):
            _refuse_option(cls, cls.__name__, key, known)

    @property
    def name(self) -> str:
        """The name in the registry."""
        raise NotImplementedError

    @property
    def order(self) -> float:
        """The order of the method; infinite if the error is rounding error or set by a tolerance."""
        return math.inf

    def described(self, step: float) -> str:
        """Name and step, for a trajectory."""
        return f"{self.name}, adaptive" if self.adaptive else f"{self.name}, step {abs(step):.6g}"

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if an option has an invalid value; ``step_is_chosen``: Vinculum chooses a missing step."""

    def choose(self, problem: Problem, t0: float, t1: float, x: np.ndarray) -> tuple[Method, str]:
        """The method that integrates a problem, and the reason: this one, except for `Automatic`."""
        return self, ""

    def refuse(self, problem: Problem) -> None:
        """Raise if the method cannot integrate a problem."""

    def prepare(self, problem: Problem, t: float, x: np.ndarray) -> None:
        """Compile what the run needs; the time counts as compilation."""

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """The rate of the constraint feedback if the user gave none."""
        raise NotImplementedError

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Integrate from (t, x) to the end of the plan, or until pivots or sides of corners must change."""
        raise NotImplementedError

    _repr_html_ = html


METHODS: dict[str, Method] = {}  # the registry


def register(method: Method) -> Method:
    """Add a method to the registry under its name; raises if the name is taken."""
    if method.name in METHODS:
        raise VinculumError(f"There is already a method {method.name!r}. Give yours another name.")
    METHODS[method.name] = method
    return method


def method_names(adaptive: bool | None = None) -> tuple[str, ...]:
    """The names of all methods, or only of those with (without) adaptive steps."""
    return tuple(name for name, method in METHODS.items() if adaptive in (None, method.adaptive))


def method_from(method: Method | str, **options: Any) -> Method:
    """The method with a given name and options (None: not given); a method object is returned unchanged."""
    given = {key: value for key, value in options.items() if value is not None}
    if isinstance(method, Method):
        if given:
            names = ", ".join(given)
            raise VinculumError(f"method={method!r} has its own options. Give {names} to it, not to simulate.")
        return method
    found = METHODS.get(method) if isinstance(method, str) else None
    if found is None:
        near = suggestion(method, METHODS) if isinstance(method, str) else ""
        raise VinculumError(f"There is no method {method!r}.{near} Known: {', '.join(METHODS)}.")
    for key in (key for key in given if key not in found.options):
        _refuse_option(type(found), f"The method {found.name!r}", key, found.options)
    return replace(found, **given) if given else found  # type: ignore[type-var]  # methods are frozen records


def _refuse_option(method: type[Method], title: str, option: str, known: Sequence[str]) -> None:
    """Raise for an option that a method does not have, with the reason, what to do, and the options that it has."""
    has = f" {options_listed(known)}."
    if option == "tolerance" and not method.adaptive:
        raise VinculumError(Finding(f"{title} has a fixed step and no tolerance.", ["Leave out tolerance.", has]))
    if option == "step" and method.adaptive:
        advice = ("Leave step out, or use ", call("simulate", tolerance=Word("1e-9")), ".", has)
        raise VinculumError(Finding(f"{title} chooses its own steps.", advice))
    refuse_unknown(title, [option], known)


def refuse_tolerance(tolerance: float | None) -> None:
    """Raise if a tolerance is not a number that double precision can meet."""
    number = real_number(tolerance)
    if tolerance is not None and (number is None or not SHARPEST <= number < 1):
        advice = ("Use ", call("simulate", tolerance=Word("1e-9")), ", for instance.")
        found = f"The tolerance is {tolerance!r}; it must be a number from {SHARPEST:g} (rounding) to 1."
        raise VinculumError(Finding(found, advice))


def out_of_reach(run: Run, t: float) -> Outcome | None:
    """The outcome if the end of the run is so far away that its steps would be shorter than the time resolves."""
    from vinculum.simulation.trajectory.outcome import STALLED, Cause, Outcome

    plan, steps = run.plan, run.recorder.steps
    covered, left = abs(t - plan.t0), abs(plan.t1 - t)
    if steps < _FIRST_STEPS or left * steps < _MOST_STEPS * covered:
        return None
    return Outcome(STALLED, t, Cause("out of reach", numbers={"steps": steps, "time": t}))


def next_chunk(steps: int, spent: float, wanted: float, least: int, most: int) -> int:
    """The number of steps that last about ``wanted`` seconds, if ``steps`` took ``spent`` seconds."""
    return int(min(max(steps * min(4.0, wanted / max(spent, 1e-6)), least), most))
