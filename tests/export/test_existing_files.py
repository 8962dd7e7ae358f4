"""Exports replace a file only where they are told to, and refuse it before they compute."""

from __future__ import annotations

import pytest

import vinculum as vn
from simulate.models import hanging, pendulum, run
from vinculum.export import export_javascript, export_mat, export_modelica, export_python

OURS = "somebody's own work"
FUNCTIONS = {
    "c": vn.export_c, "fmu": vn.export_fmu, "python": export_python, "javascript": export_javascript,
    "modelica": export_modelica,
}  # fmt: skip


def written(kind: str, folder, **options) -> list:
    """The files of one export of a pendulum."""
    system = pendulum()
    equations = vn.derive(system.system)
    if kind == "c":
        return list(vn.export_c(equations, folder / "rod", check=1, **options))
    if kind == "fmu":
        return [vn.export_fmu(equations, folder / "rod", binary=False, **options)]
    if kind == "mat":
        return [export_mat(run(system, hanging(), (0, 0.1)), folder / "rod", **options)]
    return [FUNCTIONS[kind](equations, folder / "rod", **options)]


@pytest.mark.parametrize("kind", [*FUNCTIONS, "mat"])
def test_a_file_that_exists_is_kept_unless_told_otherwise(kind, tmp_path):
    for place in written(kind, tmp_path):
        fresh = place.read_bytes()
        for other in tmp_path.iterdir():
            other.unlink()
        place.write_text(OURS)
        with pytest.raises(vn.errors.FileError, match=f"{place.name}' already exists.*overwrite=True"):
            written(kind, tmp_path)
        assert place.read_text() == OURS
        assert list(tmp_path.iterdir()) == [place]  # the other files of the export were not written either
        written(kind, tmp_path, overwrite=True)
        assert kind == "mat" or place.read_bytes() == fresh  # the head of a MATLAB file has the time


@pytest.mark.parametrize("kind", list(FUNCTIONS))
def test_an_existing_file_is_refused_before_anything_is_computed(kind, tmp_path):
    """What cannot be exported at all is not looked at."""
    ending = {"c": "c", "fmu": "fmu", "python": "py", "javascript": "js", "modelica": "mo"}[kind]
    (tmp_path / f"rod.{ending}").write_text(OURS)
    with pytest.raises(vn.errors.FileError):
        FUNCTIONS[kind](3.0, tmp_path / "rod")
