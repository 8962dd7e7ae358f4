"""Pole placement, own gains, PID, integral action, reduced observers, frequency response, margins and zeros."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import control
import vinculum as vn
from vinculum.control.symbolic_gains import symbolic_gains

x, y, theta = dynamicsymbols("x y theta")
f, w = sp.symbols("f w")


def spring_mass(disturbance=0.0):
    """A mass on a nonlinear spring, pushed by f and by a constant disturbance."""
    return vn.derive(
        vn.System(
            [x], x.diff() ** 2 / 2, x**2 / 2 + x**4 / 4, forces={x: f + w}, dissipation=0.1 * x.diff() ** 2 / 2,
            inputs=[f], parameters={w: disturbance},
        )
    )  # fmt: skip


def at_place(equations, place=0.5):
    return vn.linearize(equations, vn.equilibrium(equations, {x: place}))


# -- pole placement --------------------------------------------------------------------------------------------------


def test_pole_placement_of_ogata():
    """Ogata, Modern Control Engineering, example 10-1: roots -2 ± 4i, -10 need K = [199 55 8] (u = -Kx)."""
    linear = vn.linear.model([[0, 1, 0], [0, 0, 1], [-1, -5, -6]], [0, 0, 1])
    law = vn.feedback.place(linear, [-2 + 4j, -2 - 4j, -10])
    np.testing.assert_allclose(law.gain, [[-199, -55, -8]], rtol=1e-9)


def test_a_root_may_be_repeated_with_one_input():
    """Franklin, Powell, Emami-Naeini, example 7.14: an oscillator with both roots at -2ω₀ needs K = [3ω₀² 4ω₀]."""
    omega = 3.0
    linear = vn.linear.model([[0, 1], [-(omega**2), 0]], [0, 1])
    law = vn.feedback.place(linear, [-2 * omega, -2 * omega])
    np.testing.assert_allclose(law.gain, [[-3 * omega**2, -4 * omega]], rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_random_roots_are_placed_in_any_units(seed):
    random = np.random.default_rng(seed)
    n, k = 4, int(random.integers(1, 3))
    A, B = random.normal(size=(n, n)), random.normal(size=(n, k))
    d = 10.0 ** random.uniform(-9, 9, n)
    wanted = [-1, -2, -1.5 + 2j, -1.5 - 2j]
    law = vn.feedback.place(vn.linear.model(A * d / d[:, None], B / d[:, None]), wanted)
    np.testing.assert_allclose(np.sort_complex(law.roots), np.sort_complex(wanted), rtol=1e-6)


def test_unreachable_modes_are_refused_by_name():
    linear = vn.linear.model([[1, 0], [0, -3]], [1, 0], states=["a", "b"], inputs=["u"])
    with pytest.raises(vn.VinculumError, match="The input u cannot control 1 mode: root -3 in b"):
        vn.feedback.place(linear, [-1, -4])


@pytest.mark.parametrize(
    ("roots", "complaint"),
    [([-1], "1 roots were given for 2 states"), ([-1 + 1j, -1], "conjugate pairs"), ([-1, np.nan], "not finite")],
)
def test_unusable_roots(roots, complaint):
    with pytest.raises(vn.ModelError, match=complaint):
        vn.feedback.place(vn.linear.model([[0, 1], [0, 0]], [0, 1]), roots)


# -- own gains and PID -----------------------------------------------------------------------------------------------


def test_a_law_from_a_gain_of_ones_own():
    equations = spring_mass()
    linear = at_place(equations)
    law = vn.feedback.law(linear, {f: {x: -3.0, x.diff(): -2.0}})
    same = vn.feedback.law(linear, [[-3.0, -2.0]])
    np.testing.assert_array_equal(law.gain, same.gain)
    motion = vn.simulate(vn.close_loop(equations, law), {x: 0.8, x.diff(): 0}, (0, 20))
    assert motion[x][-1] == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(vn.ModelError, match="y is not a state"):
        vn.feedback.law(linear, {f: {y: 1.0}})
    with pytest.raises(vn.ModelError, match=r"shape is \(1, 3\)"):
        vn.feedback.law(linear, [[1, 2, 3]])


def test_the_loop_of_a_pid_is_that_of_its_transfer_function():
    """Roots of 1 + C(s)G(s) with C = kp + ki/s + kd s/(τs + 1), by python-control."""
    linear = vn.linear.model([[0, 1], [-2, -0.3]], [0, 1], [[1, 0]], outputs=["y"])
    kp, ki, kd, tau = 3.0, 1.5, 0.8, 0.05
    law = vn.feedback.pid(linear, linear.states[0], linear.inputs[0], kp, ki, kd, filter=tau)
    s = control.tf("s")
    loop = (kp + ki / s + kd * s / (tau * s + 1)) / (s**2 + 0.3 * s + 2)
    expected = control.feedback(control.minreal(loop, verbose=False), 1).poles()
    np.testing.assert_allclose(np.sort_complex(law.roots), np.sort_complex(expected), rtol=1e-8)


@pytest.mark.parametrize("filter", [None, 0.02])
def test_a_pid_removes_a_constant_disturbance(filter):
    linear = at_place(spring_mass())
    law = vn.feedback.pid(linear, x, f, 4.0, 3.0, 2.0, filter=filter)
    motion = vn.simulate(vn.close_loop(spring_mass(0.7), law), {x: 0.5, x.diff(): 0}, (0, 40))
    assert motion[x][-1] == pytest.approx(0.5, abs=1e-6)
    assert abs(motion[x] - 0.5).max() > 0.05
    without = vn.feedback.pid(linear, x, f, 4.0, 0.0, 2.0, filter=filter)
    motion = vn.simulate(vn.close_loop(spring_mass(0.7), without), {x: 0.5, x.diff(): 0}, (0, 40))
    assert abs(motion[x][-1] - 0.5) > 0.05


def test_an_ideal_derivative_needs_a_measured_rate():
    linear = vn.linear.model([[0, 1], [0, 0]], [0, 1])
    with pytest.raises(vn.ModelError, match=r"rate of x1 cannot be measured\. Pass filter="):
        vn.feedback.pid(linear, linear.states[0], linear.inputs[0], 1.0, kd=1.0)
    with pytest.raises(vn.ModelError, match="All gains are zero"):
        vn.feedback.pid(linear, linear.states[0], linear.inputs[0], 0.0)


# -- integral action -------------------------------------------------------------------------------------------------


def test_integral_action_removes_a_constant_disturbance():
    linear = at_place(spring_mass())
    law = vn.stabilize(linear, integral=[x], integral_weights=[4.0])
    plain = vn.stabilize(linear)
    start = {x: 0.5, x.diff(): 0}
    held = vn.simulate(vn.close_loop(spring_mass(0.7), law), start, (0, 40))
    off = vn.simulate(vn.close_loop(spring_mass(0.7), plain), start, (0, 40))
    assert held[x][-1] == pytest.approx(0.5, abs=1e-6)
    assert off[x][-1] > 0.6
    assert len(law.roots) == 3
    assert vn.stability(vn.feedback.closed_model(law)).kind == "asymptotically stable"


def test_integral_action_is_the_augmented_problem_of_python_control():
    linear = at_place(spring_mass())
    law = vn.stabilize(linear, integral=[x])
    F, H, n = linear.system_matrix, linear.input_matrix, 2
    A = np.block([[F, np.zeros((n, 1))], [np.array([linear.measured[x]]), np.zeros((1, 1))]])
    K, _, _ = control.lqr(A, np.vstack([H, [[0]]]), np.eye(3), np.eye(1))
    np.testing.assert_allclose(np.hstack([law.gain, law.compensator.C]), -K, rtol=1e-8)


def test_integral_action_with_an_observer():
    linear = at_place(spring_mass())
    law, eyes = vn.stabilize(linear, integral=[x]), vn.observe(linear, [x])
    motion = vn.simulate(vn.close_loop(spring_mass(0.3), law, eyes), {x: 0.5, x.diff(): 0}, (0, 60))
    assert motion[x][-1] == pytest.approx(0.5, abs=1e-5)
    roots = np.sort_complex(vn.feedback.closed_model(law, eyes).roots)
    np.testing.assert_allclose(roots, np.sort_complex([*law.roots, *eyes.roots]), rtol=1e-6)
    with pytest.raises(vn.ModelError, match="The law uses x, which the observer does not measure"):
        vn.close_loop(spring_mass(), law, vn.observe(linear, [x.diff()]))


def test_what_cannot_be_held_is_refused():
    linear = at_place(spring_mass())
    with pytest.raises(vn.VinculumError, match=r"cannot control 1 mode: root 0 in .*integral of dot\(x\)"):
        vn.stabilize(linear, integral=[x.diff()])
    with pytest.raises(vn.ModelError, match="cannot hold 2 outputs"):
        vn.stabilize(linear, integral=[x, x.diff()])


# -- reduced observers -----------------------------------------------------------------------------------------------


def test_a_reduced_observer_of_the_double_integrator_by_hand():
    """y = x: ŵ estimates v alone, with the error e' = -L e and L = 1 for unit weights."""
    linear = vn.linear.model([[0, 1], [0, 0]], [0, 1], states=["x", "v"])
    found = vn.observe(linear, [linear.states[0]], order="reduced")
    np.testing.assert_allclose(found.gain, [[1.0]], rtol=1e-10)
    np.testing.assert_allclose(found.roots, [-1.0], rtol=1e-10)
    assert found.estimated == (linear.states[1],)


