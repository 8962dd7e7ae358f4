"""Where relative degrees are decided: at random consistent states and instants, or near a state that the user names."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

t = dynamicsymbols._t
x, y, z = dynamicsymbols("x y z")
u = sp.Symbol("u")


def switched() -> vn.AffineSystem:
    """ẋ = y + sin(t) u, ẏ = u: u acts on x except at t = 0, π, ..."""
    return vn.AffineSystem([x, y], [y, -x], [u], [[sp.sin(t)], [1]], {"place": x - sp.cos(t)})


@pytest.mark.parametrize("at", [None, {}, {x: 1.0}, {x: 1.0, y: 0.0}, {x: 1.0, y: 0.0, t: 0.0}, {t: 0.0}])
def test_the_degree_is_not_that_of_one_instant(at):
    """At t = 0 alone the input would appear after two differentiations."""
    assert vn.derive(switched(), form="program", at=at).degrees == {"place": 1}


def test_the_run_stays_on_its_program():
    equations = vn.derive(switched(), form="program", at={x: 1.0, y: 0.0})
    motion = vn.simulate(equations, {y: 0.0}, np.linspace(0.5, 2.5, 21))
    assert motion.outcome
    np.testing.assert_allclose(motion[x], np.cos(motion.t), rtol=0, atol=1e-12)
    with pytest.raises(vn.errors.ConstraintError, match=r"no longer hold the constraints `place`: rank 0 of 1"):
        vn.simulate(equations, {y: 0.0}, (0, 1))


def pendulum() -> vn.System:
    rod = vn.Holonomic(x**2 + y**2 - 1, name="rod")
    return vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, constraints=[rod])


@pytest.mark.parametrize("form", ["multipliers", "lyapunov", "lurie-suslov", "shulgin", "voronets", "program"])
@pytest.mark.parametrize("at", [{x: 1.0}, {y: -1.0}])
def test_a_partial_state_takes_zero_for_the_rest(form, at):
    """As the documentation says. With y = -1 alone, y depends on x: |∂F/∂y| is the largest there."""
    partial = vn.derive(pendulum(), form=form, at=at)
    full = vn.derive(pendulum(), form=form, at={x: 0.0, y: 0.0, x.diff(): 0.0, y.diff(): 0.0} | at)
    assert partial.states == full.states
    angle, times = np.pi / 3, np.linspace(0, 1, 5)
    start = {x: np.sin(angle), y: -np.cos(angle), x.diff(): 0.0, y.diff(): 0.0}
    one, other = (vn.simulate(equations, start, times) for equations in (partial, full))
    np.testing.assert_allclose(one[x], other[x], rtol=0, atol=1e-13)


def test_a_symbol_that_is_not_a_state_is_refused():
    with pytest.raises(vn.ModelError, match="z is not a state"):
        vn.derive(switched(), form="program", at={z: 1.0})
    with pytest.raises(vn.ModelError, match="z is not a symbol of the system"):
        vn.derive(pendulum(), at={z: 1.0})
