"""No pulse of the forces is passed over, however short it is."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.simulation.problem.pulses import shortest_pulse

t = dynamicsymbols._t
x, y = dynamicsymbols("x y")
w = sp.Symbol("w")
WHEN, SPAN = 5.123, 20.0
SHAPES = {  # force: its width at half height, in w
    "Gauss": (sp.exp(-(((t - WHEN) / w) ** 2)), 2 * np.sqrt(np.log(2))),
    "Lorentz": (1 / (1 + ((t - WHEN) / w) ** 2), 2.0),
    "box": (sp.Piecewise((1 / w, (t > WHEN) & (t < WHEN + w)), (0, True)), 1.0),
    "steps": (sp.Heaviside(t - WHEN) - sp.Heaviside(t - WHEN - w), 1.0),
    "tent": (sp.Max(0, 1 - sp.Abs(t - WHEN) / w), 1.0),
    "double": (sp.tanh((t - WHEN) / w) - sp.tanh((t - WHEN) / w - 4), 4.0),
}


def swing(force: sp.Expr, **options) -> vn.Trajectory:
    """A pendulum of length 1 under a horizontal force."""
    rod = vn.Holonomic(x**2 + y**2 - 1, name="rod")
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, forces={x: force}, constraints=[rod],
                       parameters={w: 1.0} if force.has(w) else {})  # fmt: skip
    given = {"times": (0, SPAN), "method": "rk4", "step": 0.02} | options
    return vn.simulate(vn.derive(system), {x: 0.0, y: -1.0, x.diff(): 0.5}, progress=False, **given)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [1e-2, 1e-6, 1e-10])
def test_the_width_of_a_pulse_is_measured_at_half_its_height(shape, width):
    """Up to 1e-11 of the run; sampled on a grid of half a million points, all but the first would be missed."""
    force, factor = SHAPES[shape]
    problem = swing(force, parameters={w: width}, times=(0, 0.1)).problem
    found = shortest_pulse(problem, 0.0, SPAN)
    assert found.width == pytest.approx(factor * width, rel=0.15)
    assert found.time == pytest.approx(WHEN, abs=5 * width)


@pytest.mark.parametrize("force", [sp.Heaviside(t - WHEN), sp.tanh((t - WHEN) * 1e8), sp.exp(-t), sp.S(3), t**3])
def test_what_does_not_turn_back_is_not_a_pulse(force):
    assert shortest_pulse(swing(force, times=(0, 0.1)).problem, 0.0, SPAN) is None


def test_an_oscillation_has_about_half_its_period():
    problem = swing(sp.sin(300 * t) * sp.cos(t), times=(0, 0.1)).problem
    assert shortest_pulse(problem, 0.0, SPAN).width == pytest.approx(np.pi / 300, rel=0.3)


@pytest.mark.parametrize("force", [sp.sin(1e7 * t), sp.exp(-(((t - WHEN) * 1e8) ** 2))])
def test_what_no_run_could_follow_is_refused(force):
    with pytest.raises(vn.VinculumError, match=r"changes and changes back within .* needs more than 1000000 steps"):
        swing(force, step=None, stabilization=vn.Guaranteed(1e-4))


def test_a_given_step_that_passes_over_a_pulse_gives_no_accuracy_of_the_trajectory():
    """Runs with a half and a quarter of the step would miss it too, and agree with each other."""
    force = 100 * sp.exp(-(((t - WHEN) / 1e-3) ** 2))
    with pytest.raises(vn.VinculumError, match=r"near t = 5.12.*the step 0.02 passes over it.*step=0.0008"):
        swing(force, stabilization=vn.Guaranteed(1e-2, trajectory=1e-2))
    short = swing(force, times=(5.0, 5.2), step=None, stabilization=vn.Guaranteed(1e-4, trajectory=1e-5))
    exact = swing(force, times=(5.0, 5.2), step=1e-5)
    assert short.kept
    assert abs(short[x][-1] - exact[x][-1]) < 1e-5
