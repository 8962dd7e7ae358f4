"""Equations one step at a time: a method of equations that the stage of simulation implements."""

from __future__ import annotations

from typing import Any

from vinculum.hooks import call


def stepper(equations: Any, method: Any, step: float, **options: Any) -> Any:
    """x(t) to x(t + step) in one call, for loops of your own: ``advance = equations.stepper("rk4", 1e-3)``, then
    ``x = advance(t, x, u)`` with arrays in the order of ``advance.states`` and ``advance.inputs``.

    x⁺ = x + τ Σ b_s k_s with a Runge-Kutta method; the inputs without a law are constant through the step.
    Constraints are kept by feedback (``stabilization``, sampled by default). Further options: ``inputs`` (laws),
    ``parameters``, and ``at``, a state at which pivots are chosen. ``advance.state(initial)`` gives a consistent x.
    Several threads may use one stepper.
    """
    return call("stepper", equations, method, step, **options)
