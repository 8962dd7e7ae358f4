"""Linear models that others have published, with their numbers, and the same model from other descriptions.

Cart with pendulum, ball and beam, motor position: Control Tutorials for MATLAB and Simulink (University of Michigan,
ctms.engin.umich.edu). Rotary pendulum: Quanser QUBE-Servo 2 and SRV02. Bicycle: Meijaard, Papadopoulos, Ruina, Schwab,
Proc. R. Soc. A 463 (2007) 1955-1982, eq. 5.4 and table 2. All numbers were compared with copies in public repositories.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import bicycle

x, theta, z, y, r, alpha, q = dynamicsymbols("x theta z y r alpha q")
u = sp.Symbol("u")


def model(system):
    """The linear model at the origin."""
    return vn.linearize(vn.derive(system), at=dict.fromkeys((*system.coordinates, *system.inputs), 0.0))


def matrices(linear, states):
    """A and B in a given order of states."""
    places = [linear.states.index(s) for s in states]
    return linear.system_matrix[np.ix_(places, places)], linear.input_matrix[places]


def spellings(expression):
    """An energy in several ways."""
    return {
        "as written": expression,
        "expanded": sp.expand(expression),
        "by multiple angles": sp.expand(expression).rewrite(sp.exp).expand().rewrite(sp.cos).simplify(),
        "simplified": sp.trigsimp(sp.expand(expression)),
    }


# -- cart with pendulum ----------------------------------------------------------------------------------------------

M, m, b, I, g, l = 0.5, 0.2, 0.1, 0.006, 9.8, 0.3
CART_A = [[0, 1, 0, 0], [0, -0.181818181818182, 2.672727272727273, 0],
          [0, 0, 0, 1], [0, -0.454545454545455, 31.181818181818180, 0]]  # fmt: skip
CART_B = [[0], [1.818181818181818], [0], [4.545454545454545]]


def cart_energy():
    """θ from the upright, positive so that the mass center is at x - l sin θ, as in the tutorial."""
    mass = (x.diff() - l * sp.cos(theta) * theta.diff()) ** 2 + (l * sp.sin(theta) * theta.diff()) ** 2
    return M * x.diff() ** 2 / 2 + m * mass / 2 + I * theta.diff() ** 2 / 2


@pytest.mark.parametrize("spelling", spellings(cart_energy()))
def test_cart_with_pendulum(spelling):
    T = spellings(cart_energy())[spelling]
    V = m * g * l * sp.cos(theta)
    linear = model(vn.System([x, theta], T, V, forces={x: u}, dissipation=b * x.diff() ** 2 / 2, inputs=[u]))
    A, B = matrices(linear, [x, x.diff(), theta, theta.diff()])
    np.testing.assert_allclose(A, CART_A, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(B, CART_B, rtol=1e-13)


@pytest.mark.parametrize("form", ["multipliers", "shulgin", "lyapunov"])
def test_cart_with_pendulum_in_cartesian_coordinates(form):
    """The mass center (z, y) with z = x - l sin θ, y = l cos θ as constraints."""
    T = (M * x.diff() ** 2 + m * (z.diff() ** 2 + y.diff() ** 2) + I * theta.diff() ** 2) / 2
    rod = [vn.Holonomic(z - x + l * sp.sin(theta), "across"), vn.Holonomic(y - l * sp.cos(theta), "up")]
    system = vn.System([x, theta, z, y], T, m * g * y, forces={x: u}, dissipation=b * x.diff() ** 2 / 2,
                       constraints=rod, inputs=[u])  # fmt: skip
    choice = {"dependent": [z, y]} if form == "shulgin" else {}
    equations = vn.derive(system, form, **choice)
    linear = vn.linearize(equations, at={x: 0, theta: 0, z: 0, y: l, u: 0})
    wanted = np.array([linear.measured[s] for s in (x, x.diff(), theta, theta.diff())])
    A, B = wanted @ linear.system_matrix @ np.linalg.inv(wanted), wanted @ linear.input_matrix
    np.testing.assert_allclose(A, CART_A, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(B, CART_B, rtol=1e-12)


def test_the_published_gain_of_the_cart():
    """LQR with Q = diag(5000, 0, 100, 0), R = 1: the tutorial prints K = (-70.7107, -37.8345, 105.5298, 20.9238)."""
    V = m * g * l * sp.cos(theta)
    linear = model(
        vn.System([x, theta], cart_energy(), V, forces={x: u}, dissipation=b * x.diff() ** 2 / 2, inputs=[u])
    )
    weight = {x: 5000.0, theta: 100.0}
    law = vn.stabilize(linear, state_weights=[weight.get(s, 0.0) for s in linear.states], input_weights=1.0)
    gains = dict(zip(linear.states, np.asarray(law.gain).ravel(), strict=True))
    found = np.array([gains[s] for s in (x, x.diff(), theta, theta.diff())])
    np.testing.assert_allclose(np.abs(found), [70.7107, 37.8345, 105.5298, 20.9238], atol=6e-5)


# -- ball and beam ---------------------------------------------------------------------------------------------------


BALL, RADIUS, GRAVITY, LENGTH, LEVER, INERTIA = 0.111, 0.015, -9.8, 1.0, 0.03, 9.99e-6
ROLLING = (BALL + INERTIA / RADIUS**2) * r.diff() ** 2 / 2 + BALL * (r * alpha.diff()) ** 2 / 2


def slope(linear, state):
    return linear.system_matrix[linear.states.index(r.diff()), linear.states.index(state)]


def test_ball_and_beam():
    """r̈ = -(m g/(J/R² + m)) α = 7 α with the tutorial's numbers (its g is negative)."""
    beam = ROLLING + alpha.diff() ** 2 / 2
    linear = model(vn.System([r, alpha], beam, BALL * GRAVITY * r * sp.sin(alpha), forces={alpha: u}, inputs=[u]))
    assert slope(linear, alpha) == pytest.approx(7.0, rel=1e-14)
    assert slope(linear, r) == 0


