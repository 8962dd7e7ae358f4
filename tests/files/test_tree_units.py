"""Units of trees of bodies, of motors and of the laws of their torques."""

from __future__ import annotations

import pytest

import vinculum as vn
from files.small import PENDULUM, refusal

ARM = """
[parameters]
l = "40 cm"
m = "2 kg"
J = "0.03 kg*m^2"
c = "0.1 N*m*s"
b = "5 N*s/m"
w = "2 rad/s"
f = "5 Hz"
g = "9.81 m/s^2"
[tree]
gravity = [0, 0, "-g"]
base_velocity = ["l*w*cos(w*t)", 0, 0]
[tree.bodies.upper]
axis = [0, 1, 0]
mass = "m"
center_of_mass = ["l/2", 0, 0]
inertia = ["J", "J", "J"]
damping = "c"
stiffness = "3 N*m"
rest = "10 deg"
rotor_inertia = "J"
gear_ratio = 2
torque = "u"
[tree.bodies.slide]
parent = "upper"
joint = "prismatic"
axis = [1, 0, 0]
origin = ["l", 0, 0]
mass = "m"
damping = "b"
friction = ["1 N", "2 N"]
torque = "v"
[simulation]
times = [0, 1]
initial = { upper = "20 deg", slide = "1 cm", "dot(upper)" = "w" }
inputs = { u = "m*g*l", v = "m*g" }
events = [{ expression = "slide - l" }]
"""
TORQUES = '[simulation.computed_torque]\npath = { upper = "w*t", slide = "l*sin(w*t)" }\nfrequency = "w"\ndamping = 1\n'
FOLLOWING = ARM.replace('inputs = { u = "m*g*l", v = "m*g" }\n', "") + TORQUES


def said(text):
    return [(problem.key, problem.message) for problem in refusal(text).problems]


@pytest.mark.parametrize("text", [ARM, FOLLOWING])
def test_the_right_units_are_taken(text):
    assert vn.model.loads(text).tree.coordinates


@pytest.mark.parametrize(
    ("old", "new", "key", "found", "needed"),
    [
        ('mass = "m"', 'mass = "l"', "tree.bodies.upper.mass", "m", "kg"),
        ('mass = "m"', 'mass = "3 m"', "tree.bodies.upper.mass", "m", "kg"),
        ('center_of_mass = ["l/2"', 'center_of_mass = ["m"', "tree.bodies.upper.center_of_mass[1]", "kg", "m"),
        ('inertia = ["J"', 'inertia = ["m"', "tree.bodies.upper.inertia[1]", "kg", "kg·m²"),
        ('origin = ["l"', 'origin = ["J"', "tree.bodies.slide.origin[1]", "kg·m²", "m"),
        ('"-g"', '"-l"', "tree.gravity[3]", "m", "m·s⁻²"),
        ('"l*w*cos(w*t)"', '"l*cos(w*t)"', "tree.base_velocity[1]", "m", "m·s⁻¹"),
        ('damping = "c"', 'damping = "b"', "tree.bodies.upper.damping", "kg·s⁻¹", "kg·m²·s⁻¹"),
        ('damping = "b"', 'damping = "c"', "tree.bodies.slide.damping", "kg·m²·s⁻¹", "kg·s⁻¹"),
        ('"3 N*m"', '"3 N/m"', "tree.bodies.upper.stiffness", "kg·s⁻²", "kg·m²·s⁻²"),
        ('"10 deg"', '"10 m"', "tree.bodies.upper.rest", "m", "1"),
        ('rotor_inertia = "J"', 'rotor_inertia = "m"', "tree.bodies.upper.rotor_inertia", "kg", "kg·m²"),
        ('"2 N"]', '"2 N*m"]', "tree.bodies.slide.friction[2]", "kg·m²·s⁻²", "kg·m·s⁻²"),
        ('u = "m*g*l"', 'u = "m*g"', "simulation.inputs.u", "kg·m·s⁻²", "kg·m²·s⁻²"),
        ('v = "m*g"', 'v = "m*g*l"', "simulation.inputs.v", "kg·m²·s⁻²", "kg·m·s⁻²"),
        ('slide = "1 cm"', 'slide = "1 deg"', "simulation.initial.slide", "1", "m"),
        ('"dot(upper)" = "w"', '"dot(upper)" = "g"', "simulation.initial.dot(upper)", "m·s⁻²", "s⁻¹"),
    ],
)
def test_a_wrong_dimension_in_a_tree_is_refused_alone(old, new, key, found, needed):
    assert old in ARM
    problems = said(ARM.replace(old, new, 1))
    assert [place for place, _ in problems] == [key]
    assert f"{found}, but {needed} is needed" in problems[0][1]


def test_events_and_forces_of_a_tree_are_checked():
    assert "m and 1 cannot be added" in said(ARM.replace('"slide - l"', '"slide - upper"'))[0][1]
    forced = ARM.replace("[tree.bodies.upper]", '[tree.forces]\nslide = "m*g*l"\n[tree.bodies.upper]', 1)
    assert "kg·m²·s⁻², but kg·m·s⁻² is needed" in said(forced)[0][1]


