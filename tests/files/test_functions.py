"""Functions with cases and curves through points in a model file are what they would be in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from files.small import TRACK, changed
from vinculum.graph import evaluate, from_sympy, symbol, to_sympy
from vinculum.model.examine import equations_of, motion_of
from vinculum.text_printer import plain

x, theta = dynamicsymbols("x theta")
m, g, l = sp.symbols("m g l")

PROFILE = """
[splines.profile]
points = [-3, -2, -1, 0, 1, 2, 3]
values = [9, 4, 1, 0, 1, 4, 9]
"""


def potential(formula, further=""):
    return vn.model.loads(changed("-m*g*l*cos(theta)", formula) + further).system.potential_energy


def refused(formula, further=""):
    with pytest.raises(vn.model.ModelFileError) as error:
        potential(formula, further)
    return str(error.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("piecewise(x < 0, x, m)", sp.Piecewise((x, x < 0), (m, True))),
        ("piecewise(x <= 0, x, x > 2, g, m)", sp.Piecewise((x, x <= 0), (g, x > 2), (m, True))),
        ("piecewise(0 < x <= m, x, g)", sp.Piecewise((x, (x > 0) & (x <= m)), (g, True))),
        ("piecewise(x < -1 or x > theta + 1, x, g)", sp.Piecewise((x, (x < -1) | (x > theta + 1)), (g, True))),
        ("piecewise(not x >= theta and x < m, 1, 0)", sp.Piecewise((1, (x < theta) & (x < m)), (0, True))),
        ("x^2*piecewise(sin(x) < 1/2, 1, sin(x))", x**2 * sp.Piecewise((1, sp.sin(x) < 0.5), (sp.sin(x), True))),
        ("piecewise(1 < 2, x, m)", x),
        ("piecewise(2 < 1, x, m)", m),
        ("piecewise(2 < 1 or x < 0, x, m)", sp.Piecewise((x, x < 0), (m, True))),
        ("piecewise(not 2 < 1 and 3 >= 3, x, m)", x),
    ],
)
def test_cases(written, meant):
    places = np.random.default_rng(3).uniform(-3, 3, size=(40, 5))
    for values in places:
        at = dict(zip(map(symbol, (x, theta, m, g, l)), values, strict=True))
        ours, theirs = evaluate([from_sympy(potential(written)), from_sympy(meant)], at)
        assert ours == pytest.approx(theirs, rel=1e-15)


def test_equations_with_cases_are_printed_as_they_are_written():
    written = "piecewise(not x < -1 and (x > 2 or x < m), x^2, 0 < x, m, abs(x))"
    printed = plain(to_sympy(from_sympy(potential(written))))
    assert printed.startswith("piecewise(")
    assert from_sympy(potential(printed)) is from_sympy(potential(written))


def test_equations_may_contain_comparisons():
    model = vn.model.loads(changed('holonomic = "x"', 'holonomic = "piecewise(x <= 1, x, 2*x - 1) = theta"'))
    assert model.system.constraints[0].expression.subs({x: 2, theta: 0.5}) == 2.5


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("x if x < 0 else m", "Write piecewise(x < 0, a, b)"),
        ("x < m", "a condition is allowed only within piecewise"),
        ("x and m", "a condition is allowed only within piecewise"),
        ("where(x < 0, x, m)", "Write piecewise(condition, value, otherwise)"),
        ("piecewise(x < 0, x)", "a value for all other cases"),
        ("piecewise(x, 1, 2)", "a condition is needed here"),
        ("piecewise(x == 0, 1, 2)", "An equality holds only at single instants"),
        ("piecewise(x in m, 1, 2)", "compare with < <= > or >="),
        ("piecewise(x is m, 1, 2)", "compare with < <= > or >="),
        ("piecewise(piecewise(x < 0, x, 1) < 2, x, m)", "a condition cannot contain piecewise"),
        ("piecewise(x < xx, 1, 2)", "xx is not known"),
        ("piecewise", "Write piecewise(...)"),
        ("dot(piecewise(x < 0, x, m))", "this has corners"),
        ("dot(abs(x))", "this has corners"),
        ("piecewise(" * 30 + "x < 0, 1, 2" + ")" * 30, "a value for all other cases"),
        ("piecewise(" + "not " * 60 + "x < 0, 1, 2)", "nested more than"),
        ("piecewise(" + "not " * 1400 + "x < 0, 1, 2)", "nested"),
        ("piecewise(x < 0, " * 60 + "x" + ", m)" * 60, "nested more than"),
    ],
)
def test_cases_that_cannot_be_read(written, said):
    assert said in refused(written)


def test_a_stop_with_play_has_the_motion_of_its_pieces():
    """A block between two springs: free flight, then half a period of the contact, and back with the same speed."""
    text = """
