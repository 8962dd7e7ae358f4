"""The kinetic energy is positive on all velocities that the constraints allow; where it is not, the model is wrong."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")
m, k = sp.symbols("m k")


def cart(mass: float) -> vn.EquationsOfMotion:
    system = vn.System([x, y], m * x.diff() ** 2 / 2 + y.diff() ** 2, k * (x - y) ** 2, parameters={m: mass, k: 1})
    return vn.derive(system)


def test_a_negative_mass_is_refused_by_its_name():
    with pytest.raises(vn.ModelError, match=r"a motion of x has negative kinetic energy .* Check m = -3\."):
        vn.simulate(cart(-3), {x: 0, y: 0, x.diff(): 1, y.diff(): 0}, (0, 1))
    rest = {x: 0, y: 0}
    with pytest.raises(vn.ModelError, match=r"Check m = -3\."):
        vn.linearize(cart(-3), rest)
    assert vn.linearize(cart(3), rest).A.shape == (2, 2)


def test_other_parameters_of_a_run_are_looked_at():
    with pytest.raises(vn.ModelError, match=r"Check m = -2\."):
        vn.simulate(cart(3), {x: 0, y: 0, x.diff(): 1, y.diff(): 0}, (0, 1), parameters={m: -2})


def test_a_massless_coordinate_and_one_that_is_held_are_no_matter():
    """T may be what it likes for velocities that the constraints do not allow: ẏ² = ẋ² on y = x."""
    held = vn.System([x, y], 2 * x.diff() ** 2 - y.diff() ** 2, constraints=[vn.Holonomic(y - x, "equal")])
    motion = vn.simulate(vn.derive(held), {x: 0, x.diff(): 1}, (0, 1))
    assert motion[y][-1] == pytest.approx(1, abs=1e-12)
    light = vn.System([x, y], x.diff() ** 2 / 2, constraints=[vn.Holonomic(y - 2 * x, "twice")])
    assert vn.simulate(vn.derive(light), {x: 0, x.diff(): 1}, (0, 1))[y][-1] == pytest.approx(2, abs=1e-12)


def test_an_inertia_that_is_negative_elsewhere_is_refused_only_there():
    shaped = vn.derive(vn.System([x], (1 - x**2) * x.diff() ** 2 / 2))
    assert np.all(vn.simulate(shaped, {x: 0, x.diff(): 0.1}, (0, 1))[x] < 1)
    with pytest.raises(vn.ModelError, match="Check its signs"):
        vn.simulate(shaped, {x: 2, x.diff(): 0.1}, (0, 1))
