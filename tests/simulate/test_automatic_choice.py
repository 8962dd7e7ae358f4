"""The method "auto" looks at the equations, decides, and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import c, cartesian_system, difference, hanging, k, m, pendulum, run, x, y
from vinculum.graph.functions import FUNCTIONS


def damped_particle(stiffness: float, damping: float) -> vn.EquationsOfMotion:
    """ẍ + c ẋ + k x = 0."""
    numbers = {k: stiffness, c: damping}
    return vn.derive(
        vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, dissipation=c * x.diff() ** 2 / 2, parameters=numbers)
    )


def with_force(force: sp.Expr) -> vn.EquationsOfMotion:
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2, forces={x: force}))


def test_a_smooth_motion_gets_taylor():
    motion = run(pendulum(), hanging(), (0, 2), "auto")
    assert motion.method.startswith("taylor")
    assert "smooth and not stiff" in motion.method
    assert difference(motion, run(pendulum(), hanging(), (0, 2), "taylor")) == 0


def test_a_fast_oscillation_is_not_stiff():
    motion = run(damped_particle(1e8, 1.0), {x: 1.0}, (0, 0.1), "auto")
    assert motion.method.startswith("taylor")


def test_strong_damping_is_stiff():
    """Roots -10⁵ and -0.01: x = e^{-t/100} after a moment. The reason has the numbers."""
    motion = run(damped_particle(1e3, 1e5), {x: 1.0}, (0, 50), "auto")
    assert motion.method.startswith("bdf")
    assert "decays fast at the start, tried both" in motion.method
    roots = np.roots([1, 1e5, 1e3])
    slow = max(roots)
    np.testing.assert_allclose(motion[x], np.exp(slow * motion.t), rtol=0, atol=1e-6)
    assert motion.steps < 20_000


def test_a_stiff_constrained_motion_stays_on_its_constraint():
    """A pendulum in honey: it sinks along the rod's circle, θ̇ = -(g/c) sin θ, known in closed form."""
    drag = 1e4
    honey = cartesian_system(
        dissipation=c * (x.diff() ** 2 + y.diff() ** 2) / 2, parameters=dict(cartesian_system().parameters) | {c: drag}
    )
    motion = run(vn.derive(honey), hanging(), (0, 1000), "auto")
    assert motion.method.startswith("bdf")
    speed = honey.parameters[m] * 9.81 / drag
    angle = 2 * np.arctan(np.tan(0.5) * np.exp(-speed * motion.t))
    np.testing.assert_allclose(motion[x], np.sin(angle), rtol=0, atol=1e-5)
    assert motion.largest_residuals["rod", "position"] < 1e-6


@pytest.mark.parametrize(
    "force", [-sp.sign(x.diff()) / 10, -sp.Abs(x), sp.Piecewise((-x, x > 0), (0, True)), sp.Max(x, 0)], ids=str
)
def test_corners_are_no_reason_for_another_method(force):
    """Taylor series go from corner to corner; the stiff method agrees."""
    motion = run(with_force(force), {x: 1.0, x.diff(): 0.3}, (0, 5), "auto")
    assert motion.method.startswith("taylor")
    assert difference(motion, run(with_force(force), {x: 1.0, x.diff(): 0.3}, (0, 5), "bdf", tolerance=1e-12)) < 1e-8


def test_a_function_that_is_not_smooth_goes_to_the_stiff_method(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "sin", replace(FUNCTIONS["sin"], smooth=False))
    motion = run(with_force(-sp.sin(x)), {x: 1.0}, (0, 1), "auto")
    assert motion.method == "bdf, adaptive (chosen: the equations contain sin, which are not smooth)"
    with pytest.raises(vn.VinculumError, match=r"contain sin, which are not smooth.*method='bdf'"):
        run(with_force(-sp.sin(x)), {x: 1.0}, (0, 1), "taylor")


def test_dry_friction_takes_its_constant_bite():
    """m ẍ = -x - μ sign ẋ: each half swing is shorter by 2μ."""
    motion = run(with_force(-sp.sign(x.diff()) / 10), {x: 1.0}, (0, 6.0), "auto", tolerance=1e-8)
    turning = motion[x][np.argmin(np.abs(motion.t - np.pi))]
    assert turning == pytest.approx(-0.8, abs=1e-4)


def test_the_method_asked_for_is_not_explained():
    assert run(pendulum(), hanging(), (0, 1), "taylor").method == "taylor, adaptive"
    assert run(pendulum(), hanging(), (0, 1), "rk4", step=1e-2).method == "rk4, step 0.01"
