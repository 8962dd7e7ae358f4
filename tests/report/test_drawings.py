"""Drawings of a report without a browser: what is drawn where, to scale."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from report import mechanisms
from vinculum.model.model import Circle, Drawing, Model, Segment
from vinculum.present import shapes
from vinculum.present.drawing import drawing_of, scene


@pytest.fixture(scope="module")
def rolling():
    """A wheel of radius ½ that rolls along x at unit speed."""
    x, phi = dynamicsymbols("x phi")
    rolls = vn.Nonholonomic(x.diff() + phi.diff() / 2, name="rolling")
    system = vn.System([x, phi], x.diff() ** 2 / 2 + phi.diff() ** 2 / 8, constraints=[rolls])
    motion = vn.simulate(vn.derive(system), {x: 0, phi: 0, x.diff(): 1}, (0, 4))
    return motion, x, phi


def test_the_lowest_point_of_a_rolling_wheel_stands_still(rolling):
    motion, x, phi = rolling
    drawing = Drawing({"axle": (x, sp.Rational(1, 2))}, circles=[Circle("axle", sp.Rational(1, 2), phi, name="wheel")])
    found = scene(motion, drawing, frames=4001)
    (wheel,) = found.strokes
    np.testing.assert_allclose(wheel.places[:, 0], np.stack([found.t, 0 * found.t + 0.5], axis=1))
    np.testing.assert_allclose(np.linalg.norm(wheel.places[:, 1:] - wheel.places[:, :1], axis=2), 0.5)
    low, high = found.box
    np.testing.assert_allclose([*low, *high], [-0.5, 0, 4.5, 1], atol=5e-3)
    speed = np.gradient(wheel.places, found.t, axis=0)
    where = np.abs(wheel.places[1:-1, :, 1]) < 1e-4
    assert where.any()
    assert np.abs(speed[1:-1][where]).max() < 0.03


def test_a_circle_in_space_lies_across_its_normal(rolling):
    motion, x, phi = rolling
    circle = Circle("c", sp.Integer(2), phi, normal=(1, 2, sp.cos(x)))
    (ring,) = scene(motion, Drawing({"c": (0, 0, x)}, circles=[circle])).strokes
    for k in (0, 10, -1):
        spokes = ring.places[k, 1:] - ring.places[k, 0]
        at = np.interp(scene(motion, Drawing({"c": (0, 0, x)})).t[k], motion.t, motion[x])
        np.testing.assert_allclose(spokes @ [1, 2, np.cos(at)], 0, atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(spokes, axis=1), 2)


def test_scenery_has_neither_color_nor_joints(rolling):
    motion, x, _ = rolling
    points = {"a": (0, 0), "b": (1, 0), "axle": (x, 1)}
    found = scene(motion, Drawing(points, [Segment(["a", "b"], scenery=True), Segment(["b", "axle"])]))
    floor, rod = shapes.moving_traces(found, 0, ["red"], "gray")
    assert (floor["mode"], floor["line"]["color"]) == ("lines", "gray")
    assert (rod["mode"], rod["line"]["color"]) == ("lines+markers", "red")
    assert "fill" not in floor


def test_frames_are_equally_far_apart(rolling):
    motion, x, _ = rolling
    found = scene(motion, Drawing({"p": (x, 0)}), frames=101)
    assert found.t[0] == motion.t[0]
    assert found.t[-1] == motion.t[-1]
    np.testing.assert_allclose(np.diff(found.t), 0.04, atol=0.005)


def test_bodies_are_drawn_without_being_told():
    half = dict(axis=(0, 1, 0), mass=1, center_of_mass=(0.5, 0, 0))
    links = [vn.Body("upper", None, **half), vn.Body("lower", "upper", origin=(1, 0, 0), **half)]
    tree = vn.BodyTree(links)
    motion = vn.simulate(vn.derive(tree.system()), dict.fromkeys(tree.coordinates, 0.3), (0, 1))
    figure = motion.animate()
    assert isinstance(figure, go.Figure)
    assert {trace.type for trace in figure.data} == {"scatter"}, "in its plane"
    (upper,) = (trace for trace in figure.data if trace.name == "upper")
    np.testing.assert_allclose([*upper.x, *upper.y], [0, np.cos(0.3), 0, -np.sin(0.3)], atol=1e-12)
    assert figure.layout.yaxis.scaleanchor == "x"


def test_wheels_of_trees_are_discs():
    """A rolling disc has the radius of its contact; a symmetric body the radius of its inertia, I = m r²/2."""
    rolling = vn.bodies.Rolling("disc", 0.2, axis=(0, 1, 0))
    tree = vn.BodyTree([vn.Body("disc", None, joint="free", mass=1, inertia=(1, 2, 1))], contacts=[rolling])
    (disc,) = drawing_of(tree).circles
    assert disc.radius == 0.2
    upright = {q: value for q, value in tree.home.items() if not q.is_Derivative}
    assert [float(sp.sympify(n).subs(upright)) for n in disc.normal] == [0, 1, 0]
    spinner = vn.Body("spinner", None, axis=(0, 0, 1), mass=2, inertia=(0.045, 0.045, 0.09))
    (spun,) = drawing_of(vn.BodyTree([spinner])).circles
    assert float(spun.radius) == pytest.approx(0.3)
    ball = vn.Body("ball", None, axis=(0, 0, 1), mass=1, inertia=(0.4, 0.4, 0.4))
    (round_,) = drawing_of(vn.BodyTree([ball])).circles
    assert (float(round_.radius), round_.normal) == (pytest.approx(1.0), None)
    uneven = vn.Body("uneven", None, axis=(0, 0, 1), mass=1, inertia=(1, 2, 3))
    assert drawing_of(vn.BodyTree([uneven])).circles == []


def test_an_arm_is_drawn_in_space():
    model = mechanisms.arm()
    motion = vn.simulate(vn.derive(model.system), model.simulation["initial"], (0, 0.1))
    figure = motion.animate(model)
    ratio, axes = figure.layout.scene.aspectratio, figure.layout.scene
    scales = [ratio[k] / np.ptp(axes[f"{k}axis"].range) for k in "xyz"]
    assert max(scales) == pytest.approx(min(scales))
    ends = [trace for trace in figure.data if trace.mode == "lines+markers"]
    lengths = [np.linalg.norm(np.diff([e.x, e.y, e.z], axis=1)) for e in ends]
    for frame in figure.frames[::20]:
        moved = [np.linalg.norm(np.diff([d.x, d.y, d.z], axis=1)) for d in frame.data if len(d.x) == 2]
        np.testing.assert_allclose(moved, lengths, atol=1e-9)


def test_a_drawing_is_checked(rolling):
    motion, x, _ = rolling
    with pytest.raises(vn.ModelError, match="'axel' is not a point of the drawing"):
        scene(motion, Drawing({"axle": (x, 0)}, [Segment(["axle", "axel"])]))
    with pytest.raises(vn.ModelError, match="two coordinates, or all need three"):
        scene(motion, Drawing({"a": (x, 0), "b": (0, 0, x)}))
    with pytest.raises(vn.VinculumError, match="nothing to draw"):
        motion.animate()
    assert isinstance(motion.animate(Model(motion.problem.equations.system, drawing=Drawing({"a": (x, 0)}))), go.Figure)
