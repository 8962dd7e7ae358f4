"""Measured signals and splines in exported code: tables that are searched, in C, FMUs and Python."""

from __future__ import annotations

import subprocess
import sys

import fmpy
import numpy as np
import pytest
import sympy as sp
from fmpy.validation import validate_fmu
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from compilers import NAMES, accepted, compiled, run
from vinculum.export import export_python

x, u = dynamicsymbols("x"), sp.Symbol("u")
PLACES = np.linspace(-1, 1, 7)
SPRING = vn.spline(x, PLACES, 4 * PLACES + PLACES**3, degree=3, name="spring")
TIMES = np.arange(20) * 0.10007  # no step ends at the jump behind the last point
GUST = vn.signal(TIMES, np.sin(3 * TIMES), beyond="zero", name="gust")


@pytest.fixture(scope="module")
def driven():
    system = vn.System([x], x.diff() ** 2 / 2, forces={x: u - SPRING}, inputs=[u], name="driven")
    return vn.derive(system)


@pytest.fixture(scope="module")
def wanted(driven):
    return vn.simulate(driven, {x: 0.3}, (0, 3), "rk4", step=1e-3, inputs={u: GUST})


@pytest.mark.parametrize("real", ["double", "float"])
def test_c_finds_the_pieces_of_python(driven, real, tmp_path):
    files = vn.export_c(driven, tmp_path / "driven.c", real=real, initial={x: 0.3}, inputs={u: GUST}, check=5)
    for name in NAMES:
        accepted(files, name)
    program = compiled(files, tmp_path / "check", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
    assert "comparisons" in run(program)
    text = files[1].read_text()
    assert text.count("static const") == len(set(text.split("static const")[1:]))  # every table once


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_an_fmu_moves_as_simulate(driven, wanted, version, tmp_path):
    path = vn.export_fmu(driven, tmp_path / "driven.fmu", version=version, initial={x: 0.3}, inputs={u: GUST},
                         step=1e-3)  # fmt: skip
    assert validate_fmu(str(path)) == []
    kind = {"fmi_type": "CoSimulation"}
    found = fmpy.simulate_fmu(str(path), stop_time=3.0, output_interval=1e-2, output=["x"], **kind)
    assert found["x"][-1] == pytest.approx(wanted[x][-1], abs=1e-11)
    found = fmpy.simulate_fmu(str(path), stop_time=3.0, output=["x"], fmi_type="ModelExchange", relative_tolerance=1e-9)
    exact = vn.simulate(driven, {x: 0.3}, (0, 3), inputs={u: GUST})
    assert found["x"][-1] == pytest.approx(exact[x][-1], abs=1e-6)


def test_a_python_file_moves_as_simulate(driven, wanted, tmp_path):
    export_python(driven, tmp_path / "driven.py", initial={x: 0.3}, inputs={u: GUST})
    code = "import driven; print(repr(float(driven.simulate(driven.initial(), [0, 3], 1e-3)[-1][0])))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(wanted[x][-1], abs=1e-12)