@pytest.mark.parametrize("seed", range(8))
def test_roots_separate_with_a_reduced_observer(seed):
    random = np.random.default_rng(seed)
    n, k, p = 5, 2, int(random.integers(1, 4))
    linear = vn.linear.model(*(random.normal(size=shape) for shape in ((n, n), (n, k), (p, n))))
    outputs = [key for key in linear.measured if key not in linear.states]
    law, eyes = vn.stabilize(linear), vn.observe(linear, outputs, order="reduced")
    assert len(eyes.roots) == n - p
    assert eyes.roots.real.max() < 0
    found = vn.feedback.closed_model(law, eyes).roots
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex([*law.roots, *eyes.roots]), rtol=1e-6)


def test_a_reduced_observer_in_the_nonlinear_loop():
    equations = spring_mass()
    linear = at_place(equations)
    eyes = vn.observe(linear, [x], order="reduced")
    closed = vn.close_loop(equations, vn.stabilize(linear), eyes)
    motion = vn.simulate(closed, {x: 0.8, x.diff(): 0.5}, (0, 30))
    assert motion[x][-1] == pytest.approx(0.5, abs=1e-6)
    assert [str(s.func) for s in closed.extra] == ["observer_x_dot"]
    with pytest.raises(vn.ModelError, match=r'order is .half.; it must be "full" or "reduced"'):
        vn.observe(linear, [x], order="half")
    with pytest.raises(vn.VinculumError, match="determine all states"):
        vn.observe(linear, [x, x.diff()], order="reduced")


