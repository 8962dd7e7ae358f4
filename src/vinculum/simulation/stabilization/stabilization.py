"""Ways to keep a numerical motion on its constraints.

With f a holonomic and φ a nonholonomic residual, the feedback c in J q̈ + γ + c = 0 is

    c = 2α ḟ + β² f      so that   f̈ + 2α ḟ + β² f = 0,
    c = κ φ              so that   φ̇ + κ φ = 0.

`Baumgarte` evaluates c in every stage of a step. `Sampled` evaluates it once per step and holds it, which suits
Runge-Kutta methods: their stages leave the manifold by O(τ²), and continuous feedback would act on that.
`Projection` moves the state back to the manifold after every step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vinculum.notebook_repr import html

Gain = float | Mapping[str, float]


@dataclass(frozen=True)
class Baumgarte:
    """Continuous feedback. ``rate`` sets α = β = κ; ``alpha`` and ``beta`` may be given instead, numbers or
    {constraint name: number}. Without numbers the rate follows from the method and its step.
    """

    rate: Gain | None = None
    alpha: Gain | None = None
    beta: Gain | None = None

    @property
    def given(self) -> bool:
        """Whether the user gave any gain."""
        return any(gain is not None for gain in (self.rate, self.alpha, self.beta))

    _repr_html_ = html


@dataclass(frozen=True)
class Sampled:
    """Feedback computed once per step and held through its stages; without a rate, deadbeat.

    Deadbeat for the step τ: κ = 1/τ (first order), α = 3/(4τ), β = 1/τ (second order; α = 1/τ with Euler's method).
    """

    rate: Gain | None = None

    @property
    def given(self) -> bool:
        """Whether the user gave any gain."""
        return self.rate is not None

    _repr_html_ = html


@dataclass(frozen=True)
class Projection:
    """Newton's method with the smallest change onto the constraints after every step: positions, then velocities."""

    _repr_html_ = html


@dataclass(frozen=True)
class Unstabilized:
    """No feedback: residuals grow with the errors of the method."""

    _repr_html_ = html


@dataclass(frozen=True)
class Guaranteed:
    """Feedback (and the step, if none is given) that keeps every constraint within ``epsilon``.

    For methods with a fixed step. ``sampled`` is True, False, or left to the method: held through the stages of a
    Runge-Kutta step, continuous with an Adams method. The bounds are in ``motion.promised``.
    """

    epsilon: float
    sampled: bool | None = None

    _repr_html_ = html


Stabilization = Baumgarte | Sampled | Projection | Unstabilized
BY_NAME: dict[str, Stabilization] = {
    "none": Unstabilized(),
    "baumgarte": Baumgarte(),
    "sampled": Sampled(),
    "projection": Projection(),
}
