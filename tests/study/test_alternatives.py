"""Gains, inputs and forms of a law vary like anything else; Ctrl-C keeps what was computed."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import sympy as sp
import xarray as xr
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum import measure
from vinculum.errors import VinculumError

theta = dynamicsymbols("theta")
t = dynamicsymbols._t
u, m, g = sp.symbols("u m g")
SETTLED = {"settled": measure.settling_time(theta, 0.01)}


@pytest.fixture(scope="module")
def upright():
    system = vn.System([theta], m * theta.diff() ** 2 / 2, m * g * sp.cos(theta), {theta: u},
                       parameters={m: 1.0, g: 9.81}, inputs=[u])  # fmt: skip
    return vn.derive(system)


@pytest.fixture(scope="module")
def laws(upright):
    linear = vn.linearize(upright, vn.equilibrium(upright, {theta: 0}))
    return {name: vn.stabilize(linear, [weight, 1], 1) for name, weight in (("soft", 1), ("hard", 100))}


def test_gains_are_parameters_of_the_loop(upright, laws):
    loop = vn.close_loop(upright, laws["soft"], symbolic_gains=True)
    K = vn.feedback.gain_symbol(u, theta)
    own = loop.parameters[K]
    assert own == laws["soft"].gain[0, 0]
    runs = vn.study(loop, {theta: 0.3}, (0, 4), over={K: [own, 2 * own]}, keep="end")
    plain = vn.simulate(vn.close_loop(upright, laws["soft"]), {theta: 0.3}, (0, 4))
    assert float(runs.theta[0]) == pytest.approx(plain[theta][-1], abs=1e-13)
    assert float(runs.theta[1]) != pytest.approx(plain[theta][-1], abs=1e-5)
    best = vn.optimize(loop, {theta: 0.3}, (0, 4), {K: (3 * own, own / 2)}, minimize=measure.integral(theta**2))
    assert best.measure < best.before


def test_inputs_are_held_at_numbers(upright):
    runs = vn.study(upright, {}, (0, 1), over={theta: [0.1, 0.5], u: [0.0, 1.0]})
    assert runs.theta.dims == ("initial_theta", "u")
    for value in (0.0, 1.0):
        motion = vn.simulate(upright, {theta: 0.5}, (0, 1), inputs={u: value})
        assert float(runs.theta.sel(initial_theta=0.5, u=value)) == pytest.approx(motion[theta][-1], abs=1e-13)
    with pytest.raises(VinculumError, match="u varies, but it has a law already"):
        vn.study(upright, {}, (0, 1), over={u: [1.0]}, inputs={u: 0})


def test_inputs_follow_named_laws(upright, tmp_path):
    over = {theta: [0.1, 0.5], u: {"sine": sp.sin(t), "ramp": t}}
    runs = vn.study(upright, {}, (0, 1), over=over)
    for name, law in over[u].items():
        motion = vn.simulate(upright, {theta: 0.1}, (0, 1), inputs={u: law})
        assert float(runs.theta.sel(u=name, initial_theta=0.1)) == pytest.approx(motion[theta][-1], abs=1e-13)
    stored = vn.study(upright, {}, (0, 1), over=over, store=tmp_path / "s")
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == ["ramp", "sine"]
    xr.testing.assert_identical(runs, stored.load())
    with pytest.raises(VinculumError, match="both in inputs and in over"):
        vn.study(upright, {}, (0, 1), over={u: {"a": t}, theta: [1.0]}, inputs={u: 0})
    with pytest.raises(VinculumError, match="give a short text"):
        vn.study(upright, {}, (0, 1), over={u: {1: t}, theta: [1.0]})


def test_forms_of_a_law_are_compared(upright, laws):
    loops = {name: vn.close_loop(upright, law) for name, law in laws.items()}
    runs = vn.study(loops, {}, (0, 6), over={theta: [0.1, 0.5]}, measure=SETTLED)
    assert runs.settled.dims == ("equations", "initial_theta")
    alone = vn.study(loops["hard"], {}, (0, 6), over={theta: [0.1, 0.5]}, measure=SETTLED)
    np.testing.assert_array_equal(runs.settled.sel(equations="hard"), alone.settled)
    with pytest.raises(VinculumError, match="nothing to compare"):
        vn.study({}, {}, (0, 1), over={theta: [0.1]})


def test_ctrl_c_returns_the_runs_that_are_done(upright):
    def interrupt(done: float) -> None:
        if done > 0.2:
            os.kill(os.getpid(), signal.SIGINT)

    over = {theta: np.linspace(0.1, 1, 4000)}
    with pytest.warns(UserWarning, match="Interrupted after"):
        part = vn.study(upright, {}, (0, 1), over=over, inputs={u: 0}, progress=interrupt, threads=1)
    done = part.outcome.values == 0
    assert 0 < done.sum() < 4000
    assert np.isnan(part.theta.values[~done]).all()
    whole = vn.study(upright, {}, (0, 1), over=over, inputs={u: 0})
    np.testing.assert_array_equal(part.theta.values[done], whole.theta.values[done])


def test_ctrl_c_leaves_the_other_laws_empty(upright):
    def interrupt(done: float) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    over = {theta: np.linspace(0.1, 1, 500), u: {"zero": sp.Integer(0), "one": sp.Integer(1)}}
    with pytest.warns(UserWarning, match="Interrupted after"):
        part = vn.study(upright, {}, (0, 1), over=over, progress=interrupt, threads=1)
    assert part.sizes["u"] == 2
    assert (part.outcome.sel(u="one") == -1).all()


def test_progress_ends_at_one(upright, tmp_path):
    for where in ({}, {"store": tmp_path / "s", "chunk": 40}):
        seen: list[float] = []
        vn.study(
            upright, {}, (0, 1), over={theta: np.linspace(0, 1, 300)}, inputs={u: 0}, progress=seen.append, **where
        )
        assert seen == sorted(seen)
        assert seen[-1] == 1.0


def test_motions_of_several_laws_are_kept_at_the_same_instants(upright, tmp_path):
    """The instants between two given ends follow from the steps of a run, which differ from law to law."""
    over = {theta: [0.1, 0.2], u: {"slow": -20 * theta - 5 * theta.diff(), "fast": -sp.sin(40 * t) - 20 * theta}}
    runs = vn.study(upright, {}, (0, 3), over=over, keep="motion")
    assert np.isfinite(runs.theta).all()
    stored = vn.study(upright, {}, (0, 3), over=over, keep="motion", store=tmp_path / "s")
    xr.testing.assert_identical(runs, stored.load())
    alone = vn.simulate(upright, {theta: 0.2}, runs.time.values, inputs={u: over[u]["slow"]})
    np.testing.assert_allclose(runs.theta.sel(u="slow").isel(initial_theta=1), alone[theta], atol=1e-12)
