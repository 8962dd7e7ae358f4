"""[digital] in model files: the law on a processor is the one of Python, shown, saved and exported."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import vinculum as vn
from compilers import library
from vinculum.cli.app import app
from vinculum.model import ModelFileError, loads
from vinculum.model.examine import digital_loop_of, equations_of, estimator_of, law_of, linear_of, rest_of
from vinculum.names import TIME, function_of_time
from vinculum.present.report import write_report
from vinculum.present.report.digital import stairs

CART = """
name = "cart"
[parameters]
M = "1 kg"
m = "0.2 kg"
l = "0.5 m"
g = "9.81 m/s^2"
c = "0.3 N*s/m"
[system]
coordinates = { x = "m", theta = "rad" }
inputs = { u = "N" }
kinetic_energy = "M*dot(x)^2/2 + m*((dot(x) + l*dot(theta)*cos(theta))^2 + (l*dot(theta)*sin(theta))^2)/2"
potential_energy = "m*g*l*cos(theta)"
forces = { x = "u" }
[simulation]
times = [0, 1]
initial = { theta = 0.1 }
inputs = { u = "-5*c*dot(x)" }
[equilibrium]
given = { x = 0, theta = 0 }
[control]
state_weights = 10
input_weights = 0.1
[observer]
outputs = ["x", "theta"]
state_noise = 1
output_noise = 1e-4
[closed_loop]
times = [0, 10]
initial = { x = 0, theta = 0.1, "dot(x)" = 0, "dot(theta)" = 0 }
"""
BOARD = """
[digital]
period = "20 ms"
delay = "7 ms"
limits = { u = "6 N" }
rates = { u = "400 N/s" }
resolution = { x = "0.1 mm", u = "0.01 N" }
noise = { theta = "0.0005 deg" }
disturbances = { u = "0.001 N" }
seed = 4
[digital.plant]
parameters = { m = "0.25 kg" }
forces = { x = "-c*dot(x)" }
kinetic_energy = "0.1*M*dot(x)^2/2"
"""
x, theta = function_of_time("x"), function_of_time("theta")
M, m, l, g, c, u = sp.symbols("M m l g c u")
_POINTER = ctypes.POINTER(ctypes.c_double)


def plant(M_, m_):
    """The plant of the file, stated by hand."""
    speed = sp.Matrix([x.diff(TIME) + l * theta.diff(TIME) * sp.cos(theta), l * theta.diff(TIME) * sp.sin(theta)])
    return vn.derive(vn.System(
        [x, theta], M * x.diff(TIME) ** 2 / 2 + m * speed.dot(speed) / 2, m * g * l * sp.cos(theta),
        forces={x: u - c * x.diff(TIME)}, inputs=[u], parameters={M: M_, m: m_, l: 0.5, g: 9.81, c: 0.3}))  # fmt: skip


def loop(model):
    equations = equations_of(model)
    rest = rest_of(model, equations)
    linear = linear_of(model, equations, rest)
    law, estimator = law_of(model, linear), estimator_of(model, linear)
    return digital_loop_of(model, equations, law, estimator, rest), law, estimator


def test_the_run_is_that_of_python_on_the_other_plant():
    smooth = BOARD.replace('resolution = { x = "0.1 mm", u = "0.01 N" }\n', "")  # a rounding may turn one number
    found, law, estimator = loop(loads(CART + smooth))
    board = vn.Digital(
        law, 0.02, delay=0.007, estimator=estimator, limits={u: 6}, rates={u: 400},
        noise={theta: np.radians(0.0005)}, disturbances={u: 0.001}, seed=4,
    )  # fmt: skip
    start = {x: 0, theta: 0.1, x.diff(TIME): 0, theta.diff(TIME): 0}
    wanted = vn.simulate(plant(1.1, 0.25), start, found.motion.t, inputs=board)
    assert found.motion[theta] == pytest.approx(wanted[theta], abs=1e-10)
    assert np.ptp(found.motion[u] - wanted[u]) < 1e-12
    assert found.settling
    assert found.margins[u].gain == pytest.approx(board.margins()[u].gain)


def test_every_command_is_among_the_samples():
    found, *_ = loop(loads(CART + '[digital]\nperiod = "20 ms"\ndelay = "7 ms"\nlimits = { u = 5 }'))
    changed = found.motion.t[1:][np.diff(found.motion[u]) != 0]
    assert (changed - 0.007) / 0.02 == pytest.approx(np.round((changed - 0.007) / 0.02), abs=1e-9)
    assert np.abs(found.motion[u]).max() == 5
    assert found.settling.limited["u"] == pytest.approx(0.02 * round(found.settling.limited["u"] / 0.02), abs=1e-9)
    t, values = stairs(found.motion.t, found.motion[u])
    assert np.all((np.diff(t) == 0) | (np.diff(values) == 0))  # level or upright
    assert np.interp(0.05 + 0.00699, t, values) == found.motion[u][np.searchsorted(found.motion.t, 0.05)]


def test_a_slow_period_is_told_and_has_no_margins():
    found, *_ = loop(loads(CART + '[digital]\nperiod = "0.25 s"\n'))
    assert "outside the unit circle" in found.warnings[0]
    assert "not stable" in found.without_margins
    assert found.motion.events[0].name == "far from the equilibrium"  # it ends there instead of running forever
    assert not found.settling
    assert any("warns" in words for words in found.failures)


def test_a_design_at_the_samples_stands_the_same_period():
    model = loads(CART + '[digital]\nperiod = "0.1 s"\ndelay = "0.05 s"\ndesign = "sampled"\n')
    found, *_ = loop(model)
    assert not found.warnings
    assert found.settling
    assert found.margins[u].gain > 1


def test_the_laws_of_a_motion_act_at_samples():
    model = loads(CART + '[digital]\nmotion = "simulation"\nperiod = "0.1 s"\nresolution = { u = 0.1 }\n')
    found = vn.examine(model).digital
    wanted = vn.simulate(
        equations_of(model), {theta: 0.1}, found.motion.t,
        inputs=vn.Digital({u: -5 * c * x.diff(TIME)}, 0.1, resolution={u: 0.1}),
    )  # fmt: skip
    assert found.motion[x] == pytest.approx(wanted[x], abs=1e-12)
    assert found.motion[u] / 0.1 == pytest.approx(np.round(found.motion[u] / 0.1), abs=1e-9)


def test_a_computed_torque_of_a_robot_acts_at_samples():
    text = (Path(vn.__file__).parent / "model" / "library" / "puma560.toml").read_text()
    results = vn.examine(loads(text + '\n[digital]\nperiod = "1 ms"\n'))
    assert results.digital is not None
    assert not results.failures
    sampled, motion = results.digital.motion, results.motion
    for q in results.model.system.coordinates:
        assert np.abs(sampled[q] - np.interp(sampled.t, motion.t, motion[q])).max() < 0.02


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('period = "20 ms"', "", "period is missing"),
        ('period = "20 ms"', 'period = "0 s"', "must be positive"),
        ('period = "20 ms"', 'period = "20 N"', "the unit is"),
        ('delay = "7 ms"', "delay = -1", "at least 0"),
        ('limits = { u = "6 N" }', "limits = { v = 6 }", "v is not an input"),
        ('limits = { u = "6 N" }', "limits = { u = 0 }", "limits of u is 0; it must be positive"),
        ('rates = { u = "400 N/s" }', 'rates = { u = "400 N" }', "is needed"),
        ('noise = { theta = "0.0005 deg" }', "noise = { u = 1 }", "u is not a measured quantity"),
        ("seed = 4", "seed = 1.5", "whole number"),
        ("seed = 4", 'loads = { u = "M*g" }', "has a load and a disturbance"),
        ("seed = 4", 'design = "sampling"', "is not one of continuous, sampled"),
        ("seed = 4", 'motion = "simulation"', "Leave noise out"),
        ('parameters = { m = "0.25 kg" }', "parameters = { q = 1 }", "q is not a parameter"),
        ('forces = { x = "-c*dot(x)" }', 'forces = { x = "-c*x" }', "its dimension is"),
        ('kinetic_energy = "0.1', 'kinetic_energi = "0.1', "kinetic_energi is not a key"),
    ],
)
def test_wrong_entries_are_refused_where_they_stand(old, new, said):
    with pytest.raises(ModelFileError, match="digital") as caught:
        loads((CART + BOARD).replace(old, new))
    assert said in str(caught.value)


def test_the_sections_it_needs_are_named():
    alone = CART[: CART.index("[equilibrium]")] + '[digital]\nperiod = 0.01\nmotion = "closed_loop"\n'
    with pytest.raises(ModelFileError, match=r"needs \[control\]"):
        loads(alone)
    poles = CART.replace("state_weights = 10\ninput_weights = 0.1", "poles = [-1, -2, -3, -4]")
    with pytest.raises(ModelFileError, match=r'poles was found\. Use design = "continuous"'):
        loads(poles + '[digital]\nperiod = 0.01\ndesign = "sampled"\n')


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(CART + BOARD)
    return path


def test_the_command_line_shows_and_saves_it(file, tmp_path):
    shown = CliRunner().invoke(app, ["stabilize", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "sample period" in shown.output
    assert "margins of the sampled loop" in shown.output
    data = json.loads(CliRunner().invoke(app, ["stabilize", str(file), "--json"]).output)
    assert data["digital"]["period"] == 0.02
    assert data["digital"]["arrival"]["came_to_the_equilibrium"]
    target = tmp_path / "board.csv"
    done = CliRunner().invoke(app, ["stabilize", str(file), "--digital", "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert "held_u" in target.read_text().splitlines()[0]
    refused = CliRunner().invoke(app, ["simulate", str(file), "--digital", "-o", str(tmp_path / "motion.csv")])
    assert refused.exit_code == 2
    assert 'motion = "simulation"' in refused.output


def test_a_slow_period_fails_the_command(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text(CART + '[digital]\nperiod = "0.25 s"\n')
    done = CliRunner().invoke(app, ["stabilize", str(path)])
    assert done.exit_code == 1
    assert "outside the unit circle" in " ".join(done.output.split())


@pytest.mark.parametrize("design", ["continuous", "sampled"])
def test_the_exported_controller_is_the_simulated_one(design, tmp_path):
    """The C of the file, closed around the plant step by step, sends the commands of the digital motion."""
    path = tmp_path / "cart.toml"
    path.write_text(CART + f'[digital]\nperiod = "20 ms"\nlimits = {{ u = 1.5 }}\ndesign = "{design}"\n')
    done = CliRunner().invoke(
        app, ["export", str(path), "--to", "c", "--what", "controller", "-o", str(tmp_path / "board.c")]
    )
    assert done.exit_code == 0, done.output
    assert "sample period 0.02 s" in (tmp_path / "board.h").read_text()
    code = library([tmp_path / "board.h", tmp_path / "board.c"], tmp_path)
    found, *_ = loop(loads(path.read_text()))
    memory, sent = np.zeros(16), np.zeros(1)
    code.board_init(memory.ctypes.data_as(_POINTER))
    for k in range(150):
        at = np.searchsorted(found.motion.t, 0.02 * k - 1e-9)
        y = np.array([found.motion[x][at], found.motion[theta][at]])
        code.board_step(*(array.ctypes.data_as(_POINTER) for array in (memory, y, sent)))
        assert sent[0] == pytest.approx(found.motion[u][at], abs=1e-9)


def test_the_report_shows_stairs_warnings_and_margins(file, tmp_path):
    written = write_report(vn.load(file), tmp_path / "cart.html")
    page = written.path.read_text()
    assert "At samples" in page
    assert "The loop of the exact discrete model" in page
    assert "digital-1 u" in page
    slow = loads(CART + '[digital]\nperiod = "0.25 s"\n')
    page = write_report(slow, tmp_path / "slow.html").path.read_text()
    assert "outside the unit circle" in page
