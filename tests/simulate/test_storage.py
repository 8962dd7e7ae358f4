"""Trajectories as datasets and files: what was written can be read back."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import SKATE_START, cartesian_system, g, hanging, particle, pendulum, run, skate, t, theta, x, y

push = sp.Symbol("push")
ATTRIBUTES = ("outcome", "largest_residuals", "energy_error", "method", "stabilization", "events", "steps")


@pytest.fixture(scope="module")
def driven() -> vn.Trajectory:
    """A motion with an input, work, an event and a constraint."""
    equations = vn.derive(cartesian_system(forces={x: push}, inputs=[push]))
    event = vn.Event(x, "below")
    return run(equations, hanging(), (0, 2), "rk4", step=1e-2, inputs={push: sp.sin(3 * t)}, events=[event])


@pytest.fixture
def again(driven, tmp_path) -> vn.Trajectory:
    driven.save(tmp_path / "motion.nc")
    return vn.read_trajectory(tmp_path / "motion.nc")


# -- dataset --------------------------------------------------------------------------------------------------


def test_the_dataset_has_every_quantity_over_time(driven):
    dataset = driven.dataset
    np.testing.assert_array_equal(dataset["time"], driven.t)
    expected = {"x", "y", "x_dot", "y_dot", "energy", "work", "reaction_rod"}
    expected |= {"residual_rod_position", "residual_rod_velocity"}
    assert expected <= set(dataset.data_vars)
    for name in expected:
        assert dataset[name].dims == ("time",)
    np.testing.assert_array_equal(dataset["y_dot"], driven[y.diff()])
    np.testing.assert_array_equal(dataset["reaction_rod"], driven.reactions["rod"])
    np.testing.assert_array_equal(dataset["residual_rod_velocity"], driven.residuals["rod", "velocity"])
    np.testing.assert_array_equal(dataset["energy"], driven.energy)
    np.testing.assert_array_equal(dataset["work"], driven.work)


def test_the_dataset_has_the_inputs(driven):
    """A driven motion cannot be judged without what drove it."""
    np.testing.assert_array_equal(driven.dataset["push"], driven[push])
    np.testing.assert_allclose(driven.inputs["push"], np.sin(3 * driven.t), rtol=0, atol=1e-15)


def test_the_dataset_selects_by_time(driven):
    """What xarray is for."""
    assert float(driven.dataset["x"].sel(time=0.5, method="nearest")) == driven[x][50]


# -- files ----------------------------------------------------------------------------------------------------


def test_all_quantities_come_back(driven, again):
    np.testing.assert_array_equal(again.t, driven.t)
    for key in (x, y, x.diff(), y.diff()):
        np.testing.assert_array_equal(again[key], driven[key])
    np.testing.assert_array_equal(again.energy, driven.energy)
    np.testing.assert_array_equal(again.work, driven.work)
    assert set(again.reactions) == set(driven.reactions)
    assert set(again.residuals) == set(driven.residuals)
    for name, values in driven.reactions.items():
        np.testing.assert_array_equal(again.reactions[name], values)
    for name, values in driven.residuals.items():
        np.testing.assert_array_equal(again.residuals[name], values)


def test_inputs_come_back(driven, again):
    assert set(again.inputs) == set(driven.inputs) == {"push"}
    np.testing.assert_array_equal(again[push], driven[push])
    np.testing.assert_array_equal(again["push"], driven[push])


def test_what_holds_a_servo_constraint_is_stored_as_an_input(tmp_path):
    """A motor's torque is no reaction of a constraint: it has its own name, and only this one."""
    u = sp.Function("u")(t)
    path = vn.Servo(x - sp.sin(t), through=[u], name="path")
    system = vn.System([x], 2 * x.diff() ** 2 / 2, 0, forces={x: u}, constraints=[path], inputs=[u])
    motion = run(vn.derive(system), {}, (0, 1))
    motion.save(tmp_path / "motion.nc")
    again = vn.read_trajectory(tmp_path / "motion.nc")
    assert "reaction_path" not in again.dataset
    np.testing.assert_allclose(again.dataset["u"], -2 * np.sin(motion.t), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(again.reactions["path"], motion.reactions["path"])


def test_an_event_that_never_happened_is_said(tmp_path):
    motion = run(pendulum(), hanging(), (0, 1), events=[vn.Event(y - 5, "too high")])
    motion.save(tmp_path / "motion.nc")
    for each in (motion, vn.read_trajectory(tmp_path / "motion.nc")):
        assert each.event_times == {"too high": []}
        assert re.search("event too high +none", repr(each))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_how_the_run_went_comes_back(driven, again, name):
    assert getattr(again, name) == getattr(driven, name)


def test_a_read_trajectory_looks_the_same(driven, again):
    assert repr(again) == repr(driven)


def test_a_read_trajectory_can_be_written_again(driven, again, tmp_path):
    again.save(tmp_path / "again.nc")
    third = vn.read_trajectory(tmp_path / "again.nc")
    assert third.dataset.identical(driven.dataset)


def test_a_reaction_is_found_by_its_symbol(driven, again):
    np.testing.assert_array_equal(again[vn.reaction("rod")], driven.reactions["rod"])


def test_what_was_not_written_is_refused(again):
    """A file holds no equations: expressions cannot be computed from it."""
    with pytest.raises(vn.VinculumError, match="not in this trajectory"):
        again[x.diff(t, 2)]
    with pytest.raises(vn.VinculumError, match=r"Did you mean y_dot\?"):
        again["ydot"]
    with pytest.raises(vn.VinculumError, match="dense"):
        again.at(0.5)


def test_a_run_that_broke_down_comes_back_with_its_reason(tmp_path):
    motion = vn.simulate(particle(-1 / x), {x: 1.0}, (0, 5), progress=False)
    motion.save(tmp_path / "fall.nc")
    again = vn.read_trajectory(tmp_path / "fall.nc")
    assert again.outcome == motion.outcome
    assert not again.outcome


def test_a_path_may_be_text(driven, tmp_path):
    driven.save(str(tmp_path / "motion.nc"))
    assert len(vn.read_trajectory(str(tmp_path / "motion.nc")).t) == len(driven.t)


@pytest.mark.parametrize("name", ["left wheel", "ε", "a/b", "roll.x", "with_position"])
def test_names_of_constraints_may_be_any_text(name, tmp_path):
    wall = vn.Holonomic(y - 1, name=name)
    equations = vn.derive(cartesian_system(constraints=[wall]))
    motion = run(equations, {x: 0.0, y: 1.0, x.diff(): 1.0}, (0, 1))
    motion.save(tmp_path / "motion.nc")
    again = vn.read_trajectory(tmp_path / "motion.nc")
    assert set(again.reactions) == {name}
    assert set(again.residuals) == {(name, "position"), (name, "velocity")}


@pytest.mark.parametrize("name", ["energy", "work", "time"])
def test_a_coordinate_may_be_called_like_another_column(name, tmp_path):
    """Every quantity keeps its own values."""
    q = sp.Function(name)(t)
    equations = vn.derive(vn.System([q], q.diff(t) ** 2 / 2, g * q, parameters={g: 1.0}))
    motion = run(equations, {q: 3.0}, (0, 1))
    motion.save(tmp_path / "motion.nc")
    again = vn.read_trajectory(tmp_path / "motion.nc")
    np.testing.assert_array_equal(again[q], motion[q])
    np.testing.assert_array_equal(again.energy, motion.energy)


def test_several_constraints_keep_their_order(tmp_path):
    motion = run(skate(), SKATE_START, (0, 1))
    motion.save(tmp_path / "skate.nc")
    again = vn.read_trajectory(tmp_path / "skate.nc")
    assert list(again.largest_residuals) == list(motion.largest_residuals)
    np.testing.assert_array_equal(again[theta], motion[theta])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(vn.VinculumError, match="There is no file"):
        vn.read_trajectory(tmp_path / "nothing.nc")


def test_a_file_of_something_else_is_refused(tmp_path):
    pendulum_data = run(pendulum(), hanging(), (0, 1)).dataset.drop_attrs()
    pendulum_data.to_netcdf(tmp_path / "other.nc", engine="netcdf4")
    with pytest.raises(vn.VinculumError, match="is not a trajectory"):
        vn.read_trajectory(tmp_path / "other.nc")
    (tmp_path / "text.nc").write_text("no dataset at all")
    with pytest.raises(vn.VinculumError, match=r"text\.nc"):
        vn.read_trajectory(tmp_path / "text.nc")


def test_the_ending_of_the_name_decides_the_format(tmp_path):
    """A table for .csv, NetCDF for .nc; every other ending is refused and nothing is written."""
    motion = run(pendulum(), hanging(), np.linspace(0, 1, 11))
    motion.save(tmp_path / "motion.csv")
    table = np.genfromtxt(tmp_path / "motion.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["time"], motion.t)
    np.testing.assert_array_equal(table["x"], motion["x"])
    np.testing.assert_array_equal(table["reaction_rod"], motion.reactions["rod"])
    for name in ("motion.h5", "motion", "motion.csv.gz"):
        with pytest.raises(vn.VinculumError, match=r"must end in .nc .*, .csv"):
            motion.save(tmp_path / name)
        assert not (tmp_path / name).exists()