# -- frequency response, margins, zeros ------------------------------------------------------------------------------


def test_the_frequency_response_of_an_oscillator():
    """G = 1/(ω₀² - ω² + 0.2 i ω)."""
    linear = vn.linear.model([[0, 1], [-4, -0.2]], [0, 1], states=["x", "v"])
    omega = np.geomspace(0.1, 10, 50)
    found = vn.linear.response(linear, omega, outputs=[linear.states[0]])
    np.testing.assert_allclose(found.values[0, 0], 1 / (4 - omega**2 + 0.2j * omega), rtol=1e-12)
    assert found.phase[0, 0, -1] == pytest.approx(-np.pi, abs=0.05)
    assert len(found.plot().data) == 2
    assert len(found.nyquist().data) >= 1
    with pytest.raises(vn.ModelError, match="They must be positive numbers"):
        vn.linear.response(linear, [0.0, 1.0])


def test_margins_of_a_linear_quadratic_law():
    """Anderson and Moore: at least 60 degrees, any larger gain, and down to half the gain."""
    random = np.random.default_rng(0)
    for _ in range(10):
        n = int(random.integers(2, 6))
        law = vn.stabilize(vn.linear.model(random.normal(size=(n, n)), random.normal(size=n)))
        (margin,) = vn.linear.margins(law).values()
        assert margin.phase >= np.radians(60 - 1e-6)
        assert margin.gain == np.inf
        assert margin.gain_reduction <= 0.5 + 1e-9
        assert margin.distance >= 1 - 1e-6


