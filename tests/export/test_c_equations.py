"""Equations of motion in C: the numbers of Python, to rounding, and the steps of `simulate`."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from compilers import accepted, compiled, library, run
from vinculum.model.examine import equations_of

LIBRARY = Path(vn.__file__).parent / "model" / "library"
EXAMPLES = sorted(path.stem for path in LIBRARY.glob("*.toml"))
LARGE = ("overhead_crane", "stewart_platform", "walker")  # compiled without optimization


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_gives_the_numbers_of_python(name, tmp_path):
    model = vn.load(LIBRARY / f"{name}.toml")
    files = vn.export_c(equations_of(model), tmp_path / name, check=3, units=model.units)
    level = "-O0" if name in LARGE else "-Os"
    said = run(compiled(files, tmp_path / name, level, "-ffp-contract=off"))
    assert "comparisons" in said
    accepted(files, "clang")


@pytest.mark.parametrize("name", ["ball_and_beam", "four_bar", "wheel_in_gutter", "rolling_disc", "puma560"])
def test_sanitizers_find_nothing(name, tmp_path):
    model = vn.load(LIBRARY / f"{name}.toml")
    files = vn.export_c(equations_of(model), tmp_path / name, check=2)
    run(compiled(files, tmp_path / name, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_floats_are_as_good_as_floats_can_be(name, tmp_path):
    """Within the strict bound of the rounding of floats, which is small for two thirds of the numbers at least."""
    model = vn.load(LIBRARY / f"{name}.toml")
    files = vn.export_c(equations_of(model), tmp_path / name, check=3, real="float")
    said = run(compiled(files, tmp_path / name, "-O0", "-Wconversion", "-Wdouble-promotion"))
    compared, telling = map(int, re.findall(r"(\d+) (?:comparisons|within)", said))
    assert telling > compared * 2 / 3


def test_floats_need_no_doubles(tmp_path):
    model = vn.load(LIBRARY / "four_bar.toml")
    files = vn.export_c(equations_of(model), tmp_path / "four_bar", check=3, real="float", fold=True)
    assert "double" not in files[0].read_text() + files[1].read_text()
    run(compiled(files, tmp_path / "four_bar", "-Wconversion", "-Wdouble-promotion"))


@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("wrong", ["NAN", "INFINITY", "slightly"])
def test_the_test_program_finds_a_wrong_number(real, wrong, tmp_path):
    """One result that is not a number, infinite, or wrong by a thousandth, wherever it stands."""
    model = vn.load(LIBRARY / "four_bar.toml")
    header, source, check = vn.export_c(equations_of(model), tmp_path / "bar", check=2, real=real)
    text = source.read_text()
    stores = re.findall(r"    (dx|a|r)\[(\d)\] = (\w+);\n", text)
    factor = "1.001f" if real == "float" else "1.001"
    for target, place, value in stores[::3]:
        line = f"    {target}[{place}] = {value};\n"
        spoiled = line.replace(value + ";", f"{value} * {factor};" if wrong == "slightly" else f"({real}){wrong};")
        source.write_text(text.replace(line, spoiled, 1))
        program = compiled((header, source, check), tmp_path / "bar", "-Wno-unused-variable", "-O0")
        done = subprocess.run([str(program)], capture_output=True, text=True)
        assert done.returncode == 1, line
        assert "of what rounding allows" in done.stdout


# -- the functions, called from Python ---------------------------------------------------------------------------------


class Plant:
    """The functions of a library."""

    def __init__(self, code: ctypes.CDLL, name: str) -> None:
        self.code, self.name = code, name

    def __call__(self, function, *arguments):
        passed = [
            ctypes.c_double(a) if isinstance(a, float) else ctypes.c_void_p(None if a is None else a.ctypes.data)
            for a in arguments
        ]
        return getattr(self.code, f"{self.name}_{function}")(*passed)


def pendulum():
    x, y = dynamicsymbols("x y")
    m, g, l = sp.symbols("m g l")
    system = vn.System(
        coordinates=[x, y],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential_energy=m * g * y,
        constraints=[vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
        parameters={m: 1.3, g: 9.81, l: 1.0},
        name="pendulum",
    )
    return system, x, y


@pytest.mark.parametrize("stabilization", ["sampled", "projection", vn.Baumgarte(rate=5.0), "none"])
@pytest.mark.parametrize("method", ["rk4", "midpoint", "euler"])
def test_a_step_is_that_of_simulate(tmp_path, method, stabilization):
    system, x, y = pendulum()
    equations = vn.derive(system)
    start = {x: 0.6, y: -0.8, x.diff(): 0.4}
    files = vn.export_c(equations, tmp_path / "rod", initial=start, method=method, stabilization=stabilization)
    plant = Plant(library(files, tmp_path), "rod")
    state, p, h = np.zeros(4), np.zeros(3), 1e-3
    plant("parameters", p)
    plant("initial", state)
    for k in range(1000):
        assert plant("step", k * h, h, state, None, p) == 0
    motion = vn.simulate(equations, start, (0, 1), method, step=h, stabilization=stabilization)
    assert state == pytest.approx([motion[key][-1] for key in equations.states], rel=0, abs=2e-12)


def test_projection_is_the_least_change_onto_the_constraints(tmp_path):
    system, x, y = pendulum()
    files = vn.export_c(vn.derive(system), tmp_path / "rod", initial={x: 0.6, y: -0.8})
    plant = Plant(library(files, tmp_path), "rod")
    state, p, residuals = np.array([0.7, -0.9, 0.3, 0.1]), np.zeros(3), np.zeros(2)
    radial = state[:2] / np.linalg.norm(state[:2])
    plant("parameters", p)
    assert plant("project", 0.0, state, p) == 0
    plant("residuals", 0.0, state, p, residuals)
    assert np.abs(residuals).max() < 1e-15
    assert state[:2] == pytest.approx(radial, abs=2e-16)  # the nearest point of the circle
    assert state[2:] == pytest.approx(np.array([0.3, 0.1]) - radial * (radial @ [0.3, 0.1]), abs=1e-15)


@pytest.mark.parametrize("name", ["four_bar", "rolling_disc", "slider_crank", "snakeboard"])
def test_a_consistent_start_is_that_of_python(name, tmp_path):
    model = vn.load(LIBRARY / f"{name}.toml")
    equations = equations_of(model)
    asked = {key: model.simulation[key] for key in ("initial", "guess", "fixed") if key in model.simulation}
    files = vn.export_c(equations, tmp_path / name, **asked)
    plant = Plant(library(files, tmp_path), name)
    known = vn.consistent_state(equations, **asked)
    first = {**dict.fromkeys(known, 0.0), **(asked.get("guess") or {}), **asked["initial"]}
    s = np.array([float(first[key]) for key in known])
    held = np.array([key in asked.get("fixed", asked["initial"]) for key in known], dtype=np.intc)
    size = len(equations.states) + len(known)
    x, p = np.zeros(size), np.zeros(len(equations.parameters) + 1)
    plant("parameters", p)
    assert plant("start", 0.0, s, held, p, x) == 0
    assert s == pytest.approx(np.array(list(known.values())), abs=1e-12)


def test_a_start_that_cannot_be_reached_says_so(tmp_path):
    system, x, y = pendulum()
    files = vn.export_c(vn.derive(system), tmp_path / "rod", initial={x: 0.6, y: -0.8})
    plant = Plant(library(files, tmp_path), "rod")
    s, p = np.array([2.0, -0.8, 0.0, 0.0]), np.array([1.3, 9.81, 1.0])
    assert plant("start", 0.0, s, np.array([1, 0, 0, 0], dtype=np.intc), p, np.zeros(4)) == 3


def test_a_state_without_numbers_stays_where_it_was(tmp_path):
    system, x, y = pendulum()
    files = vn.export_c(vn.derive(system), tmp_path / "rod", initial={x: 0.6, y: -0.8})
    plant = Plant(library(files, tmp_path), "rod")
    state, p = np.array([0.6, -0.8, np.inf, 0.0]), np.array([1.3, 9.81, 1.0])
    assert plant("step", 0.0, 1e-3, state, None, p) == 1
    assert np.array_equal(state, [0.6, -0.8, np.inf, 0.0])
    zero = np.zeros(4)  # at the pivot the constraint has no direction
    assert plant("step", 0.0, 1e-3, zero, None, p) in (1, 2)
    assert not zero.any()


# -- the text ----------------------------------------------------------------------------------------------------------

CODE = """
import hashlib, sys, vinculum as vn
from pathlib import Path
from vinculum.model.examine import equations_of
library = Path(vn.__file__).parent / "model" / "library"
for name in sys.argv[3:]:
    model = vn.load(library / f"{name}.toml")
    equations = equations_of(model)
    if sys.argv[2] == "used":
        vn.simulate(equations, **{**model.simulation, "times": (0, 0.01)})
        equations.operations()
    files = vn.export_c(equations, Path(sys.argv[1]) / name)
    print(name, *(hashlib.sha256(f.read_bytes()).hexdigest() for f in files))
