"""A mechanism as a model file and as its Python twin in examples/ give the same numbers."""

from __future__ import annotations

import importlib
from importlib.resources import files

import numpy as np
import pytest

import vinculum as vn
from vinculum.study import closed_motion_of, equations_of, law_of, linear_of, loop_of, motion_of, rest_of

MODELS = files("vinculum") / "models"
OPEN_LOOP = ("cartesian_pendulum", "chaplygin_sleigh", "wheel_with_reactions", "puma560")


def loaded(name):
    return vn.load(MODELS / f"{name}.toml")


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


def test_the_beam_and_its_controller():
    example = importlib.import_module("examples.ball_and_beam")
    model = loaded("ball_and_beam")
    equations = equations_of(model)
    rest = rest_of(model, equations)
    law = law_of(model, linear_of(equations, rest))
    _, twin_rest, twin_linear, twin_law = example.stabilized(1)
    assert rest[example.theta] == pytest.approx(twin_rest[example.theta], rel=1e-12)
    assert law.linear.states == twin_linear.states
    np.testing.assert_allclose(law.gain, twin_law.gain, rtol=1e-8)
    motion = closed_motion_of(model, loop_of(model, equations, law, None), law, rest)
    twin, _ = example.run()
    assert_same_motion(motion, twin, model.system)
