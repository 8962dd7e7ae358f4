"""A run that cannot go on ends with a named reason, at the last good state."""

from __future__ import annotations

import json
from string import Formatter

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import hanging, k, pendulum, r, s, t, theta, x, y
from vinculum.simulation.trajectory.outcome import SENTENCES, from_json, to_json

METHODS = [("taylor", {}), ("rk4", {"step": 1e-3}), ("ab4", {"step": 1e-3}), ("bdf", {})]
every_method = pytest.mark.parametrize(("method", "options"), METHODS)


def attempt(equations: vn.EquationsOfMotion, start: dict, times: object, method: str = "taylor", **options: object):
    """A run that may end early."""
    return vn.simulate(equations, start, times, method, progress=False, **options)


def on_a_line(**fields: object) -> vn.EquationsOfMotion:
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, **fields))


def assert_usable(motion: vn.Trajectory) -> None:
    """What was computed before the end is there, finite, and ends where the outcome says."""
    for quantity in (x, x.diff()):
        assert np.all(np.isfinite(motion[quantity]))
    assert len(motion.t) > 1
    assert motion.t[-1] == motion.outcome.time
    assert np.all(np.diff(motion.t) > 0)


def falling() -> vn.EquationsOfMotion:
    """Kepler's problem on a line: from rest at distance 1 the center is reached after π/(2√2)."""
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, -k / x, parameters={k: 1.0}, name="falling"))


FALL = np.pi / (2 * np.sqrt(2))


# -- runs that reach their end, but are lost ------------------------------------------------------------------


def oscillator(length: float = 1.0, mass: float = 1.0) -> vn.EquationsOfMotion:
    """Angular frequency 10, in any units of length and mass."""
    inertia = mass / length**2
    return vn.derive(vn.System([x], inertia * x.diff() ** 2 / 2, inertia * 100 * x**2 / 2, name="oscillator"))


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mass", [1e-9, 1.0])
@pytest.mark.parametrize(("step", "kind"), [(0.31, "inaccurate"), (0.01, "finished")])
def test_a_step_beyond_the_stability_limit_is_named(step, kind, length, mass):
    """rk4 needs h ω < 2.83. The verdict does not depend on units."""
    motion = attempt(oscillator(length, mass), {x: length}, (0, 20), "rk4", step=step)
    assert motion.outcome.kind == kind
    assert bool(motion.outcome) == (kind == "finished")
    assert motion.outcome.time == 20
    assert ("energy error" in motion.outcome.reason) == (kind == "inaccurate")


def test_the_advice_names_the_step():
    motion = attempt(oscillator(), {x: 1.0}, (0, 20), "euler", step=0.1)
    assert "The step 0.1 is too large" in motion.outcome.reason


def test_damping_that_is_too_fast_for_the_step_is_named():
    """The work of the friction grows as fast as the energy, with the other sign."""
    equations = on_a_line(potential_energy=x**2 / 2, dissipation=50 * x.diff() ** 2)
    assert attempt(equations, {x: 1.0}, (0, 5), "rk4", step=0.03).outcome.kind == "inaccurate"
    assert attempt(equations, {x: 1.0}, (0, 5), "rk4", step=0.01).outcome.kind == "finished"


@every_method
def test_an_unstable_system_may_grow(method, options):
    """x = cosh(t)/1000 grows to 1e22: that is its motion."""
    motion = attempt(on_a_line(potential_energy=-(x**2) / 2), {x: 1e-3}, (0, 60), method, **options)
    assert motion.outcome.kind == "finished"
    assert motion[x][-1] > 1e22


