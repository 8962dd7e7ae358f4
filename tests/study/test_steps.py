"""Methods with a fixed step and BDF run in compiled loops over the runs of a block, with the bits of `simulate`."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import chaplygin_sleigh, four_bar
from vinculum import measure, vary
from vinculum.ensembles import plan_study
from vinculum.ensembles.ensemble import OUTCOMES, Ensemble
from vinculum.names import variable_name

theta, phi, x = dynamicsymbols("theta phi x")
m, g, k, c = sp.symbols("m g k c", positive=True)

METHODS = [
    ("euler", {"step": 1e-3}),
    ("midpoint", {"step": 3e-3}),
    ("rk4", {"step": 7e-3}),  # does not divide the interval
    ("ab3", {"step": 2e-3}),
    ("abm4", {"step": 5e-3}),
    ("bdf", {"tolerance": 1e-7}),
]


@pytest.fixture(scope="module")
def double():
    T = m * (theta.diff() ** 2 + phi.diff() ** 2 / 2 + theta.diff() * phi.diff() * sp.cos(theta - phi))
    V = -m * g * (2 * sp.cos(theta) + sp.cos(phi))
    forces = {phi: -c * phi.diff()}
    return vn.derive(vn.System([theta, phi], T, V, forces=forces, parameters={m: 1.0, g: 9.81, c: 0.1}))


@pytest.fixture(scope="module")
def linkage():
    return vn.derive(four_bar.system())


@pytest.fixture(scope="module")
def spring():
    force = {x: -c * x.diff()}
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, forces=force, parameters={k: 4.0, c: 0.0}))


@pytest.fixture
def without_python(monkeypatch):
    """No run may be made by `simulate`."""
    monkeypatch.setattr(Ensemble, "_alone", lambda *a: pytest.fail("a run was made by simulate"))


def same_bits(planned, runs, numbers):
    """Ends and errors of some runs are those of `simulate`, bit for bit."""
    for number in numbers:
        motion = planned.one(number)
        for key in planned.ensemble.shown:
            assert runs[variable_name(key)].values.ravel()[number] == motion[key][-1]
        assert runs.energy_error.values.ravel()[number] == motion.energy_error
        largest = max(motion.largest_residuals.values(), default=0.0)
        assert runs.largest_residual.values.ravel()[number] == largest
        assert OUTCOMES[runs.outcome.values.ravel()[number]] == motion.outcome.kind


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_runs_have_the_bits_of_simulate(double, method, options):
    over = {theta: vary.uniform(-1, 1), phi: vary.uniform(-1, 1), g: [1.62, 9.81]}
    planned = plan_study(double, {}, (0, 1), over=over, samples=5, seed=2, method=method, **options)
    runs = planned.run(threads=1)
    assert (runs.outcome == 0).all()
    same_bits(planned, runs, range(0, 10, 3))


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rk4", {"step": 2e-3}),
        ("rk4", {"step": 2e-3, "stabilization": "projection"}),
        ("rk4", {"step": 2e-3, "stabilization": vn.Baumgarte(20.0)}),
        ("euler", {"step": 5e-4}),
        ("ab4", {"step": 1e-3}),
        ("bdf", {}),
    ],
)
def test_constrained_runs_have_the_bits_of_simulate(linkage, method, options, without_python):
    over = {four_bar.alpha: vary.uniform(0.2, 1.2), four_bar.alpha.diff(): vary.uniform(0, 2)}
    guess = {four_bar.beta: 1.0, four_bar.gamma: 1.5}
    planned = plan_study(linkage, {}, (0, 0.2), over=over, samples=6, guess=guess, method=method, **options)
    runs = planned.run(threads=1)
    same_bits(planned, runs, (0, 4))


def test_nonholonomic_runs_have_the_bits_of_simulate(without_python):
    equations = vn.derive(chaplygin_sleigh.system())
    keys = equations.user_symbols
    speed = keys[len(keys) // 2 + 2]  # of the rotation
    over = {speed: vary.uniform(0.5, 2.0)}
    planned = plan_study(equations, {}, (0, 1), over=over, samples=4, method="rk4", step=1e-2)
    same_bits(planned, planned.run(threads=1), range(4))


@pytest.mark.parametrize(("method", "options"), [METHODS[2], METHODS[4], METHODS[5]])
def test_bits_do_not_depend_on_threads_chunks_or_neighbors(double, method, options, tmp_path):
    pytest.importorskip("zarr")
    asked = {"over": {theta: vary.uniform(-2, 2), phi: vary.uniform(-2, 2)}, "samples": 150, "method": method}
    asked |= {"measure": {"top": measure.maximum(phi), "work": measure.integral(phi.diff() ** 2)}, "keep": "end"}
    whole = vn.study(double, {}, (0, 0.5), threads=1, **asked, **options)
    assert whole.identical(vn.study(double, {}, (0, 0.5), threads=3, **asked, **options))
    stored = vn.study(double, {}, (0, 0.5), store=tmp_path / "s", chunk=37, **asked, **options)
    for name in whole.data_vars:
        np.testing.assert_array_equal(whole[name], stored[name])
    planned = plan_study(double, {}, (0, 0.5), **asked, **options)
    for name, values in planned.block(40, 43).items():
        np.testing.assert_array_equal(values, whole[name].values[40:43])


def test_whole_motions_are_those_of_simulate(double, without_python):
    times = np.array([0.0, 0.013, 0.4, 0.71, 1.0])
    asked = {"over": {theta: [0.3, 0.9]}, "keep": "motion", "method": "rk4", "step": 1e-2}
    planned = plan_study(double, {phi: 0.2}, times, **asked)
    runs = planned.run(threads=1)
    for number in range(2):
        np.testing.assert_array_equal(runs.phi.values[number], planned.one(number)[phi])


@pytest.mark.parametrize(
    ("method", "options", "error"),
    [("rk4", {"step": 1e-2}, 1e-7), ("ab5", {"step": 1e-2}, 1e-6), ("bdf", {"tolerance": 1e-10}, 1e-7)],
)
def test_measures_of_an_oscillator_are_exact(spring, method, options, error, without_python):
    """x = cos 2t: first zero at π/4, largest speed 2, ∫₀¹ x² dt = 1/2 + sin(4)/8."""
    wanted = {
        "zero": measure.first_time(x),
        "fastest": measure.maximum(-x.diff()),
        "square": measure.integral(x**2),
        "end": measure.final(x),
        "settled": measure.settling_time(x, band=0.5),
    }
    runs = vn.study(spring, {}, (0, 1), over={x: [1.0, 2.0]}, measure=wanted, method=method, **options)
    assert runs.zero.values == pytest.approx([np.pi / 4] * 2, abs=error)
    assert runs.fastest.values == pytest.approx([2.0, 4.0], abs=error)
    assert runs.square.values == pytest.approx(np.array([1, 4]) * (0.5 + np.sin(4) / 8), abs=4 * error)
    assert runs.end.values == pytest.approx(np.array([1, 2]) * np.cos(2), abs=2 * error)
    assert runs.settled.values[0] == pytest.approx(np.pi / 6, abs=error)
    assert np.isnan(runs.settled.values[1]) or runs.settled.values[1] < 1


@pytest.mark.parametrize(("method", "options"), [("rk4", {"step": 1e-2}), ("bdf", {})])
def test_an_event_ends_its_run_alone(spring, method, options, without_python):
    """x falls through zero at π/4 in every run that has a spring; the free particle never does."""
    asked = {"over": {k: [4.0, 0.0, 1.0]}, "until": vn.Event(x, "falling"), "method": method}
    planned = plan_study(spring, {x: 1.0}, np.linspace(0, 3, 31), keep="motion", **asked, **options)
    runs = planned.run()
    assert [OUTCOMES[code] for code in runs.outcome.values] == ["event", "finished", "event"]
    assert runs.end_time.values == pytest.approx([np.pi / 4, 3.0, np.pi / 2], abs=1e-5)
    assert np.isnan(runs.x.values[0, 8:]).all()
    assert np.isfinite(runs.x.values[0, :8]).all()
    assert (runs.x.values[1] == 1.0).all()


@pytest.mark.parametrize(("method", "options"), [("rk4", {"step": 1e-2}), ("ab4", {"step": 1e-2}), ("bdf", {})])
def test_a_run_that_explodes_is_a_row_and_changes_no_other(method, options):
    """ẍ = x³ from rest at 1 is infinite before t = 3; from 0.01 it hardly moves."""
    system = vn.System([x], x.diff() ** 2 / 2, -(x**4) / 4, parameters={}, name="runaway")
    asked = {"method": method, **options}
    both = vn.study(system, {}, (0, 3), over={x: [1.0, 0.01]}, **asked)
    alone = vn.study(system, {}, (0, 3), over={x: [0.01]}, **asked)
    assert OUTCOMES[int(both.outcome[0])] in ("non-finite", "stalled", "inaccurate")
    assert OUTCOMES[int(both.outcome[1])] == "finished"
    assert float(both.x[1]) == float(alone.x[0])


def test_fixed_steps_go_over_corners(without_python):
    """Coulomb friction brings a sliding mass to rest after v/μ, within a step; the bits are those of simulate."""
    mu = sp.Symbol("mu")
    system = vn.System([x], x.diff() ** 2 / 2, 0, forces={x: -mu * sp.sign(x.diff())}, parameters={mu: 2.0})
    over = {x.diff(): [1.0, 2.0], mu: [1.0, 4.0]}
    planned = plan_study(system, {x: 0.0}, (0, 3), over=over, method="rk4", step=1e-3)
    runs = planned.run(threads=1)
    for speed in (1.0, 2.0):
        for friction in (1.0, 4.0):
            travelled = float(runs.x.sel(mu=friction).values[[1.0, 2.0].index(speed)])
            assert travelled == pytest.approx(speed**2 / (2 * friction), abs=3e-3)


def test_an_event_between_the_instants_is_not_a_sample(spring):
    """Also where a run is made by `simulate`: under dry friction, from corner to corner."""
    friction = vn.System([x], x.diff() ** 2 / 2, 2 * x**2, forces={x: -0.1 * sp.sign(x.diff())}, parameters={})
    until = vn.Event(x, "falling")
    runs = vn.study(friction, {}, np.linspace(0, 2, 21), over={x: [1.0]}, keep="motion", until=until)
    assert 0.7 < float(runs.end_time[0]) < 0.9
    assert np.isnan(runs.x.values[0, runs.time > runs.end_time.values[0]]).all()


def test_a_lost_energy_is_judged_by_simulate():
    """A step beyond the limit of Euler's method makes the oscillator explode; at a small step it does not."""
    system = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, parameters={k: 1.0})
    runs = vn.study(system, {x: 1.0}, (0, 10), over={k: [1.0, 400.0]}, method="euler", step=0.02)
    assert [OUTCOMES[code] for code in runs.outcome.values] == ["finished", "inaccurate"]


def test_projection_is_made_by_every_method(linkage):
    """Under the Taylor method projection acts after steps, so such runs are not made in lanes."""
    over, guess = {four_bar.alpha: [0.4, 1.0]}, {four_bar.beta: 1.0, four_bar.gamma: 1.5}
    asked = {"over": over, "guess": guess, "stabilization": "projection"}
    for method, options in (("taylor", {}), ("rk4", {"step": 1e-2})):
        runs = vn.study(linkage, {}, (0, 2), method=method, **asked, **options)
        assert float(runs.largest_residual.max()) < 1e-12
