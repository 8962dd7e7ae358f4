"""Units are converted to SI and checked where all symbols have them."""

from __future__ import annotations

import math

import pytest
import sympy as sp

import vinculum as vn
from files.small import PENDULUM, refusal
from vinculum.errors import Refused
from vinculum.units.units import read_unit

WITH_UNITS = (
    PENDULUM.replace("m = 1.0", 'm = "1000 g"')
    .replace("g = 9.81", 'g = "9.81 m/s^2"')
    .replace("l = 0.5", 'l = { value = 50, unit = "cm" }')
    .replace('["x", "theta"]', '{ x = "m", theta = "rad" }')
    .replace('inputs = ["u"]', 'inputs = { u = "N" }')
)


def messages(text):
    return [problem.message for problem in refusal(text).problems]


def test_numbers_become_si():
    with_units, plain = vn.model.loads(WITH_UNITS), vn.model.loads(PENDULUM)
    assert dict(with_units.system.parameters) == pytest.approx(dict(plain.system.parameters), rel=1e-15)


def test_units_are_shown_as_they_are_written_where_the_number_is_that_of_si():
    text = WITH_UNITS.replace("[system]", 'F = "3 N"\nG = "3 kN"\nH = { value = 1, unit = "N*m" }\nL = "2*l"\n[system]')
    units = {str(key): unit for key, unit in vn.model.loads(text).units.items()}
    wanted = {"g": "m/s^2", "m": "kg", "l": "m", "F": "N", "G": "kg·m·s⁻²", "H": "N*m", "L": "m"}
    assert {name: units[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("deg", math.pi / 180),
        ("rpm", 2 * math.pi / 60),
        ("mm", 1e-3),
        ("N*m*s/rad", 1.0),
        ("kg m^2", 1.0),
        ("kg·m²", 1.0),
        ("W/(m K)", 1.0),
        ("km/h", 1 / 3.6),
        ("1/ms", 1000.0),
        ("lbf", 4.4482216152605),
    ],
)
def test_factors(unit, factor):
    assert read_unit(unit).factor == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize(
    "unit", ["Nm", "k", "c", "foo", "__import__", "m**99", "m^m", "degC", "m.s", "m;s", "(" * 50, ""]
)
def test_what_is_no_unit_of_mechanics_is_refused(unit):
    with pytest.raises(Refused):
        read_unit(unit)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("-m*g*l*cos(theta)", "-m*g*cos(theta)", "its dimension is kg·m·s⁻², but kg·m²·s⁻² is needed"),
        ("m*(dot(x)^2", "m*(x^2", "cannot be added"),
        ('x = "u"', 'x = "u*l"', "its dimension is kg·m²·s⁻², but kg·m·s⁻² is needed"),
        ("-m*g*l*cos(theta)", "-m*g*l*cos(x)", "the argument of cos has the dimension m"),
        ('holonomic = "x"', 'holonomic = "x - theta"', "m and 1 cannot be added: x is in m and -theta is in 1."),
        ('x = "m"', 'x = "cm"', "cm is not an SI unit, and results are in SI units. Write m."),
        ('theta = "rad"', 'theta = "deg"', "Write rad."),
        ("theta = 0.5", 'theta = "0.5 m"', "the unit is m, but 1 is needed"),
        ("{ u = 0 }", '{ u = "m*g*x" }', "its dimension is kg·m²·s⁻², but kg·m·s⁻² is needed"),
        ("{ u = 0 }", '{ u = "3 kg" }', "the unit is kg, but kg·m·s⁻² is needed"),
        ("{ u = 0 }", '{ u = "piecewise(t < 1, m*g, 0)" }', "s and 1 cannot be compared"),
        ("{ u = 0 }", '{ u = "piecewise(x < dot(x)*t, m, m*g)" }', "cannot be values of one function"),
        ("times = [0, 1]", 'times = [0, "1 m"]', "the unit is m, but s is needed"),
    ],
)
def test_dimensions_are_checked(old, new, said):
    assert any(said in message for message in messages(WITH_UNITS.replace(old, new, 1)))


def test_nothing_is_claimed_where_a_unit_is_missing():
    wrong = WITH_UNITS.replace("-m*g*l*cos(theta)", "-m*g*cos(theta)")
    assert messages(wrong)
    vn.model.loads(wrong.replace('m = "1000 g"', "m = 1.0"))


def test_values_may_have_units_of_their_own():
    model = vn.model.loads(WITH_UNITS.replace("theta = 0.5", 'theta = "90 deg"').replace("[0, 1]", '[0, "100 ms"]'))
    assert list(model.simulation["initial"].values()) == [pytest.approx(math.pi / 2)]
    assert model.simulation["times"] == (0.0, pytest.approx(0.1))


def test_a_plain_number_as_a_law_is_in_si():
    assert list(vn.model.loads(WITH_UNITS.replace("{ u = 0 }", "{ u = 5 }")).simulation["inputs"].values()) == [5]
    assert list(vn.model.loads(WITH_UNITS.replace("{ u = 0 }", '{ u = "2 kN" }')).simulation["inputs"].values()) == [
        2000.0
    ]


def test_a_voltage_is_in_volts():
    text = WITH_UNITS + "[motors.u]\ntorque_constant = 1\nresistance = 1\ninductance = 1\n"
    vn.model.loads(text.replace("{ u = 0 }", '{ e_u = "12 V" }'))
    assert any("but V is needed" in said for said in messages(text.replace("{ u = 0 }", '{ e_u = "m*g*x" }')))


def test_a_drawing_may_mix_dimensions_in_its_definitions_too():
    text = WITH_UNITS + '[definitions]\n"aside(way)" = "l*sin(theta) + way"\n'
    text += '[drawing]\npoints = { bob = ["aside(0.1)", "l*cos(theta) + 1"] }\n'
    assert vn.model.loads(text).drawing.points["bob"][0].has(sp.Symbol("l"))
    assert any("cannot be added" in said for said in messages(text.replace('"-m*g*l', '"aside(0.1)*m*g*l')))
