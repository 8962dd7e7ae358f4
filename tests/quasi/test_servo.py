"""Servo constraints: realizability, relative degree, what they cannot do, and control of the motion they leave."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import gyroscope_in_gimbals as gyro
from examples import overhead_crane as crane
from examples import sleigh_with_servo as sleigh
from examples.sleigh_with_servo import e1, e2, e3, eta, phi, xi
from vinculum.simulation import METHODS

t = dynamicsymbols._t
x, y = dynamicsymbols("x y")
m, c, u = sp.symbols("m c u")
SINE = sp.sin(2 * t)


def elastic_joint(path: sp.Expr = SINE) -> vn.System:
    """A motor m moves a load m through a spring c: relative degree four."""
    return vn.System(
        [x, y],
        m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        c * (x - y) ** 2 / 2,
        forces={x: u},
        inputs=[u],
        constraints=[vn.Servo(y - path, through=[u], name="load")],
        parameters={m: 2.0, c: 8.0},
        name="elastic joint",
    )


# -- relative degree and realizability ------------------------------------------------------------------------------


def test_relative_degree_of_an_elastic_joint_and_its_exact_input():
    """x = y + m ÿ/c, u = m ẍ + c (x - y); with y = sin 2t: x = (1 - 4m/c) sin 2t = 0, u = -c sin 2t."""
    report = vn.servo.realizability(elastic_joint())
    assert report.relative_degrees == {"load": 4}
    assert report.internal_dimension == 0
    assert report.determinant == pytest.approx(8.0 / 2.0**2, rel=1e-12)
    assert len(report.hidden) == 2
    motion = vn.simulate(vn.derive(elastic_joint()), initial={}, times=(0, 5))
    np.testing.assert_allclose(motion[y], np.sin(2 * motion.t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion[x], 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion[u], -8.0 * np.sin(2 * motion.t), rtol=0, atol=1e-10)


def test_the_start_meets_the_hidden_conditions():
    """y = 0.1 + 0.2 t + 0.3 t²: x = y + 0.6 m/c."""
    equations = vn.derive(elastic_joint(0.1 + 0.2 * t + 0.3 * t**2))
    start = vn.consistent_state(equations, {})
    expected = {y: 0.1, x: 0.1 + 0.6 * 2 / 8, y.diff(): 0.2, x.diff(): 0.2}
    assert start == pytest.approx(expected, abs=1e-14)


def test_projection_onto_hidden_conditions():
    equations = vn.derive(elastic_joint())
    motion = vn.simulate(equations, {}, (0, 5), method="rk4", step=1e-2, stabilization="projection")
    assert motion.largest_residuals["load", "position"] < 1e-13
    np.testing.assert_allclose(motion[x], 0, rtol=0, atol=1e-13)


def test_tracking_from_beside_the_path():
    """(d/dt + κ)⁴ η = 0 from η(0) = 0.5: η = 0.5 (1 + κt + (κt)²/2 + (κt)³/6) e^(-κt) with x that fits."""
    rate = 3.0
    equations = vn.derive(elastic_joint(sp.S.Zero + 0 * t), rates={"load": rate})
    motion = vn.simulate(equations, {x: 0.5, y: 0.5}, (0, 4))
    s = rate * motion.t
    np.testing.assert_allclose(motion[y], 0.5 * (1 + s + s**2 / 2 + s**3 / 6) * np.exp(-s), rtol=0, atol=1e-12)


def test_tracking_by_a_fully_actuated_system():
    """A particle with a motor for each coordinate goes round a circle from beside it: η = η₀ (1 + κt) e^(-κt)."""
    u1, u2 = sp.symbols("u1 u2")
    circle = [vn.Servo(x - sp.cos(t), through=[u1], name="x"), vn.Servo(y - sp.sin(t), through=[u2], name="y")]
    system = vn.System([x, y], m * (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * m * y, forces={x: u1, y: u2 - u1 / 2},
                       inputs=[u1, u2], constraints=circle, parameters={m: 2.0})  # fmt: skip
    assert vn.servo.realizability(system).relative_degrees == {"x": 2, "y": 2}
    motion = vn.simulate(vn.derive(system, rates=2.0), {x: 1.5, y: 0.0, y.diff(): 1.0}, (0, 4))
    s = 2.0 * motion.t
    np.testing.assert_allclose(motion[x] - np.cos(motion.t), 0.5 * (1 + s) * np.exp(-s), rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion[y], np.sin(motion.t), rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion[u1], 2.0 * motion[x.diff(t, 2)], rtol=0, atol=1e-12)


def test_the_crane_finds_its_path_from_beside():
    """The height obeys (d/dt + κ)² η = 0 exactly; across it follows with four roots -κ, driven by the height."""
    equations = vn.derive(crane.system(), rates=6.0)
    start = {crane.x: 0.05, crane.l: 0.85, crane.theta: 0.04}
    motion = vn.simulate(equations, start, (0, crane.DURATION), method="rk4", step=5e-4)
    X, Y = (np.array([float(c.subs(t, s)) for s in motion.t[::50]]) for c in crane.path())
    across, height = motion[crane.load[0]][::50] - X, motion[crane.load[1]][::50] - Y
    s = 6.0 * motion.t[::50]
    np.testing.assert_allclose(height, height[0] * (1 + s) * np.exp(-s), rtol=0, atol=1e-10)
    assert abs(across[0]) > 0.08
    assert abs(across[-1]) < 1e-4


def test_the_crane_has_relative_degrees_four_and_two():
    report = vn.servo.realizability(crane.system())
    assert report.relative_degrees == {"across": 4, "height": 2}
    assert report.internal_dimension == 0
    assert "across 4, height 2" in repr(report)


QUASI = [("hamel", {"kind": "voronets-hamel", "characteristics": crane.characteristics()}),
         ("hamel", {"kind": "chaplygin-type", "characteristics": crane.characteristics()}),
         ("maggi", {"characteristics": crane.characteristics()}),
         ("hamel", {"characteristics": {crane.swing: crane.theta.diff() + crane.theta.diff() ** 3 / 10}}),
         ("voronets", {})]  # fmt: skip


@pytest.mark.parametrize(("form", "choices"), QUASI, ids=["(8)", "(7)", "maggi", "newton", "voronets"])
def test_the_crane_in_quasi_velocities(form, choices):
    """The parameter of release of the constraint with relative degree four is a state, kept at zero by its input."""
    equations = vn.derive(crane.system(), form, **choices)
    start = {crane.x: 0.0, crane.l: crane.DEEP, crane.theta: 0.0}
    motion = vn.simulate(equations, start, (0, crane.DURATION))
    angle, push = (sp.lambdify(t, expression)(motion.t) for expression in crane.exact())
    np.testing.assert_allclose(motion[crane.theta], angle, rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion[crane.force], push, rtol=0, atol=1e-8)
    assert motion.energy_error < 1e-11


@pytest.mark.parametrize("stabilization", ["baumgarte", "projection"])
def test_stabilization_of_hidden_conditions_in_a_badly_conditioned_chart(stabilization):
    """e = ẋ cos θ + θ̇ has a determinant of (1 - l) cos θ, a tenth at the start. Feedback acts on the chain alone."""
    chosen = {crane.swing: crane.x.diff() * sp.cos(crane.theta) + crane.theta.diff()}
    equations = vn.derive(crane.system(), "hamel", characteristics=chosen)
    start = {crane.x: 0.0, crane.l: crane.DEEP, crane.theta: 0.0}
    motion = vn.simulate(equations, start, (0, crane.DURATION), stabilization=stabilization)
    assert motion.outcome
    assert max(motion.largest_residuals.values()) < 1e-12


@pytest.mark.parametrize("kind", ["voronets-hamel", "chaplygin-type"])
def test_the_crane_finds_its_path_in_quasi_velocities_as_with_multipliers(kind):
    """Away from the path, (d/dt + κ)ʳ η = 0 in both forms."""
    start = {crane.x: 0.05, crane.l: 0.85, crane.theta: 0.04}
    hamel = vn.derive(crane.system(), "hamel", rates=6.0, kind=kind, characteristics=crane.characteristics())
    one, other = (vn.simulate(e, start, (0, 1)) for e in (hamel, vn.derive(crane.system(), rates=6.0)))
    np.testing.assert_allclose(one[crane.theta], other[crane.theta], rtol=0, atol=1e-11)
    np.testing.assert_allclose(one[crane.torque], other[crane.torque], rtol=0, atol=1e-9)


def test_an_elastic_joint_is_printed_with_its_input_and_hidden_conditions():
    e = dynamicsymbols("e")
    text = vn.derive(elastic_joint(), "hamel", characteristics={e: x.diff()}).latex()
    assert r"c \left(x - y\right) + m \dot{e} &= u" in text
    assert r"\frac{c x}{m} - \frac{c y}{m} + 4 \sin{\left(2 t \right)} &= 0" in text
    assert r"c \left(x - y\right) + m \ddot{x} &= u" in vn.derive(elastic_joint()).latex()


def test_determinants_of_the_gyroscopes_motors():
    """ψ_q̇ M⁻¹ b is 1/C for a motor on the rotor and zero for the others, which cannot hold the constraint."""
    assert vn.servo.realizability(gyro.system("rotor")).determinant == pytest.approx(0.5, rel=1e-13)
    assert vn.servo.realizability(gyro.system("rotor")).directions == sp.Matrix([0, 0, 1])
    for motor in ("outer ring", "inner ring"):
        with pytest.raises(vn.errors.ConstraintError, match=r"`spin` cannot be held through u_\w+.*another actuator"):
            vn.derive(gyro.system(motor))


def test_ideal_reaction_of_the_gyroscopes_constraint_is_zero():
    """λ = μ1 sin β, so without tangential reaction the constraint is an integral of the motion."""
    state = {gyro.alpha: 0.1, gyro.beta: 0.4, gyro.gamma: 0.2, gyro.e1: 0.7, gyro.e2: -0.3, gyro.e3: 0.0}
    exact = vn.quasi.release(gyro.system(), gyro.characteristics(), exact=True)
    equations = vn.derive(exact, "hamel", characteristics=gyro.characteristics())
    mu = dict(zip(exact.inputs, (0.0, 0.0), strict=True))
    known = {key: value for key, value in state.items() if key is not gyro.e3}
    assert equations.recover(known | mu)["spin"] == pytest.approx(0.0, abs=1e-15)
    pushed = equations.recover(known | mu | {exact.inputs[0]: 1.5})["spin"]
    assert pushed == pytest.approx(1.5 * np.sin(0.4), rel=1e-14)


# -- infinite inputs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "order"),
    [
        (sp.Piecewise((0, t < 1), (t - 1, True)), 1),
        (sp.Piecewise((0, t < 1), ((t - 1) ** 3, True)), 3),
        (sp.Abs(t - 1), 1),
        (sp.Max(0, t - 1) ** 2, 2),
        (sp.Heaviside(t - 1), 0),
    ],
)
def test_a_path_with_a_corner_asks_for_an_infinite_input(path, order):
    with pytest.raises(
        vn.errors.ConstraintError, match=f"infinite input at t = 1: the time derivative of order {order}"
    ):
        vn.derive(elastic_joint(path))


def test_a_corner_that_the_input_can_follow_is_allowed():
    smooth = sp.Piecewise((0, t < 1), ((t - 1) ** 4, True))
    assert vn.servo.realizability(elastic_joint(smooth)).relative_degrees == {"load": 4}


@pytest.mark.parametrize(("method", "step"), [("taylor", None), ("rk4", 1e-3)])
@pytest.mark.parametrize("across", [0, t**6 / 20], ids=["straight down", "sideways"])
@pytest.mark.parametrize("form", ["multipliers", "hamel", "voronets"])
def test_a_path_into_free_fall_ends_with_the_reason(form, across, method, step):
    """The rope only pulls: at t = 1 the load falls with g, and neither trolley nor winch moves it sideways."""
    original = crane.system()
    fall = [
        vn.Servo(crane.load[0] - across, through=[crane.force], name="across"),
        vn.Servo(crane.load[1] + 5 + sp.Rational(981, 600) * t**3, through=[crane.torque], name="height"),
    ]
    choices = {"characteristics": crane.characteristics()} if form == "hamel" else {}
    equations = vn.derive(dataclasses.replace(original, constraints=fall), form, **choices)
    motion = vn.simulate(equations, {crane.l: 5.0}, (0, 2), method=method, step=step)
    assert motion.outcome.kind == "singular"
    assert "the servo constraint `across` asks for an infinite input: force" in motion.outcome.reason
    assert motion.outcome.time == pytest.approx(1.0, abs=2e-2)


@pytest.mark.parametrize(("constraint", "relative_degree", "order"), [("height", 2, 3), ("across", 4, 1)])
def test_how_well_a_step_of_rk4_answers_to_a_correction(constraint, relative_degree, order):
    """A correction c held through a step τ moves the residual by -c τʳ/r!, with a relative error of order τ^(5-r): why
    chains of four residuals get gentle feedback and not the deadbeat one.
    """
    equations = vn.derive(crane.system())
    motion = vn.simulate(equations, {crane.x: 0.0, crane.l: crane.DEEP, crane.theta: 0.0}, (0, 1.2))
    problem, begin = motion.segments[-1].problem, motion.segments[-1].states[-1]
    place = equations.constraint_names.index(constraint)
    rates = problem.compiled(problem.nodes.held_rates)
    residual = problem.compiled(problem.nodes.lifted([problem.integrable.chains[place][0]]))

    def answer(step: float, correction: float) -> float:
        p = problem.values.copy()
        p[len(p) - len(problem.integrable.corrections) + place] = correction
        at = np.array([motion.t[-1]])
        end = METHODS["rk4"].step_all(lambda s, x: rates.rows(s, x, p), at, begin[None], step)
        return float(residual(at[0] + step, end[0], p)[0])

    ideal = {step: -10.0 * step**relative_degree / math.factorial(relative_degree) for step in (0.08, 0.04)}
    errors = [abs((answer(step, 10.0) - answer(step, 0.0)) / moved - 1) for step, moved in ideal.items()]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize("path", [1 / (1 - t), sp.sqrt(1 - t), sp.log(1 - t)])
def test_a_path_that_runs_away_is_named(path):
    """The given motion has no end at t = 1, so that no input could follow it."""
    system = vn.System([x], m * x.diff() ** 2 / 2, forces={x: u}, inputs=[u], parameters={m: 2.0},
                       constraints=[vn.Servo(x - path, through=[u], name="cart")])  # fmt: skip
    motion = vn.simulate(vn.derive(system), {}, (0, 2))
    assert motion.outcome.kind == "non-finite"
    assert motion.outcome.time == pytest.approx(1.0, abs=1e-6)
    assert "the motion prescribed by `cart` needs an infinite input or reaction there" in motion.outcome.reason


CARTS, PUSHES, SPEEDS = dynamicsymbols("x1:7"), sp.symbols("u1:4"), dynamicsymbols("e1:4")


def carts() -> vn.System:
    """Six carts, three of them servos; the first is pushed through a lever that the last one turns: n + m = 9."""
    coupled = sum((a.diff() + b.diff()) ** 2 for a, b in pairwise(CARTS)) / 10
    return vn.System(
        CARTS,
        sum(q.diff() ** 2 for q in CARTS) / 2 + coupled,
        forces={CARTS[0]: PUSHES[0] * sp.cos(CARTS[5]), CARTS[1]: PUSHES[1], CARTS[2]: PUSHES[2]},
        inputs=PUSHES,
        constraints=[vn.Servo(CARTS[i] - sp.sin(t + i) / 5, [PUSHES[i]], name=f"cart {i + 1}") for i in range(3)],
        name="carts",
    )


@pytest.mark.parametrize(("method", "step"), [("taylor", None), ("rk4", 1e-3)])
@pytest.mark.parametrize("form", ["multipliers", "hamel", "maggi", "voronets"])
def test_a_lever_that_loses_its_grip_is_seen_in_every_form_and_size(form, method, step):
    """The realizability determinant is proportional to cos x6: zero at x6 = π/2. One servo and one input are named."""
    chosen = dict(zip(SPEEDS, (CARTS[3].diff(), CARTS[4].diff() + CARTS[3].diff(), 2 * CARTS[5].diff()), strict=True))
    choices = {"characteristics": chosen} if form in ("hamel", "maggi") else {}
    equations = vn.derive(carts(), form, **choices)
    motion = vn.simulate(equations, {CARTS[5].diff(): 1.0}, (0, 3), method=method, step=step)
    assert motion.outcome.kind == "singular"
    assert "the servo constraint `cart 1` asks for an infinite input: u1 can hold it only" in motion.outcome.reason
    assert motion[CARTS[5]][-1] == pytest.approx(np.pi / 2, abs=5e-3)


# -- ideal and servo, work, internal dynamics -------------------------------------------------------------------------


def test_internal_dynamics_of_straight_motion_at_a_point():
    """e1 decays with U/α when the center of mass is ahead, and grows when it is behind; e2 is neutral."""
    for speed, stable in ((1.6, None), (-1.6, False)):
        at = {xi: 0.0, eta: 0.0, phi: 0.0, xi.diff(): speed, eta.diff(): 0.0, phi.diff(): 0.0}
        equations = vn.derive(sleigh.system(), "hamel", characteristics=sleigh.characteristics(), at=at)
        found = vn.servo.internal_dynamics(
            equations, at={xi: 0.0, eta: 0.0, phi: 0.0, e1: 0.0, e2: 1.6}, states=[e1, e2]
        )
        np.testing.assert_allclose(sorted(found.rates.real), sorted([0.0, -speed / 0.3]), rtol=1e-12, atol=1e-12)
        assert found.stable is stable


def test_internal_dynamics_along_a_motion():
    """Slow turning changes the exponents of straight motion a little; they stay 0 and about -U/α."""
    equations = vn.derive(sleigh.system(), "hamel", characteristics=sleigh.characteristics())
    motion = vn.simulate(equations, {e1: 1e-3, e2: 1.6}, np.linspace(0, 20, 4001))
    found = vn.servo.internal_dynamics(motion, states=[e1, e2])
    np.testing.assert_allclose(found.rates, [0.0, -1.6 / 0.3], rtol=0, atol=5e-3)


def test_a_moving_point_has_no_first_approximation():
    equations = vn.derive(sleigh.system(), "hamel", characteristics=sleigh.characteristics())
    state = {xi: 0.0, eta: 0.0, phi: 0.0, e1: 0.5, e2: 1.6}
    with pytest.raises(vn.ModelError, match="not steady: e1 changes at"):
        vn.servo.internal_dynamics(equations, at=state, states=[e1, e2])


def test_released_motion_with_given_reactions():
    """With μ = λ = 0 nothing holds the constraint: the body moves freely, its center of mass uniformly."""
    released = vn.quasi.release(sleigh.system(), sleigh.characteristics())
    equations = vn.derive(released, "hamel", characteristics=sleigh.characteristics() | {e3: sleigh.slip})
    motion = vn.simulate(
        equations, {e1: 0.5, e2: 1.6, e3: 0.0}, (0, 1), inputs=dict.fromkeys(released.inputs, sp.S.Zero)
    )
    center = xi + 0.3 * sp.cos(phi) + 0.2 * sp.sin(phi)
    speeds = motion[center.diff(t)]
    np.testing.assert_allclose(speeds, speeds[0], rtol=1e-13)
    np.testing.assert_allclose(motion[e1], 0.5, rtol=1e-13)
    assert abs(motion[e3][-1]) > 0.1


def test_controlled_motion_is_stabilized_by_tangential_reactions():
    """ξ falls at the chosen rate, the speeds go to the steady motion; without μ they do not."""
    system = vn.quasi.release(sleigh.system(), sleigh.characteristics(), "decoupling", exact=True)
    equations = vn.derive(
        system, "hamel", characteristics=sleigh.characteristics(), rates={"knife": 3.0}, release={"knife": e3}
    )
    steady = {xi: 0.0, eta: 0.0, phi: 0.0, e1: 0.0, e2: 1.6, e3: 0.0} | dict.fromkeys(system.inputs, 0.0)
    laws = vn.feedback.stabilize_free_motion(equations, steady, [e1, e2, e3])
    start = {e1: 0.9, e2: 1.2, e3: 0.4}
    motion = vn.simulate(equations, start, (0, 20), inputs=laws)
    np.testing.assert_allclose(motion[e3], 0.4 * np.exp(-3 * motion.t), rtol=0, atol=1e-13)
    assert [motion[e1][-1], motion[e2][-1]] == pytest.approx([0.0, 1.6], abs=1e-6)
    free = vn.simulate(equations, start, (0, 20), inputs=dict.fromkeys(system.inputs, sp.S.Zero))
    assert abs(free[e2][-1] - 1.6) > 0.1


def test_what_no_input_reaches_cannot_be_stabilized():
    system = vn.quasi.release(sleigh.system(), sleigh.characteristics(), "decoupling", exact=True)
    equations = vn.derive(system, "hamel", characteristics=sleigh.characteristics())
    steady = {xi: 0.0, eta: 0.0, phi: 0.0, e1: 0.0, e2: 1.6} | dict.fromkeys(system.inputs, 0.0)
    with pytest.raises(vn.ModelError, match="No input can control"):
        vn.feedback.stabilize_free_motion(equations, steady, [e1, e2], inputs=[])


# -- refusals -------------------------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_servo_is_said_at_once():
    tau = sp.Symbol("tau")
    with pytest.raises(vn.ModelError) as caught:
        vn.System([x, y], x.diff() ** 2 + y.diff() ** 2, forces={x: u}, inputs=[u],
                  constraints=[vn.Servo(x - y, through=[tau], name="belt"), vn.Servo(x, name="stop")])  # fmt: skip
    text = str(caught.value)
    assert "belt is held through tau, which is not an input" in text
    assert "stop names no input" in text
    assert "2 servo constraints are held through 1 inputs" in text


def test_inputs_must_enter_linearly():
    system = vn.System([x, y], x.diff() ** 2 + y.diff() ** 2, forces={x: u**2}, inputs=[u],
                       constraints=[vn.Servo(x - y, through=[u])])  # fmt: skip
    with pytest.raises(vn.ModelError, match="not linear in u"):
        vn.derive(system)


def test_forms_for_ideal_constraints_refuse_a_servo():
    with pytest.raises(vn.VinculumError, match="knife is held by a servo"):
        vn.derive(sleigh.system(), "lyapunov")


def test_an_input_that_holds_a_constraint_has_no_law():
    with pytest.raises(vn.ModelError, match="tau holds a constraint"):
        vn.simulate(vn.derive(sleigh.system()), {xi.diff(): 1.0}, (0, 1), inputs={sleigh.tau: sp.S.One})


def test_rates_are_for_constraints_there_are():
    with pytest.raises(vn.ModelError, match=r"no constraint 'knive'.* Did you mean knife"):
        vn.derive(sleigh.system(), rates={"knive": 1.0})


def test_questions_about_servos_need_one():
    with pytest.raises(vn.ModelError, match="has no servo constraint"):
        vn.servo.realizability(vn.servo.idealized(sleigh.system()))
