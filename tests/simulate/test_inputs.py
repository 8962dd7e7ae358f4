"""Inputs follow their laws of time and state."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from simulate.models import cartesian_system, difference, hanging, l, run, t, x, y

push, pull = sp.symbols("push pull")
gain = sp.Symbol("gain")
METHODS = [("taylor", {}, 1e-13), ("rk4", {"step": 1e-3}, 1e-10), ("abm4", {"step": 1e-3}, 1e-10), ("bdf", {}, 1e-6)]


def pushed() -> vn.EquationsOfMotion:
    """A unit mass on a line with one input."""
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, forces={x: push}, inputs=[push], parameters={gain: 2.0}))


def pushed_and_pulled() -> vn.EquationsOfMotion:
    return vn.derive(cartesian_system(forces={x: push, y: pull * x}, inputs=[push, pull]))


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
def test_a_law_of_time(method, options, accuracy):
    """ẍ = cos 2t: x = x₀ + (1 - cos 2t)/4."""
    motion = run(pushed(), {x: 1.0}, (0, 3), method, inputs={push: sp.cos(2 * t)}, **options)
    np.testing.assert_allclose(motion[x], 1 + (1 - np.cos(2 * motion.t)) / 4, rtol=0, atol=accuracy)


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
def test_a_law_of_the_state_with_a_parameter(method, options, accuracy):
    """A spring and a damper as a law: ẍ = -4x - 2·ẋ, with the gain 2 a parameter of the system."""
    law = {push: -(gain**2) * x - gain * x.diff()}
    motion = run(pushed(), {x: 1.0}, (0, 3), method, inputs=law, **options)
    frequency = np.sqrt(3)
    swing = np.cos(frequency * motion.t) + np.sin(frequency * motion.t) / frequency
    np.testing.assert_allclose(motion[x], np.exp(-motion.t) * swing, rtol=0, atol=accuracy)
    expected = -4 * motion[x] - 2 * motion[x.diff()]
    np.testing.assert_allclose(motion[push], expected, rtol=0, atol=1e-13)


def test_a_law_may_be_a_number():
    motion = run(pushed(), {x: 0.0}, (0, 2), inputs={push: 3})
    assert motion[x][-1] == pytest.approx(6.0, abs=1e-14)
    np.testing.assert_array_equal(motion[push], 3.0)


def test_a_law_is_the_same_as_a_force_written_out():
    """Inputs closed by their laws, or the laws written into the forces: one motion, one work."""
    laws = {push: sp.sin(t) - x.diff() * y, pull: sp.cos(3 * t + x)}
    open_loop = run(pushed_and_pulled(), hanging(), (0, 2), inputs=laws)
    written = cartesian_system(forces={x: laws[push], y: laws[pull] * x})
    closed = run(vn.derive(written), hanging(), (0, 2))
    assert difference(open_loop, closed) < 1e-13
    np.testing.assert_allclose(open_loop.work, closed.work, rtol=0, atol=1e-12)


def test_an_input_may_be_a_function_of_time():
    u = dynamicsymbols("u")
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, forces={x: u}, inputs=[u]))
    motion = run(equations, {x: 0.0}, (0, 2), inputs={u: t})
    assert motion[x][-1] == pytest.approx(8 / 6, abs=1e-14)


@pytest.mark.parametrize("form", ["lyapunov", "lurie-suslov", "shulgin"])
def test_a_law_may_use_every_velocity_in_every_form(form):
    """Also one that is no state of the form but follows from the others."""
    system = cartesian_system(forces={x: push, y: pull}, inputs=[push, pull])
    laws = {push: -x.diff(), pull: -y.diff() / 2}
    motion = run(vn.derive(system, form), hanging(), (0, 2), inputs=laws)
    assert difference(motion, run(vn.derive(system), hanging(), (0, 2), inputs=laws)) < 1e-12


def test_the_same_equations_run_with_other_laws():
    equations = pushed()
    ends = [run(equations, {x: 0.0}, (0, 1), inputs={push: value})[x][-1] for value in (1, 2, t)]
    np.testing.assert_allclose(ends, [1 / 2, 1, 1 / 6], rtol=0, atol=1e-15)


# -- refusals -------------------------------------------------------------------------------------------------


def refused(equations: vn.EquationsOfMotion, laws: dict | None, message: str) -> vn.ModelError:
    with pytest.raises(vn.ModelError, match=message) as refusal:
        vn.simulate(
            equations, {x: 0.6, y: -0.8} if y in equations.system.coordinates else {x: 0.0}, (0, 1), inputs=laws
        )
    return refusal.value


def test_a_missing_law_is_asked_for():
    refused(pushed(), None, r"push has no law. Use simulate\(\.\.\., inputs=\{push: ")


def test_every_missing_law_is_named():
    assert len(refused(pushed_and_pulled(), {}, "push has no law").findings) == 2


def test_an_unknown_input_is_refused_with_the_nearest_known_one():
    refused(pushed(), {push: 1, sp.Symbol("pusch"): 1}, r"pusch is not an input. Did you mean push\?")


def test_a_coordinate_is_no_input():
    refused(pushed(), {push: 1, x: 1}, "x is not an input")


@pytest.mark.parametrize("law", [lambda time: 1.0, np.sin, max])
def test_a_python_function_is_refused(law):
    refused(pushed(), {push: law}, "Python function.*SymPy expression")


def test_a_law_with_an_unknown_symbol_is_refused():
    refused(pushed(), {push: l * x}, "the law of push contains l, which has no value")


def test_a_law_of_an_acceleration_is_refused():
    refused(pushed(), {push: x.diff(t, 2)}, r"the law of push contains ddot\(x\)")


def test_a_law_of_another_input_is_refused():
    refused(pushed_and_pulled(), {push: 1, pull: push}, "the law of pull contains push")


def test_a_law_that_has_no_value_at_the_start_is_refused():
    """1/t at t = 0, as a refusal that names it."""
    with pytest.raises(vn.VinculumError, match="division by zero"):
        vn.simulate(pushed(), {x: 0.0}, (0, 1), inputs={push: 1 / t})


@pytest.mark.parametrize("law", [10**400, x * 10**400, sp.Rational(1, 10**400), float("inf"), sp.I])
def test_a_law_with_a_number_that_no_machine_number_can_hold_is_refused(law):
    refused(
        pushed(), {push: law}, "the law of push: .*(outside the range of double precision|not a finite real number)"
    )
