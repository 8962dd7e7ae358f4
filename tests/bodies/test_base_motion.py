"""A base that moves as given: positions, velocities, measured curves, corners, contradictions."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from vinculum.describe import spline
from vinculum.describe.bodies.antiderivative import antiderivative

t = sp.Symbol("t")
POINTS = np.linspace(0, 4, 81)


def arm(**base):
    upper = vn.Body("a", None, axis=(0, 1, 0), mass=1, center_of_mass=(0.5, 0, 0.1), inertia=0.1)
    lower = vn.Body("b", "a", axis=(1, 0, 1), origin=(1, 0, 0), mass=1, center_of_mass=(0.3, 0.2, 0), inertia=0.05)
    return vn.BodyTree([upper, lower], **base)


def accelerations(tree, now):
    return vn.bodies.dynamics(tree).forward([0.3, -0.4], [1.0, 2.0], [0.1, 0.2], now)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"base_position": (sp.sin(3 * t), 0, t**2)}, {"base_velocity": (3 * sp.cos(3 * t), 0, 2 * t)}),
        ({"base_position": (sp.sin(t**2), 0, 0)}, {"base_velocity": (2 * t * sp.cos(t**2), 0, 0)}),
        (
            {"base_rotation": sp.rot_axis3(-sp.sin(t**2))},
            {"base_rotation": sp.rot_axis3(-sp.sin(t**2)), "base_angular_velocity": (0, 0, 2 * t * sp.cos(t**2))},
        ),
        (
            {"base_position": (spline(t, POINTS, np.sin(POINTS)), 0, 0)},
            {"base_velocity": (spline(t, POINTS, np.sin(POINTS)).diff(t), 0, 0)},
        ),
        (
            {"base_angular_velocity": (0, 0, spline(2 * t, POINTS, POINTS**2))},
            {"base_angular_velocity": (0, 0, 4 * t**2)},
        ),
    ],
)
def test_two_statements_of_one_motion(one, two):
    for now in (0.4, 1.3):
        assert np.allclose(accelerations(arm(**one), now), accelerations(arm(**two), now), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "base",
    [
        {"base_velocity": (sp.sin(t**2), 0, sp.Abs(sp.sin(t)))},
        {"base_position": (sp.sin(t**2), 0, sp.Abs(sp.sin(t)) ** 3)},
        {"base_velocity": (spline(t, POINTS, np.cos(2 * POINTS)), 0, 0)},
    ],
)
def test_energy_balance_on_a_base_that_moves(base):
    """The rate of the energy is the power of what moves the base, also where the place of the base is unknown."""
    tree = arm(**base)
    motion = vn.simulate(vn.derive(tree.system()), dict(zip(tree.coordinates, (0.1, 0.2), strict=True)), (0, 2))
    assert motion.outcome.kind == "finished"
    assert motion.energy_error < 1e-11


def test_a_velocity_without_an_integral_moves_the_base_like_its_acceleration():
    """Only V̇ - g matters: the same accelerations as under the gravity that balances it."""
    moving = arm(base_velocity=(sp.sin(t**2), 0, 0))
    for now in (0.3, 1.7):
        still = arm(gravity=(-2 * now * np.cos(now**2), 0, -9.81))
        assert np.allclose(accelerations(moving, now), accelerations(still, now), rtol=1e-12, atol=1e-12)
    with pytest.raises(vn.ModelError, match=r"base_position"):
        moving.position("a")


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ({"base_rotation": sp.eye(3), "base_angular_velocity": (0, 0, 1)}, ["(0, 0, 1)", "(0, 0, 0)", "Leave"]),
        ({"base_position": (t, 0, 0), "base_velocity": (2, 0, 0)}, ["(2, 0, 0)", "(1, 0, 0)"]),
        ({"base_position": (sp.Abs(sp.sin(t)), 0, 0)}, ["corner near t = 3.1", "jumps by 2"]),
        ({"base_angular_velocity": (0, 0, sp.sin(t**2))}, ["no integral in closed form", "base_rotation"]),
        ({"base_position": (sp.gamma(t), 0, 0)}, ["gamma", "unknown"]),
        ({"base_position": (0, 0)}, ["three components"]),
    ],
)
def test_refusals(base, words):
    with pytest.raises(vn.ModelError) as refusal:
        arm(**base)
    assert all(word in str(refusal.value) for word in words)


@pytest.mark.parametrize("f", [t**3, sp.sin(2 * t + 1), t * sp.exp(-t), sp.sin(t) ** 2, 1 / (1 + t**2), 3 + 0 * t])
def test_antiderivatives_vanish_at_zero_and_have_the_function_as_slope(f):
    F = antiderivative(f, t)
    assert F.subs(t, 0) == 0
    assert sp.simplify(F.diff(t) - f) == 0


@pytest.mark.parametrize("f", [sp.sin(t**2), sp.Abs(sp.sin(t)), sp.exp(-(t**2)), 1 / t, t**t])
def test_what_has_no_closed_form_in_known_functions(f):
    assert antiderivative(f, t) is None


def test_a_model_file_gives_the_position_of_the_base():
    text = """
[splines.shake]
points = [0, 1, 2, 3, 4, 5, 6]
values = [0, 0.1, -0.1, 0.2, 0, 0.1, 0]
[tree]
base_position = ["shake(t)", 0, "sin(t^2)"]
[tree.bodies.arm]
axis = [0, 1, 0]
mass = 1
center_of_mass = [1, 0, 0]
"""
    tree = vn.model.loads(text).tree
    assert tree.base.moves
    assert tree.base.velocity[2] == 2 * t * sp.cos(t**2)
