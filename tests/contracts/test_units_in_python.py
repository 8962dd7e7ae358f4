"""Units in Python mean what they mean in model files: the same numbers in SI, the same refusals."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pint
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.describe.homogeneous import dimension
from vinculum.errors import Refused
from vinculum.units.units import read_unit

theta, x = dynamicsymbols("theta x")
m, l, g, c, u = sp.symbols("m l g c u")
UNITS = pint.UnitRegistry()
FILE = """
parameters = {{ m = "{m}", l = "{l}", g = "{g}", c = "{c}" }}
[system]
coordinates = {{ theta = "rad" }}
inputs = {{ u = "N*m" }}
kinetic_energy = "m*l^2*dot(theta)^2/2"
potential_energy = "-m*g*l*cos(theta)"
forces = {{ theta = "u - c*dot(theta)" }}
"""
WRITTEN = {m: "28.2 g", l: "1.5 ft", g: "981 cm/s^2", c: "0.2 mN*m*s"}
PLAIN = {m: 0.0282, l: 0.4572, g: 9.81, c: 2e-4}


def pendulum(**changes):
    stated = {
        "coordinates": {theta: "rad"},
        "kinetic_energy": m * l**2 * theta.diff() ** 2 / 2,
        "potential_energy": -m * g * l * sp.cos(theta),
        "forces": {theta: u - c * theta.diff()},
        "parameters": WRITTEN,
        "inputs": {u: "N*m"},
    }
    return vn.System(**(stated | changes))


def refusal(make, *arguments, **options) -> str:
    with pytest.raises(vn.VinculumError) as found:
        make(*arguments, **options)
    return str(found.value)


def test_text_pint_plain_numbers_and_a_file_state_one_system():
    pints = {key: UNITS(text) for key, text in WRITTEN.items()}
    file = vn.model.loads(FILE.format(**{str(key): text for key, text in WRITTEN.items()})).system
    for other in (pendulum(), pendulum(parameters=pints), file):
        assert {str(p): pytest.approx(v, rel=1e-15) for p, v in PLAIN.items()} == {
            str(p): v for p, v in other.parameters.items()
        }
        assert other.kinetic_energy == pendulum().kinetic_energy
    assert file.units == pendulum().units
    assert {str(s): unit for s, unit in file.units.items()} == {
        "m": "kg", "l": "m", "g": "m·s⁻²", "c": "kg·m²·s⁻¹", "theta(t)": "rad", "u": "N*m",
    }  # fmt: skip


def test_a_change_of_units_does_not_change_the_motion():
    plain = vn.simulate(pendulum(parameters=PLAIN), {theta: np.radians(30)}, (0, 90), inputs={u: 0})
    other = vn.simulate(pendulum(parameters=PLAIN), {"theta": "30 deg"}, (0, "1.5 min"), inputs={u: 0})
    third = vn.simulate(
        pendulum(), {theta: UNITS("0.5 rad")}, UNITS.Quantity([0, 0.025], "hour"), parameters={m: "2 oz"},
        inputs={u: 0}, guess={theta.diff(): "0 rpm"},
    )  # fmt: skip
    assert np.array_equal(plain[theta], other[theta])
    assert third.t[-1] == 90
    assert third[theta][0] == 0.5


def test_values_of_a_symbol_without_unit_have_one_dimension():
    x = dynamicsymbols("x")
    system = vn.System(coordinates=[x], kinetic_energy=x.diff() ** 2 / 2, potential_energy=x**2 / 2)
    with pytest.raises(
        vn.ModelError, match=r"the values of x are in kg and m\. Write all of them in one of these units"
    ):
        vn.study(system, {}, (0, 1), over={x: ["50 kg", 2, "1 m"]})
    found = vn.study(system, {}, (0, 1), over={x: ["50 cm", 2, "1 m"]})
    assert found.initial_x.values.tolist() == [0.5, 2, 1]


def test_every_door_takes_units():
    equations = vn.derive(pendulum())
    right_angle = equations.accelerations({theta: "90 deg", theta.diff(): "1 turn/s", u: "0 N*m"})
    assert right_angle == equations.accelerations({theta: np.pi / 2, theta.diff(): 2 * np.pi, u: 0})
    held = vn.equilibrium(equations, {theta: "30 deg"}, parameters={m: "1 kg"})
    assert held[u] == pytest.approx(9.81 * 0.4572 / 2)
    found = vn.study(equations, {theta: "1 deg"}, (0, "100 ms"), over={m: ["10 g", "20 g"]}, inputs={u: 0})
    assert found.m.values.tolist() == [0.01, 0.02]
    run = vn.simulate(equations, {theta: "1 deg"}, (0, "0.1 s"), "rk4", step="1 ms", inputs={u: 0})
    assert run.steps == 100
    tree = vn.BodyTree([vn.Body("arm", mass=m, inertia=0.1, center_of_mass=(l, 0, 0))], parameters={m: "1 kg", l: 2})
    assert tree.system().parameters[m] == 1
    assert tree.system().units == {m: "kg"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": WRITTEN | {m: "28.2g"}}, "the parameter m: it is the text '28.2g'. Write \"28.2 g\""),
        ({"parameters": WRITTEN | {m: "28.2 grm"}}, "the parameter m: unknown unit grm. Did you mean"),
        ({"parameters": WRITTEN | {m: "__import__('os')"}}, "the parameter m: it is the text"),
        ({"parameters": WRITTEN | {m: "2 s"}}, "the kinetic energy has the dimension m²·s⁻¹, but kg·m²·s⁻²"),
        ({"coordinates": {theta: "deg"}}, "the coordinate theta: deg is not an SI unit, and results are in SI units"),
        ({"coordinates": {theta: "m"}}, "the argument of cos has the dimension m"),
        ({"coordinates": {theta: 1}}, "Write the SI unit as text"),
        ({"inputs": {u: "N"}}, "kg·m·s⁻² and kg·m²·s⁻² cannot be added: u is in kg·m·s⁻² and "),
        ({"potential_energy": -m * 9.81 * l * sp.cos(theta)}, "the potential energy has the dimension kg·m, but"),
        ({"constraints": [vn.Holonomic(l * theta - 0.1)]}, 'l1 = "0.1 m", and write l1 here'),
    ],
)
def test_a_wrong_unit_is_refused_with_the_name_of_its_symbol(changes, words):
    assert words in refusal(pendulum, **changes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"initial": {theta: "30 cm"}}, "theta: its unit is m, but rad or another pure number is needed"),
        ({"initial": {theta.diff(): "2 Hz"}}, 'dot(theta): Hz counts turns, but an angular frequency is in rad/s'),
        ({"initial": {theta.diff(): UNITS("2 Hz")}}, '"12.5664 rad/s" or "2 turn/s"'),
        ({"parameters": {m: UNITS("2 s")}}, "m: its unit is s, but kg is needed"),
        ({"times": (0, "2 m")}, "Invalid times: its unit is m, but s is needed"),
        ({"method": "rk4", "step": "1 mm"}, "step: its unit is m, but s is needed"),
        ({"initial": {theta: "a lot"}}, "theta: it is the text 'a lot'"),
    ],
)  # fmt: skip
def test_a_run_refuses_what_does_not_fit(options, words):
    run = {"initial": {theta: 0.1}, "times": (0, 1), "inputs": {u: 0}} | options
    assert words in refusal(vn.simulate, vn.derive(pendulum()), **run)


def test_only_known_dimensions_are_checked():
    assert pendulum(coordinates=[theta], inputs=[u], parameters=PLAIN | {m: "2 s"}).parameters[m] == 2
    assert not pendulum(coordinates=[theta], inputs=[u], parameters=PLAIN).units


def test_units_stay_with_the_record():
    system = pendulum()
    again = pickle.loads(pickle.dumps(replace(system, name="other")))
    assert again.units == system.units
    assert "its unit is s, but kg is needed" in refusal(replace, system, parameters=WRITTEN | {m: "2 s"})


def test_an_affine_system_has_units_too():
    stated = {"states": {x: "m"}, "drift": [-x / c], "inputs": {u: "m/s"}, "input_matrix": [[1]]}
    assert vn.AffineSystem(**stated, parameters={c: "20 ms"}).parameters[c] == 0.02
    assert "the drift of x has the dimension" in refusal(vn.AffineSystem, **stated, parameters={c: "20 m"})


KNOWN = {x: read_unit("m").dimension, m: read_unit("kg").dimension, c: ()}
SAME = {
    sp.sqrt(m**2 * x**4): "kg*m^2",
    sp.Abs(x) + x: "m",
    sp.atan2(x, 2 * x): "1",
    sp.sin(c) * x.diff() ** 2: "m^2/s^2",
    sp.Piecewise((x, x > 0), (2 * x, True)): "m",
    sp.Max(x, 2 * x): "m",
    x.diff().diff(): "m/s^2",
    m ** sp.Rational(1, 3) * m ** sp.Rational(2, 3): "kg",
}


@pytest.mark.parametrize("expression", SAME, ids=str)
def test_the_dimension_of_an_expression(expression):
    assert dimension(expression, KNOWN).dimension == read_unit(SAME[expression]).dimension


@pytest.mark.parametrize("expression", [x + m, sp.exp(x), c**x, sp.Max(x, m), sp.Piecewise((x, x > 0), (m, True))])
def test_an_expression_without_a_dimension_is_refused(expression):
    with pytest.raises(Refused):
        dimension(expression, KNOWN)
