"""A law on a processor: sampled sensors, computation delay, held and limited actuators.

    y_k = Q_y(y(t_k) + noise),   u_k = Q_u(limits(f(t_k, y_k, memory))) + disturbance,   u(t) = u_k from t_k + delay on

Q rounds to a resolution. Noise and disturbances are normal with the given standard deviations, from one seed.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.discrete_model import with_delay
from vinculum.analyze.linear_model import LinearModel
from vinculum.control.digital_law import DigitalLaw, digital_law
from vinculum.control.digital_margins import digital_margins
from vinculum.control.discrete_design import sampled_loop
from vinculum.control.feedback import FeedbackLaw
from vinculum.control.margins import Margin
from vinculum.control.observer import Estimator
from vinculum.derivation import ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.simulation.sampling import LawError, Sampler, Sampling
from vinculum.text_printer import labelled_rows
from vinculum.units.dimensions import TIME, Dimension, over
from vinculum.units.given import fields_in_si, has_unit, numbers_in_si

Numbers = Mapping[sp.Expr, float]
Function = Callable[[float, np.ndarray, Any], Any]  # u = f(t, y, memory)


def _known_dimensions(law: Any) -> dict[Any, Dimension]:
    """The dimensions of inputs and outputs, if the law was designed for equations with units."""
    return dimensions_of(law.linear.equations) if isinstance(law, FeedbackLaw) else {}


@dataclass(frozen=True, eq=False, repr=False)
class Digital(Sampler):
    """A law that acts at sample times, for ``simulate(equations, ..., inputs=Digital(law, period))``.

    ``law`` is a feedback law (with ``estimator``), a `DigitalLaw`, laws {input: expression of t and the state}, such as
    computed torques, equations of the form "program", or a Python function u = f(t, y, memory) of the time, the
    measured ``outputs`` (default: all coordinates and velocities) and its ``memory``, which is copied for every run; it
    returns one number for each of ``controls`` (default: all inputs). Formulas have the parameters of the equations;
    ``parameters`` of `simulate` are those of the plant.

    Numbers are in SI or have units: ``period="5 ms"``, ``limits={u: "24 V"}``.

    ``delay`` is the time from the measurement to the actuator, any number of at least 0. Until the first command
    arrives the inputs are ``before``, or the holding values of a feedback law. ``limits`` {u: largest |u|} and
    ``rates`` {u: largest |du/dt|} bound the inputs; ``resolution`` {y or u: step} rounds what is measured or sent; a
    rounded input stays within its limit. ``noise`` {y: standard deviation} is added to what is measured,
    ``disturbances`` {u: standard deviation} to the inputs, new at every sample, from ``seed``. A disturbance may also
    be an expression of t and the state, such as `vn.signal` or `vn.random_signal`; it acts between the samples too.

    While a limit holds, integrators stop (``anti_windup``; see `DigitalLaw`).

    A Python function that raises, or returns other than finite numbers of the right count, ends the run: see
    ``motion.outcome``.
    """

    law: FeedbackLaw | DigitalLaw | ProgramEquations | Mapping[sp.Expr, sp.Expr] | Function
    period: float
    delay: float = 0.0
    estimator: Estimator | None = None
    outputs: Sequence[sp.Expr] | None = None
    controls: Sequence[sp.Expr] | None = None
    memory: Any = None
    before: Numbers | None = None
    limits: Numbers = field(default_factory=dict)
    rates: Numbers = field(default_factory=dict)
    resolution: Numbers = field(default_factory=dict)
    noise: Numbers = field(default_factory=dict)
    disturbances: Mapping[sp.Expr, float | sp.Expr] = field(default_factory=dict)
    seed: int = 0
    anti_windup: bool = True

    def __post_init__(self) -> None:
        fields_in_si(self, {"period": TIME, "delay": TIME}, "Invalid digital law")
        known = _known_dimensions(self.law)
        for name in ("limits", "rates", "resolution", "noise", "disturbances", "before"):
            given = getattr(self, name)
            rates = {key: over(dimension, TIME) for key, dimension in known.items()}
            if isinstance(given, Mapping) and any(map(has_unit, given.values())):
                numbers = numbers_in_si(given, rates if name == "rates" else known, f"Invalid {name}")
                object.__setattr__(self, name, numbers)
            elif isinstance(given, Mapping) and any(_is_number(value) for value in given.values()):
                plain = {key: float(value) if _is_number(value) else value for key, value in given.items()}
                object.__setattr__(self, name, plain)
        problems = []
        if not (math.isfinite(self.period) and self.period > 0):
            problems.append(f"period is {self.period}; it must be a positive number of seconds.")
        if not (math.isfinite(self.delay) and self.delay >= 0):
            problems.append(f"delay is {self.delay}; it must be a number of seconds of at least 0.")
        for name in ("limits", "rates", "resolution", "noise", "disturbances"):
            problems += [
                f"{name} of {name_of(key)} is {value}; it must be positive."
                for key, value in getattr(self, name).items()
                if not isinstance(value, sp.Basic) and not (math.isfinite(value) and value > 0)
            ]
        problems += [
            f"{name_of(key)} is {value} before the first command, beyond its limit {self.limits[key]}."
            for key, value in (self.before or {}).items()
            if key in self.limits and abs(value) > self.limits[key]
        ]
        if self.estimator is not None and not isinstance(self.law, FeedbackLaw):
            problems.append("estimator belongs to a feedback law; leave it out.")
        if isinstance(self.law, DigitalLaw) and self.law.period != self.period:
            problems.append(f"period is {self.period}, but the law was designed for {self.law.period}.")
        if problems:
            raise ModelError("Invalid digital law", problems)

    def begin(self, equations: Equations, time: float) -> Sampling:
        """The law at the start of a run."""
        law = self.law
        if isinstance(law, FeedbackLaw):
            law = self._discretized(law)
        inner: Any
        if isinstance(law, DigitalLaw):
            inner = _Linear(law)
        elif isinstance(law, ProgramEquations):
            inner = _Formulas({u: law.controls[u] for u in law.system.inputs}, law.parameters)
        elif isinstance(law, Mapping):
            inner = _Formulas(law, equations.parameters)
        elif callable(law):
            outputs = tuple(equations.user_symbols if self.outputs is None else self.outputs)
            controls = tuple(equations.inputs if self.controls is None else self.controls)
            inner = _Python(law, outputs, controls, copy.deepcopy(self.memory))
        else:
            raise VinculumError(
                f"{type(law).__name__} is not a law. Give a feedback law, laws {{input: expression}}, equations of the "
                "form 'program', or a function u = f(t, y, memory)."
            )
        return _Running(self, inner, self._before(inner))

    def margins(self, linear: LinearModel | None = None) -> dict[sp.Expr, Margin]:
        """Gain, phase and delay margins of the sampled loop; a `DigitalLaw` needs its ``linear`` model."""
        law = self.law
        if isinstance(law, FeedbackLaw):
            return digital_margins(
                linear or law.linear, digital_law(law, self.period, self.estimator, None, self.anti_windup), self.delay
            )
        if not isinstance(law, DigitalLaw) or linear is None:
            raise VinculumError("Margins belong to linear laws: use a feedback law, or a digital law and linear=....")
        return digital_margins(linear, law, self.delay)

    def _discretized(self, law: FeedbackLaw) -> DigitalLaw:
        """The law at its samples, with a warning if the loop is unstable with this period and delay."""
        found = digital_law(law, self.period, self.estimator, None, self.anti_windup)
        roots = np.linalg.eigvals(sampled_loop(law.linear.discrete(self.period, self.delay), found))
        self.warn_if_slow(roots, law.roots)
        return found

    def warn_if_slow(self, sampled: np.ndarray, continuous: np.ndarray, where: str = "") -> None:
        """Warn if a loop that is stable in continuous time is unstable when it is sampled."""
        largest = float(np.abs(sampled).max(initial=0.0))
        if largest > 1 + 1e-9 and float(continuous.real.max(initial=-math.inf)) < 0:
            warnings.warn(
                f"The law is stable in continuous time{where}, but with the period {self.period:.6g} and the delay "
                f"{self.delay:.6g} the largest root of the sampled loop is {largest:.6g}, outside the unit circle. "
                "Use a shorter period, or design for it with vn.feedback.digital(linear, period, ..., delay=...).",
                stacklevel=5,
            )

    def warn_of_plant(self, roots: np.ndarray) -> None:
        """Warn if a plant under a Python function, whose loop has no known roots, is too fast for the samples."""
        late = self.period + self.delay
        fastest = max(roots, key=lambda root: max(root.real * late, abs(root.imag) * self.period / math.pi), default=0j)
        if abs(fastest.imag) * self.period > math.pi:
            said = f"has fewer than two samples per oscillation: its root near the start is {fastest:.4g}"
        elif fastest.real * late > 1:
            growth = math.exp(min(fastest.real * late, 700.0))
            said = f"grows by the factor {growth:.3g} before a command can answer: its root near the start is "
            said += f"{fastest.real:.4g}"
        else:
            return
        warnings.warn(
            f"With the period {self.period:.6g} and the delay {self.delay:.6g} the plant without its law {said}. The "
            "roots of a loop with a Python function are not known. Use a shorter period, or check the motion.",
            stacklevel=5,
        )

    def _before(self, inner: Any) -> tuple[float, ...]:
        """The inputs until the first command arrives."""
        given = dict(self.before or {})
        holding = dict(zip(inner.inputs, inner.holding, strict=True)) if inner.holding is not None else {}
        missing = [u for u in inner.inputs if u not in given and u not in holding and self.delay > 0]
        if missing:
            problem = f"With a delay, before={{{name_of(missing[0])}: value}} must say what holds until then."
            raise ModelError("Invalid digital law", [problem])
        return tuple(float(given[u]) if u in given else float(holding.get(u, 0.0)) for u in inner.inputs)

    def __repr__(self) -> str:
        """What was given, in rows; what has its default is left out."""
        names = ("before", "limits", "rates", "resolution", "noise", "disturbances")
        rows = {
            "law": _law_words(self.law),
            "observer": "" if self.estimator is None else f"from {listed(self.estimator.outputs)}",
            "measured": listed(self.outputs or ()),
            "controls": listed(self.controls or ()),
            "period": f"{self.period:.6g}",
            "delay": f"{self.delay:.6g}" if self.delay else "",
            **{name: _numbers_words(getattr(self, name) or {}) for name in names},
            "seed": f"{self.seed}" if self.noise or self.disturbances else "",
            "anti-windup": "" if self.anti_windup else "off",
        }
        return labelled_rows("Digital", {name: words for name, words in rows.items() if words})

    _repr_html_ = html


def _law_words(law: Any) -> str:
    """A law by its kind, with what it sets."""
    if isinstance(law, FeedbackLaw):
        return f"feedback law for {listed(law.linear.inputs)}"
    if isinstance(law, DigitalLaw):
        return f"digital law for {listed(law.inputs)}"
    if isinstance(law, ProgramEquations):
        return f"program of {law.name}"
    if isinstance(law, Mapping):
        return f"formulas for {listed(law)}"
    return f"Python function {getattr(law, '__name__', type(law).__name__)}"


def _numbers_words(given: Mapping[sp.Expr, Any]) -> str:
    """Numbers by name: theta 0.001, x 0.01."""
    shown = {key: value if isinstance(value, sp.Basic) else f"{value:.6g}" for key, value in given.items()}
    return ", ".join(f"{name_of(key)} {value}" for key, value in shown.items())


def _is_number(value: object) -> bool:
    """Whether a value is one of SymPy's numbers, which are not expressions of time or the state."""
    return isinstance(value, sp.Expr) and bool(value.is_number)


