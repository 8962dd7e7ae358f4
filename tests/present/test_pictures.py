"""Pictures and animations of a motion: what is drawn is the motion, and a file is written whole or not at all."""

from __future__ import annotations

import struct
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy as sp
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.present import figures, mechanism_pictures, paper

theta, x = dynamicsymbols("theta x")
m, l, g = sp.symbols("m l g")
ROD = [[(0, 0), (0.5 * sp.sin(theta), -0.5 * sp.cos(theta))]]


@pytest.fixture(scope="module")
def motion():
    system = vn.System(
        {theta: "rad"}, m * l**2 * theta.diff() ** 2 / 2, -m * g * l * sp.cos(theta),
        parameters={m: "1 kg", l: "50 cm", g: "9.81 m/s^2"}, name="pendulum",
    )  # fmt: skip
    return vn.simulate(system, {theta: "30 deg"}, np.linspace(0, 2, 201))


def test_the_lines_are_the_motion(motion):
    figure = figures.curves(motion, [theta, theta.diff()])
    angle, speed = figure.axes
    assert np.array_equal(angle.lines[0].get_ydata(), motion[theta])
    assert np.array_equal(speed.lines[0].get_xdata(), motion.t)
    assert (angle.get_ylabel(), speed.get_ylabel()) == (r"$\theta$ (rad)", r"$\dot{\theta}$ (rad/s)")
    assert speed.get_xlabel() == "$t$ (s)"


def test_quantities_of_one_unit_share_a_panel(motion):
    both = figures.curves(motion, [theta, 2 * theta])  # an expression has no unit
    assert len(both.axes) == 2
    stated = vn.System({theta: "rad", x: "rad"}, m * (theta.diff() ** 2 + x.diff() ** 2), parameters={m: "1 kg*m^2"})
    assert len(figures.curves(vn.simulate(stated, {theta: 1, x: 2}, (0, 1))).axes) == 1
    many = [sp.Symbol(f"q{i}") * theta for i in range(25)]
    panels = figures._panels(motion, many)
    assert len(panels) <= figures._MOST_PANELS
    assert [key for _, keys in panels for key in keys] == many


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_motion_gives_the_same_picture(motion, kind, tmp_path):
    for name in ("a", "b"):
        motion.save(tmp_path / f"{name}.{kind}", theta, size=(3, 2), dots=200)
    content = (tmp_path / f"a.{kind}").read_bytes()
    assert content == (tmp_path / f"b.{kind}").read_bytes()
    if kind == "png":
        assert struct.unpack(">II", content[16:24]) == (600, 400)
    if kind == "svg":
        assert ElementTree.fromstring(content).get("width") == "216pt"  # three inches
    if kind == "pdf":
        assert content.startswith(b"%PDF-")
        assert b"STIX" in content


def test_an_animation_shows_the_motion_at_its_speed(motion, tmp_path):
    motion.save(tmp_path / "slow.gif", drawing=ROD, speed=2, size=(2, 1.5), dots=50)
    with Image.open(tmp_path / "slow.gif") as animation:
        assert (animation.n_frames, animation.info["duration"], animation.size) == (
            25,
            40,
            (100, 75),
        )  # 2 s at 2 s per second
    motion.save(tmp_path / "swing.mp4", drawing=ROD, speed=2, size=(2.02, 1.5), dots=50)
    told = subprocess.run([get_ffmpeg_exe(), "-i", tmp_path / "swing.mp4"], capture_output=True, text=True).stderr
    assert "Duration: 00:00:01.0" in told
    assert "yuv420p" in told
    assert "102x76" in told  # even numbers, which every player reads


def test_positions_are_drawn_where_the_mechanism_was(motion):
    bars = [line for line in mechanism_pictures.positions(motion, ROD).axes[0].lines if line.get_marker() == "o"]
    last = np.array([0.5 * np.sin(motion[theta][-1]), -0.5 * np.cos(motion[theta][-1])])
    assert np.allclose([bars[-1].get_xdata()[1], bars[-1].get_ydata()[1]], last)
    assert [bar.get_alpha() for bar in bars] == sorted(bar.get_alpha() for bar in bars)


def test_a_file_is_replaced_only_when_told_and_only_by_a_whole_one(motion, tmp_path, monkeypatch):
    place = tmp_path / "a.png"
    place.write_text("mine")
    with pytest.raises(vn.VinculumError, match="already exists"):
        motion.save(place)
    monkeypatch.setattr(figures, "rendered", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        motion.save(place, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]
    assert place.read_text() == "mine"


def test_a_motion_from_a_file_is_drawn_too(motion, tmp_path):
    motion.save(tmp_path / "run.nc")
    again = vn.read_trajectory(tmp_path / "run.nc")
    assert figures.curves(again, ["theta", "theta_dot"]).axes[1].get_ylabel() == r"$\dot{\theta}$"
    again.save(tmp_path / "run.png")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("a.jpeg", {}, "must end in .nc"),
        ("a.gif", {"drawing": None}, "There is nothing to draw"),
        ("a.gif", {"drawing": 3}, "drawing must be a model"),
        ("a.gif", {"drawing": ROD, "speed": 0}, "speed must be positive"),
        ("a.gif", {"drawing": ROD, "speed": 1e-9}, "more than 20000. Use a larger speed"),
        ("a.png", {"size": (3,)}, "size must be"),
        ("a.png", {"size": (-3, 2)}, "size must be"),
        ("a.png", {"dots": "many"}, "dots must be"),
        ("a.png", {"colour": "red"}, "motion.save has no option colour"),
        ("a.nc", {"size": (3, 2)}, "leave out size"),
    ],
)
def test_what_cannot_be_drawn_is_refused(motion, name, options, words, tmp_path):
    with pytest.raises(vn.VinculumError, match=words):
        motion.save(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_curves_do_not_fit_into_an_animation(motion, tmp_path):
    with pytest.raises(vn.VinculumError, match="shows the mechanism, not curves"):
        motion.save(tmp_path / "a.gif", theta)


@pytest.mark.parametrize("name", ["$", "a$b", r"\frac{", "a_b_c", "ωμέγα", "x^"])
def test_any_name_is_printed(name):
    figure = figures.curves(_named(name))
    assert paper.rendered(figure, "png", 50)


def _named(name):
    q = sp.Function(name)(sp.Symbol("t"))
    return vn.simulate(vn.System([q], q.diff() ** 2 / 2), {q: 1}, (0, 1))
