"""[signals] of model files: a column of a CSV file, with units, or lists."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from vinculum.model.load import loads
from vinculum.model.text.problems import ModelFileError

MAST = """
parameters = {m = "2 kg", k = "30 N/m"}
[signals.gust]
file = "wind.csv"
column = "force"
time = "ms"
time_unit = "ms"
unit = "kN"
beyond = "zero"
[system]
coordinates = {x = "m"}
inputs = {F = "N"}
kinetic_energy = "m*dot(x)^2/2"
potential_energy = "k*x^2/2"
forces = {x = "F"}
[simulation]
times = [0, 3]
initial = {x = "1 cm", "dot(x)" = 0}
inputs = {F = "gust(t)"}
"""
TIMES, FORCE = np.arange(21) * 0.1, np.sin(np.arange(21))


@pytest.fixture
def folder(tmp_path):
    rows = [f"{1000 * t},{f / 1000},a" for t, f in zip(TIMES, FORCE, strict=True)]
    (tmp_path / "wind.csv").write_text("\n".join(["ms,force,note", *rows]))
    return tmp_path


def moved(text, folder):
    model = loads(text, folder=folder)
    return vn.simulate(vn.derive(model.system), **model.simulation)


def test_a_column_is_the_signal_of_its_numbers_in_si(folder):
    motion = moved(MAST, folder)
    wanted = vn.signal(TIMES, FORCE, beyond="zero")
    x = next(iter(loads(MAST, folder=folder).system.coordinates))
    assert motion["F"][:-1] == pytest.approx([wanted.args[1].at(t) for t in motion.t[:-1]], abs=1e-12)
    lists = MAST[: MAST.index("file =")] + f"times = {TIMES.tolist()}\nvalues = {FORCE.tolist()}\nbeyond = 'zero'\n"
    assert moved(lists + MAST[MAST.index("[system]") :], folder)[x][-1] == pytest.approx(motion[x][-1], abs=1e-13)


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ('"force"', '"forse"', "signals.gust.column", "Did you mean force?"),
        ('column = "force"', "", "signals.gust", "column is missing; the columns are ms, force, note."),
        ('"ms"\ntime_unit', '"s"\ntime_unit', "signals.gust.time", "there is no column 's'"),
        ('"kN"', '"kg"', "simulation.inputs.F", "its dimension is kg"),
        ('"kN"', '"parrot"', "signals.gust.unit", "parrot"),
        ("gust(t)", "gust(x)", "simulation.inputs.F", "gust is a function of s"),
        ("wind.csv", "../wind.csv", "signals.gust.file", "must be in the folder"),
        ("wind.csv", "none.csv", "signals.gust.file", "No such file"),
        ('"force"', '"note"', "signals.gust", "value 1 of 21 is nan"),
        ('file = "wind.csv"', "times = [0, 1]", "signals.gust.column", "does not belong"),
        ('"zero"', '"guess"', "signals.gust.beyond", "guess"),
        ("[signals.gust]", "[signals.m]", "signals.m", "declared twice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(folder, old, new, key, said):
    assert MAST.count(old) >= 1
    with pytest.raises(ModelFileError) as error:
        loads(MAST.replace(old, new, 1), folder=folder)
    assert error.value.problems[0].key == key
    assert said in str(error.value)


def test_ragged_large_and_binary_files_are_refused(folder):
    for content, said in ((b"ms,force\n0,1\n1\n", "row 3"), (b"\xff\xfe\x00", "utf-8"), (b"", "is empty"),
                          (b"ms,force\n" + b"0,1\n" * 2_500_000, "larger than")):  # fmt: skip
        (folder / "wind.csv").write_bytes(content)
        with pytest.raises(ModelFileError, match=said):
            loads(MAST, folder=folder)
