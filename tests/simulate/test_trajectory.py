"""A trajectory gives back every quantity of the motion by the user's own symbols."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.random_systems import consistent_state, random_system, values
from simulate.models import (
    KINDS,
    SKATE_START,
    cartesian_system,
    g,
    hanging,
    l,
    m,
    omega,
    pendulum,
    run,
    skate,
    t,
    theta,
    x,
    y,
)

push = sp.Symbol("push")


@cache
def swing() -> vn.Trajectory:
    return run(pendulum(), hanging(speed=0.5), (0, 2))


# -- by symbol ------------------------------------------------------------------------------------------------


def test_coordinates_velocities_and_accelerations_are_derivatives_of_each_other():
    """Fourth-order differences of the samples, at a distance of 2 ms."""
    motion = swing()
    step = motion.t[1] - motion.t[0]

    def slope(samples: np.ndarray) -> np.ndarray:
        return (samples[:-4] - 8 * samples[1:-3] + 8 * samples[3:-1] - samples[4:]) / (12 * step)

    np.testing.assert_allclose(slope(motion[x]), motion[x.diff()][2:-2], rtol=0, atol=1e-8)
    np.testing.assert_allclose(slope(motion[x.diff()]), motion[x.diff(t, 2)][2:-2], rtol=0, atol=1e-7)


def test_any_expression_of_symbols():
    """Coordinates, velocities, accelerations, parameters, time and reactions together."""
    motion = swing()
    expression = sp.sin(x) * y.diff() + m * x.diff(t, 2) - t * g + vn.reaction("rod") / l
    expected = np.sin(motion[x]) * motion[y.diff()] + motion[x.diff(t, 2)] - motion.t * 9.81 + motion.reactions["rod"]
    np.testing.assert_allclose(motion[expression], expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(motion(expression), motion[expression])


def test_the_symbol_of_time_is_the_time():
    np.testing.assert_array_equal(swing()[t], swing().t)


def test_a_parameter_and_a_number_are_constants():
    motion = swing()
    np.testing.assert_array_equal(motion[g], np.full(len(motion.t), 9.81))
    np.testing.assert_array_equal(motion(3), np.full(len(motion.t), 3.0))
    np.testing.assert_array_equal(motion[sp.Integer(3)], np.full(len(motion.t), 3.0))


def test_names_work_as_well_as_symbols():
    motion = swing()
    np.testing.assert_array_equal(motion["x"], motion[x])
    np.testing.assert_array_equal(motion["y_dot"], motion[y.diff()])


def test_an_input_has_the_values_of_its_law():
    equations = vn.derive(cartesian_system(forces={x: push}, inputs=[push]))
    motion = run(equations, hanging(), (0, 1), inputs={push: sp.cos(t) * y})
    np.testing.assert_allclose(motion[push], np.cos(motion.t) * motion[y], rtol=0, atol=1e-15)


def test_an_unknown_symbol_is_refused_with_the_nearest_known_one():
    with pytest.raises(vn.VinculumError, match="thet is not known"):
        run(skate(), SKATE_START, (0, 1))[sp.Function("thet")(t)]
    with pytest.raises(vn.VinculumError, match=r"Did you mean y_dot\?"):
        swing()["ydot"]
    with pytest.raises(vn.VinculumError, match=r"reaction\(rood\).*Did you mean reaction\(rod\)"):
        swing()[vn.reaction("rood")]


# -- reactions and residuals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
@pytest.mark.parametrize("name", KINDS)
def test_reactions_have_the_sign_of_lagranges_equations(form, name):
    """M q̈ + h = Q + Jᵀλ at every sample, every term by SymPy."""
    equations, start = KINDS[name]
    system = equations(form).system
    motion = run(equations(form), start, np.linspace(0, 2, 9))
    assert_lagrange(system, motion, {})


@pytest.mark.parametrize("seed", [2, 6])
def test_reactions_of_random_systems_have_that_sign_too(seed):
    system = random_system(seed, n=2 + seed % 3)
    state = consistent_state(system, np.random.default_rng(seed))
    laws = dict(zip(system.inputs, (sp.sin(t), sp.S.One / 2), strict=True))
    begin = state[t]
    initial = {key: state[key] for key in (*system.coordinates, *system.velocities)}
    motion = run(vn.derive(system), initial, np.linspace(begin, begin + 0.5, 5), inputs=laws)
    assert_lagrange(system, motion, laws)


def assert_lagrange(system: vn.System, motion: vn.Trajectory, laws: dict) -> None:
    """d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ - Q - Jᵀλ = 0."""
    lagrangian = system.kinetic_energy - system.potential_energy
    multipliers = {c.name: sp.Symbol(f"multiplier_{c.name}") for c in system.constraints}
    rows = {c.name: c.expression.diff(t) if isinstance(c, vn.Holonomic) else c.expression for c in system.constraints}
    balances = []
    for q, v in zip(system.coordinates, system.velocities, strict=True):
        reaction = sum(symbol * rows[name].diff(v) for name, symbol in multipliers.items())
        force = system.forces.get(q, 0) - system.dissipation.diff(v)
        balances.append(lagrangian.diff(v).diff(t) - lagrangian.diff(q) - force - reaction)
    balances = [balance.xreplace(laws) for balance in balances]
    accelerations = [q.diff(t, 2) for q in system.coordinates]
    for i in range(len(motion.t)):
        known = {key: motion[key][i] for key in (*system.coordinates, *system.velocities, *accelerations)}
        known |= {symbol: motion.reactions[name][i] for name, symbol in multipliers.items()}
        known |= dict(system.parameters) | {t: motion.t[i]}
        size = 1 + max(map(abs, known.values())) ** 2
        np.testing.assert_allclose(values(balances, known), 0, rtol=0, atol=1e-12 * size)


def test_the_tension_of_a_pendulum():
    """-λ l = m v²/l + m g cos θ."""
    motion = swing()
    speed = motion[x.diff() ** 2 + y.diff() ** 2]
    np.testing.assert_allclose(-motion.reactions["rod"], speed - 9.81 * motion[y], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(motion[vn.reaction("rod")], motion.reactions["rod"])


@pytest.mark.parametrize("treatment", ["baumgarte", "projection", "none"])
def test_reactions_do_not_contain_the_feedback(treatment):
    """Stabilization is a device of the computation: the force of the rod is that of mechanics, wherever it is."""
    motion = run(pendulum(), hanging(), (0, 1), "ab2", step=1e-2, stabilization=treatment)
    square = motion[x**2 + y**2]
    exact = -(motion[x.diff() ** 2 + y.diff() ** 2] - 9.81 * motion[y]) / square
    np.testing.assert_allclose(motion.reactions["rod"], exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_residuals_are_the_constraints_and_their_rates(name):
    equations, start = KINDS[name]
    system = equations().system
    motion = run(equations(), start, (0, 1), "ab2", step=1e-2)
    for constraint in system.constraints:
        f = constraint.expression
        if isinstance(constraint, vn.Holonomic):
            np.testing.assert_allclose(motion.residuals[constraint.name, "position"], motion[f], rtol=0, atol=1e-14)
            f = f.diff(t)
        np.testing.assert_allclose(motion.residuals[constraint.name, "velocity"], motion[f], rtol=0, atol=1e-14)
    holonomic = sum(isinstance(c, vn.Holonomic) for c in system.constraints)
    assert len(motion.residuals) == len(system.constraints) + holonomic


def test_the_largest_residuals_are_those_of_all_steps():
    """Here every step is a sample; with few samples the same numbers are reported."""
    every = run(pendulum(), hanging(), (0, 1), "ab2", step=1e-2)
    few = run(pendulum(), hanging(), [0, 0.5, 1], "ab2", step=1e-2)
    assert few.largest_residuals == every.largest_residuals
    for key, residual in every.residuals.items():
        assert every.largest_residuals[key] == pytest.approx(np.abs(residual).max(), rel=1e-12)


def test_a_system_without_constraints_has_no_residuals():
    equations = vn.derive(vn.System([theta], theta.diff() ** 2 / 2, -sp.cos(theta)))
    motion = run(equations, {theta: 1.0}, (0, 1))
    assert motion.residuals == {}
    assert motion.reactions == {}
    assert motion.largest_residuals == {}
    assert "no constraints" in motion.stabilization


def test_the_energy_is_that_of_the_system():
    motion = swing()
    np.testing.assert_allclose(motion.energy, motion[m * (x.diff() ** 2 + y.diff() ** 2) / 2 + m * g * y], rtol=1e-14)


# -- between the samples --------------------------------------------------------------------------------------


def test_dense_output_of_taylor_is_as_good_as_its_steps():
    motion = run(pendulum(), hanging(), (0, 5), dense=True)
    times = np.sort(np.random.default_rng(3).uniform(0, 5, 200))
    exact = run(pendulum(), hanging(), np.concatenate([[0], times, [5]]))
    found = motion.at(times)
    np.testing.assert_allclose(found["x"], exact[x][1:-1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found["y_dot"], exact[y.diff()][1:-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("method", "rate"), [("rk4", 4), ("ab5", 4), ("midpoint", 2)])
def test_dense_output_of_fixed_steps_is_cubic(method, rate):
    """O(τ⁴), or the order of the method where that decides; also when only few samples were asked for."""
    times = np.sort(np.random.default_rng(3).uniform(0, 2, 200))
    exact = run(pendulum(), hanging(), np.concatenate([[0], times, [2]]))[x][1:-1]
    for asked in ((0, 2), [0, 1, 2]):
        errors = [
            np.abs(run(pendulum(), hanging(), asked, method, step=step, dense=True).at(times)["x"] - exact).max()
            for step in (2e-2, 1e-2, 5e-3)
        ]
        slope = np.polyfit(np.log([2e-2, 1e-2, 5e-3]), np.log(errors), 1)[0]
        assert slope > rate - 0.3


@pytest.mark.parametrize("times", [(0, 3), (3, 0)], ids=["forward", "backward"])
def test_dense_output_of_bdf_keeps_its_accuracy(times):
    """The tolerance is 1e-9; interpolation may not cost more than a few digits of it."""
    motion = run(pendulum(), hanging(), times, "bdf", dense=True)
    inside = np.linspace(*times, 777)
    exact = run(pendulum(), hanging(), inside)[x]
    np.testing.assert_allclose(motion.at(inside)["x"], exact, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("method", "options"), [("taylor", {}), ("rk4", {"step": 1e-2}), ("bdf", {})])
def test_dense_output_meets_the_samples(method, options):
    motion = run(pendulum(), hanging(), (0, 2), method, dense=True, **options)
    np.testing.assert_allclose(motion.at(motion.t)["x"], motion[x], rtol=0, atol=1e-14)


def test_dense_output_of_one_instant():
    motion = run(pendulum(), hanging(), (0, 2), dense=True)
    assert motion.at(0.0)["x"] == pytest.approx(np.sin(1.0), abs=1e-15)


def test_dense_output_has_to_be_asked_for():
    with pytest.raises(vn.VinculumError, match="dense=True"):
        swing().at(0.5)


@pytest.mark.parametrize("time", [-0.1, 2.1])
def test_there_is_no_dense_output_outside_the_run(time):
    motion = run(pendulum(), hanging(), (0, 2), dense=True)
    with pytest.raises(vn.VinculumError, match="covers 0 to 2"):
        motion.at(time)


@pytest.mark.parametrize("method", ["taylor", "rk4"])
def test_dense_output_ends_with_a_terminal_event(method):
    options = {} if method == "taylor" else {"step": 1e-2}
    event = vn.Event(x, "below", terminal=True)
    motion = run(pendulum(), hanging(), (0, 2), method, events=[event], dense=True, **options)
    assert motion.at(motion.t[-1])["x"] == pytest.approx(0.0, abs=1e-9)


# -- records --------------------------------------------------------------------------------------------------


def test_a_trajectory_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        swing().outcome = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        swing().outcome.time = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        vn.Event(x, "below").name = "above"


def test_a_trajectory_introduces_itself():
    """Time, outcome, method, stabilization, energy error, residuals and events, a row each."""
    motion = run(pendulum(), hanging(), (0, 2), "rk4", step=1e-2, events=[vn.Event(x, "below")])
    text = repr(motion)
    for part in ("0 to 2", "201 samples", "200 steps", "finished", "rk4, step 0.01", "sampled", "energy error"):
        assert part in text
    for row in ("rod, position", "rod, velocity", "event below"):
        assert row in text
    assert f"{motion.events[0].time:.6g}" in text
    assert len(text.splitlines()) < 15


def test_seconds_say_where_the_time_went():
    assert {"start", "compile", "run"} <= set(swing().seconds)
    assert all(value >= 0 for value in swing().seconds.values())


def test_rows_of_a_moving_wire_are_those_of_the_user():
    """ω is a parameter, the angle an expression of it and of time."""
    equations, start = KINDS["moving wire"]
    motion = run(equations(), start, (0, 2))
    angle = motion[sp.atan2(y, x)]
    np.testing.assert_allclose(np.unwrap(angle), motion[omega * t], rtol=0, atol=1e-13)


def test_a_curve_used_beyond_its_points_is_named():
    """A spring measured up to ±1: a swing of 0.9 stays within, one of 1.5 does not, and says how far it went."""
    x = dynamicsymbols("x")
    places = np.linspace(-1, 1, 9)
    spring = vn.spline(x, places, places**3, name="spring")
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, forces={x: -spring}))
    inside, outside = (vn.simulate(equations, {x: start, x.diff(): 0}, (0, 10)) for start in (0.9, 1.5))
    assert not inside.beyond
    (found,) = outside.beyond
    assert found.name == "spring"
    assert found.used == (outside[x].min(), 1.5)
    assert found.points == (-1, 1)
    assert "spring was used from" in repr(outside)
    assert "warning" not in repr(inside)
