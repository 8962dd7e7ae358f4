"""Times, steps and methods: what may be asked for, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import FIXED_STEP, angle_pendulum, hanging, particle, pendulum, run, theta, x, y

METHODS = [("taylor", {}), ("bdf", {}), *((name, {"step": 1e-3 if name == "euler" else 1e-2}) for name in FIXED_STEP)]
every_method = pytest.mark.parametrize(("method", "options"), METHODS)


# -- samples --------------------------------------------------------------------------------------------------


@every_method
def test_an_interval_is_sampled_from_end_to_end(method, options):
    motion = run(pendulum(), hanging(), (0.5, 3.25), method, **options)
    assert motion.t[0] == 0.5
    assert motion.t[-1] == 3.25
    assert np.all(np.diff(motion.t) > 0)
    assert len(motion.t) <= 1001
    assert motion.outcome.time == 3.25


@every_method
@pytest.mark.parametrize("times", [[0, 1, 2.5], np.array([-1.0, 0.1, 0.10001, np.pi]), np.linspace(3, 0, 7)])
def test_an_array_gives_exactly_its_instants(method, options, times):
    motion = run(pendulum(), hanging(), times, method, **options)
    np.testing.assert_array_equal(motion.t, times)


@pytest.mark.parametrize("step", [0.1, 0.03, 0.007, 1 / 3])
@pytest.mark.parametrize("duration", np.linspace(0.1, 2.9, 15))
def test_the_last_sample_is_the_end_whatever_the_step(step, duration):
    """To the last bit, once, also where the step does not divide the interval."""
    motion = run(particle(), {x: 0.0, x.diff(): 1.0}, (0.3, 0.3 + duration), "rk4", step=step)
    assert motion.t[-1] == 0.3 + duration
    assert np.all(np.diff(motion.t) > 1e-6)
    assert motion[x][-1] == pytest.approx(duration, abs=1e-13)


@pytest.mark.parametrize(("step", "count"), [(0.25, 4), (0.3, 4), (0.4, 3), (1.0, 1), (7.0, 1), (1e-3, 1000)])
def test_a_step_that_does_not_divide_the_interval_is_made_a_little_smaller(step, count):
    """The number of steps is the least that is not coarser than asked for."""
    motion = run(particle(), {x: 0.0, x.diff(): 1.0}, (0, 1), "midpoint", step=step)
    assert motion.steps == count
    assert f"step {1 / count:.6g}" in motion.method


@pytest.mark.parametrize("method", ["rk4", "ab4", "abm4"])
def test_instants_between_the_steps_are_as_good_as_the_method(method):
    """Irrational instants, none of them a step: cubic interpolation costs O(τ⁴), as the method does."""
    random = np.random.default_rng(7)
    instants = np.concatenate([[0], np.sort(random.uniform(0, 2, 60)), [2]])
    exact = run(angle_pendulum(), {theta: 1.0}, instants)[theta]
    errors = [
        np.abs(run(angle_pendulum(), {theta: 1.0}, instants, method, step=step)[theta] - exact).max()
        for step in (1e-2, 5e-3)
    ]
    assert errors[0] < 1e-5
    assert errors[0] / errors[1] > 2**3.5


@pytest.mark.parametrize("method", FIXED_STEP)
def test_the_choice_of_instants_does_not_change_the_motion(method):
    few = run(pendulum(), hanging(), [0, 0.5, 1.0], method, step=1e-2)
    many = run(pendulum(), hanging(), (0, 1), method, step=1e-2)
    assert few[x][-1] == many[x][-1]
    assert few[y][1] == many[y][50]


def test_the_choice_of_instants_does_not_change_a_taylor_run():
    few = run(pendulum(), hanging(), [0, 0.5, 1.0])
    many = run(pendulum(), hanging(), np.linspace(0, 1, 1001))
    assert few[x][-1] == many[x][-1]
    assert few.steps == many.steps


def test_a_time_shift_of_an_autonomous_system_shifts_its_motion():
    early, late = (run(pendulum(), hanging(), (start, start + 2)) for start in (0.0, 1000.0))
    np.testing.assert_allclose(late[x], early[x], rtol=0, atol=1e-11)  # instants near 1000 have 1e-13 of rounding


# -- refusals -------------------------------------------------------------------------------------------------


def refused(message: str, *arguments: object, **options: object) -> str:
    with pytest.raises(vn.VinculumError, match=message) as refusal:
        vn.simulate(pendulum(), hanging(), *arguments, progress=False, **options)
    return str(refusal.value)


@pytest.mark.parametrize(
    "times", [(), (1.0,), 5.0, [[0, 1], [2, 3]], (0, float("nan")), (float("nan"), 1), (0, float("inf")), "ab", None]
)
@pytest.mark.parametrize("method", ["taylor", "auto"])
def test_times_that_are_no_times_are_refused(times, method):
    refused("times", times, method)


@pytest.mark.parametrize("times", [(0, 0), [0, 1, 1], [0, 2, 1], [0, 1, 0.5, 2]])
def test_times_that_do_not_go_one_way_are_refused(times):
    refused("increase", times)


@pytest.mark.parametrize("step", [None, 0, -1e-3, float("nan"), float("inf")])
def test_a_fixed_step_method_needs_a_step(step):
    refused(r"'rk4' needs a positive step; got .* Use simulate\(\.\.\., step=1e-3\)", (0, 1), "rk4", step=step)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_an_adaptive_method_takes_no_step(method):
    refused(f"'{method}' chooses its own steps. Leave step out", (0, 1), method, step=1e-3)


def test_a_fixed_step_method_takes_no_tolerance():
    """What would be ignored is refused."""
    refused("tolerance", (0, 1), "rk4", step=1e-3, tolerance=1e-9)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
@pytest.mark.parametrize("tolerance", [-1e-9, float("nan"), float("inf")])
def test_a_tolerance_is_positive(method, tolerance):
    refused("tolerance", (0, 1), method, tolerance=tolerance)


def test_an_unknown_method_is_refused_with_the_nearest_known_one():
    message = refused("There is no method 'rk5'. Did you mean rk4", (0, 1), "rk5")
    for name in ("taylor", "bdf", "euler", "abm4"):
        assert name in message


def test_an_unknown_stabilization_is_refused_with_the_known_ones():
    message = refused("'baumgart' is not known", (0, 1), stabilization="baumgart")
    assert "'baumgarte'" in message


@pytest.mark.parametrize("method", ["taylor", "ab3", "abm2", "bdf"])
def test_sampled_feedback_needs_stages(method):
    step = {} if method in ("taylor", "bdf") else {"step": 1e-2}
    refused("stabilization='baumgarte'", (0, 1), method, stabilization="sampled", **step)


def test_projection_does_not_go_with_bdf():
    refused("stabilization='baumgarte'", (0, 1), "bdf", stabilization="projection")


@pytest.mark.parametrize("gain", [-1.0, float("nan"), float("inf")])
def test_gains_are_finite_and_not_negative(gain):
    refused("gain of rod", (0, 1), stabilization=vn.Baumgarte(gain))


def test_a_gain_for_an_unknown_constraint_is_refused():
    """A misspelled name would leave the constraint with another gain than meant."""
    refused("rood", (0, 1), stabilization=vn.Baumgarte({"rood": 2.0}))


def test_refusals_come_before_any_work():
    """A wrong method is found although the model would take long to compile."""
    big = sp.Add(*(sp.sin(i * x) for i in range(1, 200)))
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, big))
    from vinculum.simulation.integrators import heyoka_steps, series

    before = series.compiled.cache_info().misses + heyoka_steps.compiled.cache_info().misses
    with pytest.raises(vn.VinculumError):
        vn.simulate(equations, {x: 0.1}, (0, 1), step=0.1)
    assert series.compiled.cache_info().misses + heyoka_steps.compiled.cache_info().misses == before
