"""Systems with given partial integrals, and systems with a Lagrangian."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

t = dynamicsymbols._t
x, y, z, w = dynamicsymbols("x y z w")
q = dynamicsymbols("q")
a, b = sp.symbols("a b", positive=True)


def derivative(phi: sp.Expr, states: list, rates: list) -> sp.Expr:
    """dφ/dt along ẋ = rates."""
    return phi.diff(t).subs({s.diff(t): rate for s, rate in zip(states, rates, strict=True)})


# -- partial integrals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0, 1, "x*y"])
def test_integrals_decay_exactly_whatever_the_tangential_part(scale):
    """dφ/dt = F for N = 4, r = 2, time-dependent, with one vector c and an arbitrary factor s₀."""
    states = [x, y, z, w]
    phi = {"moving": x**2 + y - sp.sin(t), "saddle": z * w + x}
    family = vn.program.inverse_problem(
        states, phi, {"moving": -5 * phi["moving"], "saddle": -8 * phi["saddle"]}, [[0, 0, 1, x]]
    )
    factor = sp.sympify(scale, {"x": x, "y": y}) if isinstance(scale, str) else scale
    rates = family.rates(factor)
    for name, k in (("moving", 5), ("saddle", 8)):
        assert sp.simplify(derivative(phi[name], states, rates) + k * phi[name]) == 0


def test_the_simulated_member_keeps_its_integrals():
    """φ₁ e^{5t} and φ₂ e^{8t} are constant along the motion; without ∂φ/∂t, as printed, they are not."""
    phi = {"moving": x**2 + y - sp.sin(t), "saddle": z * w + x}
    family = vn.program.inverse_problem(
        [x, y, z, w], phi, {n: -k * f for (n, f), k in zip(phi.items(), (5, 8), strict=True)}
    )
    system = family.system(along=[0.3, -0.2])
    start = {x: 0.4, y: 0.2, z: 1.0, w: 0.5}
    times = np.linspace(0, 1, 11)
    motion = vn.simulate(vn.derive(system, form="program"), start, times, progress=False)
    for (_, f), k in zip(phi.items(), (5, 8), strict=True):
        scaled = motion[f] * np.exp(k * times)
        assert abs(scaled[0]) > 0.1
        np.testing.assert_allclose(scaled, scaled[0], rtol=1e-9)
    assert (family.tangents.T.shape, family.integrals.keys()) == ((2, 4), phi.keys())


def test_every_tangent_direction_can_be_reached():
    """J X_τ = 0, |X_τ|² = det W Wᵀ, and the basis spans the whole kernel."""
    family = vn.program.inverse_problem([x, y, z], {"sphere": x**2 + y**2 + z**2 - 1}, 0, [[1, 0, y]])
    J = sp.Matrix([[2 * x, 2 * y, 2 * z]])
    W = sp.Matrix([[2 * x, 2 * y, 2 * z], [1, 0, y]])
    assert sp.simplify((J * family.tangential)[0]) == 0
    assert sp.simplify(family.tangential.dot(family.tangential) - (W * W.T).det()) == 0
    assert sp.simplify(J * family.tangents) == sp.zeros(1, 2)
    assert family.tangents.rank() == 2


def test_the_inverse_problem_agrees_with_form_program():
    """The normal part is what the shortest control does when it may act in every direction."""
    u = sp.symbols("u1:4")
    phi = x**2 / 2 + y * z - sp.cos(t)
    family = vn.program.inverse_problem([x, y, z], {"phi": phi}, 2)
    control = vn.AffineSystem([x, y, z], [0, 0, 0], u, sp.eye(3), {"phi": phi})
    program = vn.derive(
        control, form="program", rates=vn.program.Perturbation({"phi": -2 * vn.program.residual("phi")})
    )
    point = {x: 0.6, y: 0.8, z: 0.3}
    found = [program.recover(point | {t: 0.4})[q.diff()] for q in (x, y, z)]
    expected = [float(rate.subs(point).subs(t, 0.4)) for rate in family.rates(along=[0, 0])]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_dependent_integrals_and_wrong_counts_are_refused():
    with pytest.raises(vn.errors.ConstraintError, match="rank 1 of 2"):
        vn.program.inverse_problem([x, y], {"a": x + y, "b": 2 * x + 2 * y}, 1)
    with pytest.raises(vn.VinculumError, match="need 1 tangent vectors; got 2"):
        vn.program.inverse_problem([x, y, z], {"a": x}, 1, [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(vn.VinculumError, match="has no function F"):
        vn.program.inverse_problem([x, y], {"a": x}, {"b": 0})


# -- Lagrangians -------------------------------------------------------------------------------------------------


def test_the_perturbation_equation_is_variational_only_with_a_multiplier():
    """f̈ + 2αḟ + β²f fails H2 by 4α; e^{2αt} is its multiplier."""
    equation = q.diff(t, 2) + 2 * a * q.diff(t) + b**2 * q
    found = vn.program.helmholtz([equation], [q])
    assert not found
    assert found.failed == {"H2": sp.Matrix([[4 * a]])}
    g = vn.program.integrating_multiplier([-2 * a * q.diff(t) - b**2 * q], [q])
    assert sp.simplify(g[0] / sp.exp(2 * a * t)).is_constant()
    assert vn.program.helmholtz(list(g * sp.Matrix([equation])), [q])


def test_a_gyroscopic_pair_passes_as_it_stands():
    equations = [x.diff(t, 2) - 2 * a * y.diff(t) + b * x, y.diff(t, 2) + 2 * a * x.diff(t) + b * y]
    assert vn.program.helmholtz(equations, [x, y])


def test_reordering_can_be_what_helps():
    """ẍ + y, ÿ - x fails H3; with the two equations exchanged (a symmetric multiplier) it passes."""
    equations = [x.diff(t, 2) + y, y.diff(t, 2) - x]
    assert set(vn.program.helmholtz(equations, [x, y]).failed) == {"H3"}
    g = vn.program.integrating_multiplier([-y, x], [x, y])
    assert g is not None
    assert vn.program.helmholtz(list(g * sp.Matrix(equations)), [x, y])


@pytest.mark.parametrize("equations", [
    [q.diff(t, 2) + sp.sin(q)],
    [(1 + q**2) * q.diff(t, 2) + q * q.diff(t) ** 2 + q**3],
    [sp.exp(t) * (q.diff(t, 2) + q.diff(t) + q)],
], ids=["pendulum", "curved", "damped with its multiplier"])  # fmt: skip
def test_the_lagrangian_gives_the_equations_back(equations):
    found = vn.program.helmholtz(equations, [q])
    assert found
    assert sp.simplify(vn.program.euler_lagrange(found.lagrangian(), [q])[0] - equations[0]) == 0


def test_a_lagrangian_of_two_coordinates():
    T = (x.diff(t) ** 2 * (1 + y**2) + y.diff(t) ** 2) / 2 - x**2 * y
    equations = [-e for e in vn.program.euler_lagrange(T, [x, y])]
    found = vn.program.helmholtz(equations, [x, y])
    assert found
    again = vn.program.euler_lagrange(found.lagrangian(), [x, y])
    assert [sp.simplify(r - e) for r, e in zip(again, equations, strict=True)] == [0, 0]


def test_baumgarte_s_closed_loop_is_not_variational():
    """The Cartesian pendulum with Baumgarte's feedback, f̈ + 2αḟ + β²f = 0 in the multiplier."""
    f = (x**2 + y**2 - 1) / 2
    v2 = x.diff(t) ** 2 + y.diff(t) ** 2
    multiplier = -(v2 - y + 2 * a * f.diff(t) + b**2 * f) / (x**2 + y**2)
    equations = [x.diff(t, 2) - multiplier * x, y.diff(t, 2) + 1 - multiplier * y]
    found = vn.program.helmholtz(equations, [x, y])
    assert not found
    with pytest.raises(vn.VinculumError, match="no Lagrangian as they stand"):
        found.lagrangian()


