"""The control law of program and servo constraints, u(x, t) = P⁻¹ (Z - a): one law wherever it is read."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

t = dynamicsymbols._t
x, z, theta = dynamicsymbols("x z theta")
u, u1, u2, k, m = sp.symbols("u u1 u2 k m")
m1, m2 = sp.symbols("m1 m2")
GRAVITY = 9.81


def cart(**changes: object) -> vn.System:
    """x'' = u with the servo x = sin t."""
    path = vn.Servo(x - sp.sin(t), through=[u], name="path")
    return vn.System([x], x.diff() ** 2 / 2, forces={x: u}, inputs=[u], constraints=[path], **changes)


def pvtol(lever: float) -> vn.System:
    """Thrust u1 and torque u2; the torque also pushes sideways with ``lever``."""
    return vn.System(
        [x, z, theta],
        (x.diff() ** 2 + z.diff() ** 2) * 1.3 / 2 + theta.diff() ** 2 / 10,
        1.3 * GRAVITY * z,
        forces={
            x: -u1 * sp.sin(theta) + lever * u2 * sp.cos(theta),
            z: u1 * sp.cos(theta) + lever * u2 * sp.sin(theta),
            theta: u2,
        },
        inputs=[u1, u2],
        constraints=[
            vn.Servo(z - sp.cos(t) / 3, through=[u1], name="height"),
            vn.Servo(theta - sp.sin(t) / 5, through=[u2], name="pitch"),
        ],
        name="pvtol",
    )


# -- a servo constraint has no reaction of its own ------------------------------------------------------------------


@pytest.mark.parametrize("rates", [None, 2.0])
def test_a_servo_is_held_by_its_input_alone(rates):
    """x = sin t needs u = -sin t, and no reaction."""
    equations = vn.derive(cart(), form="program", rates=rates)
    assert equations.system.inputs == (u,)
    motion = vn.simulate(equations, {}, (0, 3))
    assert "reaction(path)" not in motion.reactions
    np.testing.assert_allclose(motion[u], -np.sin(motion.t), rtol=0, atol=1e-13)
    assert vn.program.to_affine(cart()).inputs == (u,)


def test_an_aircraft_is_held_by_thrust_and_torque():
    """Height and pitch by hand: u2 = J θ̈, u1 cos θ = m (z̈ + g) - ε u2 sin θ; the sideways motion is free."""
    lever = 0.1
    motion = vn.simulate(vn.derive(pvtol(lever), form="program"), {x: 0.0, x.diff(): 0.0}, np.linspace(0, 2, 21))
    pitch, torque = np.sin(motion.t) / 5, -np.sin(motion.t) / 25
    thrust = (1.3 * (GRAVITY - np.cos(motion.t) / 3) - lever * torque * np.sin(pitch)) / np.cos(pitch)
    np.testing.assert_allclose(motion[theta], pitch, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion[u2], torque, rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion[u1], thrust, rtol=1e-12)
    assert set(motion.inputs) == {"u1", "u2"}


def test_servos_and_ideal_constraints_share_a_system():
    """A bead on a rail z = x², pushed along x: the rail reacts, the servo does not."""
    rail, path = vn.Holonomic(z - x**2, name="rail"), vn.Servo(x - sp.sin(t), through=[u], name="path")
    bead = vn.System(
        [x, z],
        (x.diff() ** 2 + z.diff() ** 2) / 2,
        GRAVITY * z,
        forces={x: u},
        inputs=[u],
        constraints=[rail, path],
    )
    program, servo = vn.derive(bead, form="program"), vn.derive(bead)
    assert list(map(str, program.system.inputs)) == ["reaction(rail)", "u"]
    times = np.linspace(0, 2, 11)
    one, other = (vn.simulate(equations, {}, times) for equations in (program, servo))
    np.testing.assert_allclose(one[u], other[u], rtol=0, atol=1e-11)
    np.testing.assert_allclose(one.reactions["reaction(rail)"], other.reactions["rail"], rtol=0, atol=1e-11)


# -- the law with its stabilizing part --------------------------------------------------------------------------------


def test_the_law_contains_the_gains():
    """u = -sin t - k² (x - sin t) - 2k (ẋ - cos t), in numbers and in symbols."""
    law = -sp.sin(t) - k**2 * (x - sp.sin(t)) - 2 * k * (x.diff() - sp.cos(t))
    for rate in (k, sp.Integer(3), 3.0, 3):
        found = vn.derive(cart(), form="program", rates=rate)
        expected = law if rate is k else law.subs(k, 3)
        assert sp.expand(sp.nsimplify(found.controls[u]) - expected) == 0
        assert ("k" in found.text()) == ("k" in found.latex()) == (rate is k)
    assert found.text().splitlines()[-1] == "u = -9*x + 8*sin(t) + 6*cos(t) - 6*dot(x)"


def test_what_is_printed_returned_compiled_and_plotted_is_one_number():
    """controls, recover, motion[u], motion.inputs and xarray, off the program."""
    equations = vn.derive(cart(), form="program", rates=2.0)
    start = {x: 0.7, x.diff(): -0.4}
    motion = vn.simulate(equations, start, np.linspace(0, 1, 6))
    law = sp.lambdify((x, x.diff(), t), equations.controls[u])
    expected = law(motion[x], motion[x.diff()], motion.t)
    assert np.abs(expected + np.sin(motion.t)).max() > 1
    np.testing.assert_allclose(motion[u], expected, rtol=1e-13)
    np.testing.assert_allclose(motion.inputs["u"], expected, rtol=1e-13)
    np.testing.assert_allclose(motion[x.diff().diff()], expected, rtol=1e-13)  # x'' = u
    found = equations.recover({x: 0.7, x.diff(): -0.4})
    assert found[u] == pytest.approx(expected[0], rel=1e-14)
    assert found[x.diff().diff()] == pytest.approx(expected[0], rel=1e-14)


def test_the_work_of_the_law_balances_the_energy():
    """E - ∫ P dt is constant with the applied inputs, off the program too."""
    equations = vn.derive(pvtol(0.1), form="program", rates=2.0)
    start = {x: 0.0, z: 0.1, theta: 0.4, x.diff(): 0.2, z.diff(): 0.5, theta.diff(): -0.3}
    motion = vn.simulate(equations, start, (0, 2))
    assert np.ptp(motion.energy) > 1
    assert motion.energy_error < 1e-11


@pytest.mark.parametrize("method", ["rk4", "ab4", "abm4"])
def test_a_gain_given_to_a_run_is_part_of_the_input(method):
    """With Baumgarte(rate=) or Sampled(rate=) of the user, the reported input is the applied one."""
    kind = vn.Sampled if method == "rk4" else vn.Baumgarte
    equations = vn.derive(cart(), form="program", rates=5.0)
    motion = vn.simulate(equations, {x: 0.5, x.diff(): 0.0}, (0, 1), method, step=1e-3, stabilization=kind(rate=2.0))
    applied = -np.sin(motion.t) - 4 * (motion[x] - np.sin(motion.t)) - 4 * (motion[x.diff()] - np.cos(motion.t))
    np.testing.assert_allclose(motion[u], applied, rtol=0, atol=1e-12)


# -- gains as symbols ------------------------------------------------------------------------------------------------


def test_a_gain_gets_its_value_from_the_run_or_the_system():
    """(d/dt + k)² y = 0 from y = 1/2, ẏ = -1: y = (1/2 + (k/2 - 1) t) e^{-kt}."""
    start, times = {x: 0.5, x.diff(): 0.0}, np.linspace(0, 2, 9)
    free = vn.derive(cart(), form="program", rates=k)
    assert free.unset == (k,)
    declared = vn.derive(cart(parameters={k: 3.0}), form="program", rates=k)
    assert declared.unset == ()
    for motion, rate in (
        (vn.simulate(free, start, times, parameters={k: 1.5}), 1.5),
        (vn.simulate(free.with_values({k: 3.0}), start, times), 3.0),
        (vn.simulate(declared, start, times), 3.0),
        (vn.simulate(declared, start, times, parameters={k: 0.5}), 0.5),
    ):
        expected = (0.5 + (rate / 2 - 1) * times) * np.exp(-rate * times)
        np.testing.assert_allclose(motion[x] - np.sin(times), expected, rtol=0, atol=1e-13)


def test_missing_and_negative_gains_are_refused():
    free = vn.derive(cart(), form="program", rates=2 * k)
    with pytest.raises(vn.ModelError, match=r"the gain k has no value. Use simulate\(..., parameters=\{k: value\}\)"):
        vn.simulate(free, {}, (0, 1))
    with pytest.raises(vn.ModelError, match=r"the rate 2\*k is not a finite number of at least 0"):
        vn.simulate(free, {}, (0, 1), parameters={k: -1.0})
    with pytest.raises(vn.ModelError, match=r"m is not a gain without a value"):
        free.with_values({m: 1.0})
    with pytest.raises(vn.ModelError, match=r"no value for k"):
        free.recover({x: 0.0, x.diff(): 0.0})
    for rate in (x, 1 + t):
        with pytest.raises(vn.ModelError, match=r"changes with (x|t); .* needs a constant k"):
            vn.derive(cart(), form="program", rates=rate)


# -- exported, and in many runs ----------------------------------------------------------------------------------------


def test_exported_code_gives_the_law(tmp_path):
    """The file that needs NumPy alone computes u with its stabilizing part, off the program."""
    import importlib.util

    from vinculum.export import export_python

    equations = vn.derive(cart(parameters={k: 3.0}), form="program", rates=k)
    start = {x: 0.7, x.diff(): -0.4}
    path = export_python(equations, tmp_path / "cart", initial=start)
    spec = importlib.util.spec_from_file_location("cart", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs = module.outputs(0.2, np.array([0.7, -0.4]), [], module.parameters())[2]
    assert inputs == pytest.approx([equations.recover(start | {t: 0.2})[u]], rel=1e-13)
    assert abs(inputs[0] + np.sin(0.2)) > 1


def test_a_study_varies_the_gain_and_the_start_off_the_program():
    """y(1) = (y₀ + (ẏ₀ + k y₀)) e^{-k} for all of them."""
    places, gains = [0.3, -0.5], [1.0, 2.0, 4.0]
    equations = vn.derive(cart(), form="program", rates=k)
    measure = {"end": vn.measure.final(x)}
    runs = vn.study(equations, {x.diff(): 0.0}, times=(0, 1), over={x: places, k: gains}, measure=measure)
    y, rate = np.array(places)[:, None], np.array(gains)[None, :]
    np.testing.assert_allclose(runs.end, np.sin(1) + (y + (rate * y - 1)) * np.exp(-rate), rtol=0, atol=1e-11)
