"""No run passes over a narrow function of time: forces, inputs, prescribed motions, events, splines, lanes."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.ensembles import sensitivity
from vinculum.simulation.problem import pulses
from vinculum.simulation.problem.pulses import stops

t = dynamicsymbols._t
x, y, u = dynamicsymbols("x y u")
SPAN = 10.0


def _lorentz(c, w):
    return w * (np.arctan((SPAN - c) / w) + np.arctan(c / w))


SHAPES = {  # f((t - c)/w) and its exact integral over the run, for pulses far from its ends
    "Gauss": (lambda s: sp.exp(-(s**2)), lambda c, w: np.sqrt(np.pi) * w),
    "Lorentz": (lambda s: 1 / (1 + s**2), _lorentz),
    "sech": (lambda s: 2 * sp.exp(-sp.sqrt(s**2)) / (1 + sp.exp(-2 * sp.sqrt(s**2))), lambda c, w: np.pi * w),
    "two steps": (lambda s: sp.tanh(s) - sp.tanh(s - 3), lambda c, w: 6 * w),
    "wave packet": (lambda s: sp.exp(-(s**2)) * sp.cos(2 * s), lambda c, w: np.sqrt(np.pi) * np.exp(-1) * w),
    "fourth power": (lambda s: sp.exp(-(s**4)), lambda c, w: 2 * float(sp.gamma(sp.Rational(5, 4))) * w),
    "logistic": (lambda s: 4 / (2 + sp.exp(s) + sp.exp(-s)), lambda c, w: 4 * w),
}


def push(force: sp.Expr, method: str = "taylor", times=(0.0, SPAN), **options) -> vn.Trajectory:
    """A particle of mass 1 that starts at rest."""
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: force})
    return vn.simulate(vn.derive(system), {x: 0, x.diff(): 0}, times, method, progress=False, **options)


def drawn(seed: int) -> tuple[float, float]:
    """A position and a width, 1e-8 to 1e-2 of the run."""
    random = np.random.default_rng(seed)
    return random.uniform(1.0, 9.0), SPAN * 10 ** random.uniform(-8, -2)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s not in ("sech", "logistic")])
@pytest.mark.parametrize("seed", range(8))
def test_a_particle_gets_the_whole_impulse_of_a_pulse(shape, seed):
    (c, w), (f, integral) = drawn(seed), SHAPES[shape]
    motion = push(f((t - c) / w) / w)
    assert motion.outcome
    assert motion[x.diff()][-1] == pytest.approx(integral(c, w) / w, rel=1e-9)


@pytest.mark.parametrize("shape", ["sech", "logistic"])
@pytest.mark.parametrize("width", [2e-2, 1e-4])
def test_a_pulse_whose_exponentials_overflow_is_followed_or_named(shape, width):
    (c, w), (f, integral) = (5.0, width), SHAPES[shape]
    motion = push(f((t - c) / w) / w)
    assert bool(motion.outcome) == (width > 1e-2 or shape == "sech")
    if motion.outcome:
        assert motion[x.diff()][-1] == pytest.approx(integral(c, w) / w, rel=1e-8)
    else:
        assert "exp" in motion.outcome.reason


def test_a_tiny_factor_of_an_exponential_is_not_lost():
    """SymPy writes exp(1e3 t - 5e3) as 3e-2172 exp(1e3 t), and 3e-2172 is zero in double precision."""
    grown = push(sp.exp(1e3 * t - 5e3), times=(0, 5.01))
    assert grown[x.diff()][-1] == pytest.approx(np.exp(10) / 1e3, rel=1e-9)
    with pytest.raises(vn.VinculumError, match="outside the range of double precision"):
        push(sp.Float("1e-400") * t)


@pytest.mark.parametrize("shape", ["Gauss", "Lorentz", "two steps", "wave packet", "fourth power"])
@pytest.mark.parametrize("method", ["bdf", "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_so_it_does_with_other_adaptive_methods(shape, method, seed):
    (c, w), (f, integral) = drawn(seed), SHAPES[shape]
    motion = push(f((t - c) / w) / w, method)
    assert motion.outcome
    assert motion[x.diff()][-1] == pytest.approx(integral(c, w) / w, rel=1e-6)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
@pytest.mark.parametrize("seed", range(3))
def test_backward_in_time_too(method, seed):
    c, w = drawn(seed)
    motion = push(sp.exp(-(((t - c) / w) ** 2)) / w, method, (SPAN, 0.0))
    assert motion.outcome
    assert motion[x.diff()][-1] == pytest.approx(-np.sqrt(np.pi), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_narrow_place_of_a_polynomial_is_found_in_any_form(seed):
    """exp(-(p/w)²) with p = (t - c)(t² + 1), factored and expanded: the same motion as from just before the place."""
    c, w = drawn(seed)
    p = (t - c) * (t**2 + 1)
    late = [push(sp.exp(-((form / w) ** 2)) / w)[x.diff()][-1] for form in (p, sp.expand(p))]
    rate = c**2 + 1
    short = push(sp.exp(-((p / w) ** 2)) / w, times=(c - 20 * w / rate, c + 20 * w / rate))[x.diff()][-1]
    assert late == pytest.approx([short, short], rel=1e-6)


@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_a_smooth_corner_is_not_passed_over(width, method):
    """The ramp w log(1 + exp((t - 5)/w)) is zero to all digits before its corner, and so are all its derivatives."""
    w, end = width, 5.0 + min(5.0, 200 * width)
    motion = push(w * sp.log(1 + sp.exp((t - 5) / w)), method, (0.0, end))
    exact = (end - 5.0) ** 2 / 2 + np.pi**2 / 6 * w**2
    assert motion.outcome
    assert motion[x.diff()][-1] == pytest.approx(exact, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_a_time_factor_is_found_in_a_force_of_time_and_state(method):
    """ẍ = -(1 + g(t)) x with a narrow g: a kick -κ x of the velocity."""
    w, kick = 1e-6, 0.5
    pulse = kick / (w * sp.sqrt(sp.pi)) * sp.exp(-(((t - 3) / w) ** 2))
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: -(1 + pulse) * x})
    motion = vn.simulate(vn.derive(system), {x: 1, x.diff(): 0}, (0, SPAN), method, progress=False)
    at, speed = np.cos(3), -np.sin(3) - kick * np.cos(3)
    exact = at * np.cos(7) + speed * np.sin(7)
    assert motion[x][-1] == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_a_narrow_input_is_found(method):
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: u}, inputs=[u])
    law = {u: 1e3 * sp.exp(-(((t - 4.2) * 1e3) ** 2))}
    motion = vn.simulate(vn.derive(system), {x: 0, x.diff(): 0}, (0, SPAN), method, inputs=law, progress=False)
    assert motion[x.diff()][-1] == pytest.approx(np.sqrt(np.pi), rel=1e-6)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_a_narrow_motion_of_the_base_is_found(method):
    """A mass on a spring whose end is prescribed by a constraint of time: y = tanh((t - 5)/w)."""
    w = 1e-4
    led = vn.Holonomic(y - sp.tanh((t - 5) / w), name="led")
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, (x - y) ** 2 / 2, constraints=[led])
    given = {x: -1.0, x.diff(): 0.0, y: -1.0, y.diff(): 0.0}
    motion = vn.simulate(vn.derive(system), given, (0, SPAN), method, progress=False)
    assert motion.outcome
    assert motion[x][-1] == pytest.approx(1 - 2 * np.cos(5), abs=1e-5)  # the base jumps from -1 to 1


@pytest.mark.parametrize("method", ["taylor", "bdf"])
@pytest.mark.parametrize("w", [1e-2, 1e-5])
def test_both_zeros_of_a_narrow_event_function_are_found(method, w):
    event = vn.Event(sp.exp(-(((t - 5.3) / w) ** 2)) - sp.Rational(1, 2), name="inside")
    motion = push(sp.S(1), method, events=[event])
    half = w * np.sqrt(np.log(2))
    assert [e.time for e in motion.events] == pytest.approx([5.3 - half, 5.3 + half], abs=1e-3 * w)
    assert [e.rising for e in motion.events] == [True, False]


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_many_pulses_are_all_found(method):
    """exp(-(sin(π t)/w)²): ten pulses of width w/π."""
    w = 1e-3
    motion = push(sp.exp(-((sp.sin(sp.pi * t) / w) ** 2)) / w, method, (0.5, 10.5))
    assert motion[x.diff()][-1] == pytest.approx(10 / np.sqrt(np.pi), rel=1e-5)


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4", "ab3", "abm4"])
def test_a_fixed_step_that_passes_over_a_pulse_says_so(method):
    pulse = 100 * sp.exp(-(((t - 5.123) / 1e-2) ** 2))
    motion = push(pulse, method, step=0.1)
    assert motion.outcome.kind == "inaccurate"
    assert "near t = 5.1" in motion.outcome.reason
    advised = float(motion.outcome.reason.split("step=")[1].split(")")[0])
    again = push(pulse, method, step=advised)
    assert again.outcome
    assert again[x.diff()][-1] == pytest.approx(np.sqrt(np.pi), rel=1e-2)


def test_a_pole_of_variables_that_are_not_used_there_is_no_pulse():
    """y = x tan(ωt) in Shulgin's form: x is dependent where tan(ωt) is infinite. A force with that pole is refused."""
    wire = vn.Holonomic(y * sp.cos(1.1 * t) - x * sp.sin(1.1 * t), name="wire")
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, constraints=[wire])
    start = {x: 0.6, y: 0, x.diff(): 0.1}
    motion = vn.simulate(vn.derive(system, "shulgin"), start, (0, 2), "rk4", step=1e-3, progress=False)
    assert len(motion.segments) > 1
    assert motion.outcome
    refused = push(sp.tan(1.1 * t), "rk4", times=(0, 2), step=1e-3).outcome
    assert refused.kind == "inaccurate"
    assert "step=" not in refused.reason  # no step is short enough
    assert "taylor" in refused.reason


