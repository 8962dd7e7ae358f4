"""Every fixed-step method converges with its order, with and without constraints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import vinculum as vn
from simulate.models import (
    ADAMS,
    FIXED_STEP,
    SKATE_START,
    START_ANGLE,
    angle_pendulum,
    hanging,
    largest,
    pendulum,
    run,
    skate,
    theta,
    x,
    y,
)
from vinculum.simulation import METHODS

INSTANTS = np.linspace(0, 1, 11)
COUNTS = {1: (4000, 8000, 16000), 2: (500, 1000, 2000), 3: (200, 400, 800), 4: (160, 320, 640), 5: (100, 200, 400)}
ORDERS = {"euler": 1, "midpoint": 2, "rk4": 4} | {name: int(name[-1]) for name in ADAMS}

SYSTEMS = {
    "free": (angle_pendulum, {theta: START_ANGLE, theta.diff(): 0.5}, [theta, theta.diff()]),
    "held by a rod": (pendulum, hanging(speed=0.5), [x, y, x.diff(), y.diff()]),
    "on an edge": (skate, SKATE_START | {theta.diff(): 3.0}, [x, y, theta, x.diff(), y.diff()]),
}


@cache
def reference(name: str) -> vn.Trajectory:
    equations, start, _ = SYSTEMS[name]
    return run(equations(), start, INSTANTS)


def error(name: str, method: str, count: int) -> float:
    equations, start, quantities = SYSTEMS[name]
    motion = run(equations(), start, INSTANTS, method, step=1 / count)
    return max(float(np.abs(motion[key] - reference(name)[key]).max()) for key in quantities)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("method", FIXED_STEP)
def test_the_error_falls_with_the_order_of_the_method(method, name):
    """log error = order · log step + constant, within 0.15; stabilization by the default of each method."""
    counts = COUNTS[ORDERS[method]]
    errors = [error(name, method, count) for count in counts]
    assert errors[-1] > 1e-12, "too near rounding to show a rate"
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope == pytest.approx(ORDERS[method], abs=0.15)


@pytest.mark.parametrize("name", ["held by a rod", "on an edge"])
@pytest.mark.parametrize("method", FIXED_STEP)
def test_residuals_fall_at_least_with_the_order_of_the_method(method, name):
    """The largest residual over all steps, those that start an Adams method included: O(τᵖ) or smaller."""
    counts = (50, 100, 200)
    equations, start, _ = SYSTEMS[name]
    motions = [run(equations(), start, INSTANTS, method, step=1 / count) for count in counts]
    residuals = [largest(motion) for motion in motions]
    assert residuals[-1] > 1e-14, "too near rounding to show a rate"
    slope = -np.polyfit(np.log(counts), np.log(residuals), 1)[0]
    assert slope > ORDERS[method] - 0.25


def test_every_method_has_its_rate_here():
    assert set(FIXED_STEP) == {name for name, method in METHODS.items() if not method.adaptive}
    assert {name: METHODS[name].order for name in FIXED_STEP} == ORDERS
