"""Forces and torques in drawings: they obey the laws of mechanics, are to scale, and appear when asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sympy.physics.mechanics import dynamicsymbols

import browser
import vinculum as vn
from report.mechanisms import MODELS
from vinculum.errors import ModelError, VinculumError
from vinculum.model.examine import equations_of, motion_of
from vinculum.model.model import Arrow, Drawing
from vinculum.present.arrows import LONGEST
from vinculum.present.drawing import scene, values_of
from vinculum.present.report import write_report

t = dynamicsymbols._t


def run(name: str):
    """(model, its requested motion, the symbols by name)."""
    model = vn.load(MODELS / f"{name}.toml")
    motion = motion_of(model, equations_of(model))
    names = {str(q).removesuffix("(t)"): q for q in (*model.system.coordinates, *model.system.parameters)}
    return model, motion, names


def vectors(model, motion) -> dict[str, np.ndarray]:
    return {arrow.name: values_of(motion, arrow.components) for arrow in model.drawing.arrows}


def test_the_forces_on_the_piston_accelerate_it():
    """m a = F of the rod + F of the wall, and nothing moves it sideways."""
    model, motion, names = run("slider_crank")
    total = sum(vectors(model, motion).values())
    m, a = model.system.parameters[names["m_p"]], motion[names["x"].diff(t, 2)]
    np.testing.assert_allclose(total[:, 0], m * a, atol=1e-9 * m * np.max(np.abs(a)))
    np.testing.assert_array_equal(total[:, 1], 0)


def test_the_force_of_the_floor_and_the_weight_accelerate_a_rolling_disc():
    model, motion, names = run("rolling_disc")
    force = vectors(model, motion)["force of the floor"]
    m, g = (model.system.parameters[names[key]] for key in "mg")
    a = np.stack([motion[names[key].diff(t, 2)] for key in "xyz"], axis=1)
    np.testing.assert_allclose(force - [0, 0, m * g], m * a, atol=1e-9 * m * g)


def test_the_lever_carries_the_beam():
    """About the pivot of the beam: the moment of the lever is that of the weights and of the angular momentum."""
    model, motion, names = run("ball_and_beam")
    force = vectors(model, motion)["force of the lever on the beam"]
    m, M, L, J, g = (model.system.parameters[names[key]] for key in ("m", "M", "L", "J_b", "g"))
    r, alpha = names["r"], names["alpha"]
    angle, place = motion[alpha], motion[r]
    lever = L * (np.cos(angle) * force[:, 1] - np.sin(angle) * force[:, 0])
    momentum = (J + m * place**2) * motion[alpha.diff(t, 2)] + 2 * m * place * motion[r.diff(t)] * motion[alpha.diff(t)]
    weights = (m * g * place + M * g * L / 2) * np.cos(angle)
    np.testing.assert_allclose(lever, momentum + weights, atol=1e-9 * np.max(np.abs(weights)))


def test_lengths_are_in_proportion():
    model, motion, _ = run("slider_crank")
    plain, drawn = (scene(motion, model.drawing, frames=50, arrows=on) for on in (False, True))
    own = [stroke for stroke in drawn.strokes if stroke.kind == "arrow"]
    assert len(drawn.strokes) == len(plain.strokes) + len(own) == len(plain.strokes) + 2
    low, high = plain.box
    largest = max(np.linalg.norm(v, axis=1).max() for v in vectors(model, motion).values())
    thrust = next(stroke for stroke in own if stroke.name == "side thrust of the wall")
    wanted = np.interp(drawn.t, motion.t, vectors(model, motion)["side thrust of the wall"][:, 1])
    lengths = (thrust.places[:, 1] - thrust.places[:, 0])[:, 1] / (LONGEST * max(high - low)) * largest
    np.testing.assert_allclose(lengths, wanted, atol=2e-3 * largest)
    assert drawn.note == f"largest force {largest:.3g} N"


def test_a_picture_and_an_animation_have_arrows_when_asked(tmp_path):
    model, motion, _ = run("slider_crank")
    for arrows in (False, True):
        motion.save(tmp_path / f"{arrows}.svg", drawing=model, arrows=arrows)
    assert len((tmp_path / "True.svg").read_text()) > len((tmp_path / "False.svg").read_text())
    figure = motion.animate(model, arrows=True, frames=5)
    assert figure.layout.title.text.startswith("largest force")
    assert {"force of the rod on the piston", "side thrust of the wall"} <= {trace.name for trace in figure.data}


FORCES = """() => { vinculum.at(0.083); const s = vinculum.stage.seen;
  return [s.arrows, vinculum.description.scene.arrows.map(a => a.keys.map(s.places.value))]; }"""


def test_the_page_draws_them_to_scale_on_demand(running, tmp_path):
    path = tmp_path / "crank.html"
    write_report(vn.load(MODELS / "slider_crank.toml"), path)
    with browser.opened(running, path) as (page, seen):
        assert page.evaluate("vinculum.stage.seen.arrows") is None
        page.check("#arrows")
        drawn, values = page.evaluate(FORCES)
        pixels = np.array([np.subtract(one["tip"], one["tail"]) for one in drawn]) * [1, -1]
        scale = np.linalg.norm(pixels[0]) / np.linalg.norm(values[0])
        np.testing.assert_allclose(pixels, scale * np.array(values), atol=1e-6)
        page.uncheck("#arrows")
        assert page.evaluate("vinculum.stage.seen.arrows") is None
        assert seen.clean, seen


MODEL = """
name = "drop"
parameters = { m = 1, g = 9.81 }
system = { coordinates = ["x", "y"], kinetic_energy = "m*(dot(x)^2 + dot(y)^2)/2", potential_energy = "m*g*y" }
constraints = { wall = "x = 0" }
simulation = { times = [0, 1], initial = { x = 0, y = 0, "dot(x)" = 0, "dot(y)" = 0 } }
drawing = { points = { ball = ["x", "y"] }, arrows = [ARROW] }
"""


@pytest.mark.parametrize(
    ("arrow", "words"),
    [
        ('{ at = "bal", force = [0, 1] }', "bal is not a point of the drawing. Did you mean ball?"),
        ('{ at = "ball" }', "an arrow is a force or a torque. Give one of them."),
        ('{ at = "ball", force = [0, 1], torque = 1 }', "an arrow is a force or a torque. Give one of them."),
        ('{ at = "ball", force = [1, 2, 3] }', "a force at ball needs 2 components; found 3."),
        ('{ at = "ball", torque = [1, 2] }', "a torque at ball needs one number; found 2."),
        ('{ at = "ball", force = ["reaction(wal)", 0] }', "there is no constraint wal. Did you mean wall?"),
    ],
)
def test_wrong_arrows_are_refused_in_words(tmp_path, arrow, words):
    path = tmp_path / "drop.toml"
    path.write_text(MODEL.replace("ARROW", arrow))
    with pytest.raises(VinculumError) as error:
        vn.load(path)
    assert words in str(error.value)


def test_python_refuses_the_same():
    x = dynamicsymbols("x")
    system = vn.System([x], x.diff() ** 2 / 2, 0)
    motion = vn.simulate(system, {x: 0, x.diff(): 1}, (0, 1))
    for arrow, words in (
        (Arrow("q", force=(1, 0)), "'q' is not a point"),
        (Arrow("p"), "needs a force or a torque"),
        (Arrow("p", force=(1, 0, 0)), "needs 2 components; found 3"),
    ):
        with pytest.raises(ModelError, match=words):
            scene(motion, Drawing({"p": (x, 0)}, arrows=[arrow]))
