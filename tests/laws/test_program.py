"""What is true of every affine system in form "program"."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

t = dynamicsymbols._t


def random_affine(seed: int, degrees: tuple[int, ...], extra: int = 1, inputs: int = 0) -> vn.AffineSystem:
    """Chains of integrators of the given lengths with nonlinear couplings, through a nonlinear change of variables.

    ξ_{i,1}' = ξ_{i,2}, ..., ξ_{i,r}' = φ_i(ξ) + G_i(ξ) N, and ``extra`` states that are left alone; the constraint is
    ξ_{i,1} = w_i(t) with a moving target. The states are x with ξ = T x + (a nonlinear shear).
    """
    random = np.random.default_rng(seed)
    n = sum(degrees) + extra
    x = list(dynamicsymbols(f"x1:{n + 1}"))
    # a shear with unit Jacobian: xi_j = x_j + c sin(x_k) for k > j
    xi, jacobian = [], sp.eye(n)
    for j in range(n):
        later = list(range(j + 1, n))
        term = 0
        if later:
            k = int(random.choice(later))
            c = round(float(random.uniform(0.2, 0.6)), 3)
            term, jacobian[j, k] = c * sp.sin(x[k]), c * sp.cos(x[k])
        xi.append(x[j] + term)
    s = inputs or len(degrees)
    N = list(sp.symbols(f"N1:{s + 1}"))
    drift, B = [0] * n, sp.zeros(n, s)
    place, ends = 0, []
    for r in degrees:
        for j in range(r - 1):
            drift[place + j] = xi[place + j + 1]
        ends.append(place + r - 1)
        place += r
    G = np.eye(len(degrees), s) * 2 + random.uniform(-0.4, 0.4, (len(degrees), s))
    for row, end in enumerate(ends):
        drift[end] = sp.sin(xi[row]) - round(float(random.uniform(0.1, 0.5)), 3) * xi[end]
        for k in range(s):
            B[end, k] = round(float(G[row, k]), 4) * (1 + sp.sin(xi[-1]) ** 2 / 3)
    for j in range(place, n):
        drift[j] = -xi[j] + sp.cos(xi[0]) / 2
    back = jacobian.inv()  # unit upper triangular: x' = (dxi/dx)^-1 xi'
    start = np.cumsum([0, *degrees[:-1]])
    targets = {f"c{i}": xi[int(p)] - sp.Rational(1, 5) * sp.sin(t + i) for i, p in enumerate(start)}
    return vn.AffineSystem(x, list(back * sp.Matrix(drift)), N, back * B, targets, name=f"random {degrees}")


DEGREES = [(1,), (2,), (3,), (4,), (1, 2), (2, 1, 3), (4, 1), (3, 4), (1, 2, 3, 4)]


@pytest.mark.parametrize("degrees", DEGREES, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_residuals_decay_at_the_prescribed_rates(degrees, seed):
    """(d/dt + k_i)^{r_i} y_i = 0 along the motion, from far off the constraints, each with its own rate."""
    system = random_affine(seed, degrees)
    rates = [1.0 + 0.5 * i for i in range(len(degrees))]
    equations = vn.derive(system, form="program", rates=rates)
    assert tuple(equations.degrees.values()) == degrees
    random = np.random.default_rng(seed)
    start = dict(zip(system.states, random.uniform(-0.4, 0.4, len(system.states)), strict=True))
    times = np.linspace(0, 3, 13)
    motion = vn.simulate(equations, start, times, progress=False)
    assert motion.outcome
    for (name, degree), rate in zip(equations.degrees.items(), rates, strict=True):
        chain = np.array([column for (c, _), column in motion.residuals.items() if c == name])
        assert np.abs(chain[0, 0]) > 1e-3
        np.testing.assert_allclose(chain[0], decay(chain[:, 0], degree, rate, times), rtol=0, atol=1e-11)


def decay(start: np.ndarray, degree: int, rate: float, times: np.ndarray) -> np.ndarray:
    """The solution of (d/dt + k)^r y = 0: e^{-kt} Σ_m a_m t^m/m! with a_m = Σ_j C(m, j) k^{m-j} y⁽ʲ⁾(0)."""
    a = [sum(math.comb(m, j) * rate ** (m - j) * start[j] for j in range(m + 1)) for m in range(degree)]
    return np.exp(-rate * times) * sum(a[m] * times**m / math.factorial(m) for m in range(degree))


def test_a_given_matrix_couples_the_constraints():
    """η̇ = A η exactly, A from the rows of K."""
    from scipy.linalg import expm

    system = random_affine(3, (2, 1))
    K = np.array([[-3.0, -2.5, 0.4], [0.3, -0.2, -1.5]])
    equations = vn.derive(system, form="program", rates=vn.program.LinearPerturbation(K))
    start = dict(zip(system.states, (0.3, -0.2, 0.25, 0.1), strict=True))
    times = np.linspace(0, 2, 9)
    motion = vn.simulate(equations, start, times, progress=False)
    eta = np.array(list(motion.residuals.values()))
    A = np.array([[0, 1, 0], K[0], K[1]])
    expected = np.array([expm(A * time) @ eta[:, 0] for time in times]).T
    np.testing.assert_allclose(eta, expected, rtol=0, atol=1e-12)


def test_the_user_s_own_perturbation_equation():
    """ẏ = -y³ - 2 y: y(t) in closed form."""
    system = random_affine(4, (1,))
    r = vn.program.residual("c0")
    equations = vn.derive(system, form="program", rates=vn.program.Perturbation({"c0": -(r**3) - 2 * r}))
    times = np.linspace(0, 2, 9)
    start = dict(zip(system.states, (0.9, 0.3), strict=True))
    motion = vn.simulate(equations, start, times, progress=False)
    y = motion.residuals["c0", "position"]
    C = y[0] ** 2 / (y[0] ** 2 + 2)
    expected = np.sqrt(2 * C * np.exp(-4 * times) / (1 - C * np.exp(-4 * times)))
    np.testing.assert_allclose(y, expected, rtol=1e-12)


@pytest.mark.parametrize(("r", "s"), [(1, 2), (1, 4), (2, 4), (3, 4)])
def test_more_inputs_than_constraints_leave_a_free_part(r, s):
    """P N = h for every preferred N₀; without one N is the shortest, and weights change which."""
    system = random_affine(5, (1,) * r, inputs=s)
    shortest = vn.derive(system, form="program", rates=1.0)
    steered = vn.derive(system, form="program", rates=1.0, free=dict.fromkeys(system.inputs, 0.7))
    weighted = vn.derive(system, form="program", rates=1.0, weights={system.inputs[0]: 100.0})
    state = shortest.recover({x: 0.1 * i for i, x in enumerate(system.states)} | {t: 0.3})
    point = {x: state[x] for x in system.states} | {t: 0.3}
    found = [np.array([e.recover(point)[u] for u in system.inputs]) for e in (shortest, steered, weighted)]
    from vinculum.derivation.forms.program import decoupling

    terms = decoupling(shortest, shortest.values(point))
    for N in found:
        np.testing.assert_allclose(terms["P"] @ N, terms["h"], atol=4e-14)
    assert terms["free directions"].shape == (s, s - r)
    np.testing.assert_allclose(terms["P"] @ terms["free directions"], 0, atol=1e-14)
    assert np.linalg.norm(found[0]) < np.linalg.norm(found[1])
    assert abs(found[2][0]) < abs(found[0][0])
    np.testing.assert_allclose(terms["free directions"].T @ found[0], 0, atol=1e-13)


def test_fewer_inputs_than_constraints_are_refused_with_the_rank():
    x, y = dynamicsymbols("x y")
    u = sp.Symbol("u")
    system = vn.AffineSystem([x, y], [y, x], [u], [[1], [0]], {"a": x - 1, "b": x + y})
    with pytest.raises(vn.errors.ConstraintError, match=r"rank 1 of 2; there are 1 inputs for 2 constraints"):
        vn.derive(system, form="program")


def test_inputs_that_act_alike_are_refused():
    x, y = dynamicsymbols("x y")
    u, w = sp.symbols("u w")
    system = vn.AffineSystem([x, y], [y, x], [u, w], [[1, 2], [1, 2]], {"a": x - 1, "b": y})
    with pytest.raises(vn.errors.ConstraintError, match=r"rank 1 of 2; the inputs act alike on `a`, `b`"):
        vn.derive(system, form="program")


def test_a_constraint_that_no_input_reaches_is_refused():
    x, y = dynamicsymbols("x y")
    u = sp.Symbol("u")
    with pytest.raises(vn.errors.ConstraintError, match="No input ever acts on the constraint 'y is zero'"):
        vn.derive(vn.AffineSystem([x, y], [y, -y], [u], [[1], [0]], {"y is zero": y}), form="program")


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        (-1.0, "not a finite number of at least 0"),
        ([1.0, 2.0], "2 rates for 1 constraints"),
        ({"c1": 1.0}, "'c1' is not a constraint"),
        (vn.program.LinearPerturbation([[1.0]]), "would not decay"),
        (vn.program.LinearPerturbation([[-1.0, 2.0]]), "1 rows and 1 columns"),
        (vn.program.Perturbation({"c0": vn.program.residual("c0") + 1}), "is 1 where all residuals are zero"),
        (vn.program.Perturbation({"c0": -sp.Symbol("q") * vn.program.residual("c0")}), "q is unknown"),
    ],
)
def test_perturbations_that_cannot_be_right_are_refused(rates, message):
    with pytest.raises(vn.ModelError, match=message):
        vn.derive(random_affine(1, (1,)), form="program", rates=rates)


# -- perturbation equations that decay, grow, or are not decided ------------------------------------------------------


def point_held(*coefficients: sp.Expr | float) -> vn.program.ProgramEquations:
    """s⁽ʳ⁾ = N with the perturbation equation y⁽ʳ⁾ = Σ k_j y⁽ʲ⁾ of s = sin t."""
    states = dynamicsymbols(f"s1:{len(coefficients) + 1}")
    B = [[0]] * (len(states) - 1) + [[1]]
    system = vn.AffineSystem(states, [*states[1:], 0], [sp.Symbol("N")], B, {"line": states[0] - sp.sin(t)})
    return vn.derive(system, form="program", rates=vn.program.LinearPerturbation([coefficients]))


s1 = dynamicsymbols("s1")
GROWING = {
    "constant": (5.0,), "constant, second order": (5.0, -1.0), "variable": (5 + sp.cos(t),),
    "of the state": (1 + s1**2,), "saddle": (5 + sp.cos(t), -1.0), "negative damping": (-4.0, 1 + sp.sin(t) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("coefficients", GROWING.values(), ids=GROWING)
def test_perturbations_that_grow_are_refused(coefficients):
    with pytest.raises(vn.ModelError, match=r"residuals would (grow|not decay).*use derive\(..., rates=1\)"):
        point_held(*coefficients)


def test_a_growing_function_is_refused_too():
    r = vn.program.residual("c0")
    for Z in (5 * r, 5 * r - r**3, sp.sin(r) * (2 + sp.cos(t))):
        with pytest.raises(vn.ModelError, match="residuals would"):
            vn.derive(random_affine(1, (1,)), form="program", rates=vn.program.Perturbation({"c0": Z}))


DECAYING = {
    "constant": (-4.0, -4.0), "variable": (-(4 + sp.cos(t)), -(4 + sp.sin(2 * t))), "of the state": (-2 - sp.sin(s1),),
    "third order": (-(27 + sp.cos(t)), -27.0, -(9 + sp.sin(t) / 2)),
}  # fmt: skip


@pytest.mark.parametrize("coefficients", DECAYING.values(), ids=DECAYING)
def test_perturbations_that_decay_do_so_at_the_rate_shown(coefficients):
    """|η(t)| ≤ √(c₂/c₁) |η(0)| e^{-rate t} along a run from off the constraint."""
    equations = point_held(*coefficients)
    found = equations.approach
    assert found
    assert found.rate > 0.05
    start = dict(zip(equations.states, (0.6, -0.5, 0.3), strict=False))
    motion = vn.simulate(equations, start, np.linspace(0, 5, 101), progress=False)
    eta = np.linalg.norm(list(motion.residuals.values()), axis=0)
    condition = 60.0 if found.G is None else float(np.linalg.cond(found.G)) ** 0.5
    assert eta[0] > 0.3
    assert np.all(eta <= condition * eta[0] * np.exp(-0.9 * found.rate * motion.t) + 1e-12)


UNDECIDED = {
    "changes its sign": (-sp.cos(t),), "late": (sp.tanh(t - 50),), "Mathieu": (-(1 + 0.9 * sp.cos(2 * t)), -0.01),
    "far away": (s1 - 3,),
}  # fmt: skip


@pytest.mark.parametrize("coefficients", UNDECIDED.values(), ids=UNDECIDED)
def test_what_is_not_shown_says_so(coefficients):
    """Frozen roots of Mathieu's equation are stable at every instant, and its solutions grow."""
    equations = point_held(*coefficients)
    assert equations.approach.shown is None
    assert "not shown: no V" in repr(equations)


