"""What every `EquationsOfMotion` offers, whatever its form."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from laws.random_systems import FORMS, consistent_state, random_system, values
from vinculum import EquationsOfMotion, Holonomic, System, derive
from vinculum.derivation.printing import _keep_used
from vinculum.errors import ModelError, VinculumError
from vinculum.model import loads

t = dynamicsymbols._t
x, y = dynamicsymbols("x y")
m, g, l, u = sp.symbols("m g l u")
STATE = {x: 0.6, y: -0.8, x.diff(t): 0.8, y.diff(t): 0.6, u: 0.25}


def pendulum() -> System:
    """A mass on a rod in Cartesian coordinates, pushed sideways."""
    return System(
        [x, y],
        m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        m * g * y,
        forces={x: u},
        constraints=[Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
        parameters={m: 2, g: 10, l: 1},
        inputs=[u],
        name="pendulum",
    )


@pytest.fixture(params=FORMS)
def equations(request) -> EquationsOfMotion:
    return derive(pendulum(), request.param)


def test_accelerations_and_tension_by_hand(equations):
    """λ = -(m v² - m g y + u x)/l² with v = 1; m ẍ = u + λ x, m ÿ = -m g + λ y."""
    tension = -(2 * 1 + 2 * 10 * 0.8 + 0.25 * 0.6)
    found = equations.recover(STATE)
    assert found["rod"] == pytest.approx(tension, rel=1e-15)
    assert found[x.diff(t, 2)] == pytest.approx((0.25 + tension * 0.6) / 2, rel=1e-15)
    assert found[y.diff(t, 2)] == pytest.approx(-10 - tension * 0.8 / 2, rel=1e-15)


def test_what_goes_in_comes_back_out(equations):
    """`recover` gives the state back, with the accelerations of `accelerations` and one multiplier a constraint."""
    found = equations.recover(STATE)
    assert {key: found[key] for key in equations.states} == {key: STATE[key] for key in equations.states}
    assert {key: found[key] for key in (x.diff(t, 2), y.diff(t, 2))} == equations.accelerations(STATE)
    assert set(found) == {*equations.states, x.diff(t, 2), y.diff(t, 2), "rod"}


def test_states_are_coordinates_then_velocities(equations):
    assert equations.states == (x, y, x.diff(t), y.diff(t))


@pytest.mark.parametrize(("form", "dimension"), [("multipliers", 2 * 5 + 3), ("lyapunov", 2 * 5)])
def test_dimension_is_that_of_the_literature(form, dimension):
    """2n + m with multipliers, 2n with the multipliers eliminated."""
    system = random_system(1, n=5, holonomic=2, nonholonomic=1)
    assert derive(system, form).dimension == dimension


def test_a_state_may_override_a_parameter_and_give_the_time(equations):
    lighter = equations.recover(STATE | {m: 1.0, t: 3.0})
    assert lighter["rod"] == pytest.approx(-(1 + 10 * 0.8 + 0.25 * 0.6), rel=1e-15)


def test_what_is_missing_and_what_is_unknown_is_refused_at_once(equations):
    wrong = {x: 0.6, x.diff(t): 0.8, y.diff(t): 0.6, sp.Symbol("xx"): 1.0, "speed": 2.0}
    with pytest.raises(ModelError) as caught:
        equations.accelerations(wrong)
    text = "\n".join(map(str, caught.value.findings))
    assert len(caught.value.findings) == 3
    assert "no value for y, u" in text
    assert "xx is not a symbol" in text
    assert "speed is not a symbol" in text


@pytest.mark.parametrize("value", [math.nan, math.inf, "fast", None, 1j], ids=str)
def test_a_state_with_a_value_that_is_no_finite_number_is_refused_by_name(equations, value):
    with pytest.raises(ModelError, match=r"dot\(x\)"):
        equations.recover(STATE | {x.diff(t): value})


def test_symbolic_matrices_satisfy_the_equation_of_the_docstring(equations):
    """M q̈ = Q - h + Jᵀλ with the SymPy matrices."""
    known = dict(equations.system.parameters) | STATE
    found = equations.recover(STATE)
    M, right, J, reaction = (
        values(list(matrix), known).reshape(matrix.shape)
        for matrix in (
            equations.mass_matrix,
            equations.forcing,
            equations.constraint_jacobian,
            sp.Matrix([equations.reactions["rod"]]),
        )
    )
    accelerations = np.array([[found[a]] for a in (x.diff(t, 2), y.diff(t, 2))])
    np.testing.assert_allclose(M @ accelerations, right + J.T @ reaction, rtol=1e-14)
    assert reaction[0, 0] == pytest.approx(found["rod"], rel=1e-14)


def test_symbols_are_printed_as_the_user_wrote_them(equations):
    assert equations.mass_matrix == sp.diag(m, m)
    assert equations.constraint_jacobian == sp.Matrix([[x, y]])
    assert equations.forcing == sp.Matrix([u, -g * m])


@pytest.mark.parametrize("form", FORMS)
def test_operations_count_what_is_computed(form):
    """More coordinates, more operations; the same system, the same count."""
    counts = [derive(random_system(7, n=n, holonomic=1, nonholonomic=0), form).operations() for n in (2, 4, 6)]
    assert counts[0].total() < counts[1].total() < counts[2].total()
    assert counts[2] == derive(random_system(7, n=6, holonomic=1, nonholonomic=0), form).operations()
    assert counts[0]["divide"] >= 1


def test_accelerations_far_from_the_reference_use_other_pivots(equations):
    """The rod lies along x, then along y: the pivots that serve one place vanish at the other."""
    for angle in np.linspace(0, 2 * np.pi, 9):
        c, s = math.cos(angle), math.sin(angle)
        found = equations.recover({x: c, y: s, x.diff(t): -s, y.diff(t): c, u: 0.0})
        assert found["rod"] == pytest.approx(-2 + 20 * s, rel=1e-13)
        assert found[x.diff(t, 2)] == pytest.approx((-2 + 20 * s) * c / 2, abs=1e-13)


def test_a_pivot_that_is_exactly_zero_is_replaced_by_another():
    """x and y without mass, held by a x + (1 - a) y = 0 and a y - (1 - a) x = 0, whose determinant never vanishes.

    The forces balance V_q = Jᵀλ: with V = y the multipliers are (1, 0) at a = 0, (0, 1) at a = 1, (1, 1) between.
    """
    a = dynamicsymbols("a")
    stated = [Holonomic(a * x + (1 - a) * y, name="first"), Holonomic(a * y - (1 - a) * x, name="second")]
    equations = derive(System([a, x, y], a.diff(t) ** 2 / 2, y, constraints=stated))
    for place, multipliers in ((0.5, [1, 1]), (0.0, [1, 0]), (1.0, [0, 1]), (0.0, [1, 0])):
        state = dict.fromkeys(equations.states, 0.0) | {a: place, a.diff(t): 0.3}
        found = equations.recover(state)
        assert [found["first"], found["second"]] == pytest.approx(multipliers, abs=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_do_not_depend_on_what_was_asked_before(form):
    """A fresh record and a much used one agree, to rounding."""
    system, random = random_system(5), np.random.default_rng(5)
    used, states = derive(system, form), [consistent_state(system, random) for _ in range(5)]
    for state in states:
        assert used.recover(state) == pytest.approx(derive(system, form).recover(state), rel=1e-11, abs=1e-11)


def test_unknown_forms_and_choices_are_refused():
    with pytest.raises(VinculumError, match="Did you mean lyapunov"):
        derive(pendulum(), "liapunov")
    with pytest.raises(VinculumError, match="'refuse' or 'least_squares'"):
        derive(pendulum(), redundant="ignore")


def test_omitted_values_of_a_state_are_zero_in_derive():
    state = {x: 1.0, y: 0.0, x.diff(): 0.0, y.diff(): 0.0}
    some, all_given = derive(pendulum(), at={x: 1.0}), derive(pendulum(), at=state | {u: 0.0})
    assert some.accelerations(STATE) == all_given.accelerations(STATE)
    with pytest.raises(VinculumError, match="z"):
        derive(pendulum(), at={dynamicsymbols("z"): 1.0})


def test_equations_are_frozen_and_introduce_themselves(equations):
    with pytest.raises(dataclasses.FrozenInstanceError):
        equations.form = "other"
    for row in ('"pendulum"', equations.form.name, "x, y, dot(x), dot(y)", "rod", str(equations.dimension)):
        assert row in repr(equations)


FOUR_BAR = """
[tree.bodies.crank]
axis = [0, 0, 1]
mass = 1
center_of_mass = [0.1, 0, 0]
inertia = [0, 0.1, 0.1]
[tree.bodies.coupler]
parent = "crank"
axis = [0, 0, 1]
origin = [0.2, 0, 0]
mass = 1
center_of_mass = [0.3, 0, 0]
inertia = [0, 0.1, 0.1]
[tree.bodies.rocker]
axis = [0, 0, 1]
origin = [0.7, 0, 0]
mass = 1
center_of_mass = [0.2, 0, 0]
inertia = [0, 0.1, 0.1]
[[tree.loops]]
first = "coupler"
second = "rocker"
point = [0.6, 0, 0]
other_point = [0.5, 0, 0]
name = "pin"
"""


def test_every_abbreviation_is_used_and_every_multiplier_is_one_word():
    text = derive(loads(FOUR_BAR).system).text(named=True)
    names = re.findall(r"^(z_\d+) = ", text, re.MULTILINE)
    assert names
    assert [name for name in names if len(re.findall(rf"\b{name}\b", text)) < 2] == []
    assert "lambda_pin_x*" in text
    assert "pin x" not in text


def test_an_abbreviation_that_cancels_is_not_printed():
    a, b = sp.symbols("a b")
    z, w = sp.symbols("z_1 z_2")
    assert _keep_used([(z, a + b), (w, a * b)], [w + 1]) == [(w, a * b)]
    assert _keep_used([(z, a + b), (w, z * b)], [w + 1]) == [(z, a + b), (w, z * b)]
