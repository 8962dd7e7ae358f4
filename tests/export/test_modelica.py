"""Modelica: a reader of a few lines finds the rates of Python in the text, and a compiler of Modelica the motion."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from export.test_fmu import pendulum
from vinculum.export import export_modelica, export_python
from vinculum.export.modelica_code import WORDS, unit
from vinculum.model.examine import equations_of

LIBRARY = Path(vn.__file__).parent / "model" / "library"
EXAMPLES = sorted(path.stem for path in LIBRARY.glob("*.toml"))
NUMPY = {
    name: getattr(np, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sign")
}
NUMPY |= {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "abs": np.abs}
x = dynamicsymbols("x")


class Read:
    """A flat model: its declarations, and its equations as Python."""

    def __init__(self, text: str) -> None:
        declarations, _, equations = text.partition("\nequation\n")
        found = re.findall(r"^  (\w* ?)Real (\w+)(?:\((.*?)\))?(?: = ([^\s;]+))?(?: \"(.*)\")?;$", declarations, re.M)
        self.parameters = {name: float(value) for kind, name, _, value, _ in found if kind == "parameter "}
        self.inputs = [name for kind, name, *_ in found if kind == "input "]
        self.names = [name for _, name, *_ in found]
        self.rules = re.findall(r"^  (\S+) = (.*);$", equations, re.M)
        start = {name: float(s[1]) for _, name, own, *_ in found if (s := re.search(r"start = (\S+), fix", own))}
        self.start = {state: start[state] for state in re.findall(r"^  der\((\w+)\) = ", equations, re.M)}

    def __call__(self, **values):
        """All variables, and the rates as der(name)."""
        known = {**self.parameters, **values}
        for name, right in self.rules:
            known[name] = eval(_python(right), NUMPY | {"if_": lambda c, a, b: a if c else b}, known)
        return known


def _python(right: str) -> str:
    """An expression of Modelica in Python."""
    right = f"({right})".replace("(if ", "if_(").replace(" then ", ", ").replace(" else ", ", ")
    return right.replace("^", "**")


def asked(model):
    return {key: model.simulation[key] for key in ("initial", "guess", "fixed") if key in (model.simulation or {})}


def imported(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_the_rates_of_python(name, tmp_path):
    model = vn.load(LIBRARY / f"{name}.toml")
    equations = equations_of(model)
    text = export_modelica(equations, tmp_path / name, units=model.units, **asked(model)).read_text()
    read, code = Read(text), imported(export_python(equations, tmp_path / name, **asked(model)))
    assert list(read.start.values()) == list(code.initial())  # states in the order of the code
    assert list(read.parameters.values()) == list(code.parameters())
    assert len(set(read.names)) == len(read.names)
    assert not set(read.names) & WORDS
    random = np.random.default_rng(3)
    for _ in range(3):
        t, u = random.uniform(0, 0.1), random.normal(size=len(read.inputs))
        state = code.initial() + 0.01 * random.normal(size=len(read.start))
        found = read(time=t, **dict(zip(read.start, state, strict=True)), **dict(zip(read.inputs, u, strict=True)))
        wanted = code.motion(t, state, u, code.parameters())
        scale = np.abs(wanted).max()
        assert [found[f"der({key})"] for key in read.start] == pytest.approx(wanted, rel=1e-13, abs=1e-13 * scale)
        left = code.residuals(t, state, code.parameters())
        assert [found[key] for key in read.names if key.startswith("residual_of")] == pytest.approx(left, abs=1e-14)


def rod(folder, **options):
    equations, x, y = pendulum()
    m, g, l = equations.parameters
    own = {"units": {m: "kg", g: "m/s^2", l: "m", x: "m", y: "m"}, "meanings": {x: 'to the "right"', m: "mass"}}
    return export_modelica(equations, folder / "rod", initial={x: 0.6}, guess={y: -0.8}, **own, **options)


def test_units_meanings_and_starts_are_declared(tmp_path):
    text = rod(tmp_path).read_text()
    assert '  parameter Real m(unit = "kg") = 1.3 "mass";\n' in text
    assert '  output Real x(unit = "m", start = 0.6, fixed = true) "to the \\"right\\"";\n' in text
    assert '  output Real y(unit = "m", start = -0.8, fixed = true);\n' in text  # consistent with x
    assert '  output Real x_ddot(unit = "m/s2");\n' in text
    assert "projected" not in text
    assert "drift" in text
    assert "drift" not in rod(tmp_path, stabilization=vn.Baumgarte(rate=5.0), overwrite=True).read_text()


def test_units_are_in_the_notation_of_modelica():
    assert unit("kg*m^2/s^2") == "kg.m2/s2"
    assert unit("N/m/s") == "N/(m.s)"
    assert unit("1/s^2") == "1/s2"
    assert unit("1") == "1"
    assert unit("") == unit("(kg)*m") == unit("m^0.5") == ""


def test_every_name_becomes_one_of_modelica(tmp_path):
    """Words of the language, Greek letters, and names that differ in what Modelica does not have."""
    names = ["der", "time", "θ", "theta", "v0", "v_1", "λ", "x^2", "x_2", "end", "μ_1", "1", "x_dot", "rod'"]
    symbols = [sp.Symbol(name) for name in names]
    force = sum((k + 1) * s for k, s in enumerate(symbols)) * x
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: -force}, parameters=dict.fromkeys(symbols, 0.5), name="end")
    path = export_modelica(system, tmp_path / "model.mo")
    assert path.name == "model_.mo"
    read = Read(path.read_text())
    assert len(set(read.names)) == len(read.names)
    assert not set(read.names) & WORDS
    assert all(re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) for name in read.names)
    assert {"theta", "theta_2", "lamda", "mu_1"} <= set(read.names)
    values = dict(zip(read.parameters, np.arange(len(names)) + 2.0, strict=True))
    rates = read(time=0.0, **values, **dict.fromkeys(read.start, 0.1))
    assert rates[f"der({list(read.start)[1]})"] == pytest.approx(-0.1 * sum((k + 1) * (k + 2) for k in range(14)))


def test_corners_are_conditions_of_modelica(tmp_path):
    f = sp.Piecewise(
        (sp.Abs(x) * 2, sp.And(x > 0.1, x.diff() <= 0.3)),
        (sp.Max(x, -0.2) + sp.sign(x), sp.Or(x < 0, x > 5)),
        (sp.Heaviside(x - 0.05, 0) + sp.asinh(x), True),
    )
    path = export_modelica(vn.System([x], x.diff() ** 2 / 2, forces={x: f}), tmp_path / "corners")
    read, force = Read(path.read_text()), sp.lambdify((x, x.diff()), f, "numpy")
    for place in (-0.5, -0.1, 0.02, 0.07, 0.3, 6.0):
        for speed in (-0.3, 0.4):
            found = read(time=0.0, **dict(zip(read.start, (place, speed), strict=True)))
            assert found["der(x_dot)"] == pytest.approx(float(force(place, speed)), abs=1e-15)


def test_unusable_requests_are_refused(tmp_path):
    with pytest.raises(vn.VinculumError, match="cannot be exported to Modelica"):
        export_modelica(3.0, tmp_path / "a")
    with pytest.raises(vn.VinculumError, match="no option methd"):
        rod(tmp_path, methd="rk4")
    assert not list(tmp_path.iterdir())


# -- by a compiler of Modelica -----------------------------------------------------------------------------------------


def simulated(path, until, inputs=0.0):
    """The motion that Rumoca computes. It takes no inputs yet, so they become parameters."""
    rumoca = __import__("rumoca") if os.environ.get("CI") else pytest.importorskip("rumoca")
    text = re.sub(r"input Real (\w+)\(.*?\)", rf"parameter Real \1 = {inputs}", path.read_text())
    model = rumoca.Session().loads(text, model=path.stem, filename=path.name)
    structure = model.structure()
    assert structure.is_balanced
    assert structure.is_matched
    assert structure.n_algebraic_loops == 0
    return model.simulate(t=(0, until), dt=until / 10, config=rumoca.SimConfig(rtol=1e-9, atol=1e-11))


@pytest.mark.parametrize(
    "name", ["ball_and_beam", "four_bar", "wheel_in_gutter", "puma560", "rolling_disc", "snakeboard"]
)
def test_a_compiler_finds_the_motion_of_simulate(name, tmp_path):
    model = vn.load(LIBRARY / f"{name}.toml")
    equations = equations_of(model)
    found = simulated(export_modelica(equations, tmp_path / name, units=model.units, **asked(model)), 0.1)
    own = dict.fromkeys(equations.inputs, 0)
    motion = vn.simulate(equations, times=np.linspace(0, 0.1, 11), inputs=own, stabilization="none", **asked(model))
    for key in equations.states:
        values = np.array(found[vn.names.variable_name(key)])
        assert values == pytest.approx(motion[key], rel=2e-7, abs=2e-7)


def test_a_compiler_ends_at_a_terminal_event(tmp_path):
    equations, x, y = pendulum()
    event = vn.Event(x, name="bottom", direction="falling", terminal=True)
    motion = vn.simulate(equations, {x: 0.6}, (0, 5), guess={y: -0.8}, events=[event])
    found = simulated(rod(tmp_path, events=[event]), 5.0)
    assert found.time[-1] == pytest.approx(motion.outcome.time, abs=1e-5)
    assert np.abs(found["residual_of_rod_position"]).max() < 1e-7