def test_a_cubic_perturbation_is_not_decided_by_its_linear_part():
    r = vn.program.residual("c0")
    equations = vn.derive(random_affine(1, (1,)), form="program", rates=vn.program.Perturbation({"c0": -(r**3)}))
    assert "not shown: the linear part has the root 0" in str(equations.approach)


def test_findings_about_an_affine_system_come_all_at_once():
    x, y = dynamicsymbols("x y")
    u, k = sp.symbols("u k")
    with pytest.raises(vn.ModelError) as caught:
        vn.AffineSystem(
            [x, y], [k * y, u], [u], [[1], [dynamicsymbols("z")]], {"a": sp.Integer(1)}, {sp.Symbol("kk"): 1}
        )
    text = "\n".join(map(str, caught.value.findings))
    for part in ("k in the drift of x has no value. Did you mean kk", "contains the input u", "z in the coefficient",
                 "constraint a contains no state"):  # fmt: skip
        assert part in text
    with pytest.raises(vn.ModelError, match=r"drift has 1 entries for 2 states(.|\n)*shape \(1, 2\)"):
        vn.AffineSystem([x, y], [y], [u], [[1, 2]], {"a": x})


def test_other_forms_and_choices_are_refused():
    system = random_affine(1, (1,))
    with pytest.raises(vn.VinculumError, match="form='program'"):
        vn.derive(system)
    with pytest.raises(vn.VinculumError, match="has no option dependent"):
        vn.derive(system, form="program", dependent=[system.states[0]])
    with pytest.raises(vn.ModelError, match="so none is free"):
        vn.derive(system, form="program", free={system.inputs[0]: 1})