def test_a_constraint_that_is_not_held_is_named():
    """The radius of a force-free ring shrinks by an eighth, and its energy by less than half."""
    system = vn.System(
        [x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, constraints=[vn.Holonomic(x**2 + y**2 - 1, name="ring")]
    )
    start = {x: 1.0, y: 0.0, y.diff(): 1.0}
    lost = attempt(vn.derive(system), start, (0, 60), "rk4", step=0.8, stabilization="none")
    assert lost.outcome.kind == "inaccurate"
    assert "constraint `ring` is not held: its residual reached 0.22" in lost.outcome.reason
    assert attempt(vn.derive(system), start, (0, 60), "rk4", step=0.05).outcome.kind == "finished"


@every_method
@pytest.mark.parametrize("angle", [0.0, 1e-8, np.pi / 2])
def test_a_motion_at_the_level_of_rounding_is_not_lost(method, options, angle):
    """At rest, or nearly: errors are as large as the motion, and mean nothing."""
    system = vn.System(
        [x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, constraints=[vn.Holonomic(x**2 + y**2 - 1, name="ring")]
    )
    start = {x: float(np.sin(angle)), y: -float(np.cos(angle)), x.diff(): 0.0, y.diff(): 0.0}
    assert attempt(vn.derive(system), start, (0, 5), method, **options).outcome.kind == "finished"
    assert attempt(pendulum(), hanging(min(angle, 1e-8)), (0, 5), method, **options).outcome.kind == "finished"


# -- numbers without bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "options"), METHODS)
@pytest.mark.parametrize("dense", [False, True])
def test_a_motion_that_is_at_rest_at_every_sample_is_not_lost(method, options, dense):
    """v = 1 - cos t is zero after every period, but energy is lost and found in between."""
    times = 2 * np.pi * np.arange(5)
    motion = attempt(on_a_line(forces={x: sp.sin(t)}), {x: 0.0}, times, method, dense=dense, **options)
    assert motion.outcome.kind == "finished"
    assert list(motion.t) == list(times)
    np.testing.assert_allclose(motion[x], times, rtol=0, atol=1e-4)
    if dense:
        np.testing.assert_allclose(motion.at([np.pi, 20.0])["x"], [np.pi, 20 - np.sin(20)], rtol=0, atol=1e-4)


def test_falling_into_a_center_ends_with_the_division_named():
    motion = attempt(falling(), {x: 1.0}, (0, 5))
    assert motion.outcome.kind == "non-finite"
    assert not motion.outcome
    assert "division" in motion.outcome.reason
    assert "x" in motion.outcome.reason
    assert motion.outcome.time == pytest.approx(FALL, abs=1e-9)
    assert_usable(motion)


def test_a_stiff_method_does_not_pass_through_a_center():
    """An adaptive method controls its error, so it cannot come out on the other side."""
    motion = attempt(falling(), {x: 1.0}, (0, 5), "bdf")
    assert not motion.outcome
    assert motion.outcome.time < 1.12
    assert_usable(motion)


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_a_fixed_step_that_jumps_over_a_center_shows_it_in_the_energy(method):
    """It cannot see the center, but the energy error it reports is beyond all bounds."""
    motion = attempt(falling(), {x: 1.0}, (0, 2), method, step=1e-3)
    assert motion.energy_error > 0.1


@every_method
@pytest.mark.parametrize(
    ("force", "operation", "time"), [(-2 - sp.log(x), "log", 1.0710624), (-1 - sp.sqrt(x), "sqrt", 1.0258026)]
)
def test_an_operation_that_leaves_its_domain_is_named(method, options, force, operation, time):
    """The particle is drawn to x < 0, where the force has no value."""
    motion = attempt(on_a_line(forces={x: force}), {x: 1.0}, (0, 5), method, **options)
    assert motion.outcome.time == pytest.approx(time, abs=0.01)  # the last sample or step before it
    assert_usable(motion)
    if method == "bdf":  # which sees only that its iterations do not converge
        assert motion.outcome.kind in ("non-finite", "stalled")
    else:
        assert motion.outcome.kind == "non-finite"
        assert f"{operation}(x)" in motion.outcome.reason


@every_method
def test_a_motion_that_runs_away_in_finite_time_names_what_grows(method, options):
    """ẍ = 4x³ from x = 1 at rest reaches infinity at t = 0.927."""
    motion = attempt(on_a_line(potential_energy=-(x**4)), {x: 1.0}, (0, 5), method, **options)
    assert motion.outcome.kind in ("non-finite", "stalled")
    assert motion.outcome.time == pytest.approx(0.927, abs=0.02)
    assert_usable(motion)
    if method != "bdf":
        assert "x" in motion.outcome.reason
        assert "grew" in motion.outcome.reason


@every_method
def test_reasons_are_written_in_names_of_the_user(method, options):
    """Forces do work, which is integrated too; no reason may show how."""
    motion = attempt(on_a_line(forces={x: sp.exp(x)}), {x: 1.0}, (0, 50), method, **options)
    assert not motion.outcome
    assert "x" in motion.outcome.reason or "step size" in motion.outcome.reason
    assert "('" not in motion.outcome.reason  # a key of the expression graph


@every_method
def test_a_start_where_the_force_has_no_value(method, options):
    """A refusal or an outcome, either with the operation named."""
    assert "log(x)" in said(on_a_line(forces={x: sp.log(x)}), {x: -1.0}, (0, 1), method, **options)


def said(*arguments: object, **options: object) -> str:
    """The message about a run that cannot begin: the refusal, or the outcome."""
    try:
        return str(attempt(*arguments, **options).outcome)
    except vn.VinculumError as refusal:
        return str(refusal)


@every_method
def test_nothing_is_written_to_the_terminal(method, options, capfd):
    """The libraries below are silent; all that is to be said is in the outcome."""
    attempt(falling(), {x: 1.0}, (0, 5), method, **options)
    attempt(on_a_line(forces={x: -1 - sp.sqrt(x)}), {x: 1.0}, (0, 5), method, **options)
    written = capfd.readouterr()
    assert written.out == ""
    assert written.err == ""


# -- singular configurations ----------------------------------------------------------------------------------


def stretching(form: str = "multipliers") -> vn.EquationsOfMotion:
    """Two bars of length 1 whose end is drawn along a line to x = t: at t = 2 they are stretched out."""
    reach = vn.Holonomic(sp.cos(x) + sp.cos(y) - t, name="reach")
    level = vn.Holonomic(sp.sin(x) + sp.sin(y), name="level")
    kinetic = x.diff() ** 2 + y.diff() ** 2 + s.diff() ** 2
    return vn.derive(vn.System([x, y, s], kinetic, s**2, constraints=[reach, level], name="two bars"), form)


@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
@pytest.mark.parametrize("stabilization", [None, "none", "projection"])
def test_bars_that_are_stretched_out_end_the_run(form, stabilization):
    """The gradient (-sin x, -sin y, 0) of the reach vanishes there; all the rest is innocent."""
    motion = attempt(stretching(form), {x: 1.0, y: -1.0, s: 0.1}, (1, 5), fixed=[s], stabilization=stabilization)
    assert motion.outcome.kind == "singular"
    assert motion.outcome.time == pytest.approx(2.0, abs=1e-6)
    assert "reach" in motion.outcome.reason
    assert "level" not in motion.outcome.reason
    assert "of s " not in motion.outcome.reason
    assert_usable(motion)


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_bars_that_are_stretched_out_end_the_run_by_other_methods(method):
    motion = attempt(stretching(), {x: 1.0, y: -1.0, s: 0.1}, (1, 5), method, fixed=[s], step=1e-3)
    assert not motion.outcome
    assert motion.outcome.time == pytest.approx(2.0, abs=0.01)
    assert_usable(motion)


def test_an_inertia_that_vanishes_is_named():
    """The polar angle has none at the center."""
    kinetic = (r.diff() ** 2 + r**2 * theta.diff() ** 2) / 2
    equations = vn.derive(vn.System([r, theta], kinetic, name="polar"))
    motion = attempt(equations, {r: 1.0, theta: 0.3, r.diff(): -1.0}, (0, 3))
    assert motion.outcome.kind in ("singular", "non-finite")
    assert "r" in motion.outcome.reason
    assert motion.outcome.time == pytest.approx(1.0, abs=1e-6)


def test_redundant_constraints_do_not_hide_what_went_wrong():
    """With least squares the dependence is known and wanted; the division is the reason."""
    walls = [vn.Holonomic(y, name="wall"), vn.Holonomic(2 * y, name="same wall")]
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, -1 / x, constraints=walls)
    motion = attempt(vn.derive(system, redundant="least_squares"), {x: 1.0, y: 0.0}, (0, 5))
    assert motion.outcome.kind == "non-finite"
    assert "division" in motion.outcome.reason


# -- records --------------------------------------------------------------------------------------------------


def test_an_outcome_says_whether_the_run_went_well():
    """Finished and ended by an event are good; all else is not."""
    good = {kind: bool(vn.simulation.Outcome(kind, 1.0, "why")) for kind in ("finished", "event")}
    bad = {
        kind: bool(vn.simulation.Outcome(kind, 1.0, "why"))
        for kind in ("interrupted", "singular", "non-finite", "stalled")
    }
    assert all(good.values())
    assert not any(bad.values())


def test_an_outcome_introduces_itself():
    assert str(vn.simulation.Outcome("stalled", 1.25, "a wall")) == "stalled at t = 1.25: a wall"


def test_a_kind_and_a_cause_are_from_fixed_lists():
    with pytest.raises(vn.VinculumError, match=r"no kind of outcome 'tired'\. Use one of finished, event"):
        vn.simulation.Outcome("tired", 1.0)
    with pytest.raises(vn.VinculumError, match=r"no cause 'divison'\. Did you mean division"):
        vn.simulation.Cause("divison")


def numbers_of(sentence: str) -> list[str]:
    return [name for _, name, digits, _ in Formatter().parse(sentence) if name and digits]


@pytest.mark.parametrize("name", SENTENCES)
def test_every_cause_has_a_sentence_and_survives_a_file(name):
    """Each name in a sentence comes from the data; nothing else is needed to write it."""
    kinds = ("event", "expression", "operation", "state", "constraint", "level")
    about = [vn.errors.About(kind, f"my {kind}") for kind in kinds]
    finding = vn.errors.Finding("It broke.", ["Use ", vn.errors.call("derive", form="hamel"), "."])
    cause = vn.simulation.Cause(name, about, dict.fromkeys(numbers_of(SENTENCES[name]), 0.25), finding)
    outcome = vn.simulation.Outcome("stalled", 2.0, cause)
    assert "{" not in outcome.reason
    assert bool(outcome.reason) == (name != "unknown")
    again = from_json(json.loads(json.dumps(to_json(outcome))))
    assert str(again) == str(outcome)
    assert (again.about, again.numbers, again.cause.name) == (outcome.about, outcome.numbers, name)


def test_an_outcome_of_an_older_file_is_read():
    old = from_json(["stalled", 1.25, "a wall {here}"])
    assert str(old) == "stalled at t = 1.25: a wall {here}"
    assert old == from_json(to_json(old))


def test_the_cause_of_a_fall_is_data():
    outcome = attempt(falling(), {x: 1.0}, (0, 5)).outcome
    assert outcome.cause.name == "division"
    assert outcome.about == (("expression", "x"),)
    assert 0 < outcome.numbers["value"] < 1e-6


def test_the_cause_of_a_motion_that_runs_away_is_the_fastest_state():
    outcome = attempt(on_a_line(potential_energy=-(x**4)), {x: 1.0}, (0, 5), "rk4", step=1e-3).outcome
    assert (outcome.cause.name, outcome.about) == ("growth", (("state", "dot(x)"),))


def test_the_cause_of_a_terminal_event_is_its_name():
    ground = vn.Event(x, name="ground", terminal=True)
    outcome = attempt(on_a_line(potential_energy=x), {x: 1.0}, (0, 5), events=[ground]).outcome
    assert (outcome.kind, outcome.cause.name, outcome.about) == ("event", "terminal event", (("event", "ground"),))
    assert outcome.reason == "the event 'ground' ended the run"


def test_a_finished_run_says_so():
    motion = attempt(pendulum(), hanging(), (0, 1))
    assert motion.outcome.kind == "finished"
    assert motion.outcome.time == 1