# -- Lyapunov function -------------------------------------------------------------------------------------------


def point_on_line(matrix: list) -> vn.program.ProgramEquations:
    """s̈ = N held at s = sin t."""
    s, v = dynamicsymbols("s v")
    line = vn.AffineSystem([s, v], [v, 0], [sp.Symbol("N")], [[0], [1]], {"line": s - sp.sin(t)})
    return vn.derive(line, form="program", rates=vn.program.LinearPerturbation(matrix))


def test_variable_coefficients_have_an_exponential_bound_that_holds():
    """ÿ = -(4 + cos t) y - (4 + sin 2t) ẏ."""
    equations = point_on_line([[-(4 + sp.cos(t)), -(4 + sp.sin(2 * t))]])
    s, v = equations.states
    motion = vn.simulate(equations, {s: 0.5, v: -1.0}, np.linspace(0, 6, 301), progress=False)
    found = vn.simulation.decay_bound(motion)
    assert found.rate > 0.1
    assert found.kept
    assert found.measured[0] > 0.5
    assert found.measured[-1] < found.bound[-1] < found.measured[0]


def test_the_rate_of_constant_coefficients_is_a_over_2c2():
    """AᵀG + GA = -1: the rate is 1/(2 λ_max(G)), half of what is printed; the true rate is not slower."""
    equations = point_on_line([[-4.0, -4.0]])
    s, v = equations.states
    motion = vn.simulate(equations, {s: 0.5, v: -1.0}, np.linspace(0, 4, 101), progress=False)
    found = vn.simulation.decay_bound(motion)
    assert found.rate == pytest.approx(1 / (2 * np.linalg.eigvalsh(found.G)[-1]), rel=1e-9)
    assert found.rate < 2.0
    assert found.kept


def test_a_lyapunov_function_that_grows_is_refused():
    equations = point_on_line([[-4.0, -4.0]])
    s, v = equations.states
    motion = vn.simulate(equations, {s: 0.5, v: -1.0}, (0, 1), progress=False)
    with pytest.raises(vn.VinculumError, match="does not decrease"):
        vn.simulation.decay_bound(motion, G=np.diag([1.0, 100.0]))
