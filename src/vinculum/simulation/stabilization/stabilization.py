"""Ways to keep a numerical motion on its constraints, and the table of all of them.

With f a holonomic and φ a nonholonomic residual, the feedback c in J q̈ + γ + c = 0 is

    c = 2α ḟ + β² f      so that   f̈ + 2α ḟ + β² f = 0,
    c = κ φ              so that   φ̇ + κ φ = 0.

`Baumgarte` evaluates c in every stage of a step. `Sampled` evaluates it once per step and holds it, which suits
Runge-Kutta methods: their stages leave the manifold by O(τ²), and continuous feedback would act on that.
`Projection` moves the state back to the manifold after every step.

A stabilization is a frozen dataclass: its name, one sentence, how it acts, its options as fields, and its gains.
`register` enters it in `STABILIZATIONS`, which Python, model files, their schema and the documentation read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from vinculum.derivation.program.perturbation import binomial
from vinculum.errors import VinculumError
from vinculum.names import suggestion
from vinculum.notebook_repr import html
from vinculum.options import Described, option
from vinculum.units.dimensions import RATE
from vinculum.units.given import fields_in_si

Gain = float | Mapping[str, float]

CONTINUOUS, HELD, AFTER_STEPS, NEVER = "continuous", "held", "after steps", "never"
MISFITS = {  # how a stabilization acts: why a method cannot use it
    CONTINUOUS: "The method {method} has no continuous feedback.",
    HELD: "Sampled feedback is held through the stages of a Runge-Kutta step; {method} has none.",
    AFTER_STEPS: "Projection moves the state after every step, which would break the memory of {method}.",
    NEVER: "The method {method} does not run without stabilization.",
}

# Share of the natural rate for residual equations of an order r above two. A correction c held through a step τ moves
# the residual by c τʳ/r!, with a relative error of the order τ^(p+1-r) of the method: third for r = 2 and RK4, but
# first for r = 4, with a constant that grows where inputs lose their effect; and rounding ε of the residual causes a
# jump ε/τ^(r-1) of its last derivative. Deadbeat gains multiply that by 1/τʳ and excite the residual.
_GENTLE = 0.05


@dataclass(frozen=True)
class Stabilization(Described):
    """How a motion is kept on its constraints.

    Feedback is c = Σ g_j y_j over the residuals y_0 ... y_{r-1} of a constraint; ``gains`` gives g_0 ... g_{r-1}.
    """

    name: ClassVar[str]  # as in simulate(..., stabilization="baumgarte")
    summary: ClassVar[str]  # one sentence: what it does
    acts: ClassVar[str] = CONTINUOUS  # or HELD, AFTER_STEPS, NEVER

    @property
    def feeds_back(self) -> bool:
        """Whether it acts through the corrections c."""
        return self.acts in (CONTINUOUS, HELD)

    @property
    def given(self) -> bool:
        """Whether the user set any option."""
        return any(getattr(self, field.name) != field.default for field in fields(self))

    def gains(self, constraint: str, order: int, rate: float, method_order: float) -> Sequence[float]:
        """g of a constraint with ``order`` residuals; ``rate`` is the natural one of the method (1/τ if held)."""
        raise NotImplementedError

    def described(self, rate: float) -> str:
        """In words, for a trajectory; ``rate`` is the natural one of the method."""
        return f"{self.name}, gains as given" if self.given else f"{self.name}, rate {rate:.6g} (chosen)"

    _repr_html_ = html


# -- the table of all stabilizations -----------------------------------------------------------------------------------

STABILIZATIONS: dict[str, type[Stabilization]] = {}


def register(kind: type[Stabilization]) -> type[Stabilization]:
    """A decorator that enters a stabilization in `STABILIZATIONS`, for Python, model files and the documentation."""
    missing = [name for name in ("name", "summary") if not isinstance(getattr(kind, name, None), str)]
    if missing:
        raise VinculumError(f"The stabilization {kind.__name__} needs the class attribute {' and '.join(missing)}.")
    if kind.acts not in MISFITS:
        raise VinculumError(f"{kind.__name__}.acts is {kind.acts!r}; use {', '.join(map(repr, MISFITS))}.")
    other = STABILIZATIONS.get(kind.name, kind)
    if (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
        raise VinculumError(f"There is already a stabilization {kind.name!r}. Give yours another name.")
    STABILIZATIONS[kind.name] = kind
    return kind


def names_without_options() -> tuple[str, ...]:
    """The stabilizations that a name alone determines."""
    return tuple(n for n, kind in STABILIZATIONS.items() if not any(o.needed for o in kind.options().values()))


def names_with_options() -> tuple[str, ...]:
    """The stabilizations that have options."""
    return tuple(name for name, kind in STABILIZATIONS.items() if kind.options())


def stabilization_from(asked: Any) -> Stabilization:
    """The stabilization with a given name; an object is returned unchanged."""
    if isinstance(asked, Stabilization):
        return asked
    if isinstance(asked, str) and asked in STABILIZATIONS:
        return STABILIZATIONS[asked]()
    near = suggestion(asked, STABILIZATIONS) if isinstance(asked, str) else ""
    known = ", ".join(map(repr, names_without_options()))
    objects = ", ".join(
        f"{STABILIZATIONS[name].__name__}({next(iter(STABILIZATIONS[name].options()))}=...)"
        for name in names_with_options()
    )
    raise VinculumError(f"stabilization={asked!r} is not known.{near} Use {known}, or {objects}.")


# -- the stabilizations ------------------------------------------------------------------------------------------------


@register
@dataclass(frozen=True)
class Unstabilized(Stabilization):
    """No feedback: residuals grow with the errors of the method."""

    name = "none"
    summary = "Nothing: residuals grow with the errors of the method."
    acts = NEVER

    def described(self, rate: float) -> str:
        """In words."""
        return self.name


@register
@dataclass(frozen=True)
class Baumgarte(Stabilization):
    """Continuous feedback. ``rate`` sets α = β = κ; ``alpha`` and ``beta`` may be given instead, numbers or
    {constraint name: number}. Without numbers the rate follows from the method and its step.
    """

    name = "baumgarte"
    summary = "Feedback, f̈ + 2α ḟ + β² f = 0 and φ̇ + κ φ = 0, evaluated with the equations."

    rate: float | Mapping[str, float] | None = option("gains", "One rate, or one for each constraint.")
    alpha: float | Mapping[str, float] | None = option("gains", "Gain of Baumgarte's feedback.")
    beta: float | Mapping[str, float] | None = option("gains", "Gain of Baumgarte's feedback.")

    def __post_init__(self) -> None:
        fields_in_si(self, dict.fromkeys(("rate", "alpha", "beta"), RATE), "Invalid stabilization")

    def gains(self, constraint: str, order: int, rate: float, method_order: float) -> Sequence[float]:
        """β² and 2α of a second-order residual equation, κ of a first-order one."""
        if order != 2:
            return equal_roots(order, rate, gain_of(self.rate, constraint))
        own = gain_of(self.rate, constraint)
        base = rate if own is None else own
        alpha, beta = gain_of(self.alpha, constraint), gain_of(self.beta, constraint)
        return [(base if beta is None else beta) ** 2, 2 * (base if alpha is None else alpha)]


@register
@dataclass(frozen=True)
class Sampled(Stabilization):
    """Feedback computed once per step and held through its stages; without a rate, deadbeat.

    Deadbeat for the step τ: κ = 1/τ (first order), α = 3/(4τ), β = 1/τ (second order; α = 1/τ with Euler's method).
    """

    name = "sampled"
    summary = "The same feedback, computed once at the start of a step and held through its stages."
    acts = HELD

    rate: float | Mapping[str, float] | None = option("gains", "One rate, or one for each constraint.")

    def __post_init__(self) -> None:
        fields_in_si(self, {"rate": RATE}, "Invalid stabilization")

    def gains(self, constraint: str, order: int, rate: float, method_order: float) -> Sequence[float]:
        """Deadbeat gains up to the second order, unless the user gave a rate."""
        own = gain_of(self.rate, constraint)
        if own is None and order <= 2:
            return [g * rate ** (order - j) for j, g in enumerate(deadbeat(order, method_order))]
        return equal_roots(order, rate, own)


@register
@dataclass(frozen=True)
class Projection(Stabilization):
    """Newton's method with the smallest change onto the constraints after every step: positions, then velocities."""

    name = "projection"
    summary = "Moves the state onto the constraints after every step with the least change, positions first."
    acts = AFTER_STEPS

    def described(self, rate: float) -> str:
        """In words."""
        return "projection after every step"


@register
@dataclass(frozen=True)
class Guaranteed(Stabilization):
    """Feedback (and the step, if none is given) that keeps every constraint within ``epsilon``.

    For methods with a fixed step. ``sampled`` is True, False, or left to the method: held through the stages of a
    Runge-Kutta step, continuous with an Adams method. ``trajectory`` is the accuracy of every coordinate (every state
    of an affine system). The run checks its bounds at and between its steps; it starts again with a smaller step, or
    ends with the reason, where one is exceeded. They are in ``motion.promised`` and ``motion.trajectory_error``.
    """

    name = "guaranteed"
    summary = "Chooses gain and step of a fixed-step method for a required accuracy."

    epsilon: float = option("number", "The guaranteed accuracy.", needed=True)
    sampled: bool | None = option("flag", "Whether guaranteed feedback is held through a step.")
    trajectory: float | None = option("number", "The accuracy of every coordinate.")


# -- gains -------------------------------------------------------------------------------------------------------------


def gain_of(gain: Gain | None, constraint: str) -> float | None:
    """The gain that the user gave for a constraint."""
    value = gain.get(constraint) if isinstance(gain, Mapping) else gain
    if value is not None and (not math.isfinite(value) or value < 0):
        raise VinculumError(f"The stabilization gain of {constraint} is {value}; it must be finite and not negative.")
    return value


def equal_roots(order: int, natural: float, own: float | None) -> Sequence[float]:
    """Gains with which all roots are -rate: the user's rate, or the natural one, smaller above the second order."""
    if own is not None:
        return binomial(order, own)
    return binomial(order, natural * _GENTLE if order > 2 else natural)


@lru_cache(maxsize=64)
def deadbeat(order: int, method_order: float) -> np.ndarray:
    """Gains, in units of the step, with which a residual chain of order r is zero after r steps.

    With N the nilpotent chain and p the order of the method, a step with c held is y⁺ = Φ y - b c,
    Φ = Σ_{j ≤ p} Nʲ/j!, b = Σ_{j < p} Nʲ/(j+1)! e_r. Ackermann's formula for Φ - b g nilpotent: g = e_rᵀ C⁻¹ Φʳ.
    """
    N = np.eye(order, k=1)
    powers = [np.linalg.matrix_power(N, j) for j in range(order + 1)]
    Phi = sum(powers[j] / math.factorial(j) for j in range(int(min(method_order, order)) + 1))
    b = sum(powers[j][:, -1] / math.factorial(j + 1) for j in range(int(min(method_order, order))))
    controllability = np.column_stack([np.linalg.matrix_power(Phi, j) @ b for j in range(order)])
    gains = np.linalg.solve(controllability.T, np.eye(order)[-1]) @ np.linalg.matrix_power(Phi, order)
    gains.setflags(write=False)
    return gains
