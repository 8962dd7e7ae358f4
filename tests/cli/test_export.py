"""``vinculum export``: the files, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import fmpy
import numpy as np
import pytest
from click.testing import CliRunner
from fmpy.validation import validate_fmu
from scipy.io import loadmat

import vinculum as vn
from compilers import compiled, find
from compilers import run as run_program
from vinculum.cli.app import app

LIBRARY = Path(vn.__file__).parent / "model" / "library"


@pytest.fixture
def export(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(name, *arguments):
        return CliRunner().invoke(app, ["export", str(LIBRARY / f"{name}.toml"), *arguments])

    return run


@pytest.mark.parametrize(("period", "discrete"), [([], False), (["--period", "0.01"], True)])
def test_a_linear_model_is_discrete_only_on_request(export, period, discrete):
    """The period of ``[digital]`` belongs to the controller."""
    assert not export("segway", "--to", "c", "--what", "linear", *period, "-o", "made.c").exit_code
    assert ("made_step" in Path("made.h").read_text(encoding="utf-8")) is discrete


@pytest.mark.parametrize(
    "arguments",
    [
        ["cartesian_pendulum"],
        ["puma560", "--what", "tree"],
        ["segway", "--what", "loop", "--float", "--fold"],
        ["segway", "--what", "controller"],  # with the period of the file
        ["ball_and_beam", "--what", "controller", "--period", "0.01"],
        ["segway", "--what", "linear", "--period", "0.01"],
    ],
)
def test_every_part_compiles_and_agrees(export, arguments, tmp_path):
    done = export(*arguments, "--to", "c", "--check", "-o", "made.c")
    assert done.exit_code == 0, done.output
    files = [tmp_path / "made.h", tmp_path / "made.c", tmp_path / "made_check.c"]
    assert "comparisons" in run_program(compiled(files, tmp_path / "made", "-O1"))


def test_a_modelica_model_has_the_parameters_of_the_file(export, tmp_path):
    done = export("segway", "--to", "modelica", "--what", "loop", "--set", "m=0.3")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "segway.mo").read_text()
    assert re.search(r"^  parameter Real m\(.*\) = 0.3( \".*\")?;$", text, re.M)
    assert text.startswith("// balancing vehicle. Made by Vinculum.\n")
    assert text.endswith("end segway;\n")


def test_an_fmu_is_valid(export, tmp_path):
    find("gcc")
    done = export("cartesian_pendulum", "--to", "fmu", "--fmi", "3.0")
    assert done.exit_code == 0, done.output
    path = tmp_path / "cartesian_pendulum.fmu"
    assert validate_fmu(str(path)) == []
    described = fmpy.read_model_description(str(path))
    assert described.fmiVersion == "3.0"
    assert {v.name: v.unit for v in described.modelVariables}["g"] == "m/s^2"


def test_python_and_matlab_files_are_written(export, tmp_path):
    for kind, what, ending in (("python", "equations", "py"), ("mat", "linear", "mat"), ("mat", "motion", "mat")):
        done = export("cartesian_pendulum", "--to", kind, "--what", what, "-o", f"{what}.{ending}")
        assert done.exit_code == 0, done.output
    motion = loadmat(tmp_path / "motion.mat")
    assert motion["x"].shape == motion["t"].shape
    assert np.abs(motion["residual_rod_position"]).max() < 1e-12
    linear = loadmat(tmp_path / "linear.mat")
    assert linear["A"].shape == (2, 2)
    compile((tmp_path / "equations.py").read_text(), "equations.py", "exec")


def test_a_file_is_not_overwritten_without_force(export):
    assert export("cartesian_pendulum", "--to", "c").exit_code == 0
    again = export("cartesian_pendulum", "--to", "c")
    assert again.exit_code == 2
    assert "--force" in again.output
    assert export("cartesian_pendulum", "--to", "c", "--force").exit_code == 0


def test_the_names_that_are_written_are_those_that_are_checked(export, tmp_path):
    """A name with a hyphen becomes an identifier of C."""
    (tmp_path / "my_rod.h").write_text("somebody's own work")
    refused = export("cartesian_pendulum", "--to", "c", "-o", "my-rod.c")
    assert refused.exit_code == 2
    assert "my_rod.h already exists" in refused.output
    assert (tmp_path / "my_rod.h").read_text() == "somebody's own work"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cartesian_pendulum", "--to", "mat"], "--to mat cannot hold the part equations. Use --what linear or"),
        (["cartesian_pendulum", "--to", "fmu", "-o", "a.zip"], "must end in .fmu"),
        (["cartesian_pendulum", "--to", "cc"], "--to cc is not known. Did you mean c?"),
        (["cartesian_pendulum", "--to", "c", "--what", "lop"], "--what lop is not known. Did you mean loop?"),
        (["cartesian_pendulum", "--to", "c", "--what", "tree"], "has no [tree]"),
        (["four_bar", "--to", "c", "--what", "loop"], "has no [equilibrium]"),
        (["ball_and_beam", "--to", "c", "--what", "controller"], "--period 0.01"),
    ],
)
def test_what_cannot_be_exported_is_refused(export, arguments, said, tmp_path):
    done = export(*arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert not list(tmp_path.iterdir())
