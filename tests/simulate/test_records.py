"""Records of a simulation are copied, pickled and sent to another process; samples are there without machine code."""

from __future__ import annotations

import multiprocessing
import pickle
from copy import deepcopy

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import cartesian_system, g, hanging, pendulum, run, t, x, y
from vinculum.compile import function
from vinculum.simulation import decay_bound, gain_interval
from vinculum.simulation.trajectory.storage import StoredRun

push = sp.Symbol("push")


def driven(method: str = "taylor", **options: object) -> vn.Trajectory:
    """A motion with an input, work, an event and a constraint."""
    equations = vn.derive(cartesian_system(forces={x: push}, inputs=[push]))
    laws = {push: sp.sin(3 * t)}
    return run(
        equations, hanging(), np.linspace(0, 1, 11), method, inputs=laws, events=[vn.Event(x, "below")], **options
    )


def columns(motion: vn.Trajectory) -> list:
    """Every column of a trajectory."""
    roles = (
        motion.own_columns,
        motion.inputs,
        motion.reactions,
        motion.residuals,
        {"E": motion.energy, "W": motion.work},
    )
    return [(name, values.tolist()) for role in roles for name, values in role.items()]


TWINS = {"copied": deepcopy, "pickled": lambda record: pickle.loads(pickle.dumps(record))}


@pytest.mark.parametrize("how", TWINS)
@pytest.mark.parametrize(
    ("method", "options"), [("taylor", {"dense": True}), ("bdf", {}), ("rk4", {"step": 1e-2, "dense": True})]
)
def test_a_trajectory_is_copied_with_all_it_can_compute(how, method, options):
    motion = driven(method, **options)
    for looked_at in (False, True):
        twin = TWINS[how](motion)
        assert columns(twin) == columns(motion)
        np.testing.assert_array_equal(twin[x.diff().diff() + g * y], motion[x.diff().diff() + g * y])
        if options.get("dense"):
            np.testing.assert_array_equal(twin.at(0.123)["x"], motion.at(0.123)["x"])
        assert (twin.outcome, twin.events, twin.method) == (motion.outcome, motion.events, motion.method)
        assert looked_at or motion.dataset is not None


@pytest.mark.parametrize("how", TWINS)
def test_a_trajectory_from_a_file_is_copied(how, tmp_path):
    motion = driven()
    motion.save(tmp_path / "motion.nc")
    read = vn.read_trajectory(tmp_path / "motion.nc")
    assert isinstance(read.run, StoredRun)
    assert columns(TWINS[how](read)) == columns(read) == columns(motion)


@pytest.mark.parametrize("how", TWINS)
def test_small_records_are_copied(how):
    motion = run(vn.derive(cartesian_system(), "program", rates=2.0), hanging(), (0, 1))
    records = [
        vn.Event(x, "below", "falling", True), *run(pendulum(), hanging(), (0, 1), events=[vn.Event(x)]).events,
        motion.outcome, gain_interval("rk4", 1e-3, 1e-3, error=1.0), vn.Baumgarte({"rod": 2.0}), vn.Sampled(),
        vn.Projection(), vn.Unstabilized(), vn.Guaranteed(1e-6), vn.Taylor(1e-9), vn.BDF(),
    ]  # fmt: skip
    assert [TWINS[how](record) for record in records] == records
    bound = decay_bound(run(vn.derive(cartesian_system(), "program", rates=2.0), hanging() | {x: 0.9}, (0, 1)))
    np.testing.assert_array_equal(TWINS[how](bound).bound, bound.bound)


def end_of(motion: vn.Trajectory) -> tuple[list, float]:
    """What another process computes of a motion: sums may be ordered otherwise there, which rounding shows."""
    return columns(motion), float(motion[x * x.diff()][-1])


def test_a_trajectory_is_sent_to_another_process_and_back():
    motion = driven()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found, value = pool.apply(end_of, (motion,))
        sent_back = pool.apply(driven)
    assert value == motion[x * x.diff()][-1]
    for other in (found, columns(sent_back)):
        for (name, values), (same, expected) in zip(other, columns(motion), strict=True):
            assert name == same
            np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


def test_a_column_that_was_integrated_is_read_and_not_compiled():
    start = hanging(0.9)
    motion = run(vn.derive(cartesian_system(potential_energy=g * sp.cosh(y))), start, (0, 1))
    before = function._compiled.cache_info().misses
    assert motion[x][0] == start[x]
    assert motion["y_dot"][0] == start[y.diff()]
    assert motion.work[-1] == 0
    assert function._compiled.cache_info().misses == before