@pytest.mark.parametrize(
    ("frequency", "words"),
    [
        ('"5 Hz"', 'write 5 Hz as "31.4159 rad/s" or "5 turn/s"'),
        ('{ value = 5, unit = "Hz" }', 'write 5 Hz as "31.4159 rad/s"'),
        ('"f"', "Hz counts turns"),
        ('"5 kg"', "kg, but s⁻¹ is needed"),
        ('"l"', "m, but s⁻¹ is needed"),
    ],
)
def test_an_angular_frequency_is_not_in_hertz(frequency, words):
    problems = said(FOLLOWING.replace('frequency = "w"', f"frequency = {frequency}"))
    assert [place for place, _ in problems] == ["simulation.computed_torque.frequency"]
    assert words in problems[0][1]


@pytest.mark.parametrize("frequency", ['"5 rad/s"', '"5 1/s"', '"48 rpm"', "5"])
def test_an_angular_frequency_is_in_radians(frequency):
    vn.model.loads(FOLLOWING.replace('frequency = "w"', f"frequency = {frequency}"))


def test_the_damping_of_errors_is_a_pure_number():
    assert said(FOLLOWING.replace("damping = 1", 'damping = "1 N*s"'))[0][0] == "simulation.computed_torque.damping"


def test_links_have_lengths_and_angles():
    link = '[[tree.links]]\nd = "10 cm"\nalpha = "90 deg"\nmass = "1 kg"\ncenter_of_mass = ["1 cm", 0, 0]\n'
    assert vn.model.loads(link).tree.coordinates
    for old, new in (('"10 cm"', '"10 deg"'), ('"90 deg"', '"90 m"'), ('"1 kg"', '"1 m"'), ('"1 cm"', '"1 kg"')):
        assert len(said(link.replace(old, new))) == 1


def test_a_tree_without_units_is_not_checked():
    plain = ARM.replace('"-g"', "-9.81")
    for name, unit in (("l", "40 cm"), ("m", "2 kg"), ("J", "0.03 kg*m^2"), ("c", "0.1 N*m*s"), ("b", "5 N*s/m")):
        plain = plain.replace(f'{name} = "{unit}"', f"{name} = 0.5")
    for name, unit in (("w", "2 rad/s"), ("f", "5 Hz"), ("g", "9.81 m/s^2")):
        plain = plain.replace(f'{name} = "{unit}"', f"{name} = 2.0")
    vn.model.loads(plain.replace('"slide - l"', '"slide - upper"').replace('u = "m*g*l"', 'u = "m*g*t"'))


# -- motors ----------------------------------------------------------------------------------------------------

CART = PENDULUM.replace("m = 1.0", 'm = "1 kg"').replace('inputs = ["u"]', 'inputs = { u = "N" }')
TURNED = CART.replace('u = "N"', 'u = "N*m"').replace('{ x = "u" }', '{ theta = "u" }')
MOTOR = '[motors.u]\ntorque_constant = "0.05 V*s"\nresistance = "1.2 ohm"\ninductance = "1 mH"\n'


def driven(text, motor):
    return text.replace("inputs = { u = 0 }", "inputs = { e_u = 0 }") + motor


@pytest.mark.parametrize(
    ("text", "motor"),
    [
        (TURNED, MOTOR),
        (TURNED, MOTOR + 'gear = 5\nback_emf = "0.05 N*m/A"\n'),
        (CART, MOTOR.replace("V*s", "N/A")),
        (CART, MOTOR + 'gear = "50 1/m"\n'),
        (CART, MOTOR + "gear = 50\n"),
        (CART, MOTOR.replace("V*s", "N/A") + "gear = 50\n"),
        (PENDULUM, MOTOR),
        (PENDULUM, MOTOR.replace("V*s", "N/A")),
    ],
)
def test_motors_with_right_units(text, motor):
    assert len(vn.model.loads(driven(text, motor)).system.coordinates) == 3


@pytest.mark.parametrize(
    ("text", "motor", "key", "needed"),
    [
        (TURNED, MOTOR.replace("ohm", "H"), "resistance", "ohm"),
        (TURNED, MOTOR.replace("mH", "ohm"), "inductance", "H"),
        (TURNED, MOTOR.replace("V*s", "kg"), "torque_constant", "N·m/A"),
        (PENDULUM, MOTOR.replace("V*s", "kg"), "torque_constant", "N·m/A"),
        (TURNED, MOTOR + 'back_emf = "1 ohm"\n', "back_emf", "N·m/A"),
        (TURNED, MOTOR + 'gear = "5 kg"\n', "gear", "1"),
        (CART, MOTOR, "torque_constant", "N/A"),
    ],
)
def test_a_motor_with_a_wrong_unit_is_refused_alone(text, motor, key, needed):
    problems = said(driven(text, motor))
    assert [place for place, _ in problems] == [f"motors.u.{key}"]
    assert f"but {needed} is needed" in problems[0][1]


def test_weights_have_any_dimension():
    text = CART.replace('["x", "theta"]', '{ x = "m", theta = "rad" }').replace("l = 0.5", 'l = "50 cm"')
    vn.model.loads(text + '[equilibrium]\n[control]\nstate_weights = { x = "1/l^2" }\ninput_weights = 1\n')