"""


def test_the_same_model_gives_the_same_bytes(tmp_path):
    """In every process and folder, with every seed of hashes, and whatever was done with the equations before."""

    def digests(seed, state):
        names = ["four_bar", "rolling_disc", "wheel_with_reactions"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        folder = tmp_path / state
        folder.mkdir()
        command = [sys.executable, "-c", CODE, str(folder), state, *names]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert digests("1", "new") == digests("2", "used")


def test_names_of_the_user_are_in_the_comments(tmp_path):
    theta = dynamicsymbols("theta*/")  # a name that would end a comment
    J = sp.Symbol("J")
    u = sp.Symbol("u")
    system = vn.System([theta], J * theta.diff() ** 2 / 2, forces={theta: u}, inputs=[u], parameters={J: 2.0})
    files = vn.export_c(vn.derive(system), tmp_path / "2 for you.c", units={J: "kg*m^2"}, check=1)
    assert [path.name for path in files] == ["m_2_for_you.h", "m_2_for_you.c", "m_2_for_you_check.c"]
    assert "p[0] J [kg*m^2]" in files[0].read_text()
    assert "u[0] u" in files[0].read_text()
    run(compiled(files, tmp_path / "program"))


@pytest.mark.parametrize("real", ["double", "float"])
def test_every_name_and_every_operation_compiles(real, tmp_path):
    """Words of C, Greek, names that end a comment or a line; corners, splines, signals, constraints of both kinds."""
    t = dynamicsymbols._t
    q = [dynamicsymbols(name) for name in ("double", "int", "lambda", "x_1", "x1", "I", "_", "θ")]
    p = [sp.Symbol(name) for name in ("y" * 300, "x*/", "main", "a\nb", "c\\", "M_PI", "NULL", "x[0]", "v0", "piece")]
    u, v = sp.symbols("u return")
    force = sp.Piecewise(
        (sp.Abs(q[3]), q[4] > 0.1),
        (sp.Max(q[5], q[6], 0.2), sp.And(q[1] < 0, q[2] >= 0)),
        (sp.Min(q[0], 0.3) * sp.sign(q[7].diff()), True),
    )
    curves = vn.spline(t, [0, 0.5, 1, 2], [0, 1, 0.3, 0.1], degree=3) + vn.signal([0, 1, 2], [0, 1, 0], beyond="hold")
    system = vn.System(
        q,
        sum((1 + i / 10) * a.diff() ** 2 for i, a in enumerate(q)) / 2 + q[0].diff() * q[1].diff() * sp.cos(q[2]) / 5,
        sum(b * a**2 for a, b in zip(q, p, strict=False)) + p[8] * p[9] * q[0] ** 2,
        forces={q[0]: force + u, q[1]: curves, q[2]: v},
        inputs=[u, v],
        constraints=[vn.Holonomic(q[0] ** 2 + q[1] - 0.3, name="*/ rod"),
                     vn.Nonholonomic(q[3].diff() - sp.sin(q[4]) * q[5].diff(), name="int")],
        parameters={key: 1 + i / 10 for i, key in enumerate(p)},
        name='a "name" */ \\ \n',
    )  # fmt: skip
    start = {key: (i + 1) / 10 for i, key in enumerate(q) if i != 1}
    files = vn.export_c(system, tmp_path / "int.c", initial=start, real=real, check=3, units={q[0]: "m*/"})
    assert files[0].name == "int_.h"
    accepted(files, "clang")
    sanitized = ("-g", "-Wconversion", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    assert "comparisons" in run(compiled(files, tmp_path / "checked", *sanitized))


def test_unusable_requests_are_refused(tmp_path):
    system, *_ = pendulum()
    equations = vn.derive(system)
    with pytest.raises(vn.VinculumError, match='Use real="double" or real="float"'):
        vn.export_c(equations, tmp_path / "a", real="int")
    with pytest.raises(vn.VinculumError, match="Runge-Kutta"):
        vn.export_c(equations, tmp_path / "a", method="taylor")
    with pytest.raises(vn.VinculumError, match=r"vn\.Baumgarte\(rate"):
        vn.export_c(equations, tmp_path / "a", stabilization="baumgarte")
    with pytest.raises(vn.VinculumError, match="Guaranteed"):
        vn.export_c(equations, tmp_path / "a", stabilization=vn.Guaranteed(1e-6))
    with pytest.raises(vn.VinculumError, match="cannot be exported to C"):
        vn.export_c(3.0, tmp_path / "a")
    with pytest.raises(vn.VinculumError, match=r"no option methd\. Did you mean method"):
        vn.export_c(equations, tmp_path / "a", methd="rk4")
    assert not list(tmp_path.iterdir())
