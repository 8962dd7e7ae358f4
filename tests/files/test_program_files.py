"""Programs in model files and on the command line: rates as formulas, states of a dynamic extension, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import vinculum as vn
from vinculum.cli.app import app
from vinculum.model.examine import equations_of

UNICYCLE = """
name = "unicycle"
[parameters]
k = 2.0
[affine]
states = ["x", "y", "theta"]
inputs = ["v", "w"]
rates = { x = "v*cos(theta)", y = "v*sin(theta)", theta = "w" }
[constraints]
along_x = "x - cos(t)"
along_y = "y - sin(t)"
[form]
name = "program"
rates = "k"
[simulation]
times = [0, 10]
initial = { x = 0.8, y = 0.1, theta = 1.2, v = 0.9 }
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(text, line, code=0):
        (tmp_path / "model.toml").write_text(text)
        result = CliRunner().invoke(app, line.split(), catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.output

    return run


def test_a_file_names_the_added_states_and_keeps_its_gain():
    model = vn.model.loads(UNICYCLE)
    equations = equations_of(model)
    assert list(map(str, equations.added_states)) == ["v(t)"]
    assert sp.Symbol("k") in equations.controls[sp.Symbol("w")].free_symbols
    motion = vn.simulate(equations, **model.simulation)
    assert motion["v"][0] == 0.9
    np.testing.assert_allclose([motion["v"][-1], motion["w"][-1]], 1.0, rtol=0, atol=1e-6)


def test_the_command_line_shows_the_added_states(run):
    text = run(UNICYCLE, "derive model.toml")
    assert "added states  v" in text
    assert "dot(v)" in text
    assert "k^2" in text
    data = json.loads(run(UNICYCLE, "derive model.toml --json"))
    assert data["added_states"] == ["v"]
    assert data["states"] == ["x", "y", "theta", "v"]
    text = run(UNICYCLE, "simulate model.toml")
    assert "input v " in text
    assert "input v_dot" in text
    faster = run(UNICYCLE, "simulate model.toml --set k=4")
    assert faster != text


def test_a_derivative_of_an_input_is_a_state_too():
    car = UNICYCLE.replace('"theta"]', '"theta", "phi"]').replace('theta = "w" }', 'theta = "v*tan(phi)", phi = "w" }')
    model = vn.model.loads(car.replace("v = 0.9 }", 'phi = 0.7, v = 0.9, "dot(v)" = 0.05 }'))
    equations = equations_of(model)
    assert [vn.names.name_of(s) for s in equations.added_states] == ["v", "dot(v)"]
    motion = vn.simulate(equations, **model.simulation)
    assert motion["v_dot"][0] == 0.05
    np.testing.assert_allclose(motion["x"][-1], np.cos(10), rtol=0, atol=1e-5)


def test_a_state_that_does_not_exist_is_refused_where_it_is_used():
    wrong = UNICYCLE.replace("v = 0.9", "speed = 0.9")
    with pytest.raises(vn.model.ModelFileError, match="speed is not a state"):
        vn.model.loads(wrong)
    model = vn.model.loads(UNICYCLE.replace("v = 0.9", "w = 0.9"))
    with pytest.raises(vn.ModelError, match="w is not a coordinate or velocity"):
        vn.simulate(equations_of(model), **model.simulation)


def test_the_command_line_says_why_no_extension_exists(run):
    still = UNICYCLE.replace("cos(t)", "1").replace("sin(t)", "0")
    text = " ".join(run(still, "derive model.toml", code=3).split())
    assert "Integrators before the inputs do not help" in text
    assert "choose a path on which the inputs keep their effect" in text


def test_negative_rates_are_refused():
    with pytest.raises(vn.ModelError, match="the rate k is not a finite number of at least 0"):
        equations_of(vn.model.loads(UNICYCLE.replace("k = 2.0", "k = -2.0")))
