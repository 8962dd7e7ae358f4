"""Parameters are numbers of a run: other values need no other model and no compilation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import cartesian_system, difference, g, hanging, l, m, pendulum, run, t, x
from vinculum.compile import function
from vinculum.simulation.integrators import heyoka_steps, series

push = sp.Symbol("push")
RUNS = [("taylor", {}), ("rk4", {"step": 1e-2}), ("ab3", {"step": 1e-2}), ("bdf", {})]


def compilations() -> list[int]:
    """How often an integrator, a tape and a function was compiled in this process."""
    return [made.cache_info().misses for made in (heyoka_steps.compiled, series.compiled, function._compiled)]


@pytest.mark.parametrize(("method", "options"), RUNS)
def test_other_values_compile_nothing(method, options):
    """Parameters, initial state and times are numbers of the run."""
    run(pendulum(), hanging(), (0, 1), method, **options)
    before = compilations()
    for length in (0.9, 1.1, 1.2):
        start = {key: length * value for key, value in hanging(0.8, 0.1).items()}
        motion = run(pendulum(), start, (0, 1.5), method, parameters={l: length, g: 9.7}, **options)
        assert motion[x][0] == start[x]
    assert compilations() == before


@pytest.mark.parametrize(("method", "options"), RUNS)
def test_other_gains_compile_nothing(method, options):
    run(pendulum(), hanging(), (0, 1), method, stabilization=vn.Baumgarte(3.0), **options)
    before = compilations()
    for treatment in (vn.Baumgarte(4.0), vn.Baumgarte(alpha={"rod": 1.0}, beta=2.0), "none"):
        run(pendulum(), hanging(), (0, 1), method, stabilization=treatment, **options)
    assert compilations() == before


@pytest.mark.parametrize(("method", "options"), RUNS)
def test_an_equal_model_stated_twice_is_compiled_once(method, options):
    """Equal expressions are one node, so a second System from the same text finds the first one's code."""

    def stated() -> vn.EquationsOfMotion:
        return vn.derive(cartesian_system(potential_energy=m * g * sp.sinh(sp.Function("y")(t))))

    run(stated(), hanging(), (0, 1), method, **options)
    before = compilations()
    run(stated(), hanging(), (0, 1), method, **options)
    assert compilations() == before


def test_a_looked_at_motion_is_compiled_once():
    """Reactions, residuals, energy and expressions of a second motion use the functions of the first."""

    def look(motion: vn.Trajectory) -> None:
        motion.reactions, motion.residuals, motion.energy, motion[x * x.diff()], motion[x.diff(t, 2)]

    look(run(pendulum(), hanging(), (0, 1)))
    before = compilations()
    look(run(pendulum(), hanging(0.5), (0, 2), parameters={m: 3.0}))
    assert compilations() == before


def test_other_values_give_the_motion_of_a_model_with_these_values():
    values = {m: 2.0, g: 3.0, l: 1.5}
    start = {key: 1.5 * value for key, value in hanging().items()}
    changed = run(pendulum(), start, (0, 3), parameters=values)
    stated = run(vn.derive(cartesian_system(parameters=values)), start, (0, 3))
    np.testing.assert_allclose(changed[x], stated[x], rtol=0, atol=1e-13)
    np.testing.assert_allclose(changed.reactions["rod"], stated.reactions["rod"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(changed.energy, stated.energy, rtol=0, atol=1e-12)


def test_a_run_with_other_values_leaves_the_model_as_it_was():
    first = run(pendulum(), hanging(), (0, 1))
    run(pendulum(), hanging(), (0, 1), parameters={g: 1.0})
    assert difference(run(pendulum(), hanging(), (0, 1)), first) == 0
    assert dict(pendulum().system.parameters)[g] == 9.81


def test_a_motion_keeps_its_own_values():
    """Quantities of an earlier motion are computed with the values it was run with."""
    heavy = run(pendulum(), hanging(), (0, 1), parameters={m: 5.0})
    run(pendulum(), hanging(), (0, 1), parameters={m: 1.0})
    assert heavy.energy[0] == pytest.approx(-5 * 9.81 * np.cos(1.0), rel=1e-14)
    assert heavy[m * x][0] == pytest.approx(5 * np.sin(1.0), rel=1e-14)


def test_an_unknown_parameter_is_refused_with_the_nearest_known_one():
    gravity = sp.Symbol("gg")
    with pytest.raises(vn.ModelError, match=r"gg is not a parameter. Did you mean g\?"):
        vn.simulate(pendulum(), hanging(), (0, 1), parameters={gravity: 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_is_refused(value):
    with pytest.raises(vn.ModelError, match=r"g is (nan|inf)"):
        vn.simulate(pendulum(), hanging(), (0, 1), parameters={g: value})


def test_a_value_at_which_the_system_has_no_inertia_is_refused():
    with pytest.raises(vn.VinculumError, match="m = 0"):
        vn.simulate(pendulum(), hanging(), (0, 1), parameters={m: 0.0})


@pytest.mark.parametrize("value", [None, 10**400, 2 * l, 1j, float("nan")], ids=["none", "huge", "formula", "j", "nan"])
def test_what_is_not_a_finite_number_is_refused(value):
    with pytest.raises(vn.errors.ModelError, match="finite value"):
        run(pendulum(), hanging(), (0, 1), parameters={g: value})
    with pytest.raises(vn.errors.ModelError, match="finite value"):
        run(pendulum(), {x: value}, (0, 1))
