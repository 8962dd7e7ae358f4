"""Krasinskiy 2025 in general form: the governor in Routh's form, the scalar form (15), and the errata of the paper.

Each erratum is shown by the number that the printed formula gives beside the right one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from examples import ball_and_beam, five_bar, four_bar, watt_governor
from laws.random_systems import consistent_state, random_state, t, values
from papers.roots import assert_roots
from vinculum.simulate.problem import pose

# -- A9: the governor -------------------------------------------------------------------------------------------------

alpha, s, phi = watt_governor.alpha, watt_governor.s, watt_governor.phi
MOVING = {alpha: 0.5, s: -0.6 * np.cos(0.5), phi: 0.0, alpha.diff(): 0.3, phi.diff(): 8.0}


@cache
def governor(form):
    dependent = {} if form in ("multipliers", "lyapunov") else {"dependent": [s]}
    return vn.derive(watt_governor.system(), form, **dependent)


@cache
def steady():
    return vn.equilibrium(governor("routh"), {phi.diff(): 14.0}, near={alpha: 1.0})


def test_routh_gives_the_accelerations_of_lagrange():
    routh, full = governor("routh"), governor("multipliers")
    assert [str(p) for p in routh.definitions] == ["p_phi(t)"]
    found = routh.recover(MOVING)
    expected = full.recover(MOVING | {s.diff(): 0.6 * np.sin(0.5) * 0.3})
    for key in (*full.acceleration_symbols, "arms"):
        assert found[key] == pytest.approx(expected[key], rel=1e-13)


def test_roots_of_the_steady_motion_equal_brute_force():
    """One zero root of the constraint, one of the momentum, one of the angle phi itself; the pair by construction."""
    routh, rest = governor("routh"), steady()
    system = routh.system
    start = {key: rest[key] for key in (*system.coordinates, *system.velocities)}
    problem, x = pose(routh, start, 0.0, {}, dict(system.parameters), [], {})
    rates, n = problem.compiled(problem.rates), len(routh.states)
    slopes = np.array([_slope(lambda x: rates(0.0, x, problem.values), x, i) for i in range(n)]).T[:n, :n]
    linear = vn.linearize(routh, at=rest)
    assert linear.critical == 2
    brute = sorted(np.linalg.eigvals(slopes), key=abs)
    assert np.abs(brute[:3]).max() < 1e-5
    assert_roots(linear.roots, brute[3:], digits=7)


def _slope(f, x, i, h=1e-4):
    """Central difference of fourth order."""
    e = h * np.eye(len(x))[i]
    return (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h)


def test_routh_and_shulgin_have_the_same_first_approximation():
    other = vn.linearize(governor("shulgin"), at=steady())
    np.testing.assert_allclose(vn.linearize(governor("routh"), at=steady()).roots, other.roots, rtol=1e-12)
    assert other.critical == 2


def test_the_steady_motion_of_a_given_momentum():
    rest = steady()
    (p,) = governor("routh").definitions
    again = vn.equilibrium(governor("routh"), {p: rest[p]}, near={alpha: 0.9}, starts=0)
    assert again[phi.diff()] == pytest.approx(14.0, rel=1e-12)
    assert again[alpha] == pytest.approx(rest[alpha], rel=1e-12)


def test_a_changed_momentum_stays_changed():
    """Stable, not asymptotically, in the momentum: the motion tends to another steady motion with the same p."""
    rest, routh = steady(), governor("routh")
    (p,) = routh.definitions
    start = {alpha: rest[alpha], phi: 0.0, alpha.diff(): 0.0, phi.diff(): 14.5}
    motion = vn.simulate(routh, start, (0, 200), guess={s: rest[s]})
    shifted = vn.equilibrium(routh, {p: motion[p][0]}, near={alpha: rest[alpha]}, starts=0)
    assert abs(shifted[alpha] - rest[alpha]) > 1e-2
    assert motion[alpha][-1] == pytest.approx(shifted[alpha], abs=1e-9)
    assert motion[phi.diff()][-1] == pytest.approx(shifted[phi.diff()], abs=1e-8)


# -- (14), (15), (27) in SymPy, term by term -------------------------------------------------------------------------

SYSTEMS = {
    "four-bar": (four_bar.system, [four_bar.beta, four_bar.gamma]),
    "five-bar": (five_bar.system, [*five_bar.phi]),
}


class Scalar:
    """The quantities of (13) to (15) at one state, by SymPy: a*, its derivatives, B, W and Q."""

    def __init__(self, system, dependent, state):
        q = list(system.coordinates)
        self.r = [q.index(x) for x in q if x not in dependent]
        self.s = [q.index(x) for x in dependent]
        T, v = system.kinetic_energy, list(system.velocities)
        a = sp.Matrix(len(q), len(q), lambda i, j: T.diff(v[i], v[j]))
        F = sp.Matrix([c.expression for c in system.constraints]).jacobian(q)
        known = dict(system.parameters) | state
        flat = [*a, *F, *(x.diff(y) for x in a for y in q), *(x.diff(y) for x in F for y in q)]
        flat += [system.potential_energy.diff(x) for x in q] + [sp.sympify(system.forces.get(x, 0)) for x in q]
        n, m = len(q), F.shape[0]
        numbers = values(flat, known)
        parts = np.split(numbers, np.cumsum([n * n, m * n, n**3, m * n * n, n]))
        self.a, self.F = parts[0].reshape(n, n), parts[1].reshape(m, n)
        self.da, self.dF = parts[2].reshape(n, n, n), parts[3].reshape(m, n, n)
        self.W, self.Q = parts[4], parts[5]
        self.B = -np.linalg.solve(self.F[:, self.s], self.F[:, self.r])
        self.v = np.array([state[v[i]] for i in self.r])

    def reduced(self):
        """a* of (13), and its derivatives along every coordinate."""
        r, s = self.r, self.s
        P = np.vstack([np.eye(len(r)), self.B])
        order = [*r, *s]
        a, slopes = self.a[np.ix_(order, order)], []
        for k in range(len(self.a)):
            F_s = self.F[:, s]
            dB = -np.linalg.solve(F_s, self.dF[:, r, k] + self.dF[:, s, k] @ self.B)
            dP = np.vstack([np.zeros((len(r), len(r))), dB])
            slopes.append(P.T @ self.da[np.ix_(order, order)][:, :, k] @ P + dP.T @ a @ P + P.T @ a @ dP)
        return P.T @ a @ P, np.stack(slopes, axis=2)

    def accelerations(self, sign=1.0):
        """r̈ from (15); ``sign`` -1 is the printed sign of (27)."""
        A, dA = self.reduced()
        r, s, B, v = self.r, self.s, self.B, self.v
        along = dA[:, :, r] + np.einsum("lrm,mj->lrj", dA[:, :, s], B)
        first = np.einsum("lrj,r,j->l", along, v, v)
        T_r = np.einsum("rjl,r,j->l", dA[:, :, r], v, v) / 2
        T_s = np.einsum("rjm,r,j->m", dA[:, :, s], v, v) / 2
        force = self.Q - self.W
        return np.linalg.solve(A, force[r] + T_r + B.T @ (sign * T_s + force[s]) - first)


def scalar_states(name):
    make, dependent = SYSTEMS[name]
    system, random = make(), np.random.default_rng(15)
    equations = vn.derive(system, "shulgin", dependent=dependent)
    for draw in (consistent_state, random_state):
        state = draw(system, random)
        state |= {v: 20 * state[v] for v in system.velocities}  # fast, so that the terms quadratic in velocities count
        free = {key: state[key] for key in (*equations.states, *system.inputs)}
        exact = equations.accelerations(free)
        yield Scalar(system, dependent, state), np.array(list(exact.values()))


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_scalar_form_15_corrected(name):
    """On the constraints and off them."""
    for scalar, exact in scalar_states(name):
        expected = exact[scalar.r]
        np.testing.assert_allclose(scalar.accelerations(), expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("name", SYSTEMS)
def test_erratum_27_the_printed_sign_is_wrong(name):
    """- Bᵀ(T*_s - Q_s*) in place of + Bᵀ(T*_s + Q_s*)."""
    for scalar, exact in scalar_states(name):
        expected = exact[scalar.r]
        assert np.abs(scalar.accelerations(sign=-1.0) / expected - 1).max() > 0.01


@pytest.mark.parametrize("name", SYSTEMS)
def test_erratum_13_the_second_term_is_a_gm_B_mr(name):
    """Literally a_mg B_mg B_mr: quadratic in B where it must be linear."""
    for scalar, _ in scalar_states(name):
        r, s, B, a = scalar.r, scalar.s, scalar.B, scalar.a
        right, _ = scalar.reduced()
        mixed = a[np.ix_(r, s)] @ B
        np.testing.assert_allclose(
            a[np.ix_(r, r)] + mixed + mixed.T + B.T @ a[np.ix_(s, s)] @ B, right, rtol=1e-12, atol=1e-14
        )
        literal = a[np.ix_(r, r)] + np.einsum("mg,mg,mr->gr", a[np.ix_(s, r)], B, B) + mixed.T
        literal = literal + B.T @ a[np.ix_(s, s)] @ B
        assert np.abs(literal - right).max() > 0.05 * np.abs(right).max()


# -- errata of the first approximation -------------------------------------------------------------------------------


def test_erratum_24_sign_of_damping():
    """Q = f q̇ enters as G - D. The printed + D makes a damped five-bar unstable."""
    robot = five_bar.system()
    damped = sum(q.diff() ** 2 for q in five_bar.theta) / 20
    equations = vn.derive(replace(robot, dissipation=damped), "shulgin", dependent=five_bar.phi)
    hanging = vn.equilibrium(equations, dict.fromkeys(five_bar.u, 0.0), near=_hanging(), starts=0)
    linear = vn.linearize(equations, at=hanging)
    assert vn.stability(linear).kind == "asymptotically stable"
    np.testing.assert_allclose(linear.damping, linear.G - linear.D, atol=1e-12)
    n = len(linear.A)
    inverse = np.linalg.inv(linear.A)
    printed = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ linear.stiffness, -inverse @ (linear.G + linear.D)]])
    assert np.linalg.eigvals(printed).real.max() > 0.1


def _hanging():
    """The five-bar hanging down from its two motors."""
    angles = five_bar.angles(0.1 - 0.45j)
    return dict(zip((*five_bar.theta, *five_bar.phi), angles, strict=True))


def test_erratum_33_the_block_is_minus_E():
    """With E λ in place of -E the ball and beam would have the roots 0, 0, ±7.88."""
    equations = vn.derive(ball_and_beam.system(), "shulgin", dependent=[ball_and_beam.alpha])
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {ball_and_beam.r: 0.2}, starts=0))
    root = sp.Symbol("lambda")
    block = sp.Matrix(linear.system_matrix[2:, :2])
    E = sp.eye(2)
    right = sp.Matrix(sp.BlockMatrix([[root * E, -E], [-block, root * E]])).det()
    printed = sp.Matrix(sp.BlockMatrix([[root * E, root * E], [-block, root * E]])).det()
    assert_roots(np.roots(sp.Poly(right, root).all_coeffs()).astype(complex), linear.roots, digits=6)
    wrong = np.roots(np.array(sp.Poly(printed, root).all_coeffs(), dtype=float))
    np.testing.assert_allclose(sorted(wrong.real), [-7.88, 0, 0, 7.88], atol=5e-3)


def test_erratum_38_the_motor_feels_speed_not_acceleration():
    """With the acceleration in place of the speed the fast pole would be -1.3e5."""
    _, _, linear, _ = ball_and_beam.stabilized(0)
    F = linear.system_matrix.copy()
    motor = ball_and_beam.MOTOR
    k = motor.torque_constant * motor.gear
    assert F[4, 3] == pytest.approx(-k / motor.inductance)
    F[4] = -k / motor.inductance * F[3]
    F[4, 4] -= motor.resistance / motor.inductance
    assert np.linalg.eigvals(F).real.min() == pytest.approx(-1.3e5, rel=0.02)


def test_erratum_10_the_multiplier_of_10_is_F_s_lambda():
    """λ̃ = E_s = F_sᵀ λ of (5), not λ itself."""
    system, dependent = four_bar.system(), [four_bar.beta, four_bar.gamma]
    equations = vn.derive(system, "lurie-suslov", dependent=dependent)
    state = consistent_state(system, np.random.default_rng(3))
    found = dict(system.parameters) | state | equations.recover(state)
    T, V = system.kinetic_energy, system.potential_energy
    E_s = values([T.diff(q.diff()).diff(t) - T.diff(q) + V.diff(q) for q in dependent], found)
    F_s = values([c.expression.diff(q) for c in system.constraints for q in dependent], found).reshape(2, 2)
    lam = np.array([found[c.name] for c in system.constraints])
    np.testing.assert_allclose(E_s, F_s.T @ lam, rtol=1e-11)
    assert np.abs(E_s - lam).max() > 0.1 * np.abs(lam).max()
