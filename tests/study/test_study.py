"""A study gives what its runs give one by one, with exact measures and bits that do not depend on the division."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import xarray as xr
from scipy import stats
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam, four_bar
from vinculum import measure, vary
from vinculum.ensembles.ensemble import OUTCOMES
from vinculum.ensembles.vary import vary as variation
from vinculum.errors import VinculumError
from vinculum.names import name_of

theta, phi, x = dynamicsymbols("theta phi x")
m, g, l, k, c = sp.symbols("m g l k c", positive=True)


@pytest.fixture(scope="module")
def pendulum():
    T, V = m * l**2 * theta.diff() ** 2 / 2, -m * g * l * sp.cos(theta)
    return vn.derive(vn.System([theta], T, V, parameters={m: 1.0, g: 9.81, l: 1.0}, name="pendulum"))


@pytest.fixture(scope="module")
def double():
    T = m * (theta.diff() ** 2 + phi.diff() ** 2 / 2 + theta.diff() * phi.diff() * sp.cos(theta - phi))
    V = -m * g * (2 * sp.cos(theta) + sp.cos(phi))
    return vn.derive(vn.System([theta, phi], T, V, parameters={m: 1.0, g: 9.81}, name="double pendulum"))


def outcomes(runs: xr.Dataset) -> list[str]:
    return [OUTCOMES[code] for code in runs.outcome.values.ravel()]


# -- the same motions ----------------------------------------------------------------------------------------------


def test_runs_in_lanes_are_the_motions_of_simulate(double):
    over = {theta: vary.uniform(-2, 2), phi: vary.uniform(-2, 2), g: [1.62, 9.81]}
    runs = vn.study(double, {theta.diff(): 0.5}, (0, 2), over=over, samples=11, seed=3)
    assert set(outcomes(runs)) == {"finished"}
    assert runs.energy_error.max() < 1e-12
    for gravity in over[g]:
        for sample in (0, 4, 10):
            run = runs.sel(g=gravity).isel(sample=sample)
            start = {theta: float(run.initial_theta), phi: float(run.initial_phi), theta.diff(): 0.5}
            motion = vn.simulate(double, start, (0, 2), parameters={g: gravity})
            for key in (theta, phi, theta.diff(), phi.diff()):
                assert float(run[vn.names.variable_name(key)]) == pytest.approx(motion[key][-1], abs=2e-11)


def test_whole_motions_are_kept_at_the_times_asked_for(double):
    times = np.linspace(0, 1, 6)
    runs = vn.study(double, {phi: 0.3}, times, over={theta: [0.5, 1.0, 1.5]}, keep="motion")
    assert runs.theta.dims == ("initial_theta", "time")
    motion = vn.simulate(double, {phi: 0.3, theta: 1.0}, times)
    assert np.allclose(runs.theta.sel(initial_theta=1.0), motion[theta], atol=1e-12)


def test_constrained_starts_are_those_of_consistent_state():
    alpha, beta, gamma = four_bar.alpha, four_bar.beta, four_bar.gamma
    equations = vn.derive(four_bar.system())
    guess = {beta: 1.0, gamma: 1.5}
    over = {alpha: np.linspace(0.2, 2.0, 7), four_bar.b: [0.33, 0.37], alpha.diff(): [0.0, 3.0]}
    runs = vn.study(equations, {}, (0, 0.2), over=over, guess=guess, keep="motion")
    assert runs.largest_residual.max() < 1e-11
    assert set(outcomes(runs)) == {"finished"}
    for b in over[four_bar.b]:
        given = {alpha: 0.8, alpha.diff(): 3.0}
        state = vn.consistent_state(equations, given, guess=guess, parameters={four_bar.b: b})
        run = runs.sel(initial_alpha=0.8, initial_alpha_dot=3.0, b=b, method="nearest")
        for key in (beta, gamma, beta.diff(), gamma.diff()):
            assert float(run[vn.names.variable_name(key)][0]) == pytest.approx(state[key], abs=1e-13)
        motion = vn.simulate(equations, given, (0, 0.2), guess=guess, parameters={four_bar.b: b})
        assert float(run.gamma[-1]) == pytest.approx(motion[gamma][-1], abs=1e-10)


def test_a_closed_loop_with_a_motor_settles_from_many_starts():
    equations, rest, _, law = ball_and_beam.stabilized(0)
    r, place, guess = ball_and_beam.r, ball_and_beam.PLACE, {ball_and_beam.alpha: 0.0}
    loop, start = vn.close_loop(equations, law), {ball_and_beam.theta: rest[ball_and_beam.theta]}
    settled = {"settling": measure.settling_time(r, 0.004, target=place)}
    runs = vn.study(loop, start, (0, 30), over={r: [0.15, 0.18, 0.22]}, measure=settled, guess=guess)
    alone = vn.simulate(loop, {**start, r: 0.18}, np.linspace(0, 30, 60_001), guess=guess)
    outside = np.abs(alone[r] - place) > 0.004
    last = alone.t[np.flatnonzero(outside)[-1]]
    assert float(runs.settling.sel(initial_r=0.18)) == pytest.approx(last, abs=6e-4)
    assert (runs.settling > 0).all()


def test_runs_with_corners_are_simulated_one_by_one():
    friction = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, {x: -c * sp.sign(x.diff())}, parameters={k: 4.0, c: 0.3})
    equations = vn.derive(friction)
    measures = {"largest": measure.maximum(-x), "path": measure.integral(sp.Abs(x.diff()))}
    runs = vn.study(equations, {}, (0, 3), over={x: [0.5, 1.0]}, measure=measures, keep="end")
    # x swings to -(x0 - 2 c / k) and rests once |x| < c / k
    assert np.allclose(runs.largest, runs.initial_x - 2 * 0.3 / 4, atol=1e-10)
    motion = vn.simulate(equations, {x: 1.0}, (0, 3))
    assert float(runs.x.sel(initial_x=1.0)) == pytest.approx(motion[x][-1], abs=1e-12)
    work = 4 / 2 * (runs.initial_x**2 - runs.x**2) - runs.x_dot**2 / 2  # friction takes c times the path
    assert np.allclose(0.3 * runs.path, work, atol=1e-6)


# -- measures ------------------------------------------------------------------------------------------------------


def test_extremes_are_those_of_the_energy(pendulum):
    over = {theta: vary.uniform(-1.5, 1.5), theta.diff(): vary.uniform(-2, 2)}
    measures = {
        "high": measure.maximum(theta),
        "low": measure.minimum(theta),
        "speed": measure.maximum(theta.diff() ** 2),
        "way": measure.integral(theta.diff()),
        "end": measure.final(theta),
    }
    runs = vn.study(pendulum, {}, (0, 7), over=over, samples=40, measure=measures, sampling="sobol", keep="end")
    turn = np.arccos(np.cos(runs.initial_theta) - runs.initial_theta_dot**2 / (2 * 9.81))
    assert np.allclose(runs.high, turn, atol=1e-12)
    assert np.allclose(runs.low, -turn, atol=1e-12)
    assert np.allclose(runs.speed, 2 * 9.81 * (1 - np.cos(turn)), atol=1e-12)
    assert np.allclose(runs.way, runs.end - runs.initial_theta, atol=1e-12)
    assert np.array_equal(runs.end, runs.theta)


def test_instants_of_a_damped_oscillator():
    damped = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, {x: -c * x.diff()}, parameters={k: 9.0, c: 0.4})
    band = 0.05
    measures = {
        "zero": measure.first_time(x),
        "rise": measure.first_time(x, "rising"),
        "never": measure.first_time(x - 5),
        "settled": measure.settling_time(x, band),
        "outside": measure.settling_time(x - 3, band),
    }
    runs = vn.study(damped, {}, (0, 30), over={x: [1.0, 2.0], c: [0.4, 1.0]}, measure=measures)
    for start in (1.0, 2.0):
        for damping in (0.4, 1.0):
            run = runs.sel(initial_x=start, c=damping)
            delta, omega = damping / 2, np.sqrt(9 - damping**2 / 4)

            def motion(t, start=start, delta=delta, omega=omega):
                return start * np.exp(-delta * t) * (np.cos(omega * t) + delta / omega * np.sin(omega * t))

            zero = (np.pi - np.arctan2(omega, delta)) / omega
            assert float(run.zero) == pytest.approx(zero, abs=1e-12)
            assert float(run.rise) == pytest.approx(zero + np.pi / omega, abs=1e-12)
            t = np.linspace(0, 30, 3_000_001)
            last = t[np.flatnonzero(np.abs(motion(t)) > band)[-1]]
            assert float(run.settled) == pytest.approx(last, abs=2e-5)
            assert abs(abs(motion(float(run.settled))) - band) < 1e-12
    assert np.isnan(runs.never).all()
    assert np.isnan(runs.outside).all()


# -- failures are rows ---------------------------------------------------------------------------------------------


def test_a_run_that_explodes_is_a_row_and_changes_no_other():
    falling = vn.derive(vn.System([x], x.diff() ** 2 / 2, -(x**4) / 4))  # reaches infinity in a finite time
    over = {x: [0.1, 3.0, 0.2, 0.15, 5.0, 0.05, 0.01, 0.12, 0.3]}
    runs = vn.study(falling, {}, (0, 2), over=over)
    assert outcomes(runs) == ["finished", "non-finite", *["finished"] * 2, "non-finite", *["finished"] * 4]
    calm = vn.study(falling, {}, (0, 2), over={x: [v for v in over[x] if v < 1]})
    assert np.array_equal(runs.x[runs.outcome == 0], calm.x)
    blow_up = 1.8540746773013719  # of x'' = x³ from x = 1: ∫ √2 dx / √(x⁴ - 1)
    assert np.allclose(runs.end_time[[1, 4]] * runs.initial_x[[1, 4]], blow_up, atol=1e-3)


def test_an_unreachable_start_is_a_row():
    y = dynamicsymbols("y")
    rod = vn.System(
        [x, y], m * (x.diff() ** 2 + y.diff() ** 2) / 2, m * g * y,
        constraints=[vn.Holonomic(x**2 + y**2 - l**2, name="rod")], parameters={m: 1.0, g: 9.81, l: 1.0},
    )  # fmt: skip
    runs = vn.study(rod, {}, (0, 1), over={x: [0.5, 1.5, 0.7], l: [1.0, 2.0]}, guess={y: -1.0})
    assert outcomes(runs) == ["finished", "finished", "refused", "finished", "finished", "finished"]
    assert np.isnan(runs.x.sel(initial_x=1.5, l=1.0))
    assert runs.largest_residual.max() < 1e-12


@pytest.mark.parametrize("form", ["multipliers", "voronets"])
def test_a_start_in_a_singular_direction_is_that_of_simulate(form):
    """A skate along y: its constraint says nothing of y_dot, which the form takes for dependent at the first run."""
    y = dynamicsymbols("y")
    blade = vn.Nonholonomic(y.diff() * sp.cos(theta) - x.diff() * sp.sin(theta), name="blade")
    energy = (x.diff() ** 2 + y.diff() ** 2 + theta.diff() ** 2) / 2
    equations = vn.derive(vn.System([x, y, theta], energy, constraints=[blade]), form)
    start, guess = {x: 0.0, y: 0.0, x.diff(): 0.0, theta.diff(): 0.1}, {y.diff(): 0.1}
    runs = vn.study(equations, start, (0, 5), over={theta: [0.3, np.pi / 2]}, guess=guess)
    motion = vn.simulate(equations, start | {theta: np.pi / 2}, (0, 5), guess=guess)
    np.testing.assert_array_equal(runs.outcome, 0)
    np.testing.assert_allclose(runs.isel(initial_theta=1).y_dot, motion[y.diff()][-1], atol=1e-12)


def test_a_mass_that_is_not_positive_is_a_row(pendulum):
    assert outcomes(vn.study(pendulum, {theta: 1.0}, (0, 1), over={m: [1.0, -1.0]})) == ["finished", "refused"]


# -- the same bits -------------------------------------------------------------------------------------------------


def test_bits_do_not_depend_on_threads_blocks_or_pickling(double):
    over = {theta: vary.normal(0, 1), phi: vary.uniform(-2, 2), m: [0.5, 2.0]}
    measures = {"top": measure.maximum(phi), "when": measure.first_time(phi)}
    call = (double, {}, (0, 3)), dict(over=over, samples=37, measure=measures, keep="end")
    first = vn.study(*call[0], **call[1])
    xr.testing.assert_identical(first, vn.study(*call[0], **call[1], threads=1))
    xr.testing.assert_identical(first, vn.study(*call[0], **call[1], threads=5))
    copy = pickle.loads(pickle.dumps(vn.ensembles.plan_study(*call[0], **call[1])))
    for begin, end in ((0, 1), (5, 18), (60, 74)):
        for name, values in copy.block(begin, end).items():
            assert np.array_equal(values, first[name].values.ravel()[begin:end], equal_nan=True), name


def test_one_run_of_a_study_is_a_trajectory(double):
    whole = vn.ensembles.plan_study(double, {phi: 0.4}, (0, 1), over={theta: [0.1, 0.9]})
    assert whole.one(1)[theta][0] == 0.9
    assert whole.one(1)[theta][-1] == pytest.approx(whole.block(1, 2)["theta"][0], abs=1e-12)


# -- what varies ---------------------------------------------------------------------------------------------------


def test_samples_follow_their_distributions(pendulum):
    for sampling in ("random", "latin", "sobol"):
        drawn = vn.study(
            pendulum, {}, (0, 0.01), samples=512, sampling=sampling, seed=7,
            over={theta: vary.normal(0.2, 0.1), l: vary.uniform(1, 2), theta.diff(): stats.expon(scale=2.0)},
        )  # fmt: skip
        assert stats.kstest(drawn.initial_theta, stats.norm(0.2, 0.1).cdf).pvalue > 1e-3
        assert stats.kstest(drawn.l, stats.uniform(1, 1).cdf).pvalue > 1e-3
        assert stats.kstest(drawn.initial_theta_dot, stats.expon(scale=2.0).cdf).pvalue > 1e-3


def test_a_latin_hypercube_is_the_one_of_scipy():
    for count, samples, seed in ((1, 1, 0), (2, 60, 0), (5, 17, 3)):
        over = {sp.Symbol(f"x{k}"): vary.uniform(0, 1) for k in range(count)}
        drawn = np.column_stack(list(variation(over, samples, seed, "latin").columns.values()))
        hypercube = stats.qmc.LatinHypercube(count, seed=np.random.default_rng(seed))
        np.testing.assert_array_equal(drawn, hypercube.random(samples))


def test_a_table_gives_one_run_for_every_row(pendulum):
    rows = {theta: [0.1, 0.2, 0.3], l: [1.0, 2.0, 3.0]}
    runs = vn.study(pendulum, {}, (0, 1), over=vary.table(rows))
    assert dict(runs.sizes) == {"run": 3}
    frame = vn.study(pendulum, {}, (0, 1), over=pd.DataFrame(rows))
    xr.testing.assert_identical(runs, frame)
    named = vn.study(pendulum, {}, (0, 1), over=pd.DataFrame({str(name_of(key)): rows[key] for key in rows}))
    xr.testing.assert_identical(runs, named)
    assert float(runs.theta[1]) == pytest.approx(
        vn.simulate(pendulum, {theta: 0.2}, (0, 1), parameters={l: 2.0})[theta][-1]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(over={}), "Nothing to vary"),
        (dict(over={theta: []}), "theta varies over an empty list"),
        (dict(over={theta: [1.0, np.nan]}), "theta has values that are not finite"),
        (dict(over={theta: "abc"}), "theta: it is the text 'abc'. Write a number"),
        (dict(over={x: [1.0]}), "x is not a coordinate, velocity, state or parameter"),
        (dict(over={theta: vary.uniform(0, 1)}), "give the number of samples"),
        (dict(over={theta: [0.1]}, samples=10), "Leave samples out"),
        (dict(over={theta: vary.uniform(0, 1)}, samples=4, sampling="halton"), "'random', 'latin', 'sobol'"),
        (dict(over={theta: [0.1]}, keep="all"), "keep='all' is not known"),
        (dict(over={theta: [0.1]}, keep="measures"), "needs measures"),
        (dict(over={theta: [0.1]}, measure={"a": theta}), "measure must be"),
        (dict(over={theta: [0.1]}, measure={"a": measure.maximum(x)}), "x is not known to the system"),
        (dict(over={theta: [0.1]}, parameters={k: 1.0}), "k is not a parameter"),
        (dict(over={theta: [0.1]}, initial={theta: 0.2}), "both in initial and in over"),
        (dict(over={theta: [0.1]}, stabilization=vn.Guaranteed(1e-6)), "Guaranteed"),
        (dict(over={theta: [0.1]}, times=(0, np.nan)), "times must be"),
        (dict(over={theta: [[0.1, 0.2]]}), "Give a list of numbers"),
        (dict(over={"thata": [0.1]}), "thata is not a coordinate.*Did you mean theta"),
        (dict(over={theta: vary.uniform(0, 1)}, samples=4, seed=-1), "seed=-1 must be a whole number"),
        (dict(over={theta: vary.uniform(0, 1)}, samples=4, seed="one"), "seed='one' must be a whole number"),
        (dict(over={theta: vary.uniform(0, 1)}, samples=np.nan), "give the number of samples"),
        (dict(over={theta: np.array([1 + 2j])}), "Give a list of numbers"),
        (dict(over={theta: [0.1], "theta": [0.2, 0.3]}), "theta is twice in over="),
        (dict(over={theta: [0.1]}, threads=0), "threads=0 must be a positive whole number"),
        (dict(over={theta: [0.1]}, chunk=0), "chunk=0 must be a positive whole number"),
        (dict(over={theta: [0.1]}, store=5), "store=5 is not the name of a folder"),
        (dict(over={theta: [0.1]}, events=[]), "A study has no option events.*until"),
        (dict(over={theta: [0.1]}, client="tcp://host:8786"), "is not a client of dask.distributed"),
        (dict(over={theta: [0.1]}, measure={"outcome": measure.final(theta)}), "called 'outcome', but every run has"),
        (dict(over={theta: [0.1]}, measure={"theta": measure.final(theta)}, keep="end"), "states have their names"),
        (dict(over={l: [0.5, 1.0]}, measure={"l": measure.final(theta)}), "a coordinate of the result"),
    ],
)
def test_refusals_say_what_was_found(pendulum, options, words):
    with pytest.raises(VinculumError, match=words):
        vn.study(pendulum, options.pop("initial", {}), options.pop("times", (0, 1)), **options)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("sample", dict(over={theta: vary.uniform(0, 1)}, samples=3), "would be called sample"),
        ("initial_theta", dict(over={theta: [0.1, 0.2]}), "would be called initial_theta"),
        ("end_time", {}, "end_time varies, but every run has a result of this name"),
        ("time", dict(keep="motion"), "called time, as the instants"),
    ],
)
def test_a_parameter_may_not_have_the_name_of_another_dimension(name, options, words):
    """Two quantities of one name would be one array of the result."""
    own = sp.Symbol(name)
    system = vn.System([theta], theta.diff() ** 2, own * theta**2, parameters={own: 1.0})
    over = {own: [1.0, 2.0, 3.0], **options.pop("over", {})}
    with pytest.raises(VinculumError, match=words):
        vn.study(system, {}, (0, 1), over=over, **options)


def test_a_table_may_name_its_quantities(pendulum):
    runs = vn.study(pendulum, {}, (0, 1), over=vary.table({"theta": [0.1, 0.2], "theta_dot": [0.3, 0.4], "l": [1, 2]}))
    rows = vary.table({theta: [0.1, 0.2], theta.diff(): [0.3, 0.4], l: [1, 2]})
    xr.testing.assert_identical(runs, vn.study(pendulum, {}, (0, 1), over=rows))


@pytest.mark.parametrize(
    "make",
    [
        lambda: vary.uniform(2, 1),
        lambda: vary.normal(0, 0),
        lambda: vary.uniform(0, np.inf),
        lambda: vary.uniform("1 cm", "2 cm"),
        lambda: vary.table({theta: 1.0}),
        lambda: vary.table({theta: [[1.0, 2.0]]}),
    ],
)
def test_distributions_are_checked(make):
    with pytest.raises(VinculumError):
        make()