def test_ball_and_beam_with_a_lever():
    """A servo holds α = θ d/L: r̈ = 0.21 θ."""
    held = vn.Servo(alpha - theta * LEVER / LENGTH, through=[u])
    T = ROLLING + (alpha.diff() ** 2 + theta.diff() ** 2) / 2
    system = vn.System([r, alpha, theta], T, BALL * GRAVITY * r * sp.sin(alpha), forces={alpha: u},
                       constraints=[held], inputs=[u])  # fmt: skip
    linear = vn.linearize(vn.derive(system), at=dict.fromkeys((r, alpha, theta), 0.0))
    assert slope(linear, theta) == pytest.approx(0.21, rel=1e-12)


# -- motor -----------------------------------------------------------------------------------------------------------


def test_motor_position():
    """J θ̈ + b θ̇ = K i, L di/dt + R i = V - K θ̇: the tutorial's A and B of (θ, θ̇, i)."""
    J, friction, K, R, L = 3.2284e-6, 3.5077e-6, 0.0274, 4.0, 2.75e-6
    shaft = vn.System([theta], J * theta.diff() ** 2 / 2, forces={theta: u}, inputs=[u],
                      dissipation=friction * theta.diff() ** 2 / 2)  # fmt: skip
    motor = vn.motors.DCMotor(torque_constant=K, resistance=R, inductance=L)
    equations = vn.derive(vn.motors.motorize(shaft, {u: motor}))
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {theta: 0.0}))
    current = next(s for s in linear.states if s not in (theta, theta.diff()))
    A, B = matrices(linear, [theta, theta.diff(), current])
    exact = [[0, 1, 0], [0, -friction / J, K / J], [0, -K / L, -R / L]]
    np.testing.assert_allclose(A, exact, rtol=1e-13, atol=1e-9)
    np.testing.assert_allclose(B, [[0], [0], [1 / L]], rtol=1e-13)
    np.testing.assert_allclose(A[1:, 1:], [[-1.0865e0, 8.4872e3], [-9.9636e3, -1.4545e6]], rtol=5e-5)


# -- rotary (Furuta) pendulum ----------------------------------------------------------------------------------------

# QUBE-Servo 2 of Quanser. Parameters: its qube2_rotpen_param.m. Matrices with all digits: the C code that its model
# q_ss_model_step (pendulum down) was compiled to, and the model of the workbook (pendulum up), both in public
# repositories; the workbook itself prints four decimals.
SWING, ARM, ROD, CROSSBAR = 0.024, 0.085, 0.129, 0.095  # mass of the pendulum, lengths, mass of the arm
MOTOR, RESISTANCE = 0.042, 8.4
QUBE_DOWN_A = [[149.2750968650933, -4.9831962372832166, 4.914930740434313],
               [-261.609107366662, 4.9252520949892258, -8.6135642902045166]]  # fmt: skip