def test_a_fixed_step_longer_than_half_a_period_says_so():
    motion = push(sp.sin(300 * t), "rk4", step=0.02)
    assert motion.outcome.kind == "inaccurate"
    assert push(sp.sin(300 * t), "rk4", step=0.002).outcome


def test_runs_in_lanes_stop_at_the_pulses_of_their_own_parameters():
    c, w, m = sp.symbols("c w m", positive=True)
    force = sp.exp(-(((t - c) / w) ** 2)) / w
    system = vn.System([x], m * x.diff() ** 2 / 2, forces={x: force}, parameters={c: 5.0, w: 1e-3, m: 1.0})
    over = {c: [2.0, 5.5, 8.1], w: [1e-2, 1e-4, 1e-6], m: [1.0, 2.0]}
    spent = vn.measure.integral(force)
    found = vn.study(vn.derive(system), {x: 0, x.diff(): 0}, (0, SPAN), over=over, progress=False,
                     measure={"speed": vn.measure.final(x.diff()), "impulse": spent})  # fmt: skip
    masses = found.m.values[None, None, :]
    assert np.all(found.outcome == 0)
    assert found.speed.values * masses == pytest.approx(np.full((3, 3, 2), np.sqrt(np.pi)), rel=1e-9)
    assert found.impulse.values == pytest.approx(np.full((3, 3, 2), np.sqrt(np.pi)), rel=1e-9)


