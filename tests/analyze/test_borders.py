"""Borders of stability against formulas, over parameters, velocities and inputs."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import rolling_disc as disc

theta = dynamicsymbols("theta")
k, b, A = sp.symbols("k b A")


def test_a_pendulum_held_upright_by_a_spring():
    """Stable for k > m g l = 9.81; with damping a simple zero root, without it a pair that leaves the axis."""
    for damping in (0.1, 0.0):
        system = vn.System([theta], theta.diff() ** 2 / 2, 9.81 * sp.cos(theta) + k * theta**2 / 2,
                           dissipation=damping * theta.diff() ** 2 / 2, parameters={k: 20.0})  # fmt: skip
        (border,) = vn.hurwitz.stability_borders(vn.derive(system), {theta: 0}, k, (5, 20), moving=(), points=4)
        assert border.value == pytest.approx(9.81, rel=1e-12 if damping else 1e-7)
        assert border.gained
        assert border.at.parameters[k] == border.value
        assert "becomes stable at k = 9.8" in str(border)


def test_a_rolling_disc_falls_below_a_speed():
    """Upright rolling is stable for s > √(A m g r/(C (C + m r²))) = 4.043513324 rad/s."""
    equations = vn.derive(disc.system())
    given = {disc.theta: np.pi / 2, disc.psi.diff(): 0}
    (border,) = vn.hurwitz.stability_borders(equations, given, disc.phi.diff(), (3, 6), points=4)
    exact = np.sqrt(disc.DIAMETRAL * disc.WEIGHT / (disc.AXIAL * disc.CONTACT))
    assert exact == pytest.approx(4.043513324)
    assert border.value == pytest.approx(exact, rel=1e-7)
    assert border.gained


def test_what_cannot_be_varied_is_refused():
    system = vn.System([theta], theta.diff() ** 2 / 2, 9.81 * sp.cos(theta) + k * theta**2 / 2, parameters={k: 20.0})
    with pytest.raises(vn.ModelError, match="b is not a"):
        vn.hurwitz.stability_borders(vn.derive(system), {theta: 0}, b, (0, 1), moving=())


@pytest.mark.parametrize("between", [(-1.0, 1.0), (-1.0, 1.3), (-1.0, 0.0)])
@pytest.mark.parametrize(("stiffness", "damping"), [(1, A), (A, 1), (A, 0), (A, A), (2, A)])
def test_a_border_at_zero_next_to_an_undamped_mode(between, stiffness, damping):
    """ÿ + d ẏ + c y = 0 becomes stable at a = 0, while ẍ + 3 x = 0 stays on the imaginary axis."""
    x, y = dynamicsymbols("x y")
    system = vn.System(
        [x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 3 * x**2 / 2 + stiffness * y**2 / 2,
        forces={y: -damping * y.diff()}, parameters={A: 0.5},
    )  # fmt: skip
    (border,) = vn.hurwitz.stability_borders(vn.derive(system), {x: 0, y: 0}, A, between, moving=())
    assert border.gained
    assert border.value == pytest.approx(0, abs=1e-11)
    assert abs(border.shape[y]) == pytest.approx(1)
    assert border.shape.get(x, 0) == 0
