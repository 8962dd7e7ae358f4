"""Measured and random signals as inputs: exact between their points, stated beyond them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.describe.random_signal import random_signal

x, t, u = dynamicsymbols("x"), dynamicsymbols._t, sp.Symbol("u")
k, c = sp.symbols("k c")
RANDOM = np.random.default_rng(4)
TIMES = np.cumsum(RANDOM.uniform(0.05, 0.3, 40)) - 1.0
VALUES = RANDOM.normal(size=40)
END = 8.0


@pytest.fixture(scope="module")
def oscillator():
    system = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, forces={x: u - c * x.diff()}, inputs=[u],
                       parameters={k: 2.0, c: 0.3}, name="oscillator")  # fmt: skip
    return vn.derive(system)


def exact(between, beyond, begin, end):
    """x at the end by matrix exponentials over every piece of the input."""
    whole = np.zeros((4, 4))
    whole[0, 1], whole[1, :3], whole[2, 3] = 1, (-2.0, -0.3, 1.0), 1
    state = np.array([0.3, 0.0])
    places = [begin, *(s for s in TIMES if begin < s < end), end]
    for low, high in pairwise(places):
        j = int(np.searchsorted(TIMES, low, side="right")) - 1
        value, slope = (VALUES[-1] if beyond == "hold" else 0.0), 0.0
        if 0 <= j < len(TIMES) - 1:
            slope = (VALUES[j + 1] - VALUES[j]) / (TIMES[j + 1] - TIMES[j]) if between == "linear" else 0.0
            value = VALUES[j] + slope * (low - TIMES[j])
        state = (scipy.linalg.expm((high - low) * whole) @ [*state, value, slope])[:2]
    return state[0]


@pytest.mark.parametrize("beyond", ["hold", "zero"])
@pytest.mark.parametrize("between", ["linear", "hold"])
def test_a_run_goes_from_point_to_point(oscillator, between, beyond):
    force = vn.signal(TIMES, VALUES, between=between, beyond=beyond, name="force")
    wanted = exact(between, beyond, 0.0, END)
    assert TIMES[-1] < END
    for method, options, accuracy in (("taylor", {}, 1e-13), ("bdf", {"tolerance": 1e-10}, 1e-7)):
        motion = vn.simulate(oscillator, {x: 0.3}, (0, END), method, inputs={u: force}, **options)
        assert motion[x][-1] == pytest.approx(wanted, abs=accuracy)
        assert motion.beyond == ()  # because it was stated
    assert vn.simulate(oscillator, {x: 0.3}, (0, END), inputs={u: force}).energy_error < 1e-13


def test_fixed_steps_that_end_at_the_points_keep_their_order(oscillator):
    places = np.arange(41) * 0.2
    force = {u: vn.signal(places, np.sin(places**2), name="force")}
    wanted = vn.simulate(oscillator, {x: 0.3}, (0, 8), inputs=force)[x][-1]
    errors = [abs(vn.simulate(oscillator, {x: 0.3}, (0, 8), "rk4", step=h, inputs=force)[x][-1] - wanted)
              for h in (0.1, 0.05)]  # fmt: skip
    assert errors[1] == pytest.approx(errors[0] / 16, rel=0.3)


def test_backward_in_time_and_back(oscillator):
    force = {u: vn.signal(TIMES, VALUES, beyond="hold")}
    there = vn.simulate(oscillator, {x: 0.3}, (0, 6), inputs=force)
    back = vn.simulate(oscillator, there, (6, 0), inputs=force)
    assert back[x][-1] == pytest.approx(0.3, abs=1e-12)


def test_a_spline_is_smooth_and_ten_thousand_points_are_no_burden(oscillator):
    places = np.linspace(0, 1.0, 10_001)
    force = {u: vn.signal(places, np.sin(9 * places), between="spline")}
    motion = vn.simulate(oscillator, {x: 0.3}, (0, 1), "rk4", step=1e-3, inputs=force)
    wanted = vn.simulate(oscillator, {x: 0.3}, (0, 1), inputs={u: sp.sin(9 * t)})
    assert motion[x][-1] == pytest.approx(wanted[x][-1], abs=1e-12)


def test_all_kinds_of_tables_are_one_signal(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": TIMES, "force": VALUES})
    frame.to_csv(tmp_path / "wind.csv", index=False)
    data = frame.set_index("time").to_xarray()
    series = frame.set_index("time")["force"]
    wanted = vn.signal(TIMES, VALUES)
    spans = pandas.Series(VALUES, index=pandas.to_timedelta(TIMES, unit="s"))
    for found in (vn.signal(frame, "force"), vn.signal(series), vn.signal(frame.set_index("time"), "force"),
                  vn.signal(data, "force"), vn.signal(data["force"]), vn.signal(tmp_path / "wind.csv", "force"),
                  vn.signal({"t": TIMES, "force": VALUES}, "force")):  # fmt: skip
        assert found == wanted
    assert vn.signal(spans).args[1].knots == pytest.approx(wanted.args[1].knots, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: vn.signal([0, 1, 1], [1, 2, 3]), "time 3 is 1, after 1. Times must increase"),
        (lambda: vn.signal([0, 1], [1, np.nan]), "value 2 of 2 is nan"),
        (lambda: vn.signal([0, 1], [1, 2, 3]), r"one value for each time"),
        (lambda: vn.signal([0], [1]), "at least two points"),
        (lambda: vn.signal([0, 1], [1, 2], between="cubic", beyond="guess"), r"between='cubic'(.|\n)*beyond='guess'"),
        (lambda: vn.signal({"t": [0, 1], "force": [1, 2]}, "forse"), "no column 'forse'(.|\n)*Did you mean force"),
        (lambda: vn.signal({"force": [1, 2]}, "force"), "no column 'time' or 't'"),
        (lambda: vn.signal(["a", "b"], [1, 2]), "times: it is the text 'a'"),
        (lambda: vn.signal(np.array([0, 1], "datetime64[s]"), [1, 2]), "Subtract the first"),
        (lambda: vn.signal([0, 1]), "contains no times"),
    ],
)
def test_unusable_signals_are_refused(make, said):
    with pytest.raises(vn.VinculumError, match=said):
        make()


def test_beyond_its_points_a_signal_is_refused_unless_stated(oscillator):
    force = vn.signal(TIMES, VALUES, name="gust")
    with pytest.raises(vn.ModelError, match=r"gust has points from -0\.\d+ to 6\.\d+, but the run uses it from 0 to 8"):
        vn.simulate(oscillator, {x: 0.3}, (0, 8), inputs={u: force})
    with pytest.raises(vn.ModelError, match="gust has points"):
        vn.study(oscillator, {x: 0.3}, (0, 8), over={k: [1.0, 2.0]}, inputs={u: force})
    with pytest.raises(vn.VinculumError, match="which exported code cannot do"):
        vn.export_c(oscillator, "never.c", inputs={u: force})
    assert vn.simulate(oscillator, {x: 0.3}, (0, 6), inputs={u: force}).outcome


def test_a_study_runs_with_a_signal(oscillator):
    force = {u: vn.signal(TIMES, VALUES, beyond="zero")}
    found = vn.study(oscillator, {x: 0.3}, (0, END), over={k: [1.5, 2.0]}, inputs=force)
    wanted = vn.simulate(oscillator, {x: 0.3}, (0, END), inputs=force, parameters={k: 2.0})
    assert float(found.x[-1]) == pytest.approx(wanted[x][-1], abs=1e-13)


# -- random forces -------------------------------------------------------------------------------------------------


def density(omega):
    """A first-order process with the corner 5 rad/s and the variance 1."""
    return 2 * 5.0 / (np.pi * (omega**2 + 25.0))


def test_the_spectrum_of_a_random_force_is_the_stated_one():
    """The average of the periodograms of ten forces, each over a hundred seconds."""
    step, spectra, variances = 0.05, [], []
    for seed in range(10):
        pieces = vn.random_signal(density, (0, 100), 30, seed=seed).args[1]
        force = np.array([pieces.at(s) for s in np.arange(0, 100, step)])
        f, measured = scipy.signal.welch(force, 1 / step, nperseg=512)
        spectra.append(measured / (2 * np.pi))
        variances.append(force.var())
    omega = 2 * np.pi * f
    inside = (omega > 1) & (omega < 25)
    ratio = np.mean(spectra, axis=0)[inside] / density(omega[inside])
    assert np.mean(ratio) == pytest.approx(1, abs=0.02)
    assert np.abs(ratio - 1).max() < 0.5  # of 60 averages: five standard deviations
    grid = np.linspace(0, 30, 3001)
    assert np.mean(variances) == pytest.approx(np.trapezoid(density(grid), grid), rel=0.03)


def test_random_forces_are_reproducible_and_act_between_the_samples(oscillator):
    omega = sp.Symbol("omega")
    stated = random_signal(10 / (sp.pi * (omega**2 + 25)), (0, 5), 20, seed=7)
    assert stated == random_signal(density, (0, 5), 20, seed=7)
    assert stated != random_signal(density, (0, 5), 20, seed=8)
    loop = vn.Digital({u: -2 * x - x.diff()}, 0.05, delay=0.013, before={u: 0}, disturbances={u: stated})
    motion = vn.simulate(oscillator, {x: 0.1}, np.linspace(0, 5, 501), inputs=loop)
    assert motion.energy_error < 1e-13  # with the work of the disturbance
    force = motion[u] - np.array([stated.args[1].at(s) for s in motion.t])
    assert len(np.unique(force[:-1].round(9))) <= 101  # what is left are the held commands


def test_invalid_random_signals_are_refused():
    with pytest.raises(vn.ModelError, match="it is -1 at"):
        vn.random_signal(lambda w: -1 + 0 * w, (0, 1), 10, seed=1)
    with pytest.raises(vn.ModelError, match=r"start before end(.|\n)*highest is -1(.|\n)*seed is 1.5"):
        vn.random_signal(density, (1, 0), -1, seed=1.5)
    with pytest.raises(vn.ModelError, match="points are needed"):
        vn.random_signal(density, (0, 1e6), 100, seed=1)
