"""Paper 004: example (26) corrected, the interval of the gain by theorem and by measurement, the errata."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples.program_on_an_ellipse import START, program, q1, q2, system, u, y

STEP, COUNT = 1e-3, 20_000


def euler(k: float, count: int = COUNT) -> vn.Trajectory:
    return vn.simulate(program(k), START, (0, count * STEP), "euler", step=STEP, progress=False)


def largest(k: float) -> float:
    motion = euler(k)
    return motion.largest_residuals["ellipse", "position"] if motion.outcome else np.inf


def test_the_control_is_k_y():
    """u = k y = (k/2)(q1² + 4 q2² - 4), half of what is printed."""
    control = vn.derive(system(), form="program", rates=3.0)
    assert sp.simplify(control.controls[u] - 3 * y) == 0
    motion = vn.simulate(control, START, (0, 1))
    assert np.abs(motion[u]).max() < 1e-12
    off = vn.simulate(control, {q1: 1.3, q2: 0.4}, (0, 1))
    np.testing.assert_allclose(off[u], 3 * off[y][0] * np.exp(-3 * off.t), rtol=1e-12)


@pytest.mark.parametrize(("k", "value"), [(50.0, 1.6018231208514422e-4), (300.0, 2.6696633447897966e-5)])
def test_euler_values(k, value):
    """y after 20000 steps of 1e-3 from (2, 0)."""
    assert euler(k)[y][-1] == pytest.approx(value, rel=0, abs=1e-12)


@pytest.mark.parametrize("k", [50.0, 300.0])
def test_the_stationary_deviation(k):
    """y* = 8 τ/(k - 4 τ) (1 + O(τ))."""
    assert euler(k)[y][-1] == pytest.approx(8 * STEP / (k - 4 * STEP), rel=2e-3)


def test_the_exact_euler_map():
    """y⁺ = (1 - kτ) y + (τ²/2)[16 + 8y - 24 k y q1 q2/D + k² y² (q1² + 64 q2²)/D²]."""
    k, motion = 300.0, vn.simulate(program(300.0), START, (0, 0.05), "euler", step=STEP, dense=True, progress=False)
    a, b, residual = motion[q1], motion[q2], motion[y]
    D = a**2 + 16 * b**2
    inner = 16 + 8 * residual - 24 * k * residual * a * b / D + (k * residual / D) ** 2 * (a**2 + 64 * b**2)
    expected = (1 - k * STEP) * residual + STEP**2 / 2 * inner
    np.testing.assert_allclose(residual[1:], expected[:-1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-4, 4e-5])
def test_the_interval_by_theorem_and_by_measurement(epsilon):
    """Theorem: 8τ/ε ≤ k ≤ 2/τ - 8τ/ε. Measured: the lower end within 2 %, the upper end really 2/τ."""
    interval = vn.simulation.gain_interval("euler", STEP, epsilon, curvature=16.0)
    assert interval.low == pytest.approx(8 * STEP / epsilon, rel=1e-9)
    assert interval.high == pytest.approx(2 / STEP - 8 * STEP / epsilon, rel=1e-9)
    assert largest(1.02 * interval.low) <= epsilon < largest(0.98 * interval.low)
    assert largest(0.999 * interval.high) <= epsilon
    assert largest(1990.0) <= epsilon < largest(2050.0)


def test_the_printed_interval_belongs_to_another_accuracy():
    """200 < k < 1800 is the answer for ε = 4e-5; for the printed ε = 1e-3 it is 8 ≤ k ≤ 1992."""
    assert (lambda i: (i.low, i.high))(vn.simulation.gain_interval("euler", STEP, 4e-5, curvature=16)) == pytest.approx(
        (200, 1800)
    )
    assert (lambda i: (i.low, i.high))(vn.simulation.gain_interval("euler", STEP, 1e-3, curvature=16)) == pytest.approx(
        (8, 1992)
    )


def test_k_of_2050_diverges():
    """Figure 2: |y| grows to 4.9, so the run is not a success."""
    motion = euler(2050.0)
    assert not motion.outcome
    assert motion.largest_residuals["ellipse", "position"] == pytest.approx(4.9, abs=0.1)


def test_the_printed_b_makes_the_rate_depend_on_the_place():
    """dy/dt = -2k y (q1² + 16 q2²)/(q1² + q2²) with u = 2ky: at q1 = 0 sixteen times as fast as at q2 = 0."""
    printed = system(printed=True)
    rates = [sp.sympify(f) + sp.sympify(row[0]) * u for f, row in zip(printed.drift, printed.input_matrix, strict=True)]
    dy = sum(sp.diff(y, q) * rate for q, rate in zip((q1, q2), rates, strict=True)).subs(u, 2 * y)
    ratio = sp.simplify(dy / y)
    assert ratio.subs({q1: 2, q2: 0}) == -2
    assert sp.limit(ratio.subs(q1, 0), q2, 1) == -32
    found = vn.derive(printed, form="program", rates=5.0)  # the form does not care which b was written
    motion = vn.simulate(found, START, (0, 2))
    assert motion.largest_residuals["ellipse", "position"] < 1e-13


def test_figure_1_a_velocity_error_is_not_forgotten():
    """y = v₀ t e^{-kt} for ÿ + 2kẏ + k²y = 0 from y = 0, ẏ = v₀."""
    s, v = dynamicsymbols("s v")
    N = sp.Symbol("N")
    line = vn.AffineSystem([s, v], [v, 0], [N], [[0], [1]], {"line": s})
    law = vn.derive(line, form="program", rates=2.0)
    assert law.degrees == {"line": 2}
    assert sp.expand(law.controls[N] + 4 * s + 4 * v) == 0


def test_guaranteed_accuracy_on_the_ellipse():
    motion = vn.simulate(vn.derive(system(), form="program"), START, (0, 20), "euler", step=STEP, progress=False,
                         stabilization=vn.Guaranteed(1e-4))  # fmt: skip
    assert motion.kept
    assert motion.largest_residuals["ellipse", "position"] <= 1e-4
    with pytest.raises(vn.VinculumError, match="No gain keeps the constraints within"):
        vn.simulate(vn.derive(system(), form="program"), START, (0, 20), "euler", step=STEP, progress=False,
                    stabilization=vn.Guaranteed(1e-6))  # fmt: skip
