"""Five classical forms of one system: one acceleration, one reaction, on and off the constraints; partitions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam, delta_robot, five_bar, four_bar, watt_governor
from laws.random_systems import Maker, consistent_state, random_state, random_system, t, values
from vinculum.derivation.mechanics import explicit as columns
from vinculum.derivation.mechanics.integrable_mechanics import change_partition
from vinculum.derivation.mechanics.partition import Partition, conditioning
from vinculum.graph import to_sympy
from vinculum.simulation.problem.problem import build_problem

FULL = ("multipliers", "lyapunov", "lurie-suslov")
EXAMPLES = {
    "ball and beam": (ball_and_beam.system, [ball_and_beam.alpha]),
    "ball and beam, wheel dependent": (ball_and_beam.system, [ball_and_beam.theta]),
    "ball and beam with motor": (
        lambda: vn.motors.motorize(ball_and_beam.system(), {ball_and_beam.u: ball_and_beam.MOTOR}),
        [ball_and_beam.alpha],
    ),
    "Delta": (delta_robot.system, list(delta_robot.platform)),
    "Delta, arms dependent": (delta_robot.system, list(delta_robot.theta)),
    "five-bar": (five_bar.system, list(five_bar.phi)),
    "four-bar": (four_bar.system, [four_bar.beta, four_bar.gamma]),
    "governor": (watt_governor.system, [watt_governor.s]),
}


@cache
def example(name):
    make, dependent = EXAMPLES[name]
    return make(), tuple(dependent)


@cache
def random_holonomic(seed):
    """A random system with geometric constraints only, some of them moving, and a rotor: a cyclic coordinate."""
    n = 2 + seed % 5
    base = random_system(seed, n=n, holonomic=1 + seed % (n - 1) if n > 2 else 1, nonholonomic=0)
    make, c = Maker(np.random.default_rng(seed + 500), n), dynamicsymbols("c")
    wave, row = make.wave(time=True), make.combination(0)
    numbers = {p: sp.Symbol(f"c_{p}") for p in make.parameters}
    turning = ((2 + wave) * c.diff() ** 2 / 2 + row * c.diff() / 2).subs(numbers)
    return replace(
        base,
        coordinates=[*base.coordinates, c],
        kinetic_energy=base.kinetic_energy + turning,
        forces={**base.forces, c: sp.Symbol("u1") - c.diff() / 3},
        parameters=dict(base.parameters) | {numbers[p]: value for p, value in make.parameters.items()},
    )


SEEDS = range(15)


def states(system, dependent, count=2, seed=0):
    """Random states on the constraints, and off them with velocities that obey them."""
    shulgin = vn.derive(system, "shulgin", dependent=dependent)
    random = np.random.default_rng(seed)
    for draw in (consistent_state, random_state):
        for _ in range(count):
            state = draw(system, random)
            free = {k: v for k, v in state.items() if k in (*shulgin.states, *system.inputs, t)}
            recovered = shulgin.recover(free)
            yield state | {v: recovered[v] for v in system.velocities}


def solution(equations, state):
    """q̈ and λ; of a state only what the form has."""
    system = equations.system
    free = {k: v for k, v in state.items() if k in (*equations.states, *system.inputs, *system.velocities, t)}
    found = equations.recover(free)
    return np.array([found[key] for key in (*equations.acceleration_symbols, *(c.name for c in system.constraints))])


def assert_one_solution(system, forms, all_states):
    first, *others = forms
    for state in all_states:
        expected = solution(first, state)
        for other in others:
            np.testing.assert_allclose(
                solution(other, state), expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max()), err_msg=other.form
            )


def forms_of(system, dependent, routh):
    yield vn.derive(system, "multipliers")
    yield vn.derive(system, "lyapunov")
    yield vn.derive(system, "lurie-suslov", dependent=dependent)
    yield vn.derive(system, "shulgin", dependent=dependent)
    if routh:
        yield vn.derive(system, "routh", dependent=dependent)


# -- one acceleration and one reaction -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_have_one_acceleration_in_every_form(name):
    system, dependent = example(name)
    routh = name in ("governor", "ball and beam with motor")
    assert_one_solution(system, forms_of(system, dependent, routh), states(system, dependent))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_systems_have_one_acceleration_in_every_form(seed):
    """Multipliers, Lyapunov, Lurie-Suslov, Shulgin, Routh; the dependent coordinates chosen by Vinculum."""
    system = random_holonomic(seed)
    chosen = vn.derive(system, "shulgin")
    dependent = [system.coordinates[i] for i in chosen.partition.s]
    routh = vn.derive(system, "routh", dependent=dependent)
    assert [str(p) for p in routh.definitions] == ["p_c(t)"]
    assert_one_solution(system, forms_of(system, dependent, routh=True), states(system, dependent, 2, seed))


def test_the_random_systems_cover_constraints_that_depend_on_time():
    moving = [c for seed in SEEDS for c in random_holonomic(seed).constraints if _rate(c) != 0]
    assert len(moving) > 5


def _rate(constraint):
    """∂F/∂t with the coordinates held."""
    held = {f: sp.Dummy() for f in constraint.expression.atoms(sp.core.function.AppliedUndef)}
    return constraint.expression.xreplace(held).diff(t)


@pytest.mark.parametrize("seed", [2, 3, 13])
def test_every_partition_gives_the_same_motion(seed):
    system = random_holonomic(seed)
    reference = vn.derive(system, "multipliers")
    state = next(iter(states(system, [system.coordinates[i] for i in vn.derive(system, "shulgin").partition.s])))
    m, tried = len(system.constraints), 0
    for dependent in combinations(system.coordinates[:-1], m):  # the rotor is in no constraint
        numbers = [system.coordinates.index(q) for q in dependent]
        other = tuple(i for i in range(len(system.coordinates)) if i not in numbers)
        partition = Partition(other, tuple(numbers))
        if conditioning(reference.mechanics, partition, reference.values(state)) < 0.05:
            continue
        tried += 1
        expected = solution(reference, state)
        found = solution(vn.derive(system, "shulgin", dependent=dependent), state)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))
    assert tried > 1


# -- dimensions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ball and beam", "Delta", "five-bar"])
def test_dimensions_are_the_papers_count(name):
    """2n + 3m with multipliers, 2(n + m) of Lurie and Suslov, 2n + m of Shulgin."""
    system, dependent = example(name)
    m = len(system.constraints)
    n = len(system.coordinates) - m
    assert vn.derive(system, "multipliers").dimension == 2 * n + 3 * m
    assert vn.derive(system, "lurie-suslov", dependent=dependent).dimension == 2 * (n + m)
    shulgin = vn.derive(system, "shulgin", dependent=dependent)
    assert shulgin.dimension == 2 * n + m == len(shulgin.states)


# -- F is an integral of Shulgin's equations ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ball and beam", "Delta", "five-bar"])
def test_shulgins_equations_keep_F_off_the_constraints(name):
    """Ḟ = 0 to rounding at random states with F ≠ 0, without any stabilization."""
    system, dependent = example(name)
    equations = vn.derive(system, "shulgin", dependent=dependent)
    random = np.random.default_rng(6)
    F = [c.expression for c in system.constraints]
    for _ in range(5):
        state = random_state(system, random)
        rates = _rates(equations, state)
        known = dict(system.parameters) | {k: v for k, v in state.items() if k in (*system.coordinates, t)}
        assert np.abs(values(F, known)).max() > 1e-3
        slopes = values([f.diff(q) for f in F for q in system.coordinates], known).reshape(len(F), -1)
        moved = np.array([rates[q] for q in system.coordinates])
        np.testing.assert_allclose(slopes @ moved, 0, atol=1e-13 * np.abs(slopes).max() * np.abs(moved).max())


def _rates(equations, state):
    """The right side that is integrated, at a state, without feedback on the constraints."""
    system = equations.system
    full = {key: state[key] for key in (*system.coordinates, *system.velocities)}
    inputs = {u: sp.Float(state[u]) for u in system.inputs}
    problem, x = build_problem(equations, full, state[t], inputs, dict(system.parameters), [])
    found = problem.compiled(problem.nodes.rates)(state[t], x, problem.values)
    return dict(zip(equations.states, found, strict=False))


def test_a_run_off_the_constraints_keeps_its_distance():
    """The four-bar started off its constraints: F stays as it was, to the error of a method of fourth order."""
    system, dependent = example("four-bar")
    equations = vn.derive(system, "shulgin", dependent=dependent)
    start = vn.consistent_state(equations, four_bar.START, fixed=[four_bar.alpha])
    start |= {four_bar.beta: start[four_bar.beta] + 0.01, four_bar.alpha.diff(): 2.0}
    problem, x = build_problem(equations, start, 0.0, {}, dict(system.parameters), [])
    F = problem.compiled(problem.nodes.residuals[:2])
    first = F(0.0, x, problem.values)
    assert np.abs(first).max() > 1e-3
    moved = [np.abs(F(0.0, _rk4(problem, x, 0.5, n), problem.values) - first).max() for n in (1000, 2000)]
    assert moved[1] < 1e-9
    assert moved[0] / moved[1] > 12


def _rk4(problem, x, duration, steps):
    """The end of a run without any feedback."""
    rates, p, h = problem.compiled(problem.nodes.rates), problem.values, duration / steps
    for _ in range(steps):
        k1 = rates(0.0, x, p)
        k2 = rates(0.0, x + h / 2 * k1, p)
        k3 = rates(0.0, x + h / 2 * k2, p)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(0.0, x + h * k3, p))
    return x


# -- the choice of dependent coordinates ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1, 15))
def test_the_chosen_partition_is_the_best_conditioned(seed):
    """No other choice of dependent coordinates has a larger smallest singular value of F_s at the state given."""
    system = random_holonomic(seed)
    state = consistent_state(system, np.random.default_rng(seed))
    at = {k: v for k, v in state.items() if k in (*system.coordinates, *system.velocities, *system.inputs, t)}
    chosen = vn.derive(system, "shulgin", at=at)
    known = chosen.values(at)
    m, n = len(system.constraints), len(system.coordinates)
    partitions = [Partition(tuple(i for i in range(n) if i not in s), s) for s in combinations(range(n), m)]
    best = max(conditioning(chosen.mechanics, p, known) for p in partitions)
    assert conditioning(chosen.mechanics, chosen.partition, known) == pytest.approx(best, rel=1e-12)
    assert chosen.partition.chosen


def test_in_large_systems_no_exchange_of_two_coordinates_is_better(monkeypatch):
    """Where the choices are too many to compare, exchanges of one for another are; greedy choices are worse."""
    monkeypatch.setattr(columns, "_ALL", 0)
    random, exact, greedy = np.random.default_rng(5), 0, 0
    for _ in range(40):
        rows = columns.unit_rows(random.normal(size=(4, 9)))
        every = np.array(list(combinations(range(9), 4)))
        best = columns.smallest_singular(rows, every).max()
        found = columns.smallest_singular(rows, np.array([columns.best_columns(rows), columns._pivot_columns(rows)]))
        assert found[0] >= found[1]
        exact, greedy = exact + (found[0] == best), greedy + (found[1] == best)
    assert exact > 2 * greedy


def test_with_one_constraint_the_best_is_chosen():
    system, _ = example("ball and beam")
    at = {ball_and_beam.r: 0.2, ball_and_beam.theta: 0.0, ball_and_beam.alpha: 0.0}
    equations = vn.derive(system, "shulgin", at=at | dict.fromkeys(system.velocities, 0.0) | {ball_and_beam.u: 0.0})
    assert equations.partition.s == (2,)  # dF/dalpha is ten times dF/dtheta there


def test_the_choice_is_said():
    system, dependent = example("ball and beam")
    assert "dependent    alpha (chosen: best conditioned)" in repr(vn.derive(system, "shulgin"))
    named = repr(vn.derive(system, "shulgin", dependent=dependent))
    assert "dependent    alpha" in named
    assert "chosen" not in named


@pytest.mark.parametrize("form", ["shulgin", "lurie-suslov"])
def test_the_partition_is_switched_before_it_becomes_singular(form):
    """A four-bar through full rotations of its crank, started with the crank as a dependent coordinate."""
    system, _ = example("four-bar")
    reference = vn.derive(system)
    start = vn.consistent_state(reference, four_bar.START | {four_bar.alpha.diff(): 3.0}, fixed=[four_bar.alpha])
    times = np.linspace(0, 0.5, 201)
    expected = vn.simulate(reference, start, times)
    crank = expected[four_bar.alpha]
    assert crank[-1] - crank[0] > 2 * np.pi
    first = vn.derive(system, form)
    bad = change_partition(first, Partition((2,), (0, 1), chosen=True))  # crank and coupler depend on the rocker
    motion = vn.simulate(bad, start, times)
    partitions = [segment.problem.equations.partition.s for segment in motion.segments]
    assert motion.outcome
    assert len(set(partitions)) > 1, "the rocker turns back, so it cannot be independent for a whole turn"
    for q in (*system.coordinates, *system.velocities):
        scale = 1 + np.abs(expected[q]).max()
        np.testing.assert_allclose(motion[q], expected[q], rtol=0, atol=1e-9 * scale)
    for name in ("loop x", "loop y"):
        np.testing.assert_allclose(
            motion.reactions[name],
            expected.reactions[name],
            rtol=0,
            atol=1e-9 * np.abs(expected.reactions[name]).max(),
        )


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_a_named_partition_that_becomes_singular_ends_the_run(method):
    """The outcome names the coordinate and says what to type."""
    system, _ = example("ball and beam")
    r, theta = ball_and_beam.r, ball_and_beam.theta
    equations = vn.derive(system, "shulgin", dependent=[theta])
    start = {r: 0.2, theta: 1.2, r.diff(): 0.0, theta.diff(): 3.0}
    begin = vn.consistent_state(equations, start, guess={ball_and_beam.alpha: 0.08})
    motion = vn.simulate(equations, begin, (0, 1), method=method, inputs={ball_and_beam.u: 0.5})
    assert motion.outcome.kind == "singular"
    assert not motion.outcome
    assert motion.t[-1] < 1
    assert "theta cannot be the dependent ones" in motion.outcome.reason
    assert "Use alpha there" in motion.outcome.reason
    assert motion[theta][-1] == pytest.approx(np.radians(76.1), abs=0.01)  # where alpha is greatest


def test_a_partition_singular_at_the_start_is_refused():
    x, y = dynamicsymbols("x y")
    ladder = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, y, constraints=[vn.Holonomic(x**2 + y**2 - 1, "l")])
    equations = vn.derive(ladder, "shulgin", dependent=[x])
    with pytest.raises(
        vn.errors.SingularError, match=r"x cannot be the dependent ones at x = 0, y = 1.*dependent=\[y\]"
    ):
        equations.accelerations({x: 0.0, y: 1.0, y.diff(): 0.0})


@pytest.mark.parametrize(
    ("dependent", "complaint"),
    [([ball_and_beam.r, ball_and_beam.alpha], "1 constraints make 1 coordinates dependent"),
     ([sp.Symbol("alfa")], "alfa is not a coordinate")],
)  # fmt: skip
def test_unusable_choices_are_refused(dependent, complaint):
    with pytest.raises(vn.ModelError, match=complaint):
        vn.derive(ball_and_beam.system(), "shulgin", dependent=dependent)


def test_nonholonomic_constraints_have_no_dependent_coordinates():
    from examples.rolling_disc import system

    with pytest.raises(vn.ModelError, match="not holonomic"):
        vn.derive(system(), "shulgin")


def test_routh_needs_a_cyclic_coordinate():
    with pytest.raises(vn.ModelError, match="needs a cyclic coordinate"):
        vn.derive(ball_and_beam.system(), "routh")
    with pytest.raises(vn.ModelError, match="alpha appears in an energy"):
        vn.derive(watt_governor.system(), "routh", cyclic=[watt_governor.alpha])


# -- printing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["multipliers", "lyapunov", "lurie-suslov", "shulgin"])
def test_printed_equations_contain_the_users_symbols(form):
    named = {} if form in FULL[:2] else {"dependent": [watt_governor.s]}
    text = vn.derive(watt_governor.system(), form, **named).latex()
    for part in (r"\alpha", r"\ddot{\alpha}", r"\ddot{\phi}", "m_{s}", "g", "c"):
        assert part in text, part
    assert (r"\ddot{s}" in text) == (form != "shulgin"), "Shulgin's equations have no acceleration of s"
    assert (r"\lambda_{arms}" in text) == (form in FULL[:2])


def test_a_large_model_is_printed_with_named_intermediates():
    system, dependent = example("Delta")
    text = vn.derive(system, "shulgin", dependent=dependent).latex()
    for part in ("z_{1} &=", r"\ddot{\theta}_{1}", r"\dot{X} &=", "l_{1}", "u_{3}"):
        assert part in text, part
    assert r"\ddot{X}" not in text


def test_the_printed_routh_form_has_momenta_and_the_constraint():
    text = vn.derive(watt_governor.system(), "routh", dependent=[watt_governor.s]).latex()
    assert r"\dot{p}_{\phi} &= 0" in text
    assert r"\dot{s} &= 2 l \sin{\left(\alpha \right)} \dot{\alpha}" in text
    assert r"\ddot{\phi}" not in text


def test_printed_routh_equations_are_written_in_momenta():
    """A cart that nothing pushes, with a pendulum: (M + m) ẋ = p - m l cos θ θ̇, so ẍ is eliminated, by hand:
    m l² (1 - m cos²θ/(M + m)) θ̈ + m² l² sin θ cos θ θ̇²/(M + m) - m g l sin θ = 0.
    """
    x, theta = dynamicsymbols("x theta")
    M, m, g, l = sp.symbols("M m g l")
    v, w = x.diff(), theta.diff()
    T = (M + m) * v**2 / 2 + m * l * sp.cos(theta) * v * w + m * l**2 * w**2 / 2
    cart = vn.System([x, theta], T, m * g * l * sp.cos(theta), parameters={M: 2.0, m: 1.0, g: 9.81, l: 0.5})
    equations = vn.derive(cart, "routh")
    assert r"\ddot{x}" not in equations.latex()
    left, right = (to_sympy(side) for side in equations.form.lines(equations)[-1])
    bend = theta.diff(t, 2)
    by_hand = m * l**2 * (1 - m * sp.cos(theta) ** 2 / (M + m)) * bend - m * g * l * sp.sin(theta)
    by_hand += m**2 * l**2 * sp.sin(theta) * sp.cos(theta) * w**2 / (M + m)
    assert sp.simplify(left - right - by_hand) == 0


def test_the_printed_scalar_form_of_a_pendulum_is_right():
    """x dependent: (1 + B²) ÿ + ... with B = -y/x, as by hand."""
    x, y = dynamicsymbols("x y")
    m, g, l = sp.symbols("m g l")
    T, V = m * (x.diff() ** 2 + y.diff() ** 2) / 2, m * g * y
    rod = vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")
    pendulum = vn.System([x, y], T, V, constraints=[rod], parameters={m: 1.0, g: 9.81, l: 1.0})
    text = vn.derive(pendulum, "shulgin", dependent=[x]).latex()
    assert r"\dot{x} &= - \frac{y \dot{y}}{x}" in text
    assert r"\ddot{y}" in text
    assert r"\ddot{x}" not in text