def test_derivatives_by_a_parameter_see_the_pulse():
    m = sp.Symbol("m", positive=True)
    force = 1e4 * sp.exp(-(((t - 5) * 1e4) ** 2))
    system = vn.System([x], m * x.diff() ** 2 / 2, forces={x: force}, parameters={m: 2.0})
    found = sensitivity(vn.derive(system), {x: 0, x.diff(): 0}, [0, 5, SPAN], [m])
    assert found[x.diff()][-1] == pytest.approx(np.sqrt(np.pi) / 2, rel=1e-9)
    assert found.derivative(x.diff(), m)[-1] == pytest.approx(-np.sqrt(np.pi) / 4, rel=1e-9)


def test_a_digital_loop_stops_at_a_pulse_between_its_samples():
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: u + 1e5 * sp.exp(-(((t - 5.003) * 1e5) ** 2))}, inputs=[u])
    law = vn.Digital({u: sp.S(0)}, 0.01)
    motion = vn.simulate(vn.derive(system), {x: 0, x.diff(): 0}, (0, SPAN), inputs=law, progress=False)
    assert motion[x.diff()][-1] == pytest.approx(np.sqrt(np.pi), rel=1e-9)


# -- what it costs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [sp.S(1), sp.sin(30 * t), sp.sin(3 * t) ** 2 * t + sp.cos(700 * t + 1), t**3])
def test_a_sine_or_a_polynomial_of_time_has_no_stops(force):
    assert len(stops(push(force, times=(0, 0.1)).problem, 0.0, SPAN)) == 0


@pytest.mark.parametrize("force", [sp.exp(sp.sin(300 * t)), sp.sqrt(2 + sp.sin(100 * t)), sp.sin(100 * t + sp.sin(t))])
def test_an_oscillation_has_stops_only_at_its_beginning(force):
    found = stops(push(force, times=(0, 0.1)).problem, 0.0, SPAN)
    assert len(found) < 100
    assert np.all(found < 0.2 * SPAN)


def test_a_second_run_does_not_search_again(monkeypatch):
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: sp.exp(-(((t - 5) * 1e4) ** 2))})
    equations = vn.derive(system)
    first = vn.simulate(equations, {x: 0, x.diff(): 0}, (0, SPAN), progress=False)
    monkeypatch.setattr(pulses, "cells_of", lambda *_: pytest.fail("searched again"))
    again = vn.simulate(equations, {x: 0, x.diff(): 0}, (0, SPAN), progress=False)
    assert np.array_equal(first[x], again[x])


def test_nothing_is_searched_where_nothing_depends_on_time(monkeypatch):
    monkeypatch.setattr(pulses, "cells_of", lambda *_: pytest.fail("searched"))
    for method, options in (("taylor", {}), ("bdf", {}), ("rk4", {"step": 0.01})):
        assert push(-x, method, **options).outcome
