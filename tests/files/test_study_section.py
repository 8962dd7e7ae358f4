"""[study]: every key arrives as an argument of ``study``; what is wrong is refused at its line."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from files.twins import loaded
from vinculum.model import ModelFileError, load, loads
from vinculum.model.examine import equations_of, study_of
from vinculum.model.schema import layout
from vinculum.model.sections.simulation_sections import MOTION_READERS
from vinculum.names import gain_symbol
from vinculum.vary import Normal, Uniform

BASE = """
parameters = { m = "2 kg", g = "9.81 m/s^2", l = "50 cm" }
[system]
coordinates = { theta = "rad" }
inputs = { u = "N*m" }
kinetic_energy = "m*l^2*dot(theta)^2/2"
potential_energy = "m*g*l*cos(theta)"
forces = { theta = "u" }
[simulation]
times = [0, 1]
initial = { theta = 0.1 }
inputs = { u = 0 }
events = [{ expression = "theta - 3", terminal = true }, { expression = "theta - 1" }]
[equilibrium]
given = { theta = 0 }
[control]
state_weights = 1
[closed_loop]
initial = { theta = "10 deg" }
times = [0, 8]
"""
theta = dynamicsymbols("theta")
m, l, u = sp.symbols("m l u")


def study(lines: str) -> vn.model.Model:
    return loads(f"{BASE}\n[study]\n{lines}")


def planned(lines: str):
    model = study(lines)
    return study_of(model, equations_of(model))


def problem(lines: str) -> str:
    with pytest.raises(ModelFileError) as caught:
        study(lines)
    return str(caught.value)


def test_what_varies():
    found = study(
        'over = { theta = ["10 deg", 0.2], "dot(theta)" = { normal = [0, 0.1] }, m = { uniform = ["1 kg", 3] },'
        ' l = { from = "40 cm", to = 0.6, count = 3 }, u = [0, 1] }\nsamples = 5'
    ).study["over"]
    assert found[theta] == pytest.approx([np.pi / 18, 0.2])
    assert found[theta.diff()] == Normal(0, 0.1)
    assert found[m] == Uniform(1, 3)
    np.testing.assert_allclose(found[l], [0.4, 0.5, 0.6])
    assert found[u] == [0.0, 1.0]


def test_the_runs_are_those_of_the_motion():
    found = planned('over = { theta = [0.1, 0.2], u = [0, 1.5] }\nmeasure.top = { maximum = "theta" }')
    assert found.runs == 4
    assert [event.terminal for event in found.ensemble.until] == [True], "only terminal events end runs"
    runs, event = found.run(), found.ensemble.until[0]
    for start in (0.1, 0.2):
        motion = vn.simulate(found.ensemble.starts.equations, {theta: start}, (0, 1), inputs={u: 1.5}, events=event)
        run = runs.sel(initial_theta=start, u=1.5)
        assert float(run.top) == pytest.approx(motion[theta].max(), rel=1e-9)
        assert float(run.end_time) == pytest.approx(motion.t[-1], rel=1e-9)
    assert float(runs.top.max()) == pytest.approx(3, rel=1e-12), "the end of a run counts"


def test_gains_of_the_closed_loop():
    lines = 'motion = "closed_loop"\nover = { K_u_theta = [-30, -60], theta = [0.1, 0.2] }\nkeep = "end"'
    found = planned(lines).run()
    assert dict(found.sizes) == {"K_u_theta": 2, "initial_theta": 2}
    assert (abs(found.theta) < 0.1).all()
    model = study(lines)
    law = vn.examine(model).point.law
    loop = vn.close_loop(equations_of(model), law, symbolic_gains=True)
    alone = vn.simulate(loop, {theta: 0.2}, (0, 8), parameters={gain_symbol(u, theta): -60})
    assert float(found.theta.sel(K_u_theta=-60, initial_theta=0.2)) == pytest.approx(alone[theta][-1], abs=1e-12)
    assert "Did you mean K_u_theta" in problem('motion = "closed_loop"\nover = { K_u_theat = [1] }')


def test_a_table(tmp_path):
    (tmp_path / "runs.csv").write_text("theta,dot(theta),m\n0.1,0,1\n0.2,0.5,2\n", encoding="utf-8")
    (tmp_path / "model.toml").write_text(f'{BASE}\n[study]\ntable = "runs.csv"\n', encoding="utf-8")
    model = load(tmp_path / "model.toml")
    runs = study_of(model, equations_of(model)).run()
    assert dict(runs.sizes) == {"run": 2}
    np.testing.assert_array_equal(runs.m, [1, 2])
    for text, words in (
        ("theta,q\n1,2\n", "q is not a coordinate"),
        ("theta,m\n1\n", "has 1 entries, its header 2"),
        ("theta\nx\n", "could not convert"),
        ("theta\ninf\n", "not a finite number"),
    ):
        (tmp_path / "runs.csv").write_text(text, encoding="utf-8")
        with pytest.raises(ModelFileError, match=words):
            load(tmp_path / "model.toml")
    (tmp_path / "model.toml").write_text(f'{BASE}\n[study]\ntable = "../runs.csv"\n', encoding="utf-8")
    with pytest.raises(ModelFileError, match="in the folder of the model file"):
        load(tmp_path / "model.toml")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("samples = 4", "nothing varies"),
        ("over = { q = [1] }", "q is not a coordinate, velocity, parameter, input or gain"),
        ('over = { l = ["1 kg"] }', "the unit is kg, but m is needed"),
        ("over = { l = { uniform = [2, 1] } }\nsamples = 3", "the smaller one first"),
        ("over = { l = { uniform = [1, 2] } }", "Write samples = 1000"),
        ("over = { l = [1] }\nsamples = 3", "Leave samples out"),
        ("over = { l = { from = 1, to = 2 } }", "count = 11"),
        ("over = { l = { from = 1, to = 2, count = 3, normal = [1, 2] } }", "count = 11"),
        ('over = { l = [1] }\ntable = "x.csv"', "rows of the table"),
        ('over = { l = [1] }\nmeasure.a = { maximum = "theta", final = "theta" }', "write one of maximum"),
        ('over = { l = [1] }\nmeasure.a = { maximum = "theta", band = 1 }', "maximum has no band"),
        ('over = { l = [1] }\nmeasure.a = { settling_time = "theta" }', "settling_time needs a band"),
        ('over = { l = [1] }\nmeasure.a = { settling_time = "theta", band = "1 kg" }', "the unit is kg"),
        ('over = { l = [1] }\nmeasure.a = { maximum = "q" }', "q is not known"),
        ('over = { l = [1] }\nmethod = "rk4"', "needs a fixed step"),
        ('over = { l = [1] }\nmotion = "open"', "not one of simulation, closed_loop"),
    ],
)
def test_refusals_say_what_to_write(lines, words):
    assert words in problem(lines)


@pytest.mark.parametrize(
    ("values", "place", "units"),
    [
        ('["50 kg", "1 m"]', "over.x[2]", ("m", "kg")),
        ('[1, "1 m", "w"]', "over.x[3]", ("s⁻¹", "m")),
        ('{ from = "1 m", to = "2 kg", count = 3 }', "over.x.to", ("kg", "m")),
        ('{ uniform = ["1 m", "2 kg"] }', "over.x.uniform[2]", ("kg", "m")),
    ],
)
def test_values_without_declared_unit_have_one_dimension(values, place, units):
    text = """
    parameters = { k = 2, w = "3 rad/s" }
    system = { coordinates = ["x"], kinetic_energy = "dot(x)^2/2", potential_energy = "k*x^2/2" }
    simulation = { initial = { x = "1 m" }, times = [0, 1] }
    """
    assert loads(f'{text}study.over.x = ["50 cm", 2, "1 m"]').study["over"] == {dynamicsymbols("x"): [0.5, 2, 1]}
    with pytest.raises(ModelFileError) as caught:
        loads(f"{text}study = {{ samples = 2, over = {{ x = {values} }} }}")
    found, before = units
    assert f"study.{place}: its dimension is {found}, but a value before it is in {before}" in str(caught.value)
    assert f"Write all values in {before}, or all in {found}." in str(caught.value)


def test_a_closed_loop_needs_its_sections():
    text = BASE.split("[equilibrium]")[0]
    with pytest.raises(ModelFileError, match=r"needs \[equilibrium\]") as caught:
        loads(f'{text}\n[study]\nmotion = "closed_loop"\nover = {{ l = [1] }}')
    assert "[control]" in str(caught.value)


def test_every_key_has_a_reader():
    own = {"motion", "over", "table", "samples", "sampling", "seed", "measure", "keep", "until", "store", "chunk"}
    assert set(layout.STUDY.keys) <= {*MOTION_READERS, *own}


def test_the_example_settles():
    model = loaded("ball_and_beam")
    runs = study_of(model, equations_of(model), samples=8).run()
    assert (runs.settling < 1.5).all()