QUBE_DOWN_B = [49.727534550276587, -49.149307404343141]
QUBE_UP_A = [[149.275096865093, -0.0104427822555581, 0], [261.609107366662, -0.0103213545549121, 0]]
QUBE_UP_B = [49.7275345502766, 49.1493074043432]


def furuta_energy(mass, arm, middle, inertia, up):
    """Arm angle q, pendulum angle θ from the vertical; mass center at ``middle`` from the end of the arm."""
    along = arm * q.diff() - up * middle * sp.cos(theta) * theta.diff()
    across = middle * sp.sin(theta) * q.diff()
    speed = along**2 + across**2 + (middle * sp.sin(theta) * theta.diff()) ** 2
    return (inertia[0] * q.diff() ** 2 + inertia[1] * theta.diff() ** 2 + mass * speed) / 2


def qube(up, friction, spelling="as written"):
    """The pendulum with a voltage: torque k u/R; ``friction`` of the arm and of the pendulum."""
    inertia = CROSSBAR * ARM**2 / 12, SWING * ROD**2 / 12
    T = spellings(furuta_energy(SWING, ARM, ROD / 2, inertia, up))[spelling]
    losses = (friction[0] * q.diff() ** 2 + friction[1] * theta.diff() ** 2) / 2
    V = up * SWING * 9.81 * ROD / 2 * sp.cos(theta)
    system = vn.System([q, theta], T, V, forces={q: MOTOR / RESISTANCE * u}, dissipation=losses, inputs=[u])
    A, B = matrices(model(system), [q, theta, q.diff(), theta.diff()])
    return A[2:, 1:], B[2:, 0]


# Quanser's scripts first replace B by (k/R) B and then subtract (k²/R) B from the damping, which counts k/R twice: its
# matrices have the back-EMF damping k³/R² in place of k²/R. With that number every digit is met.
PRINTED_EMF, BACK_EMF = MOTOR**3 / RESISTANCE**2, MOTOR**2 / RESISTANCE