def test_margins_of_the_textbook_loop():
    """K/(s(s + 1)(s + 2)) with K = 1 has the gain margin 6 at √2, and the phase margin 53.41 degrees."""
    linear = vn.linear.model([[0, 1, 0], [0, -1, 1], [0, 0, -2]], [0, 0, 1], states=["a", "b", "c"])
    law = vn.feedback.law(linear, [[-1.0, 0, 0]])
    (margin,) = vn.linear.margins(law).values()
    assert margin.gain == pytest.approx(6.0, rel=1e-9)
    assert margin.phase_crossovers[0] == pytest.approx(np.sqrt(2), rel=1e-9)
    assert np.degrees(margin.phase) == pytest.approx(53.41, abs=0.01)
    assert margin.delay == pytest.approx(margin.phase / margin.gain_crossovers[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_margins_are_those_of_python_control(seed):
    """Random loops, with resonances and with unstable plants."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    A = random.normal(size=(n, n)) - np.diag(random.uniform(0, 2, n))
    law = vn.feedback.law(vn.linear.model(A, random.normal(size=n)), 0.5 * random.normal(size=(1, n)))
    (margin,) = vn.linear.margins(law).values()
    loop = vn.linear.loop_transfer(law, law.linear.inputs[0])
    gm, pm, sm, wpc, wgc, _ = control.stability_margins(loop, returnall=True)
    np.testing.assert_allclose(np.sort(margin.gain_crossovers), np.sort(wgc), rtol=1e-6)
    crossings = np.sort(wpc[wpc > 1e-9])
    np.testing.assert_allclose(np.sort(margin.phase_crossovers), crossings, rtol=1e-6)
    assert margin.gain == pytest.approx(min(gm[gm > 1], default=np.inf), rel=1e-6)
    assert margin.gain_reduction == pytest.approx(max(gm[gm < 1], default=0.0), rel=1e-6)
    if len(pm):
        assert margin.phase == pytest.approx(np.radians(np.abs(pm)).min(), rel=1e-6)
    assert margin.distance == pytest.approx(min(1.0, *sm), rel=1e-6) if len(sm) else True


def test_an_undamped_pole_on_the_grid_of_frequencies():
    """ẍ = -x + u: L is infinite at the frequency 1, which is the middle of the default grid."""
    law = vn.stabilize(vn.linear.model([[0, 1], [-1, 0]], [0, 1]))
    (margin,) = vn.linear.margins(law).values()
    assert margin.gain == np.inf
    assert margin.phase > np.radians(60)
    assert np.all(np.isfinite(vn.linear.loop_response(law, law.linear.inputs[0]).values))


def test_the_gain_may_shrink_until_the_loop_loses_an_unstable_plant():
    """L = (9 + 2s)/(s² - 4): L(0) = -9/4, so the gain may shrink to 4/9."""
    law = vn.feedback.law(vn.linear.model([[0, 1], [4, 0]], [0, 1]), [[-9.0, -2.0]])
    (margin,) = vn.linear.margins(law).values()
    assert margin.gain_reduction == pytest.approx(4 / 9, rel=1e-12)
    assert margin.gain == np.inf


@pytest.mark.parametrize("name", ["gain", "gain_reduction"])
def test_at_the_gain_margin_the_loop_is_at_its_stability_limit(name):
    linear = vn.linear.model([[0, 1, 0], [0, 0, 1], [1, -1, -2]], [0, 0, 1])
    law = vn.stabilize(linear)
    slow = vn.observe(linear, [linear.states[0]])
    (margin,) = vn.linear.margins(law, slow).values()
    factor = getattr(margin, name)
    loop = vn.linear.loop_transfer(law, linear.inputs[0], slow)
    closed = loop.A - factor * loop.B @ loop.C
    assert np.abs(np.linalg.eigvals(closed).real).min() < 1e-6


def test_zeros_of_a_cart_with_a_hanging_load():
    """Force to cart: ±i√(g/l), the load as an absorber; force to the place of the load: no zeros, degree 4."""
    M, m, l, g, k, c = 2.0, 0.3, 0.5, 9.81, 20.0, 0.4
    load = x + l * sp.sin(theta)
    height = -l * sp.cos(theta)
    T = M * x.diff() ** 2 / 2 + m * (load.diff() ** 2 + height.diff() ** 2) / 2
    system = vn.System(
        [x, theta], T, k * x**2 / 2 + m * g * height, forces={x: f}, dissipation=c * x.diff() ** 2 / 2, inputs=[f]
    )
    equations = vn.derive(system)
    linear = vn.linearize(equations, vn.equilibrium(equations, {f: 0}, near={x: 0, theta: 0}, starts=0))
    np.testing.assert_allclose(vn.linear.zeros(linear, f, x), [4.42944692j, -4.42944692j], rtol=1e-8, atol=1e-9)
    assert vn.linear.relative_degree(linear, f, x) == 2
    place = sp.Symbol("load")
    given = vn.linear.model(
        linear.system_matrix, linear.input_matrix, [linear.measured[x] + l * linear.measured[theta]], outputs=[place]
    )
    assert vn.linear.relative_degree(given, given.inputs[0], place) == 4
    assert len(vn.linear.zeros(given, given.inputs[0], place)) == 0


@pytest.mark.parametrize("seed", range(10))
def test_zeros_are_those_of_the_transfer_function(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    A, b, c = random.normal(size=(n, n)), random.normal(size=n), random.normal(size=n)
    d = 10.0 ** random.uniform(-8, 8, n)
    linear = vn.linear.model(A * d / d[:, None], b / d, [c * d])
    (out,) = [key for key in linear.measured if key not in linear.states]
    found = vn.linear.zeros(linear, linear.inputs[0], out)
    expected = np.roots(np.poly(A - np.outer(b, c)) - np.poly(A))  # det(s - A + bc) = det(s - A)(1 + G)
    assert len(found) == n - 1
    assert max(np.abs(expected - z).min() / (1 + abs(z)) for z in found) < 1e-6


def test_an_input_without_effect_has_no_zeros():
    linear = vn.linear.model([[0, 1], [0, -1]], [1, 0])
    with pytest.raises(vn.ModelError, match="u1 has no effect on x2"):
        vn.linear.zeros(linear, linear.inputs[0], linear.states[1])


# -- a model from matrices -------------------------------------------------------------------------------------------


def test_a_model_from_matrices_goes_everywhere():
    linear = vn.linear.model([[0, 1], [2, 0]], [0, 1], [[1, 1]], states=["x", "v"], inputs=["u"], outputs=["y"])
    out = sp.Symbol("y")
    eyes = vn.observe(linear, [out])
    assert eyes.roots.real.max() < 0
    model = linear.to_control()
    assert model.input_labels == ["u"]
    np.testing.assert_allclose(np.sort(model.poles().real), [-np.sqrt(2), np.sqrt(2)])
    assert vn.stability(linear).kind == "unstable"
    assert vn.stability(vn.feedback.closed_model(vn.stabilize(linear))).kind == "asymptotically stable"


@pytest.mark.parametrize(
    ("matrices", "complaint"),
    [
        (([[1, 2]], [1]), r"A has the shape \(1, 2\)"),
        (([[1]], [[1], [2]]), r"B has the shape \(2, 1\)"),
        (([[np.nan]], [1]), "not finite"),
        (([[1]], [1], [[1, 2]]), r"C has the shape \(1, 2\)"),
    ],
)
def test_matrices_that_do_not_fit(matrices, complaint):
    with pytest.raises(vn.ModelError, match=complaint):
        vn.linear.model(*matrices)


def test_names_that_do_not_fit():
    with pytest.raises(vn.ModelError, match="2 names for 1 states"):
        vn.linear.model([[1]], [1], states=["a", "b"])
    with pytest.raises(vn.ModelError, match="The name a is used twice"):
        vn.linear.model([[1]], [1], states=["a"], inputs=["a"])


@pytest.mark.parametrize("filter", [None, 0.05])
def test_a_law_with_symbols_for_its_gains_is_the_law(filter):
    linear = at_place(spring_mass())
    made = {"output": x, "input": f, "kp": 4.0, "ki": 3.0, "kd": 2.0, "filter": filter}
    law = vn.feedback.pid(linear, **made)
    for options, names in ((made, {"kp", "ki", "kd"}), (None, None)):
        symbolic, gains = symbolic_gains(law, options)
        assert names is None or {str(key) for key in gains} == names
        for u, expression in symbolic.laws.items():
            assert expression.free_symbols >= set(gains)
            assert sp.simplify(expression.subs(gains) - law.laws[u]) == 0
