"""Digital control: the loop of a linear plant is its exact discrete solution; delays, limits, rounding, failures."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.control.digital_law import digital_law
from vinculum.control.discrete_design import sampled_loop

x = dynamicsymbols("x")
m, c, k, u = sp.symbols("m c k u")
M, C, K = 0.7, 0.3, 5.0


@pytest.fixture(scope="module")
def plant():
    system = vn.System([x], m * x.diff() ** 2 / 2, k * x**2 / 2, forces={x: u - c * x.diff()}, inputs=[u],
                       parameters={m: M, c: C, k: K}, name="oscillator")  # fmt: skip
    return vn.derive(system)


def exact(law, start, period, delay, steps, before=0.0):
    """States at the sample instants by matrix exponentials; the delay may be any number."""
    F, H = np.array([[0, 1], [-K / M, -C / M]]), np.array([0, 1 / M])

    def moved(state, u, h):
        whole = np.zeros((3, 3))
        whole[:2, :2], whole[:2, 2] = F, H
        return (scipy.linalg.expm(h * whole) @ np.append(state, u))[:2]

    state, held, commands, found = np.array(start, dtype=float), before, [], [np.array(start, dtype=float)]
    for n in range(steps):
        t = n * period
        while commands and commands[0][0] <= t + 1e-13:
            held = commands.pop(0)[1]
        commands.append((t + delay, law(t, state)))
        while commands and commands[0][0] < (n + 1) * period - 1e-13:
            due, value = commands.pop(0)
            state, held, t = moved(state, held, due - t), value, due
        state = moved(state, held, (n + 1) * period - t)
        found.append(state)
    return np.array(found)


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.02, 0.05, 0.0617])
def test_the_loop_of_a_linear_plant_is_exact(plant, delay):
    """With the delay 0.0617 three commands are under way at once."""
    period, steps = 0.02, 150
    law = lambda t, y: -3.0 * y[0] - 0.8 * y[1] + np.sin(t)  # noqa: E731
    digital = vn.Digital(lambda t, y, memory: law(t, y), period, delay, before={u: 0.5})
    times = np.arange(steps + 1) * period
    motion = vn.simulate(plant, {x: 0.3, x.diff(): -0.2}, times, inputs=digital)
    wanted = exact(law, [0.3, -0.2], period, delay, steps, before=0.5)
    assert motion.outcome.kind == "finished"
    assert np.column_stack([motion[x], motion[x.diff()]]) == pytest.approx(wanted, abs=1e-12)
    assert motion.energy_error < 1e-13  # with the work of the input


def test_a_feedback_law_with_observer_is_a_hand_written_loop(plant):
    rest = vn.equilibrium(plant, {u: 0})
    linear = vn.linearize(plant, at=rest)
    law, estimator = vn.stabilize(linear), vn.observe(linear, [x])
    period, steps = 0.01, 200
    motion = vn.simulate(plant, {x: 0.1}, np.arange(steps + 1) * period,
                         inputs=vn.Digital(law, period, estimator=estimator, limits={u: 0.2}))  # fmt: skip
    own = digital_law(law, period, estimator, {u: 0.2})
    Phi, gamma = scipy.linalg.expm(period * linear.system_matrix), None
    whole = np.zeros((3, 3))
    whole[:2, :2], whole[:2, 2:] = linear.system_matrix, linear.input_matrix
    gamma = scipy.linalg.expm(period * whole)[:2, 2]
    state, w, found = np.array([0.1, 0.0]), np.zeros(len(own.states)), [np.array([0.1, 0.0])]
    for _ in range(steps):
        sent, w = own(w, state[:1])
        state = Phi @ state + gamma * sent[0]
        found.append(state)
    assert np.column_stack([motion[x], motion[x.diff()]]) == pytest.approx(np.array(found), abs=1e-12)
    assert np.abs(motion[u]).max() <= 0.2


def test_formulas_are_sampled_and_held(plant):
    times = np.linspace(0, 0.5, 51)
    motion = vn.simulate(plant, {x: 1.0}, times, inputs=vn.Digital({u: -2 * x + sp.sin(plant.time)}, 0.1))
    for n in range(5):
        inside = motion[u][10 * n : 10 * n + 10]
        assert np.ptp(inside) == 0
        assert inside[0] == pytest.approx(-2 * motion[x][10 * n] + np.sin(0.1 * n), abs=1e-14)


def test_limits_rates_and_resolutions_bound_the_inputs(plant):
    ramp = vn.Digital(lambda t, y, memory: 10.0, 0.1, limits={u: 2.0}, rates={u: 5.0}, resolution={u: 0.3})
    motion = vn.simulate(plant, {x: 0.0}, np.arange(11) * 0.1, inputs=ramp)
    # 0.5 per sample, up to 2, each rounded to the nearest multiple of 0.3 within the limit
    assert motion[u][:6] == pytest.approx([0.6, 0.9, 1.5, 1.8, 1.8, 1.8], abs=1e-12)


def test_sensors_are_rounded_and_noisy_with_a_seed(plant):
    seen = []

    def law(t, y, memory):
        seen.append(y.copy())
        return 0.0

    def values(**options):
        seen.clear()
        vn.simulate(plant, {x: 0.1234}, (0, 1), inputs=vn.Digital(law, 0.01, outputs=[x], **options))
        return np.array(seen)[:, 0]

    assert np.abs(values(resolution={x: 0.05}) % 0.05).min() < 1e-12
    plain, noisy, again, other = (
        values(),
        values(noise={x: 0.02}),
        values(noise={x: 0.02}),
        values(noise={x: 0.02}, seed=1),
    )
    assert np.array_equal(noisy, again)
    assert not np.array_equal(noisy, other)
    assert np.std(noisy - plain) == pytest.approx(0.02, rel=0.2)


def test_disturbances_change_the_input_that_acts(plant):
    motion = vn.simulate(plant, {x: 0.0}, np.arange(101) * 0.01,
                         inputs=vn.Digital(lambda t, y, memory: 0.0, 0.01, disturbances={u: 0.5}))  # fmt: skip
    assert np.std(motion[u]) == pytest.approx(0.5, rel=0.25)
    assert motion.energy_error < 1e-13


def test_memory_is_copied_for_every_run(plant):
    def law(t, y, memory):
        memory.append(y[0])
        return -sum(memory)

    digital = vn.Digital(law, 0.05, memory=[])
    one, two = (vn.simulate(plant, {x: 0.2}, (0, 1), inputs=digital) for _ in range(2))
    assert np.array_equal(one[x], two[x])
    assert digital.memory == []


class Unusable:
    """An object whose conversions and text fail."""

    def __array__(self, *choices, **more):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (lambda t, y, memory: 1 / 0 if t > 0.25 else 0.0, "raised ZeroDivisionError: division by zero"),
        (lambda t, y, memory: np.nan if t > 0.25 else 0.0, "gave nan for u"),
        (
            lambda t, y, memory: [0.0, 0.0] if t > 0.25 else 0.0,
            r"returned the shape \(2,\); 1 number is needed, for u",
        ),
        (lambda t, y, memory: "on" if t > 0.25 else 0.0, "returned 'on', not real numbers"),
        (lambda t, y, memory: "3" if t > 0.25 else 0.0, "returned '3', not real numbers"),
        (lambda t, y, memory: None if t > 0.25 else 0.0, "returned None, not real numbers"),
        (lambda t, y, memory: np.array([1 + 2j]) if t > 0.25 else 0.0, "returned .*, not real numbers"),
        (lambda t, y, memory: np.ma.array([1.0], mask=True) if t > 0.25 else 0.0, "returned .*, not real numbers"),
        (lambda t, y, memory: 10**400 if t > 0.25 else 0.0, "returned 10+[.]{3}, not real numbers"),
        (lambda t, y, memory: Unusable() if t > 0.25 else 0.0, "returned an object of the type Unusable, not real"),
    ],
)
def test_a_law_that_fails_ends_the_run_with_an_outcome(plant, law, said):
    motion = vn.simulate(plant, {x: 0.2}, (0, 1), inputs=vn.Digital(law, 0.1))
    assert motion.outcome.kind == "law failed"
    assert motion.outcome.time == pytest.approx(0.3)
    assert motion.t[-1] == pytest.approx(0.3)
    assert not motion.outcome
    assert re.search(f"the control law {said}", motion.outcome.reason)


@pytest.mark.parametrize("method", ["bdf", "rk4"])
def test_other_methods_run_between_the_samples(plant, method):
    law = lambda t, y: -3.0 * y[0] - 0.8 * y[1]  # noqa: E731
    options = {"step": 1e-3} if method == "rk4" else {"tolerance": 1e-11}
    motion = vn.simulate(
        plant, {x: 0.3}, (0, 1), method, inputs=vn.Digital(lambda t, y, memory: law(t, y), 0.03), **options
    )
    wanted = exact(law, [0.3, 0.0], 0.03, 0.0, 33)[-1]
    at = np.interp(0.99, motion.t, motion[x])
    assert at == pytest.approx(wanted[0], abs=1e-5)


def test_constraints_are_held_and_the_plant_may_differ():
    """A pendulum in Cartesian coordinates, driven at its bob, with another mass than the one of the design."""
    a, b = dynamicsymbols("a b")
    g, l = sp.symbols("g l")
    system = vn.System([a, b], m * (a.diff() ** 2 + b.diff() ** 2) / 2, m * g * b, forces={a: u}, inputs=[u],
                       constraints=[vn.Holonomic((a**2 + b**2 - l**2) / 2, name="rod")],
                       parameters={m: 1.0, g: 9.81, l: 1.0}, name="pendulum")  # fmt: skip
    equations = vn.derive(system, form="shulgin", dependent=[b])
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {u: 0}, near={a: 0, b: -1}))
    digital = vn.Digital(vn.stabilize(linear), 0.02, delay=0.013)
    motion = vn.simulate(equations, {a: 0.4}, (0, 8), guess={b: -0.9}, parameters={m: 1.4}, inputs=digital)
    assert motion.outcome.kind == "finished"
    assert max(motion.largest_residuals.values()) < 1e-12
    assert motion.energy_error < 1e-11
    assert abs(motion[a][-1]) < 0.02


def test_unusable_requests_are_refused(plant):
    def law(t, y, memory):
        return 0.0

    with pytest.raises(vn.ModelError, match=r"period is 0(.|\n)*delay is -1"):
        vn.Digital(law, 0, delay=-1)
    with pytest.raises(vn.ModelError, match=r"noise of x is -1; it must be positive"):
        vn.Digital(law, 0.1, noise={x: -1})
    with pytest.raises(vn.ModelError, match=r"before=\{u: value\}"):
        vn.simulate(plant, {x: 0.1}, (0, 1), inputs=vn.Digital(law, 0.1, delay=0.05))
    with pytest.raises(vn.ModelError, match="k is neither measured nor set"):
        vn.simulate(plant, {x: 0.1}, (0, 1), inputs=vn.Digital(law, 0.1, noise={k: 1.0}))
    with pytest.raises(vn.VinculumError, match="forward in time"):
        vn.simulate(plant, {x: 0.1}, (1, 0), inputs=vn.Digital(law, 0.1))
    with pytest.raises(vn.ModelError, match="w is not an input of 'oscillator'"):
        vn.simulate(plant, {x: 0.1}, (0, 1), inputs=vn.Digital({sp.Symbol("w"): x}, 0.1))


# -- actuators and events ----------------------------------------------------------------------------------------------


def sent(plant, command, **options):
    """What a law that asks for ``command`` sends in twenty samples."""
    board = vn.Digital(lambda t, y, memory: command, 0.1, **options)
    return vn.simulate(plant, {x: 0.1}, np.arange(21) * 0.1, inputs=board)[u][:-1]


def test_rounding_stays_within_the_limits(plant):
    assert sent(plant, 5.0, limits={u: 1.1}, resolution={u: 0.3}) == pytest.approx(np.full(20, 0.9))
    assert sent(plant, -5.0, limits={u: 1.1}, resolution={u: 0.3}) == pytest.approx(np.full(20, -0.9))
    assert not sent(plant, 5.0, limits={u: 0.1}, resolution={u: 0.3}).any()
    assert sent(plant, 1e300, limits={u: 2.0}, resolution={u: 1e-300}) == pytest.approx(np.full(20, 2.0))


def test_a_ramp_climbs_through_coarse_steps(plant):
    """The rate holds before rounding: a slow ramp waits for a step of the actuator, and keeps its rate on average."""
    for rate in (0.1, 0.7):
        ramp = rate * 0.1 * np.arange(1, 21)
        assert np.abs(sent(plant, 5.0, rates={u: rate}, resolution={u: 0.05}) - ramp).max() <= 0.025 + 1e-12


def test_a_value_before_the_first_command_obeys_the_limits():
    with pytest.raises(vn.ModelError, match=r"u is 3\.0 before the first command, beyond its limit 1\.0"):
        vn.Digital(lambda t, y, memory: 0.0, 0.1, 0.1, before={u: 3.0}, limits={u: 1.0})


@pytest.mark.parametrize("method", ["taylor", "bdf", "rk4"])
def test_an_event_may_happen_at_a_command(plant, method):
    """A sign of the input changes where commands jump; a contact opens at the command that lifts the mass."""
    law = lambda t, y, memory: 0.3 * np.cos(5 * t)  # noqa: E731
    options = {"step": 1e-3} if method == "rk4" else {}
    board = vn.Digital(law, 0.11, 0.03, before={u: -0.1})
    motion = vn.simulate(plant, {x: 0.1}, (0, 3), method, inputs=board, events=vn.Event(u, name="turn"), **options)
    commands = np.append(-0.1, 0.3 * np.cos(5 * 0.11 * np.arange(27)))
    turns = np.flatnonzero(commands[1:] * commands[:-1] < 0)
    assert [event.time for event in motion.events] == pytest.approx(0.11 * turns + 0.03)
    assert [event.rising for event in motion.events] == [commands[k + 1] > 0 for k in turns]
    y = dynamicsymbols("y")
    mass = vn.derive(vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, forces={y: u}, inputs=[u],
                               constraints=[vn.Holonomic(y, name="floor")]))  # fmt: skip
    off = vn.Event(vn.names.reaction("floor"), name="lift-off", direction="falling", terminal=True)
    lift = vn.Digital(lambda t, y, memory: 20 * t, 0.1, 0.03, before={u: 0})
    motion = vn.simulate(mass, {x: 0, y: 0, x.diff(): 1}, (0, 3), method, inputs=lift, events=off, **options)
    assert motion.outcome.kind == "event"
    assert motion.outcome.time == pytest.approx(0.53)  # 20 · 0.5 > 9.81


def test_limits_of_the_law_itself_hold_and_numbers_of_sympy_are_numbers(plant):
    law = vn.stabilize(vn.linearize(plant, at=vn.equilibrium(plant, {u: 0})))
    bounded = vn.Digital(digital_law(law, 0.02, limits={u: 0.2}), 0.02)
    assert np.abs(vn.simulate(plant, {x: 2.0}, (0, 1), inputs=bounded)[u]).max() == 0.2
    with pytest.raises(vn.VinculumError, match=r"limits of u is -5\.0; it must be positive"):
        vn.Digital(law, 0.02, limits={u: sp.Integer(-5)})
    loads = [vn.Digital(law, 0.02, disturbances={u: size}, seed=3) for size in (0.1, sp.Float(0.1))]
    drawn = [vn.simulate(plant, {x: 0.3}, (0, 1), inputs=load)[x] for load in loads]
    np.testing.assert_array_equal(*drawn)


def test_a_study_refuses_a_digital_law(plant):
    with pytest.raises(vn.VinculumError, match=r"Call vn\.simulate"):
        vn.study(plant, {x: 0.1}, (0, 1), over={k: [4.0, 5.0]}, inputs=vn.Digital({u: -x}, 0.1))


def test_seeded_runs_in_threads_are_equal(plant):
    def law(t, y, memory):
        memory["count"] = memory.get("count", 0) + 1
        return -y[0] - y[1] + 0.001 * memory["count"]

    board = vn.Digital(law, 0.05, 0.013, before={u: 0.0}, noise={x: 0.1}, disturbances={u: 0.2}, seed=7, memory={})

    def motion(_):
        return vn.simulate(plant, {x: 0.1}, np.linspace(0, 2, 21), inputs=board)[x]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(motion, range(6)))
    assert all(np.array_equal(found[0], other) for other in found)


def test_an_input_that_rests_at_zero_is_not_an_event(plant):
    board = vn.Digital(lambda t, y, memory: 0.0, 0.11)
    for terminal in (True, False):
        motion = vn.simulate(plant, {x: 0.1}, (0, 1), inputs=board, events=vn.Event(u, terminal=terminal))
        assert motion.outcome
        assert not motion.events


# -- a chain of masses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("period", "delay", "end"), [
    (0.1, 0.037, 3.0), (0.1, 0.2531, 3.0), (0.07, 0.5, 1.0), (0.3, 0.299999, 2.0), (1 / 3, 1e-9, 2.0), (0.1, 1.05, 1.0),
])  # fmt: skip
def test_two_inputs_with_memory_are_exact_at_any_instant(period, delay, end):
    """Three masses, an integrator in Python, samples between commands, a period that does not divide the end."""
    q, (v, w) = dynamicsymbols("x1 x2 x3"), sp.symbols("v w")
    mass, springs, damping = np.array([1.0, 0.7, 2.1]), [4.0, 7.0, 3.0], np.array([0.2, 0.1, 0.4])
    V = sum(s * (b - a) ** 2 / 2 for s, a, b in zip(springs, (0, *q[:2]), q, strict=True))
    forces = {a: -d * a.diff() + own for a, d, own in zip(q, damping, (v, 0, w), strict=True)}
    T = sum(a * b.diff() ** 2 / 2 for a, b in zip(mass, q, strict=True))
    chain = vn.derive(vn.System(list(q), T, V, forces=forces, inputs=[v, w]))
    stiffness = np.array(sp.hessian(V, q), dtype=float)
    whole = np.zeros((8, 8))
    whole[:3, 3:6], whole[3:6, :3] = np.eye(3), -stiffness / mass[:, None]
    whole[3:6, 3:6], whole[3, 6], whole[5, 7] = -np.diag(damping / mass), 1 / mass[0], 1 / mass[2]
    gains = np.random.default_rng(5).normal(size=(2, 6)) / 2

    def law(t, y, memory):
        memory["sum"] = memory.get("sum", 0) + 0.01 * y[:2]
        return -gains @ y - memory["sum"] + [np.sin(3 * t), 0]

    start, times = np.array([0.3, -0.2, 0.1, 0.0, 0.4, -0.1]), np.linspace(0, end, 37)
    board = vn.Digital(law, period, delay, before={v: 0.2, w: -0.1}, memory={})
    states = [*q, *(a.diff() for a in q)]
    motion = vn.simulate(chain, dict(zip(states, start, strict=True)), times, inputs=board)

    reads = [(n * period, 1) for n in range(int(end / period + 1e-9) + 1)]
    instants = sorted([*reads, *((t + delay, 0) for t, _ in reads), *((t, 2) for t in times)])
    z, now, waiting, memory, found = np.array([*start, 0.2, -0.1]), 0.0, [], {}, []
    for t, kind in instants:  # a command arrives, then the sensors are read, then the state is recorded
        z, now = scipy.linalg.expm((t - now) * whole) @ z, t
        if kind == 0:
            z[6:] = waiting.pop(0) if waiting else z[6:]
        elif kind == 1:
            waiting.append(law(t, z[:6], memory))
        elif len(found) < len(times):
            found.append(z[:6])
    assert np.column_stack([motion[s] for s in states]) == pytest.approx(np.array(found), abs=1e-12)


# -- discrete models and designs ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def linear(plant):
    return vn.linearize(plant, at=vn.equilibrium(plant, {u: 0}))


@pytest.mark.parametrize("delay", [0.0, 0.007, 0.02, 0.05])
def test_the_discrete_model_is_the_motion_at_the_samples(linear, delay):
    period, model = 0.02, linear.discrete(0.02, delay)
    commands = np.random.default_rng(2).normal(size=40)
    wanted = exact(lambda t, y: commands[round(t / period)], [0.3, -0.2], period, delay, 40)
    z = np.append([0.3, -0.2], np.zeros(model.waiting))
    for n in range(40):
        z = model.A @ z + model.B @ commands[n : n + 1]
        assert z[:2] == pytest.approx(wanted[n + 1], abs=1e-12)


@pytest.mark.parametrize("outputs", [None, [x]])
@pytest.mark.parametrize("delay", [0.0, 0.03, 0.16])
def test_a_digital_design_counts_on_its_delay(plant, linear, delay, outputs):
    """The roots of the sampled loop are those of A - B K and A - L C; the run settles with them."""
    law = vn.feedback.digital(linear, 0.1, state_weights=[50, 1], input_weights=0.1, delay=delay, outputs=outputs)
    loop = np.linalg.eigvals(sampled_loop(linear.discrete(0.1, delay), law))
    assert np.abs(loop).max() < 0.95
    motion = vn.simulate(plant, {x: 0.3}, np.arange(61) * 0.1, inputs=vn.Digital(law, 0.1, delay))
    assert abs(motion[x][-1]) < 0.01 * 0.3
    model = linear.discrete(0.1, delay)
    z, w = np.append([0.3, 0.0], np.zeros(model.waiting)), np.zeros(len(law.states))
    for n in range(60):
        y = z[:1] if outputs else z[:2]
        sent, w = law(w, y)
        z = model.A @ z + model.B @ sent
        assert motion[x][n + 1] == pytest.approx(z[0], abs=1e-12)


def test_the_discrete_regulator_is_the_minimum(linear):
    """No other gain costs less: the cost Σ ηᵀQη + uᵀRu of small changes of K grows."""
    law = vn.feedback.digital(linear, 0.1, state_weights=[3, 1], input_weights=0.5)
    model = linear.discrete(0.1)

    def cost(K):
        closed = model.A + model.B @ K
        return scipy.linalg.solve_discrete_lyapunov(closed.T, np.diag([3.0, 1.0]) + K.T @ K * 0.5)

    best = cost(law.D)
    for change in np.random.default_rng(1).normal(size=(10, 1, 2)):
        assert np.linalg.eigvalsh(cost(law.D + 1e-3 * change) - best).min() > -1e-12
        assert np.trace(cost(law.D + 0.05 * change)) > np.trace(best)


def test_a_period_that_is_too_slow_is_told(plant, linear):
    law = vn.stabilize(linear, state_weights=[2000, 1], input_weights=0.01)
    with pytest.warns(UserWarning, match="outside the unit circle"):
        motion = vn.simulate(plant, {x: 0.01}, (0, 1.2), inputs=vn.Digital(law, 0.12))
    assert np.abs(motion[x]).max() > 0.05


def test_impossible_designs_are_refused(linear):
    with pytest.raises(vn.ModelError, match=r"period is 0(.|\n)*delay is -1"):
        linear.discrete(0, -1)
    lost = vn.linear.model([[0.5, 0], [0, -1]], [[0], [1]])
    with pytest.raises(vn.VinculumError, match="no stabilizing solution"):
        vn.feedback.digital(lost, 0.1)


def test_a_loop_that_diverges_ends_early_with_its_root():
    """A cart with its pole, sampled too slowly: every state grows by the largest root of the sampled loop."""
    angle, place = dynamicsymbols("theta p")
    kinetic = m * place.diff() ** 2 / 2 + (place.diff() ** 2 + sp.cos(angle) * place.diff() * angle.diff()) / 10
    system = vn.System([place, angle], kinetic + angle.diff() ** 2 / 40, sp.cos(angle), forces={place: u}, inputs=[u],
                       parameters={m: 1.0}, name="cart")  # fmt: skip
    cart = vn.derive(system)
    linear = vn.linearize(cart, at=vn.equilibrium(cart, {u: 0, place: 0, angle: 0}))
    law = vn.stabilize(linear)
    start = {angle: 0.05, place: 0, angle.diff(): 0, place.diff(): 0}
    for way in (vn.Digital(law, 0.3), vn.Digital(lambda t, y, memory: law.gain @ y, 0.3)):
        with pytest.warns(UserWarning, match="With the period 0.3|with the period 0.3"):
            motion = vn.simulate(cart, start, (0, 600), inputs=way)
        assert motion.outcome.kind == "diverged"
        assert motion.outcome.time < 60
        assert motion.outcome.numbers["factor"] > 1.2 ** (1 / 20)
        assert not motion.outcome


def test_a_long_steady_acceleration_is_not_a_divergence():
    """The position grows more than a millionfold, with the square of the time."""
    free = vn.derive(vn.System([x], m * x.diff() ** 2 / 2, 0, forces={x: u}, inputs=[u], parameters={m: 1.0}))
    motion = vn.simulate(free, {x: 0, x.diff(): 0}, [0, 9, 10_000], inputs=vn.Digital(lambda t, y, memory: 1.0, 1.0))
    assert motion[x][-1] == pytest.approx(5e7)
    assert motion[x][-1] > 1e6 * np.hypot(motion[x][1], motion[x.diff()][1])
    assert motion.outcome.kind == "finished"


def test_a_law_on_a_processor_introduces_itself(plant):
    linear = vn.linearize(plant, at=vn.equilibrium(plant, {u: 0}))
    law, estimator = vn.stabilize(linear), vn.observe(linear, [x])
    words = repr(vn.Digital(law, 0.01, 0.002, estimator, limits={u: 2}, noise={x: 1e-3}))
    for row in ("feedback law for u", "from x", "0.01", "0.002", "u 2", "x 0.001", "seed"):
        assert row in words
    assert len(words.splitlines()) == 8
    assert "resolution" not in words
    assert "Python function <lambda>" in repr(vn.Digital(lambda t, y, memory: 0.0, 0.01))
