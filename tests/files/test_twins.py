"""A mechanism as a model file and as its Python twin in examples/ give the same numbers."""

from __future__ import annotations

import importlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import vinculum as vn
from vinculum.study import closed_motion_of, equations_of, estimator_of, law_of, linear_of, loop_of, motion_of, rest_of

MODELS = files("vinculum") / "models"
EXAMPLES = Path(__file__).parents[2] / "examples"
NO_MECHANISM = ("demo", "paper_figures")
CLOSED_LOOP = ("ball_and_beam", "delta_robot", "five_bar")  # their example shows the motion under feedback
ALL = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in NO_MECHANISM)
OPEN_LOOP = [name for name in ALL if name not in CLOSED_LOOP]


def loaded(name):
    return vn.load(MODELS / f"{name}.toml")


@pytest.mark.parametrize("name", ALL)
def test_every_example_is_a_model_file(name):
    model = loaded(name)
    assert model.description
    assert model.drawing is not None or model.tree is not None or name == "resonant_circuit"


@pytest.mark.parametrize("name", OPEN_LOOP)
def test_one_motion(name):
    model, (twin, _) = loaded(name), importlib.import_module(f"examples.{name}").run()
    motion = motion_of(model, equations_of(model))
    assert_same_motion(motion, twin, model.system)


def assert_same_motion(motion, twin, system):
    states = getattr(system, "states", None) or (*system.coordinates, *system.velocities)
    np.testing.assert_allclose(motion.t, twin.t, rtol=0, atol=1e-12)
    assert motion.outcome.kind == twin.outcome.kind == "finished"
    for state in states:
        size = np.abs(twin[state]).max()
        np.testing.assert_allclose(motion[state], twin[state], rtol=0, atol=1e-9 * max(size, 1.0), err_msg=str(state))


def test_one_event():
    model, (twin, _) = loaded("cartesian_pendulum"), importlib.import_module("examples.cartesian_pendulum").run()
    motion = motion_of(model, equations_of(model))
    assert [e.time for e in motion.events] == pytest.approx([e.time for e in twin.events], abs=1e-10)


@pytest.mark.parametrize("name", CLOSED_LOOP)
def test_one_closed_loop(name):
    model, (twin, _) = loaded(name), importlib.import_module(f"examples.{name}").run()
    equations = equations_of(model)
    rest = rest_of(model, equations)
    linear = linear_of(equations, rest)
    law, observer = law_of(model, linear), estimator_of(model, linear) if model.observer else None
    motion = closed_motion_of(model, loop_of(model, equations, law, observer), law, rest)
    assert_same_motion(motion, twin, model.system)


def test_one_controller():
    example, model = importlib.import_module("examples.ball_and_beam"), loaded("ball_and_beam")
    equations = equations_of(model)
    rest = rest_of(model, equations)
    law = law_of(model, linear_of(equations, rest))
    _, twin_rest, twin_linear, twin_law = example.stabilized(1)
    assert rest[example.theta] == pytest.approx(twin_rest[example.theta], rel=1e-12)
    assert law.linear.states == twin_linear.states
    np.testing.assert_allclose(law.gain, twin_law.gain, rtol=1e-8)


def test_one_steady_motion():
    example, model = importlib.import_module("examples.watt_governor"), loaded("watt_governor")
    equations = equations_of(model)
    steady = rest_of(model, equations)
    angle, _, root = example.exact()
    assert steady[example.alpha] == pytest.approx(angle, rel=1e-12)
    assert linear_of(equations, steady).roots[0] == pytest.approx(root, rel=1e-9)
