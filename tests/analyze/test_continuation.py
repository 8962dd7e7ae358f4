"""A steady motion and its roots over one value, against formulas."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import watt_governor as watt

theta = dynamicsymbols("theta")
k = sp.Symbol("k")


def test_roots_over_a_parameter_are_those_of_the_formula():
    """θ̈ + θ̇/2 + (k - 1) θ = 0: λ = -1/4 ± √(1/16 - k + 1), stable for k > 1."""
    system = vn.System([theta], theta.diff() ** 2 / 2, sp.cos(theta) + k * theta**2 / 2,
                       dissipation=theta.diff() ** 2 / 4, parameters={k: 2.0})  # fmt: skip
    found = vn.hurwitz.continuation(vn.derive(system), {theta: 0}, k, (0, 3), moving=(), points=5)
    root = np.sqrt(1 / 16 + 1 - found.values + 0j)
    exact = np.sort_complex(np.array([-0.25 + root, -0.25 - root]).T)
    assert np.abs(np.sort_complex(found.roots) - exact).max() < 1e-7  # the pair meets at k = 17/16
    assert found.borders[0].value == pytest.approx(1, rel=1e-9)
    assert found.borders[0].value in found.values
    assert (found.stable == (found.values >= 1 - 1e-9)).all()
    assert not found.motion, "the pendulum stands upright everywhere"


def test_a_column_of_the_roots_is_one_curve():
    """Two oscillators whose frequencies cross at p = 1: each column follows one of them, 1 + p or 3 - p."""
    x, y = dynamicsymbols("x y")
    energy = (1 + k) ** 2 * x**2 / 2 + (3 - k) ** 2 * y**2 / 2
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, energy, parameters={k: 0.0})
    found = vn.hurwitz.continuation(vn.derive(system), {x: 0, y: 0}, k, (0, 2.05), moving=(), points=42)
    steps = np.abs(np.diff(found.roots, axis=0)) / np.diff(found.values)[:, None]
    assert steps.max() < 1.5, "no column jumps to another root"


def test_the_arms_of_a_governor_rise_with_the_speed():
    """cos(alpha) = (m + m_s) g/(m l Ω²)."""
    equations = vn.derive(watt.system(), form="routh", dependent=[watt.s])
    spin = watt.phi.diff()
    found = vn.hurwitz.continuation(equations, {}, spin, ("11 rad/s", "20 rad/s"), near={watt.alpha: 1}, points=4)
    m, m_s, g, l = (float(watt.system().parameters[p]) for p in (watt.m, watt.m_s, watt.g, watt.l))
    assert found.motion[watt.alpha] == pytest.approx(np.arccos((m + m_s) * g / (m * l * found.values**2)), rel=1e-9)
    assert spin not in found.motion
    assert (found.rightmost < 0).all()
    assert "stable everywhere" in str(found)
