"""A mechanism as a model file and as its Python twin in examples/ give the same numbers."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import vinculum as vn
from files.twins import FILES, FURTHER, MODELS, TWINS, loaded, replacements
from vinculum.cli.app import app
from vinculum.model.examine import (
    closed_motion_of,
    equations_of,
    estimator_of,
    law_of,
    linear_of,
    loop_of,
    motion_of,
    rest_of,
)
from vinculum.model.model import Model
from vinculum.present.animation import scene_of

CONTROLLED = {  # what the twin computes: equilibrium, feedback, observer
    "ball_and_beam": lambda example: (*example.stabilized(1)[1::2], None),
    "delta_robot": lambda example: (*example.stabilized(motors=True)[1::2], None),
    "five_bar": lambda example: example.stabilized()[1:],
    "segway": lambda example: (*example.riding(vn.derive(example.system())), None),
}


@dataclass(frozen=True)
class Answers:
    """What a file asks, answered."""

    model: Model
    motion: vn.Trajectory
    rest: Any = None
    law: Any = None
    estimator: Any = None


@pytest.fixture(scope="module", params=TWINS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def example(name):
    return importlib.import_module(f"examples.{name}")


@pytest.fixture(scope="module")
def twin(example):
    return example.run()


@pytest.fixture(scope="module")
def answers(name):
    return answered(loaded(name))


def answered(model):
    """The motion of a file, under feedback where it asks for that."""
    equations = equations_of(model)
    if model.closed_loop is None:
        return Answers(model, motion_of(model, equations))
    rest = rest_of(model, equations)
    linear = linear_of(model, equations, rest)
    law, estimator = law_of(model, linear), estimator_of(model, linear) if model.observer else None
    motion = closed_motion_of(model, loop_of(model, equations, law, estimator), law, rest)
    return Answers(model, motion, rest, law, estimator)


# -- the same numbers ------------------------------------------------------------------------------------------


def test_every_example_is_a_model_file():
    assert set(TWINS) <= set(FILES), "examples without a model file"
    assert set(FILES) == {*TWINS, *FURTHER}, "a model file without an example"


def test_one_motion(answers, twin):
    assert_same_motion(answers.motion, twin[0])


def test_one_set_of_numbers(name, example, twin, monkeypatch):
    for key, instead in replacements(name, example).items():
        monkeypatch.setattr(example, key, instead)
    _, numbers = example.run()
    assert numbers.keys() == twin[1].keys()
    for quantity, (found, exact) in numbers.items():
        assert found == pytest.approx(twin[1][quantity][0], rel=1e-9, abs=1e-12), quantity
        assert found == pytest.approx(exact, rel=1e-10, abs=1e-12), quantity


def test_one_controller(name, example, answers):
    if name not in CONTROLLED:
        assert answers.law is None
        return
    rest, law, estimator = CONTROLLED[name](example)
    for key, value in rest.items():
        assert answers.rest[key] == pytest.approx(value, rel=1e-10, abs=1e-12), key
    assert answers.law.linear.states == law.linear.states
    np.testing.assert_allclose(answers.law.gain, law.gain, rtol=1e-8, atol=1e-9 * np.abs(law.gain).max())
    assert (answers.estimator is None) == (estimator is None)
    if estimator is not None:
        size = np.abs(estimator.gain).max()
        np.testing.assert_allclose(answers.estimator.gain, estimator.gain, rtol=1e-8, atol=1e-9 * size)


def test_one_steady_motion():
    example, model = importlib.import_module("examples.watt_governor"), loaded("watt_governor")
    equations = equations_of(model)
    steady = rest_of(model, equations)
    angle, momentum, root = example.exact()
    assert steady[example.alpha] == pytest.approx(angle, rel=1e-12)
    assert steady[next(iter(equations.definitions))] == pytest.approx(momentum, rel=1e-12)
    assert linear_of(model, equations, steady).roots[0] == pytest.approx(root, rel=1e-9)


def test_the_swaying_arm_of_the_twin():
    example, motion = importlib.import_module("examples.puma560"), answered(loaded("puma560_on_a_swaying_base")).motion
    laws = vn.bodies.computed_torque(
        example.swaying(), dict(zip(example.q, example.path(), strict=True)), frequency=20.0
    )
    equations = vn.derive(example.swaying().system())
    assert_same_motion(motion, vn.simulate(equations, example.NOMINAL, np.linspace(0, 2, 101), inputs=laws))


def test_the_arm_of_three_links():
    example, motion = importlib.import_module("examples.planar_arms"), answered(loaded("planar_arms_3r")).motion
    start = dict(zip(example.phi, (1.0, 0.5, 0.5), strict=True))
    assert_same_motion(motion, vn.simulate(vn.derive(example.system(3)), start, times=(0, 3)))


def assert_same_motion(motion, twin):
    """All states, reactions and events, at all instants."""
    assert motion.outcome.kind == twin.outcome.kind == "finished"
    np.testing.assert_allclose(motion.t, twin.t, rtol=1e-15, atol=0)
    system = twin.problem.equations.system
    for state in getattr(system, "states", None) or (*system.coordinates, *system.velocities):
        assert_near(motion[state], twin[state], 1e-11, str(state))
    assert motion.reactions.keys() == twin.reactions.keys()
    for constraint, force in twin.reactions.items():
        assert_near(motion.reactions[constraint], force, 1e-9, constraint)
    assert [event.name for event in motion.events] == [event.name for event in twin.events]
    assert [event.time for event in motion.events] == pytest.approx([event.time for event in twin.events], rel=1e-11)


def assert_near(found, wanted, share, about):
    """To a share of the greatest size, or of one."""
    size = max(np.abs(wanted).max(), 1.0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=share * size, err_msg=about)


# -- the same care for every file ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_check_finds_nothing(name):
    result = CliRunner().invoke(app, ["check", str(MODELS / f"{name}.toml")])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", FILES)
def test_a_file_explains_itself(name):
    model = loaded(name)
    assert len(model.description) > 60
    assert model.drawing is not None or model.tree is not None
    inputs = [u for u in model.system.inputs if not str(u).startswith("e_")]
    assert not inputs or model.meanings, "say what the inputs are"


def test_the_drawing_is_finite_and_moves(answers):
    scene = scene_of(answers.motion, [answers.model])
    assert all(np.isfinite(stroke.places).all() for stroke in scene.strokes)
    assert any(np.ptp(stroke.places, axis=0).max() > 0 for stroke in scene.strokes)
    low, high = scene.box
    moving = max(np.ptp(stroke.places, axis=0).max() for stroke in scene.strokes)
    assert moving > 0.01 * (high - low).max(), "nothing is seen to move"