@pytest.mark.parametrize("spelling", spellings(furuta_energy(1.0, 1.0, 1.0, (1.0, 1.0), 1)))
def test_rotary_pendulum_of_quanser(spelling):
    A, B = qube(-1, (0.0005 + PRINTED_EMF, 0.0005), spelling)
    np.testing.assert_allclose(A, QUBE_DOWN_A, rtol=3e-15)
    np.testing.assert_allclose(B, QUBE_DOWN_B, rtol=3e-15)
    A, B = qube(1, (PRINTED_EMF, 0.0), spelling)
    np.testing.assert_allclose(A, QUBE_UP_A, rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(B, QUBE_UP_B, rtol=1e-13)


def test_the_back_emf_of_the_rotary_pendulum():
    """From the motor itself the damping is 2.0886 1/s, two hundred times that of the printed matrix."""
    inertia = CROSSBAR * ARM**2 / 12, SWING * ROD**2 / 12
    T = furuta_energy(SWING, ARM, ROD / 2, inertia, 1)
    shaft = vn.System([q, theta], T, SWING * 9.81 * ROD / 2 * sp.cos(theta), forces={q: u}, inputs=[u])
    motor = vn.motors.DCMotor(torque_constant=MOTOR, resistance=RESISTANCE, inductance=1.16e-3)
    equations = vn.derive(vn.motors.motorize(shaft, {u: motor}))
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {q: 0.0, theta: 0.0}))
    motion = [q, theta, q.diff(), theta.diff()]
    A, B = matrices(linear, [*motion, next(s for s in linear.states if s not in motion)])
    follow = np.vstack([np.eye(4), -A[4:, :4] / A[4, 4]])  # the current that the voltage holds
    A, B = (A @ follow)[:4], B[:4] - A[:4, 4:] * B[4, 0] / A[4, 4]
    expected, voltage = qube(1, (BACK_EMF, 0.0))
    np.testing.assert_allclose(A[2:, 1:], expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(B[2:, 0], voltage, rtol=1e-13)
    assert A[2, 2] == pytest.approx(-2.0886, abs=5e-5)


def test_rotary_pendulum_of_the_older_stand():
    """Quanser SRV02: its workbook prints A and B with three digits; voltage of a motor behind a gear of 70.

    It also prints 80.3, an entry of B, where its own formulas give A = 81.4 for the angle of the pendulum.
    """
    kt, km, gear, resistance = 0.007682, 0.007677, 70.0, 2.6
    T = furuta_energy(0.127, 0.2159, 0.33655 / 2, (9.98e-4, 0.0012), 1)
    damping = 0.0024 + gear**2 * kt * km / resistance, 0.0024
    losses = (damping[0] * q.diff() ** 2 + damping[1] * theta.diff() ** 2) / 2
    V = 0.127 * 9.81 * 0.33655 / 2 * sp.cos(theta)
    system = vn.System([q, theta], T, V, forces={q: gear * kt / resistance * u}, dissipation=losses, inputs=[u])
    A, B = matrices(model(system), [q, theta, q.diff(), theta.diff()])
    np.testing.assert_allclose(A[2:, 2:], [[-45.8, -0.930], [-44.1, -1.40]], rtol=5e-3)
    np.testing.assert_allclose([*A[2:, 1], *B[2:, 0]], [81.4, 122, 83.4, 80.3], rtol=5e-3)


# -- the same verdict and the same states for every spelling, form and choice of coordinates ---------------------------


def answers(system, at, form="multipliers"):
    """The verdict without its words, and the roots."""
    linear = vn.linearize(vn.derive(system, form), at=at)
    verdict = vn.stability(linear)
    return (verdict.kind, verdict.theorem, set(linear.states)), np.sort_complex(linear.roots)


def respelled(system):
    """The system with its energies in several spellings."""
    ways = {"as written": lambda e: e, "expanded": sp.expand, "simplified": lambda e: sp.trigsimp(sp.expand(e)),
            "by half angles": lambda e: sp.expand(sp.expand_trig(e.subs(alpha, 2 * (alpha / 2))))}  # fmt: skip
    for way in ways.values():
        yield replace(system, kinetic_energy=way(sp.sympify(system.kinetic_energy).doit()),
                      potential_energy=way(sp.sympify(system.potential_energy)))  # fmt: skip


def loaded_beam():
    """Ball and beam, held level by a spring against the weight of the ball, with friction of the beam."""
    beam = ROLLING + alpha.diff() ** 2 / 2
    V = -BALL * GRAVITY * r * sp.sin(alpha) + 2.0 * (1 - sp.cos(alpha)) + 0.7 * r**2 / 2
    return vn.System([r, alpha], beam, V, forces={alpha: u}, dissipation=0.3 * alpha.diff() ** 2 / 2, inputs=[u])


def test_ball_and_beam_in_any_spelling_form_and_coordinates():
    system, rest = loaded_beam(), {r: 0.0, alpha: 0.0, u: 0.0}
    first, roots = answers(system, rest)
    assert first[0] == "asymptotically stable"
    for other in respelled(system):
        for form in ("multipliers", "lyapunov"):
            same, found = answers(other, rest, form)
            assert same == first
            np.testing.assert_allclose(found, roots, rtol=1e-11)
    height = vn.Holonomic(z - r * sp.sin(alpha), name="height of the ball")
    tied = replace(system, coordinates=(r, alpha, z), constraints=(height,),
                   potential_energy=system.potential_energy.subs(r * sp.sin(alpha), z))  # fmt: skip
    for form, options in (("multipliers", {}), ("shulgin", {"dependent": [z]})):
        linear = vn.linearize(vn.derive(tied, form, **options), at=rest | {z: 0.0})
        np.testing.assert_allclose(np.sort_complex(linear.roots), roots, rtol=1e-11)
        assert set(linear.states) == first[2]
        assert vn.stability(linear).kind == first[0]
    ratio = system.coordinates, {r: r / 1000, alpha: alpha}  # millimeters
    scaled = replace(system, kinetic_energy=system.kinetic_energy.subs(ratio[1], simultaneous=True).doit(),
                     potential_energy=system.potential_energy.subs(r, r / 1000))  # fmt: skip
    same, found = answers(scaled, rest)
    assert same == first
    np.testing.assert_allclose(found, roots, rtol=1e-10)


def test_motor_in_any_spelling_and_coordinates():
    """A motor that turns a pendulum: the angle of the shaft, or that of the rotor behind a gear of 20."""
    motor = vn.motors.DCMotor(torque_constant=0.05, resistance=2.0, inductance=3e-3)
    shown = []
    for angle in (lambda e: e, lambda e: e / 20):
        turned = angle(theta)
        T, V = 0.4 * turned.diff() ** 2 / 2, 1.5 * (1 - sp.cos(turned))
        for way in (lambda e: e, sp.expand, lambda e: sp.expand(sp.expand_trig(e.subs(theta, 2 * (theta / 2))))):
            arm = vn.System([theta], way(T), way(V), forces={theta: 20 * u * turned.diff(theta)}, inputs=[u],
                            dissipation=0.01 * turned.diff() ** 2)  # fmt: skip
            equations = vn.derive(vn.motors.motorize(arm, {u: motor}))
            rest = vn.equilibrium(equations, {theta: 0.0})
            linear = vn.linearize(equations, at=rest)
            shown.append((vn.stability(linear).kind, len(linear.states), np.sort_complex(linear.roots)))
        own = [(kind, n) for kind, n, _ in shown]
        assert own == [("asymptotically stable", 3)] * len(own)
    for _, _, found in shown[1:3]:
        np.testing.assert_allclose(found, shown[0][2], rtol=1e-10)


def test_bicycle_in_other_spellings():
    """An expanded potential, another order of coordinates, constraints times a number: one verdict, the same states."""
    system = bicycle.system()
    straight = bicycle.STRAIGHT | {bicycle.chi_r.diff(): 5 / 0.3}
    first = None
    other = replace(
        system,
        coordinates=tuple(reversed(system.coordinates)),
        potential_energy=sp.expand(system.potential_energy),
        constraints=tuple(replace(c, expression=-3 * c.expression) for c in system.constraints),
    )
    for described in (system, other):
        equations = vn.derive(described)
        linear = vn.linearize(equations, at=vn.steady(equations, straight, starts=0))
        verdict = vn.stability(linear)
        found = verdict.kind, verdict.theorem, set(linear.states), dict(verdict.zeros)
        first = first or (found, np.sort_complex(linear.roots))
        assert found == first[0]
        np.testing.assert_allclose(np.sort_complex(linear.roots), first[1], rtol=1e-9)


# -- bicycle ---------------------------------------------------------------------------------------------------------


@cache
def bicycle_equations():
    return vn.derive(bicycle.system())


@pytest.mark.parametrize("speed", [1.0, 5.0, 9.0])
def test_bicycle_matrix_at_a_speed(speed):
    """A of (φ, δ, φ̇, δ̇) from the published M, C₁, K₀, K₂; changing the speed alone gives a family of steady motions."""
    equations = bicycle_equations()
    ride = vn.steady(equations, bicycle.STRAIGHT | {bicycle.chi_r.diff(): speed / 0.3}, starts=0)
    linear = vn.linearize(equations, at=ride)
    A, _ = matrices(linear, [bicycle.phi, bicycle.delta, bicycle.phi.diff(), bicycle.delta.diff()])
    stiffness = 9.81 * bicycle.K0 + speed**2 * bicycle.K2
    np.testing.assert_allclose(A[2:, :2], -np.linalg.solve(bicycle.M, stiffness), rtol=1e-12)
    np.testing.assert_allclose(A[2:, 2:], -np.linalg.solve(bicycle.M, speed * bicycle.C1), rtol=1e-12)
    assert linear.structure.family.shape[1] == 1
    stable = bicycle.WEAVE < speed < bicycle.CAPSIZE
    assert bool(vn.stability(linear)) == stable


def test_bicycle_borders_and_their_modes():
    equations = bicycle_equations()
    ride = vn.steady(equations, bicycle.STRAIGHT | {bicycle.chi_r.diff(): 5 / 0.3}, starts=0)
    borders = vn.hurwitz.stability_borders(
        equations,
        bicycle.STRAIGHT,
        bicycle.chi_r.diff(),
        (3 / 0.3, 8 / 0.3),
        points=6,
        named=vn.linearize(equations, at=ride).named(bicycle.MODES),
    )
    weave, capsize = borders
    assert 0.3 * weave.value == pytest.approx(bicycle.WEAVE, rel=2e-14)
    assert 0.3 * capsize.value == pytest.approx(bicycle.CAPSIZE, rel=2e-14)
    assert weave.gained
    assert not capsize.gained
    assert weave.root.imag == pytest.approx(3.43503384866144, rel=1e-10)
    assert capsize.root == 0
    assert (weave.mode.name, capsize.mode.name) == ("weave", "capsize")
    assert "becomes stable at dot(chi_r) = 14.3079" in str(weave)
    assert "(weave: delta 1, phi 0.828 at 20 deg; oscillates at 3.43503 rad/s)" in str(weave)
