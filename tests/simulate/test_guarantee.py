"""A promised accuracy is kept: every method, constraints of both orders, continuous and sampled feedback."""

from __future__ import annotations

import numpy as np
import pytest
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples.wheel_with_reactions import program, start
from simulate.models import ADAMS, FIXED_STEP, RUNGE_KUTTA, SKATE_START, hanging, pendulum, run, skate
from vinculum.simulation import METHODS
from vinculum.simulation.stabilization.residual_bounds import amplification

SYSTEMS = {
    "second order": lambda: (pendulum(), hanging(speed=2.0), 3.0),
    "first order": lambda: (skate(), SKATE_START, 3.0),
    "both, as controls": lambda: (program(None), start(program(None)), 0.5),
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("method", FIXED_STEP)
@pytest.mark.parametrize("epsilon", [1e-4, 1e-6])
def test_the_bound_holds_and_is_not_idle(method, system, epsilon):
    """Measured ≤ promised ≤ ε over every step; the promise for the worst constraint is at most 20 times too careful."""
    epsilon = 10 * epsilon if method == "euler" else epsilon
    equations, initial, duration = SYSTEMS[system]()
    motion = run(equations, initial, (0, duration), method, stabilization=vn.Guaranteed(epsilon))
    assert motion.promised
    assert motion.kept, str(motion)
    names = {name for name, _ in motion.promised}
    own = [(name, "position" if (name, "position") in motion.promised else "velocity") for name in names]
    key = max(own, key=lambda k: motion.promised[k])
    assert motion.promised[key] <= epsilon
    assert motion.largest_residuals[key] > motion.promised[key] / 20


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("method", ["midpoint", "rk4"])
def test_the_bound_holds_with_continuous_feedback_in_the_stages(method, system):
    equations, initial, duration = SYSTEMS[system]()
    motion = run(equations, initial, (0, duration), method, stabilization=vn.Guaranteed(1e-5, sampled=False))
    assert motion.kept, str(motion)
    assert "continuous" in motion.stabilization


@pytest.mark.parametrize("method", ["rk4", "ab2", "euler"])
def test_at_a_step_that_is_too_long_the_error_names_one_that_does(method):
    epsilon = 1e-4
    with pytest.raises(
        vn.VinculumError, match=r"No gain keeps the constraints within .* Use simulate\(\.\.\., step=[\d.e-]+\)"
    ) as e:
        run(pendulum(), hanging(speed=2.0), (0, 3), method, step=0.3, stabilization=vn.Guaranteed(epsilon))
    step = float(str(e.value).split("step=")[1].split(")")[0])
    motion = run(pendulum(), hanging(speed=2.0), (0, 3), method, step=step, stabilization=vn.Guaranteed(epsilon))
    assert motion.kept
    assert motion.largest_residuals["rod", "position"] < epsilon


def test_adaptive_methods_and_wrong_numbers_are_refused():
    for method, treatment, message in (
        ("taylor", vn.Guaranteed(1e-6), "fixed step"),
        ("rk4", vn.Guaranteed(-1.0), "positive accuracy"),
        ("ab2", vn.Guaranteed(1e-6, sampled=True), "stages of a Runge-Kutta method"),
    ):
        with pytest.raises(vn.VinculumError, match=message):
            run(pendulum(), hanging(), (0, 1), method, stabilization=treatment)
    with pytest.raises(vn.VinculumError, match="forward in time"):
        run(pendulum(), hanging(), (1, 0), "rk4", stabilization=vn.Guaranteed(1e-6))


def test_without_constraints_nothing_chooses_the_step():
    """There is nothing to hold, so that no accuracy decides the step: it must be given."""
    x = dynamicsymbols("x")
    free = vn.derive(vn.System([x], x.diff() ** 2 / 2))
    for method in FIXED_STEP:
        with pytest.raises(vn.VinculumError, match="needs a positive step"):
            vn.simulate(free, {x: 0, x.diff(): 1}, (0, 1), method, stabilization=vn.Guaranteed(1e-6))


def test_the_promise_is_stored_with_the_trajectory(tmp_path):
    motion = run(pendulum(), hanging(), (0, 1), "rk4", stabilization=vn.Guaranteed(1e-6))
    motion.save(tmp_path / "run.nc")
    assert vn.read_trajectory(tmp_path / "run.nc").promised == motion.promised
    assert "promised" in repr(motion)


# -- the recursion -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "limit"), [("euler", 2.0), ("midpoint", 2.0), ("rk4", 2.785293563405282)])
def test_stability_limits_of_runge_kutta_methods(method, limit):
    assert METHODS[method].stability_limit() == pytest.approx(limit, rel=1e-10)


@pytest.mark.parametrize(
    ("method", "R", "P"),
    [("euler", lambda z: 1 - z, lambda z: 0.5), ("midpoint", lambda z: 1 - z + z**2 / 2, lambda z: -z / 8),
     ("rk4", lambda z: 1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24, lambda z: -(z**3) / 96)],
)  # fmt: skip
def test_growth_and_stage_defect_are_those_of_the_table(method, R, P):
    for z in (0.1, 0.7, 1.9):
        assert METHODS[method].growth(z) == pytest.approx(R(z), rel=1e-13)
        assert METHODS[method].stage_defect(z) == pytest.approx(P(z), rel=1e-13)


@pytest.mark.parametrize(
    ("method", "z", "least"), [("ab2", 0.67, 1.52), ("ab3", 0.40, 2.58), ("ab4", 0.24, 4.31), ("ab5", 0.14, 7.38)]
)
def test_the_worst_case_of_adams_methods(method, z, least):
    """The smallest sum of the absolute impulse response, and where."""
    assert amplification(METHODS[method].step_matrix([z], 1.0, False), 1)[0, 0] == pytest.approx(least, abs=0.02)


@pytest.mark.parametrize("method", ADAMS)
@pytest.mark.parametrize("order", [1, 2])
def test_the_recursion_of_adams_methods_turns_unstable_at_their_limit(method, order):
    from vinculum.derivation.program.perturbation import binomial

    for share, stable in ((0.97, True), (1.03, False)):
        S = METHODS[method].step_matrix(binomial(order, share * METHODS[method].largest), 1.0, False)
        assert bool(np.abs(np.linalg.eigvals(S)).max() < 1) is stable


@pytest.mark.parametrize("method", RUNGE_KUTTA)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_deadbeat_gains_make_the_recursion_nilpotent(method, order):
    from vinculum.simulation.stabilization.stabilization import deadbeat

    tableau = METHODS[method]
    S = tableau.step_matrix(deadbeat(order, tableau.order), 1.0, True)
    assert np.abs(np.linalg.matrix_power(S, order)).max() < 1e-9
