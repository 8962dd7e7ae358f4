"""A path or a loop that cannot be reached: which constraints stay violated, and by how much."""

from __future__ import annotations

import math
import re

import pytest

import vinculum as vn
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.model.examine import equations_of, motion_of

ARM = """
[tree.bodies.upper]
axis = [0, 1, 0]
mass = 1
center_of_mass = [0.2, 0, 0]
inertia = 0.01
torque = "u"
[tree.bodies.lower]
parent = "upper"
axis = [0, 1, 0]
origin = [0.4, 0, 0]
mass = 1
center_of_mass = [0.15, 0, 0]
inertia = 0.01
torque = "v"
[tree.path]
body = "lower"
point = [0.3, 0, 0]
position = { x = "1.2*cos(t)", z = "1.2*sin(t)" }
[simulation]
times = [0, 1]
"""
PINNED = """
[system]
coordinates = ["x", "y", "s"]
kinetic_energy = "(dot(x)^2 + dot(y)^2 + dot(s)^2)/2"
[constraints]
rod = "x^2 + y^2 = 1"
slide = "x = s"
[simulation]
times = [0, 1]
initial = { s = 1.5 }
guess = { y = 0.3 }
"""


def run(text):
    model = vn.model.loads(text)
    return motion_of(model, equations_of(model))


def gaps(message):
    """The numbers that a refusal says are left, by constraint."""
    told = re.search(r"The nearest state found leaves (.*?), at ", message)
    assert told is not None, message
    return {name: float(gap) for name, gap in (part.split(" = ") for part in told[1].split(", "))}


def test_a_path_out_of_reach_says_what_is_left():
    """An arm of 0.4 + 0.3 reaches to 0.5 from a point 1.2 away."""
    with pytest.raises(vn.VinculumError) as error:
        run(ARM)
    left = gaps(str(error.value))
    assert set(left) == {"lower x", "lower z"}
    assert math.hypot(*left.values()) == pytest.approx(0.5, rel=1e-3)


def test_the_same_arm_follows_a_path_within_reach():
    reference_state(equations_of(vn.model.loads(ARM.replace("1.2", "0.5"))))


def test_a_start_that_cannot_be_assembled_says_what_is_left():
    """With s = 1.5 the least of (x² + y² - 1)² + (x - s)² has y = 0 and 2x(x² - 1) + x - 1.5 = 0."""
    with pytest.raises(vn.errors.ConstraintError) as error:
        run(PINNED)
    x = next(root for root in (1.0 + i * 1e-6 for i in range(500_000)) if 2 * root * (root**2 - 1) + root - 1.5 > 0)
    assert gaps(str(error.value)) == pytest.approx({"rod": x**2 - 1, "slide": x - 1.5}, abs=1e-3)
    assert run(PINNED.replace("1.5", "0.5")).outcome
