"""What a run with a promised accuracy says about itself is a fact: short pulses, close encounters, chaos."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vinculum as vn
from simulate.models import hanging, pendulum
from simulate.promises import (
    Case,
    X,
    Y,
    equations,
    families,
    gravity,
    phi,
    pull,
    push,
    run,
    run_case,
    soft,
    t,
    theta,
    when,
    width,
)
from vinculum.simulation.problem.pulses import longest_step, shortest_pulse
from vinculum.simulation.stabilization import guaranteed_run

SWING = {theta: 1.0, theta.diff(t): 0.5}
TWO = {theta: 1.9, phi: 2.0, theta.diff(t): 0.0, phi.diff(t): 0.0}
QUIET = {push: 0.0, when: 1.0, width: 1.0}


def pulse(family: str, method: str = "rk4", trajectory: float | None = None) -> Case:
    """A push of 0.01 s in a run of 20 s."""
    numbers = {gravity: 9.81, push: 100.0, when: 11.237, width: 0.01}
    return Case(family, method, 20.0, 1e-6, trajectory, None, SWING, numbers)


def start_of(case: Case) -> dict:
    """The start of a case on its constraints."""
    same = families()[case.family].same
    known = {**{key.diff(t): value.diff(t) for key, value in same.items()}, **same}
    return {key: float(value.doit().subs(case.start)) for key, value in known.items()}


def simulate(case: Case, **options) -> vn.Trajectory:
    """The run of a case."""
    treatment = vn.Guaranteed(case.epsilon, trajectory=case.trajectory)
    return vn.simulate(
        equations(case.family, False), start_of(case), (0, case.span), case.method, step=case.step,
        stabilization=treatment, parameters=case.numbers, progress=False, **options,
    )  # fmt: skip


@pytest.mark.parametrize("family", ["smooth pulse", "sudden pulse"])
def test_a_pulse_of_a_hundredth_of_a_second_in_twenty(family):
    """The residual stays within its bound on the dense output, and the motion is the one with the pulse."""
    assert run_case(pulse(family, trajectory=1e-3)) == ("kept, with trajectory", "")


@pytest.mark.parametrize("family", ["smooth pulse", "sudden pulse"])
@pytest.mark.parametrize("short", [1e-3, 1e-2, 0.3])
def test_no_step_passes_over_a_pulse(family, short):
    case = pulse(family)
    motion = simulate(replace(case, span=2.0, numbers=case.numbers | {when: 1.2, width: short}))
    assert longest_step(shortest_pulse(motion.problem, 0.0, 2.0), 2.0) <= max(short, 2.0 / 64)


def test_close_encounters_in_a_bowl():
    """A softened center of attraction is passed at a few hundredths: short and violent."""
    start = {X: 0.7, Y: 0.02, X.diff(t): 0.0, Y.diff(t): 0.1}
    case = Case("encounters", "rk4", 8.0, 1e-6, 1e-3, None, start, {gravity: 1.0, pull: 1.0, soft: 0.02})
    assert run_case(case) == ("kept, with trajectory", "")


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_a_loose_constraint_does_not_lose_the_motion(method):
    """ε = 0.3 alone would allow steps with which the motion is lost; the chosen step follows it."""
    case = Case("chaos", method, 2.0, 0.3, None, None, TWO, {gravity: 9.81, **QUIET})
    motion = simulate(case)
    fine = simulate(replace(case, epsilon=1e-6, method="rk4"))
    assert motion.kept
    assert motion.energy_error < 3.0  # of 40 J
    assert abs(motion["x"][-1] - fine["x"][-1]) < 0.1


def test_chaos_ends_the_run_where_the_trajectory_is_lost():
    """With a given step the accuracy is lost at some time; up to there it is kept."""
    case = Case("chaos", "rk4", 20.0, 1e-2, 1e-4, 1e-2, TWO, {gravity: 9.81, **QUIET})
    motion = simulate(case)
    assert motion.outcome.kind == "inaccurate"
    assert motion.outcome.cause.name == "trajectory lost"
    assert not motion.kept
    assert 1.0 < motion.outcome.time < 20.0
    assert motion.t[-1] <= motion.outcome.time
    assert "Use a smaller step" in motion.outcome.reason
    again = simulate(replace(case, span=float(motion.t[-1]), step=2e-4, trajectory=None), dense=True)
    exact = again.at(motion.t)
    assert max(np.abs(exact[name] - motion[name]).max() for name in ("x", "y", "X", "Y")) < 1e-4


def test_a_broken_bound_leads_to_a_smaller_step_or_ends_the_run(monkeypatch):
    """Bounds that are too good to be true are noticed at the first step that exceeds them."""
    honest = guaranteed_run.make_promise

    def boasting(*given):
        found = honest(*given)
        return replace(found, bounds={key: bound / 300 for key, bound in found.bounds.items()}, worst=given[1].epsilon)

    monkeypatch.setattr(guaranteed_run, "make_promise", boasting)
    promise = vn.Guaranteed(1e-4)
    given = vn.simulate(pendulum(), hanging(speed=2.0), (0, 3), "rk4", step=0.02, stabilization=promise)
    assert given.outcome.cause.name == "bound exceeded"
    assert given.outcome.cause.named("constraint") == ["rod"]
    assert given.outcome.numbers["residual"] > given.outcome.numbers["bound"]
    assert "Use a smaller step, such as 0.01" in given.outcome.reason
    assert given.t[-1] == pytest.approx(given.outcome.time)
    assert not given.kept
    steps = []
    monkeypatch.setattr(
        guaranteed_run, "make_promise", lambda *a: steps.append(1) or (boasting if len(steps) < 3 else honest)(*a)
    )
    chosen = vn.simulate(pendulum(), hanging(speed=2.0), (0, 3), "rk4", stabilization=promise)
    assert chosen.kept
    assert len(steps) == 3


def test_the_accuracy_of_a_trajectory_is_stored_and_shown(tmp_path):
    promise = vn.Guaranteed(1e-4, trajectory=1e-6)
    motion = vn.simulate(pendulum(), hanging(), (0, 1), "rk4", stabilization=promise)
    assert 0 < motion.trajectory_error <= 1e-6
    assert "trajectory error" in repr(motion)
    motion.save(tmp_path / "run.nc")
    assert vn.read_trajectory(tmp_path / "run.nc").trajectory_error == motion.trajectory_error
    with pytest.raises(vn.VinculumError, match="positive accuracy; got 0"):
        vn.simulate(pendulum(), hanging(), (0, 1), "rk4", stabilization=vn.Guaranteed(1e-4, trajectory=0.0))


@pytest.mark.parametrize("method", ["rk4", "ab4"])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_accuracy_of_few_steps_is_known(method, count):
    promise, times = vn.Guaranteed(1e-3, trajectory=1e-2), (0, 0.01 * count)
    motion = vn.simulate(pendulum(), hanging(), times, method, step=0.01, stabilization=promise)
    assert motion.kept, str(motion)
    exact = vn.simulate(pendulum(), hanging(), np.linspace(*times, 3))
    for name in ("x", "y"):
        assert abs(motion.last_state[name] - exact.last_state[name]) <= motion.trajectory_error < 1e-4


def test_a_trajectory_accuracy_needs_no_constraints():
    """It chooses the step of a free motion too."""
    free = vn.simulate(equations("chaos", True), TWO, (0, 2), "rk4", parameters={gravity: 9.81, **QUIET},
                       stabilization=vn.Guaranteed(1e-3, trajectory=1e-6))  # fmt: skip
    exact = vn.simulate(equations("chaos", True), TWO, free.t, parameters={gravity: 9.81, **QUIET})
    assert free.kept
    assert max(np.abs(free[q] - exact[q]).max() for q in (theta, phi)) <= free.trajectory_error <= 1e-6


def test_a_sample_of_the_thousand():
    """`make promises` is the long run."""
    tally = run(range(8))
    assert not tally.failures
    assert tally.counts["kept"] + tally.counts["kept, with trajectory"] > 4
