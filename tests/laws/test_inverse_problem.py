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


@pytest.mark.parametrize("F", [sp.S.One, x, -3 * (x**2 + y**2 - 1) + sp.Rational(1, 1000) * x * y, sp.sin(t)], ids=str)
def test_erugin_functions_must_vanish_on_the_set(F):
    """φ = 0 is invariant only if F = 0 there: otherwise the family leaves the very set it was built for."""
    with pytest.raises(vn.VinculumError, match=r"F of 'circle' is .* at a point where circle vanish"):
        vn.program.inverse_problem([x, y], {"circle": x**2 + y**2 - 1}, {"circle": F})


def test_erugin_functions_that_vanish_on_the_set_are_accepted_in_any_spelling():
    """F may mix the integrals, with coefficients and parameters, and need not be written with φ."""
    one, two = x**2 + y**2 - a**2, z - x * t
    F = {"one": sp.expand(-b * one * (1 + y**2) + two * x), "two": -(two**3) + sp.expand(two * (x + y)) - one}
    family = vn.program.inverse_problem([x, y, z], {"one": one, "two": two}, F)
    rates = family.rates()
    for name, phi in (("one", one), ("two", two)):
        assert sp.simplify(derivative(phi, [x, y, z], rates) - F[name]) == 0


def test_the_scale_multiplies_every_tangential_part():
    """X = s₀ X_τ + X_ν, with X_τ from vectors c, from coefficients of the basis, or none."""
    sphere = {"sphere": x**2 + y**2 + z**2 - 1}
    family = vn.program.inverse_problem([x, y, z], sphere, 1)
    tangential = sp.Matrix(family.rates(3, along=[1, x])) - family.normal
    assert sp.simplify(tangential - 3 * family.tangents * sp.Matrix([1, x])) == sp.zeros(3, 1)
    assert sp.Matrix(family.rates()) == family.normal
    with pytest.raises(
        vn.VinculumError, match=r"scale=3 multiplies the tangential part.*Give 2 coefficients.*1 vectors"
    ):
        family.rates(3)
    full = vn.program.inverse_problem([x, y], {"x": x, "y": y}, 1)
    with pytest.raises(vn.VinculumError, match="no free direction: leave out scale"):
        full.system(scale=x)


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


@pytest.mark.parametrize(
    ("acceleration", "expected"),
    [(-2 * q.diff(t) / t - q**5, t**2), (-2 * t * q.diff(t) - q, sp.exp(t**2)),
     (-sp.sin(t) * q.diff(t) - q**3, sp.exp(-sp.cos(t))), (-a * q.diff(t) / (1 + t) - 1 / q, (1 + t) ** a)],
    ids=["Lane-Emden", "Hermite", "periodic damping", "a symbol"],
)  # fmt: skip
def test_damping_that_depends_on_time_has_its_own_multiplier(acceleration, expected):
    """g = e^{∫σ(t)dt} with σ = -f_v; the product is variational and its Lagrangian gives it back."""
    g = vn.program.integrating_multiplier([acceleration], [q])
    assert sp.simplify(g[0] / expected).is_constant()
    found = vn.program.helmholtz([g[0] * (q.diff(t, 2) - acceleration)], [q])
    assert found
    assert sp.simplify(vn.program.euler_lagrange(found.lagrangian(), [q])[0] - found.equations[0]) == 0


@pytest.mark.parametrize(
    ("accelerations", "coordinates"),
    [([-q.diff(t) ** 2], [q]), ([-3 * x.diff(t) - x, -y.diff(t) - 2 * y], [x, y]),
     ([-q.diff(t) / t + q.diff(t) ** 3], [q])],
)  # fmt: skip
def test_a_multiplier_that_would_not_do_is_not_returned(accelerations, coordinates):
    g = vn.program.integrating_multiplier(accelerations, coordinates)
    assert g is None


radius = sp.sqrt(x**2 + y**2)


@pytest.mark.parametrize(("equations", "coordinates"), [
    ([q.diff(t, 2) + 1 / q], [q]),
    ([q.diff(t, 2) - 1 / q**3], [q]),
    ([x.diff(t, 2) + a * x / radius**3, y.diff(t, 2) + a * y / radius**3], [x, y]),
    ([x.diff(t, 2) - x * y.diff(t) ** 2 + a / x**2, x**2 * y.diff(t, 2) + 2 * x * x.diff(t) * y.diff(t)], [x, y]),
    ([q.diff(t, 2) / q**2 - q.diff(t) ** 2 / q**3], [q]),
    ([q.diff(t, 2) + sp.tan(q)], [q]),
], ids=["1/q", "1/q³", "Kepler", "Kepler, polar", "singular mass", "tan"])  # fmt: skip
def test_a_singular_force_has_a_finite_lagrangian(equations, coordinates):
    """The base point of the integral avoids the singularity at q = 0."""
    L = vn.program.helmholtz(equations, coordinates).lagrangian()
    assert not L.has(sp.nan, sp.oo, sp.zoo, sp.Integral)
    for found, stated in zip(vn.program.euler_lagrange(L, coordinates), equations, strict=True):
        assert sp.simplify(found - stated) == 0


def test_a_lagrangian_that_is_not_found_is_said():
    with pytest.raises(vn.VinculumError, match="a Lagrangian exists, but its integral was not found in closed form"):
        vn.program.helmholtz([q.diff(t, 2) + q ** sp.Symbol("n")], [q]).lagrangian()


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
