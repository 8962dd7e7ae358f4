"""Studies and derivatives with functions that are constant to the last digit next to a steep place, as tanh(v/0.01)."""

import numpy as np
import pytest
import sympy as sp
import xarray as xr
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum import measure

x = dynamicsymbols("x")
v = x.diff()
w = sp.Symbol("w")
SPEEDS = np.linspace(0.5, 2.0, 31)


def sliding(width=0.01):
    """v' = -tanh(v/w): the speed falls by 1 in a second, to zero."""
    return vn.System([x], v**2 / 2, forces={x: -sp.tanh(v / w)}, parameters={w: width})


@pytest.mark.parametrize("width", [0.03, 0.01, 0.002])
def test_every_run_of_a_study_comes_to_rest(width):
    """The way is ∫ v dv / tanh(v/w) = v₀²/2 + π² w²/12, up to exp(-2 v₀/w)."""
    runs = vn.study(sliding(width), {x: 0.0}, (0, 6), over={v: SPEEDS})
    np.testing.assert_allclose(runs.x, SPEEDS**2 / 2 + np.pi**2 * width**2 / 12, rtol=0, atol=1e-11)
    assert (np.abs(runs.x_dot) < 1e-12).all()
    assert (runs.outcome == 0).all()


def test_walls_events_and_samples():
    """Between two walls 2 e^(±x/w) the speed is 1 or -1; the force of the walls turns it around."""
    system = vn.System(
        [x], v**2 / 2, forces={x: 2 * sp.exp(-(1 + x) / w) - 2 * sp.exp((x - 1) / w)}, parameters={w: 0.01}
    )
    asked = dict(over={v: [0.5, 1.0, 2.0]}, keep="motion", measure={"back": measure.first_time(x, "falling")})
    times = np.linspace(0, 9, 46)
    runs = vn.study(system, {x: 0.0}, times, **asked)
    for k, speed in enumerate(asked["over"][v]):
        one = vn.simulate(system, {x: 0.0, v: speed}, times)
        np.testing.assert_allclose(runs.x.isel(initial_x_dot=k), one[x], rtol=0, atol=1e-9)
        back = vn.simulate(system, {x: 0.0, v: speed}, times, events=vn.Event(x, name="back", direction="falling"))
        assert float(runs.back[k]) == pytest.approx(back.event_times["back"][0], abs=1e-10)
    ended = vn.study(system, {x: 0.0}, (0, 9), over={v: [1.0]}, until=vn.Event(v, name="turn"))
    turn = vn.simulate(system, {x: 0.0, v: 1.0}, (0, 9), events=vn.Event(v, name="turn", terminal=True))
    assert float(ended.end_time[0]) == pytest.approx(turn.t[-1], abs=1e-10)


def test_pulses_of_time_and_steep_functions_of_the_state():
    """A push of 10 N for 20 ms at t = 3, when friction holds the body: it slides 0.018 m on."""
    t = dynamicsymbols._t
    push = sp.Piecewise((10, (t > 3) & (t < 3.02)), (0, True))
    system = vn.System([x], v**2 / 2, forces={x: push - sp.tanh(v / w)}, parameters={w: 0.001})
    runs = vn.study(system, {x: 0.0}, (0, 6), over={v: [0.3, 1.0]})
    for k, speed in enumerate((0.3, 1.0)):
        one = vn.simulate(system, {x: 0.0, v: speed}, (0, 6))
        assert float(runs.x[k]) == pytest.approx(one[x][-1], abs=1e-9)
        assert float(runs.x[k]) == pytest.approx(speed**2 / 2 + 0.018, abs=1e-4)


def test_the_division_of_a_study_does_not_matter():
    asked = dict(over={v: SPEEDS}, measure={"way": measure.maximum(x)}, keep="end")
    whole = vn.study(sliding(), {x: 0.0}, (0, 6), threads=1, **asked)
    xr.testing.assert_identical(whole, vn.study(sliding(), {x: 0.0}, (0, 6), threads=2, **asked))
    alone = vn.study(sliding(), {x: 0.0}, (0, 6), **(asked | {"over": {v: SPEEDS[5:6]}}))
    assert float(alone.way[0]) == float(whole.way[5])


def test_derivatives_by_a_start_and_by_a_width():
    """d/dv₀ (v₀²/2 + π² w²/12) = v₀, and π² w/6 by w."""
    found = vn.ensembles.sensitivity(sliding(), {x: 0.0, v: 1.0}, (0, 6), by=[v, w])
    assert found.derivative(x, by=v)[-1] == pytest.approx(1.0, abs=1e-8)
    assert found.derivative(x, by=w)[-1] == pytest.approx(np.pi**2 * 0.01 / 6, abs=1e-8)


@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3])
def test_no_pulse_of_a_force_is_passed_over(width):
    """A narrow bump of the potential is a pulse of the force that begins and ends within a step."""
    V = x**2 / 2 + sp.exp(-(((x - sp.Rational(1, 5)) / width) ** 2)) / 10
    runs = vn.study(vn.System([x], v**2 / 2, V), {v: 0.0}, (0, 20), over={x: np.linspace(0.6, 2.0, 15)})
    assert (runs.outcome == 0).all()
    assert (runs.energy_error < 1e-11).all()