class _Linear:
    """A digital law with its states."""

    def __init__(self, law: DigitalLaw) -> None:
        self.law, self.inputs, self.measured = law, law.inputs, law.outputs
        self.holding: Sequence[float] | None = [float(x) for x in law.u0]
        self.w = np.zeros(len(law.states))

    def compute(self, t: float, y: np.ndarray) -> np.ndarray:
        """u_k = u₀ + C w_k + D (y_k - y₀)."""
        self.y = y
        return self.law.wanted(self.w, y)

    def sent(self, u: np.ndarray, over: np.ndarray) -> None:
        """w_k+1, with the inputs that were sent and what the limits took."""
        self.w = self.law.advanced(self.w, self.y, u, over)


class _Formulas:
    """Laws that are expressions of the state: what is measured are the laws themselves, compiled."""

    holding: Sequence[float] | None = None

    def __init__(self, laws: Mapping[sp.Expr, sp.Expr], parameters: Mapping[sp.Symbol, float]) -> None:
        self.inputs, self.measured, self.parameters = tuple(laws), tuple(laws.values()), dict(parameters)

    def compute(self, t: float, y: np.ndarray) -> np.ndarray:
        """The laws at the state."""
        return y

    def sent(self, u: np.ndarray, over: np.ndarray) -> None:
        """A formula remembers nothing."""


