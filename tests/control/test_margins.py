"""Margins against the closed loop itself: with the gain or phase of a margin, a root lies on the imaginary axis."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import vinculum as vn
from vinculum.control.crossings import at_distance, real_values, unit_gain
from vinculum.control.margins import small_margins


def loop_of(seed: int):
    """A random plant with a light resonance, and its linear-quadratic law."""
    random = np.random.default_rng(seed)
    n = 2 + seed % 3
    A = scipy.linalg.block_diag(random.normal(size=(n, n)), [[0, 1], [-9.0, -6e-6]])
    A[n + 1, :n] = random.normal(size=n)
    b = random.normal(size=(n + 2, 1))
    linear = vn.linear.model(A, b)
    law = vn.stabilize(linear)
    return A, b, law, next(iter(vn.linear.margins(law).values()))


@pytest.mark.parametrize("seed", range(8))
def test_a_root_reaches_the_axis_at_each_margin(seed):
    A, b, law, margin = loop_of(seed)

    def rightmost(factor: complex) -> float:
        return float(np.linalg.eigvals(A + factor * b @ law.gain).real.max())

    size = np.abs(np.linalg.eigvals(A + b @ law.gain)).max()
    for factor in (margin.gain, margin.gain_reduction):
        if np.isfinite(factor) and factor > 0:
            assert abs(rightmost(factor)) < 1e-7 * size
    inside = np.linspace(margin.gain_reduction, min(margin.gain, 50.0), 41)[1:-1]
    assert all(rightmost(f) < 0 for f in inside)
    turned = [np.exp(1j * sign * margin.phase) for sign in (1, -1)]
    assert min(abs(rightmost(f)) for f in turned) < 1e-7 * size
    assert all(rightmost(np.exp(1j * share * margin.phase)) < 0 for share in np.linspace(-0.99, 0.99, 21))


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_distance_is_the_norm_of_the_sensitivity(seed):
    """1/min|1 + L| = ‖S‖∞, by the Hamiltonian: no frequency has a smaller distance, one has it."""
    A, b, law, margin = loop_of(seed)
    c = -law.gain
    if margin.distance < 1:
        assert len(at_distance(A, b, c, margin.distance * (1 + 1e-6))) > 0
        closer = at_distance(A, b, c, margin.distance * (1 - 1e-6))
        values = [abs(1 + (c @ np.linalg.solve(1j * w * np.eye(len(A)) - A, b))[0, 0]) for w in closer]
        assert all(v > margin.distance * (1 - 1e-9) for v in values)


def test_crossings_of_a_known_loop():
    """L = 8/(s + 1)³: |L| = 1 at ω = √3, L = -1 there too; L is real at √3."""
    A = np.array([[-1.0, 1, 0], [0, -1, 1], [0, 0, -1]])
    b, c = np.array([[0.0], [0], [1]]), np.array([[8.0, 0, 0]])
    assert unit_gain(A, b, c) == pytest.approx([3**0.5], rel=1e-9)
    assert real_values(A, b, c) == pytest.approx([3**0.5], rel=1e-9)
    # |1 + L|² = d² at ω = 1: L(i) = 8/(1 + i)³ = -2 - 2i, |1 + L|² = 5
    assert at_distance(A, b, c, 5**0.5) == pytest.approx([1.0], rel=1e-9)


def test_a_crossing_far_narrower_than_any_grid():
    """A resonance of relative width 10⁻⁹ crosses the unit circle twice; its peak decides the gain margin."""
    w, zeta = 40.0, 1e-9
    A = scipy.linalg.block_diag([[-1.0]], [[0, 1], [-(w**2), -2 * zeta * w]])
    b, gain = np.array([[1.0], [0], [1e-5]]), np.array([[-1.0, 0.0, -1.0]])
    law = vn.feedback.law(vn.linear.model(A, b), gain)
    margin = next(iter(vn.linear.margins(law).values()))
    near = margin.gain_crossovers[np.abs(margin.gain_crossovers - w) < 1e-2]
    assert len(near) >= 1
    at = [(-gain @ np.linalg.solve(1j * x * np.eye(3) - A, b))[0, 0] for x in near]
    assert np.abs(at) == pytest.approx(np.ones(len(near)), rel=1e-6)


def test_small_margins_of_a_loop_with_an_observer_are_told():
    """Doyle's counterexample (1978): a linear-quadratic law with a Kalman filter has no guaranteed margins."""
    A, b, q = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0], [1.0]]), 1000 * np.ones((2, 2))
    linear = vn.linear.model(A, b)
    law = vn.stabilize(linear, state_weights=q, input_weights=1)
    estimator = vn.observe(linear, linear.states[:1], q, 1)
    assert not any(margin.doubts for margin in vn.linear.margins(law).values())
    (margin,) = vn.linear.margins(law, estimator).values()
    assert margin.gain < 1.1
    assert f"{margin.gain:.3g} times the gain" in margin.doubts
    assert "at least 6 dB and 30°" in margin.doubts
    assert "state_noise" in small_margins({margin.input: margin}, observed=True)[-1]
    assert small_margins(vn.linear.margins(law), observed=True) == []
