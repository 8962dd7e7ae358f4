"""The examples run, their numbers are right, their pictures are drawn."""

from __future__ import annotations

import importlib

import pytest

TOLERANCES = {
    "sleigh_with_servo": 6e-9,  # the digits of the reference
    "gyroscope_in_gimbals": 1e-13,
    "particle_with_given_speed": 1e-13,
    "appell_hamel": 1e-13,
    "snakeboard": 1e-13,
    "overhead_crane": 1e-8,  # rk4 with a step of 1 ms
}


@pytest.mark.parametrize("name", TOLERANCES)
def test_example(name, tmp_path):
    example = importlib.import_module(f"examples.{name}")
    motion, numbers = example.run()
    assert motion.outcome.kind == "finished"
    for quantity, (found, exact) in numbers.items():
        assert found == pytest.approx(exact, rel=TOLERANCES[name], abs=TOLERANCES[name]), quantity
    example.picture(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