parameters = { m = 2, k = 800, gap = 0.1 }
[system]
coordinates = ["x"]
kinetic_energy = "m*dot(x)^2/2"
potential_energy = "piecewise(x > gap, k*(x - gap)^2/2, x < -gap, k*(x + gap)^2/2, 0)"
[simulation]
times = [0, 1]
dense = true
initial = { x = 0, "dot(x)" = 1 }
"""
    model = vn.model.loads(text)
    motion = motion_of(model, equations_of(model))
    back = 0.1 + math.pi / 20  # the gap at speed 1, then π √(m/k)
    place, speed = (motion.at(np.array([back, back - math.pi / 40]))[name] for name in motion.at(0.0))
    assert place == pytest.approx([0.1, 0.1 + 1 / 20], abs=1e-12)
    assert speed == pytest.approx([-1, 0], abs=1e-12)


def test_a_cart_on_a_measured_track_keeps_its_energy_balance():
    """The curve, the buffers and the push that ends in one run: z stays on the curve, the energy where it belongs."""
    model = vn.model.loads(TRACK)
    motion = motion_of(model, equations_of(model))
    x, z = model.system.coordinates
    assert motion[z] == pytest.approx((motion[x]) ** 2 / 4, abs=1e-12)  # the points lie on a parabola
    assert max(motion.largest_residuals.values()) < 1e-12
    assert motion.energy_error < 1e-11
    assert np.abs(motion[x]).max() > 0.4  # a buffer was met


def test_a_curve_through_points_is_that_of_python():
    points, values = np.arange(-3, 4), np.arange(-3, 4) ** 2
    found = potential("m*g*profile(x + l)", PROFILE)
    meant = m * g * vn.spline(x + l, points, values, name="profile")
    assert found == meant
    assert str(found) == "g*m*profile(l + x(t))"
    assert found.subs({x: 0.5, l: 1, m: 1, g: 1}) == pytest.approx(2.25, rel=1e-12)


def test_a_curve_has_derivatives():
    rate = vn.model.loads(changed("m*(dot(x)^2 +", "m*(dot(profile(x))^2 +") + PROFILE).system.kinetic_energy.diff(
        x.diff()
    )
    assert "profile'(x(t))" in str(rate)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("points = [-3, -2,", "points = [-3, -4,", "in increasing order"),
        ("values = [9, 4,", "values = [9,", "7 points and 6 values"),
        ("values", "valves", "Did you mean values?"),
        ("values = [9,", 'values = ["x",', "x is not known"),
        ("values = [9,", "degree = 9\nvalues = [9,", "a whole number from 1 to 5"),
        ("[-3, -2, -1, 0, 1, 2, 3]", "[0, 1e-300, 2e-300, 3e-300, 4e-300, 5e-300, 6e-300]", "no finite coefficients"),
        ("[-3, -2, -1, 0, 1, 2, 3]", "[-3, -2, -1, 0, 1, 1.0000000000000002, 3]", "are too close together"),
        ("[splines.profile]", "[splines.sin]", "is a reserved name"),
        ("[splines.profile]", "[splines.g]", "declared twice"),
        ("[9, 4, 1,", '["9 m", "4 kg", 1,', "its dimension is kg, but the points before it are in m"),
    ],
)
def test_a_curve_that_cannot_be_read(old, new, said):
    assert said in refused("profile(x)" if "g]" not in new else "x", PROFILE.replace(old, new, 1))


def test_equations_name_the_curve_and_its_slopes():
    model = vn.model.loads(TRACK)
    text = vn.derive(model.system).text()
    assert "height'(x)" in text
    assert "height''(x)*dot(x)^2" in text


def test_a_polygon_has_corners():
    straight = PROFILE.replace("values", "degree = 1\nvalues")
    assert "this has corners" in refused("dot(profile(x))", straight)
    assert potential("profile(x)", straight).subs(x, 1.5) == pytest.approx(2.5)


def test_a_curve_takes_one_argument_of_its_dimension():
    assert "profile takes 1 argument, found 2" in refused("profile(x, m)", PROFILE)
    assert "profile is a function" in refused("profile", PROFILE)
    measured = PROFILE.replace("[-3,", '["-3 m",').replace("[9,", '["9 J",')
    united = changed('["x", "theta"]', '{ x = "m", theta = "rad" }').replace("-m*g*l*cos(theta)", "profile(theta)")
    with pytest.raises(vn.model.ModelFileError, match="profile is a function of m, but its argument is in 1"):
        vn.model.loads(united + measured)
    vn.model.loads(united.replace("profile(theta)", "profile(x)") + measured)
    with pytest.raises(vn.model.ModelFileError, match=r"kg·m³·s⁻², but kg·m²·s⁻²"):
        vn.model.loads(united.replace("profile(theta)", "x*profile(x)") + measured)


@pytest.mark.parametrize("formula", ["min(2)", "max(2)", "min(theta)", "max()"])
def test_the_smallest_of_one_number_is_refused(formula):
    assert "takes two or more arguments" in refused(formula)