class _Python:
    """A function of the user."""

    holding: Sequence[float] | None = None

    def __init__(self, f: Function, outputs: tuple[sp.Expr, ...], inputs: tuple[sp.Expr, ...], memory: Any) -> None:
        self.f, self.measured, self.inputs, self.memory = f, outputs, inputs, memory

    def compute(self, t: float, y: np.ndarray) -> np.ndarray:
        """u = f(t, y, memory), checked."""
        try:
            given = self.f(t, y.copy(), self.memory)
        except Exception as error:
            raise LawError(f"raised {type(error).__name__}: {error}") from error
        try:
            u = _real_numbers(given)
        except Exception:  # conversions run code of the user's objects
            raise LawError(f"returned {_shown(given)}, not real numbers") from None
        if u.shape != (len(self.inputs),):
            needed = f"{len(self.inputs)} number{'s are' if len(self.inputs) != 1 else ' is'} needed"
            raise LawError(f"returned the shape {u.shape}; {needed}, for {', '.join(map(name_of, self.inputs))}")
        return u

    def sent(self, u: np.ndarray, over: np.ndarray) -> None:
        """The function keeps its own memory."""


def _real_numbers(given: Any) -> np.ndarray:
    """Numbers that a function returned; raises for None, texts, complex numbers, dates and masked numbers."""
    found = np.asarray(given)
    strange = found.dtype == object and any(isinstance(x, (NoneType, str, bytes, complex)) for x in found.flat)
    if strange or found.dtype.kind not in "biufO" or np.ma.is_masked(given):
        raise TypeError
    return np.atleast_1d(found.astype(float))