# -- mechanical systems --------------------------------------------------------------------------------------------


def cart(force: sp.Expr, inputs: list, **changes: object) -> vn.System:
    """A cart that is pushed, with a pendulum."""
    q, theta = dynamicsymbols("q theta")
    kinetic = q.diff() ** 2 + q.diff() * theta.diff() * sp.cos(theta) + theta.diff() ** 2
    fields = {"coordinates": [q, theta], "kinetic_energy": kinetic, "potential_energy": -sp.cos(theta),
              "forces": {q: force}, "inputs": inputs, "name": "cart"}  # fmt: skip
    return vn.System(**fields | changes)


def test_inputs_of_a_mechanical_system_hold_a_program():
    """The force that swings the pendulum as prescribed, by hand: q̈ from the row of θ, then the row of q."""
    u = sp.Symbol("u")
    q, theta = dynamicsymbols("q theta")
    plan = theta - sp.Rational(3, 10) * sp.sin(t)
    equations = vn.derive(vn.program.to_affine(cart(u, [u]), program={"swing": plan}), form="program", rates=2.0)
    assert equations.degrees == {"swing": 2}
    motion = vn.simulate(equations, {q: 0.0, q.diff(): 0.0}, np.linspace(0, 3, 31), progress=False)
    angle, rate, bend = 0.3 * np.sin(motion.t), 0.3 * np.cos(motion.t), -0.3 * np.sin(motion.t)
    push = -(2 * bend + np.sin(angle)) / np.cos(angle)  # cos θ q̈ + 2 θ̈ + sin θ = 0
    force = 2 * push + np.cos(angle) * bend - np.sin(angle) * rate**2
    np.testing.assert_allclose(motion[theta], angle, atol=1e-12)
    np.testing.assert_allclose(motion[u], force, atol=1e-11)
    assert motion.energy_error < 1e-11


def test_systems_that_are_not_affine_are_refused():
    u = sp.Symbol("u")
    with pytest.raises(vn.ModelError, match="its inputs u do not enter linearly"):
        vn.program.to_affine(cart(u**2, [u]))
    free = dynamicsymbols("free")
    q, theta = dynamicsymbols("q theta")
    massless = cart(
        0, [u], coordinates=[q, theta, free], forces={free: u}, constraints=[vn.Holonomic(free - q, name="c")]
    )
    with pytest.raises(vn.ModelError, match="an input acts on free, which has no inertia"):
        vn.program.to_affine(massless)
    with pytest.raises(vn.ModelError, match="z in the constraint swing is not a state"):
        vn.program.to_affine(cart(u, [u]), program={"swing": theta - dynamicsymbols("z")})
