"""Every example runs, finds the numbers that are known exactly, keeps its constraints and its energy, and draws."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from browser import photograph

EXAMPLES = Path(__file__).parents[2] / "examples"
MECHANISMS = sorted(path.stem for path in EXAMPLES.glob("[a-z]*.py") if path.stem != "demo")

UNCONSTRAINED = ("arm_on_turntable", "planar_arms", "puma560", "puma_friction")  # no loops and no ball joints


@pytest.fixture(scope="module", params=MECHANISMS)
def example(request):
    return importlib.import_module(f"examples.{request.param}")


@pytest.fixture(scope="module")
def ran(example):
    return example.run()


def test_finds_the_exact_numbers(ran):
    _, numbers = ran
    assert numbers
    for quantity, (found, exact) in numbers.items():
        assert found == pytest.approx(exact, rel=1e-10, abs=1e-12), quantity


def test_finishes(ran):
    motion, _ = ran
    assert motion.outcome.kind == "finished"


def test_keeps_its_constraints(example, ran):
    motion, _ = ran
    assert bool(motion.largest_residuals) == (example.__name__.removeprefix("examples.") not in UNCONSTRAINED)
    assert max(motion.largest_residuals.values(), default=0.0) < 1e-12


def test_keeps_its_energy(ran):
    motion, _ = ran
    assert motion.energy_error < 1e-11


def test_draws_a_picture(example, ran, tmp_path, monkeypatch):
    path = tmp_path / "picture.png"
    monkeypatch.setattr(example, "run", lambda: ran)  # the run of the other tests
    example.picture(path)
    assert_drawn(path)


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    """(folder, what was printed) of the demonstration."""
    tmp_path = tmp_path_factory.mktemp("demonstration")
    path = tmp_path / "demo.png"
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "demo.py", path], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return tmp_path, done.stdout


def test_demonstration(demonstration):
    folder, printed = demonstration
    assert "four-bar linkage" in printed
    assert str(folder / "demo.png") in printed
    assert_drawn(folder / "demo.png")
    assert printed.count("unstable, with feedback asymptotically stable") == 2
    assert (folder / "demo.html").stat().st_size > 2e5


def test_the_report_of_the_demonstration_in_a_browser(demonstration, running):
    folder, _ = demonstration
    assert photograph(running, folder / "demo.html", folder / "demo_report.png").clean
    assert_drawn(folder / "demo_report.png")


def assert_drawn(path):
    """The picture is there, large enough, and neither blank nor nearly so."""
    from matplotlib.image import imread

    pixels = imread(path)[..., :3]
    assert min(pixels.shape[:2]) > 300
    drawn = pixels.min(axis=-1) < 0.99
    assert drawn.mean() > 0.01
    assert drawn.any(axis=0).mean() > 0.5, "less than half the width is used"
