"""Ways to keep a numerical motion on its constraints.

With f a holonomic and φ a nonholonomic residual, the feedback is put into J q̈ + γ + c = 0 as

    c = 2α ḟ + β² f      so that   f̈ + 2α ḟ + β² f = 0,
    c = κ φ              so that   φ̇ + κ φ = 0.

`Baumgarte` evaluates c in every stage of a step. `Sampled` evaluates it once per step and holds it, which is the right
partner of Runge-Kutta methods: stages leave the manifold by O(τ²) and continuous feedback acts on that.
`Projection` moves the state back to the manifold after every step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.errors import VinculumError
from vinculum.names import suggestion

_GENTLE = 0.05  # share of the natural rate for residual equations of an order above two
Gain = float | Mapping[str, float]


@dataclass(frozen=True)
class Baumgarte:
    """Continuous feedback. ``rate`` sets α = β = κ; ``alpha`` and ``beta`` may be given instead, numbers or
    {constraint name: number}. Without numbers the rate is taken from the method and its step.
    """

    rate: Gain | None = None
    alpha: Gain | None = None
    beta: Gain | None = None


@dataclass(frozen=True)
class Sampled:
    """Feedback computed once per step and held through its stages; without a rate, deadbeat.

    Deadbeat for the step τ: κ = 1/τ (first order), α = 3/(4τ), β = 1/τ (second order).
    """

    rate: Gain | None = None


@dataclass(frozen=True)
class Projection:
    """Newton's method of least change onto the constraints after every step, positions, then velocities."""


@dataclass(frozen=True)
class Unstabilized:
    """No feedback: residuals grow as the method's errors let them."""


Stabilization = Baumgarte | Sampled | Projection | Unstabilized
BY_NAME: dict[str, Stabilization] = {
    "none": Unstabilized(),
    "baumgarte": Baumgarte(),
    "sampled": Sampled(),
    "projection": Projection(),
}


def chosen(stabilization: Stabilization | str | None, default: Stabilization) -> Stabilization:
    """The stabilization asked for, by object or name, or the default of the method."""
    if stabilization is None:
        return default
    if isinstance(stabilization, str) and stabilization in BY_NAME:
        return BY_NAME[stabilization]
    if isinstance(stabilization, (Baumgarte, Sampled, Projection, Unstabilized)):
        return stabilization
    known = ", ".join(repr(name) for name in BY_NAME)
    raise VinculumError(
        f"stabilization={stabilization!r} is not known. Use {known}, or Baumgarte(rate=...), Sampled(rate=...)."
    )


def gains(
    stabilization: Stabilization, names: Sequence[str], orders: Sequence[int], natural_rate: float, euler: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(a, b) of c = a·high + b·low for every constraint, by its name and the order of its residual equation.

    ``natural_rate`` is used where the user gave none: for `Sampled` it is 1/τ, deadbeat with α = 3/(4τ), β = 1/τ, and
    for Euler's method with α = β = 1/τ.
    """
    if isinstance(stabilization, (Projection, Unstabilized)):
        return np.zeros(len(names)), np.zeros(len(names))
    _refuse_strange_names(stabilization, names)
    damping = 0.75 if isinstance(stabilization, Sampled) and not euler else 1.0
    pairs = [
        _pair(stabilization, name, order, natural_rate, damping) for name, order in zip(names, orders, strict=True)
    ]
    a, b = np.array(pairs).reshape(-1, 2).T
    return a.copy(), b.copy()


def _refuse_strange_names(stabilization: Baumgarte | Sampled, names: Sequence[str]) -> None:
    for gain in (stabilization.rate, getattr(stabilization, "alpha", None), getattr(stabilization, "beta", None)):
        for name in gain if isinstance(gain, Mapping) else ():
            if name not in names:
                raise VinculumError(f"A gain was given for {name}, which is no constraint.{suggestion(name, names)}")


def _pair(
    stabilization: Baumgarte | Sampled, name: str, order: int, natural: float, damping: float
) -> tuple[float, float]:
    rate = _number(stabilization.rate, name, None)
    damping = damping if rate is None else 1.0
    base = natural if rate is None else rate
    if order == 1:
        return base, 0.0
    if order > 2:  # (d/dt + κ)ʳ with the rate in the residual itself; slower, since a long chain asks for κʳ
        return base if rate is not None else _GENTLE * base, 0.0
    alpha, beta = damping * base, base
    if isinstance(stabilization, Baumgarte):
        alpha = _number(stabilization.alpha, name, alpha)
        beta = _number(stabilization.beta, name, beta)
    return 2 * alpha, beta**2


def _number(gain: Gain | None, name: str, default: float | None) -> float:
    value = gain.get(name, default) if isinstance(gain, Mapping) else gain
    value = default if value is None else value
    if value is not None and (not math.isfinite(value) or value < 0):
        raise VinculumError(f"the stabilization gain of {name} is {value}; it must be finite and not negative.")
    return value  # type: ignore[return-value]  # None only where the caller gave None as default