def _shown(given: Any) -> str:
    """An object as Python writes it, shortened."""
    try:
        text = " ".join(repr(given).split())
    except Exception:
        return f"an object of the type {type(given).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


class _Running(Sampling):
    """A law during one run: its sensors, actuators, random numbers and memory."""

    def __init__(self, digital: Digital, inner: Any, before: tuple[float, ...]) -> None:
        self.inner, self.inputs, self.measured, self.before = inner, inner.inputs, inner.measured, before
        self.digital, self.model = digital, getattr(inner, "parameters", {})
        self.random, self.last = np.random.default_rng(digital.seed), np.array(before)

        def numbers(given: Numbers, keys: Sequence[sp.Expr], missing: float) -> np.ndarray:
            return np.array([float(given.get(key, missing)) for key in keys])

        self.noise = numbers(digital.noise, self.measured, 0.0)
        self.added = {u: value for u, value in digital.disturbances.items() if isinstance(value, sp.Basic)}
        drawn = {u: value for u, value in digital.disturbances.items() if u not in self.added}
        self.disturbance = numbers(drawn, self.inputs, 0.0)
        self.steps_y, self.steps_u = (numbers(digital.resolution, keys, 0.0) for keys in (self.measured, self.inputs))
        own = digital.law.limits if isinstance(digital.law, DigitalLaw) else {}
        self.limit = np.minimum(*(numbers(given, self.inputs, math.inf) for given in (digital.limits, own)))
        self.change = numbers(digital.rates, self.inputs, math.inf) * digital.period
        known = {*self.measured, *self.inputs}
        strange = [key for given in (digital.noise, digital.resolution, digital.limits, digital.rates,
                                     digital.disturbances) for key in given if key not in known]  # fmt: skip
        if strange:
            problem = f"{name_of(strange[0])} is neither measured nor set. Measured are "
            problem += f"{', '.join(map(name_of, self.measured))}; set are {', '.join(map(name_of, self.inputs))}."
            raise ModelError("Invalid digital law", [problem])

    def judge(self, F: np.ndarray, H: np.ndarray, C: np.ndarray) -> None:
        """Warn for laws that were not designed with a linear model, which `Digital` knows already."""
        if isinstance(self.inner, _Python) and np.isfinite(F).all():
            self.digital.warn_of_plant(np.linalg.eigvals(F))
        if not isinstance(self.inner, _Formulas) or not np.isfinite(C).all():
            return
        A, B = with_delay(F, H, self.digital.period, self.digital.delay)
        K = np.hstack([C, np.zeros((len(C), len(A) - len(F)))])
        near = " near the start"
        self.digital.warn_if_slow(np.linalg.eigvals(A + B @ K), np.linalg.eigvals(F + H @ C), near)

    def sample(self, t: float, y: np.ndarray) -> np.ndarray:
        """The inputs for what was measured."""
        read = _rounded(y + self.noise * self.random.normal(size=len(y)), self.steps_y)
        u = self.inner.compute(t, read)
        if not np.all(np.isfinite(u)):
            worst = next(key for key, value in zip(self.inputs, u, strict=True) if not np.isfinite(value))
            raise LawError(f"gave {u[self.inputs.index(worst)]} for {name_of(worst)}")
        allowed = np.clip(u, -self.limit, self.limit)
        allowed = np.clip(allowed, self.last - self.change, self.last + self.change)
        self.last = allowed  # not rounded: a ramp may take several samples for one step of the actuator
        over, u = u - allowed, self._within(_rounded(allowed, self.steps_u))
        self.inner.sent(u, over)
        return u + self.disturbance * self.random.normal(size=len(u))

    def _within(self, rounded: np.ndarray) -> np.ndarray:
        """A step less where the nearest multiple is beyond the limit."""
        return np.where(np.abs(rounded) > self.limit, rounded - np.sign(rounded) * self.steps_u, rounded)


def _rounded(values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The nearest multiples of the steps; values without a step, or of more steps than can be counted, stay."""
    safe = np.where(steps > 0, steps, 1.0)
    with np.errstate(over="ignore"):
        nearest = safe * np.round(values / safe)
    return np.where((steps > 0) & np.isfinite(nearest), nearest, values)
