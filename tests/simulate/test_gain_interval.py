"""The gains of `gain_interval` keep the bound in the run that it speaks of, and others need not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from simulate.models import ADAMS, RUNGE_KUTTA
from vinculum.derivation.program.perturbation import binomial
from vinculum.present.plots import plot_gain_intervals
from vinculum.simulation import METHODS, gain_interval
from vinculum.simulation.stabilization.gain_interval import defect_bound, worst_response

t = dynamicsymbols._t
STEP = 0.01
WAVES = [(0.7, 3.0, 0.4), (0.02, 97.0, 1.0), (0.01, 211.0, 2.0), (0.005, 0.9 * np.pi / STEP, 0.3)]  # up to Nyquist's


def wave(time, order=0):
    """The prescribed motion w(t), with quick parts that make defects of changing sign."""
    return sum(a * f**order * np.sin(f * time + shift + order * np.pi / 2) for a, f, shift in WAVES)


@cache
def chain(order: int) -> vn.program.ProgramEquations:
    """x⁽ʳ⁾ = N, held at x = w(t)."""
    states = dynamicsymbols(f"x1:{order + 1}")
    target = sum(a * sp.sin(f * t + shift) for a, f, shift in WAVES)
    B = [[0]] * (order - 1) + [[1]]
    system = vn.AffineSystem(states, [*states[1:], 0], [sp.Symbol("N")], B, {"program": states[0] - target})
    return vn.derive(system, form="program")


def largest(method: str, order: int, treatment: vn.simulation.Stabilization) -> float:
    """The largest |x - w| of a run."""
    motion = vn.simulate(chain(order), {}, (0, 600 * STEP), method, step=STEP, stabilization=treatment, progress=False)
    return motion.largest_residuals["program", "position"]


def defects(method: str, order: int) -> np.ndarray:
    """The largest error of one step from the program in x, ẋ, ..., without feedback, by hand."""
    times, chosen = STEP * np.arange(8, 700), METHODS[method]
    exact = np.array([wave(times + STEP, j) for j in range(order)])
    found = np.array([wave(times, j) for j in range(order)])
    if method in RUNGE_KUTTA:
        f, stages = lambda x, s: np.array([*x[1:], wave(times + s, order)]), []
        for row, c in zip(chosen.A, chosen.c, strict=True):
            stages.append(f(found + STEP * sum(a * k for a, k in zip(row, stages, strict=False)), c * STEP))
        return np.abs(found + STEP * sum(b * k for b, k in zip(chosen.b, stages, strict=True)) - exact).max(axis=1)
    past = [np.array([wave(times - j * STEP, i + 1) for i in range(order)]) for j in range(chosen.order)]
    predicted = np.abs(found + STEP * sum(b * f for b, f in zip(chosen.predictor, past, strict=True)) - exact)
    if not len(chosen.corrector):
        return predicted.max(axis=1)
    ahead = [np.array([wave(times + STEP, i + 1) for i in range(order)]), *past]
    corrected = np.abs(found + STEP * sum(b * f for b, f in zip(chosen.corrector, ahead, strict=False)) - exact)
    return np.maximum(corrected, predicted / chosen.error_ratio()).max(axis=1)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4", "ab2", "ab4", "abm2", "abm3", "abm4"])
def test_every_gain_of_the_interval_keeps_the_bound(method, order):
    """For the stabilization that `simulate` takes by default, defects of changing sign, and every relative degree."""
    first = defects("rk4", order) if method in ADAMS else 0.0  # the first steps of an Adams method
    D = np.maximum(defects(method, order), first)
    chosen = METHODS[method]
    kind = vn.Sampled if method in RUNGE_KUTTA else vn.Baumgarte
    held = method in RUNGE_KUTTA
    E = D / STEP ** (chosen.order + 1)
    gains = binomial(order, 0.3 * chosen.stability_limit(held) / STEP)
    whole = defect_bound(chosen, gains, STEP, held, np.zeros(order), E)
    epsilon = 2 * float((worst_response(chosen, gains, STEP, held) @ whole)[0])
    found = gain_interval(method, STEP, epsilon, error=E, order=order)
    assert found
    assert kind.__name__ in found.described
    for k in (found.low, (found.low * found.high) ** 0.5, 0.7 * found.high, 0.999 * found.high):
        assert largest(method, order, kind(float(k))) <= epsilon * (1 + 1e-9), k


def responses(method: str, z: float, count: int = 4000) -> np.ndarray:
    """η_n of a unit defect, η̇ = -kη, by the formulas of the method."""
    chosen, eta = METHODS[method], [0.0] * 9 + [1.0]
    for _ in range(count):
        f = [-z * value for value in eta[::-1]]
        predicted = eta[-1] + sum(b * value for b, value in zip(chosen.predictor, f, strict=False))
        later = [-z * predicted, *f]
        corrected = eta[-1] + sum(b * value for b, value in zip(chosen.corrector, later, strict=False))
        eta.append(corrected if len(chosen.corrector) else predicted)
    return np.array(eta[9:])


@pytest.mark.parametrize("method", ["ab2", "ab4", "ab5"])
def test_the_ends_for_adams_methods_are_those_of_the_worst_signs(method):
    """Σ|h| D = ε at both ends, with the response h of the method's own formula."""
    q, D = METHODS[method].order, 1e-8
    for share in (0.2, 0.9):
        z = share * METHODS[method].largest
        epsilon = D * float(np.abs(responses(method, z)).sum())
        found = gain_interval(method, STEP, epsilon, error=D / STEP ** (q + 1))
        end = found.low if share < 0.5 else found.high
        assert end * STEP == pytest.approx(z, rel=0.05)


def test_the_corrector_acts_on_the_predicted_point():
    """abm2 with z: a constant defect stays as d / (z (1 - z/2)), not d / z."""
    for z in (0.2, 1.0, 1.6):
        assert responses("abm2", z).sum() == pytest.approx(1 / (z * (1 - z / 2)), rel=1e-9)
        found = gain_interval("abm2", STEP, 1e-6, error=0.99e-6 * z * (1 - z / 2) / STEP**3)
        assert z / STEP not in found or z < 0.3


def test_the_default_is_that_of_simulate():
    """Runge-Kutta steps hold their feedback; continuous feedback has another interval."""
    held, continuous = (gain_interval("rk4", 1e-3, 1e-6, curvature=16, error=0, sampled=s) for s in (True, False))
    assert gain_interval("rk4", 1e-3, 1e-6, curvature=16, error=0) == held
    assert (held.high, continuous.high) == pytest.approx((2000, 1640), rel=0.01)
    assert "Sampled(rate=k)" in held.described
    assert "Baumgarte(rate=k)" in continuous.described


def test_second_order_with_held_feedback_is_stable_below_one():
    """α τ < 1 for α = β = k: kτ = 1.5 diverges, though it would not with feedback in the stages."""
    found = gain_interval("rk4", STEP, 1e-3, error=[1.0, 1.0], order=2)
    assert found.high <= 1 / STEP
    assert 1.5 / STEP in gain_interval("rk4", STEP, 1e-3, error=[1.0, 1.0], order=2, sampled=False)
    motion = vn.simulate(chain(2), {}, (0, 1), "rk4", step=STEP, stabilization=vn.Sampled(1.5 / STEP), progress=False)
    assert not motion.outcome


def test_requests_that_make_no_sense_are_refused():
    with pytest.raises(vn.VinculumError, match="error needs 2 numbers"):
        gain_interval("rk4", 1e-3, 1e-3, error=1.0, order=2)
    with pytest.raises(vn.VinculumError, match="no stages"):
        gain_interval("ab2", 1e-3, 1e-3, error=1.0, sampled=True)
    with pytest.raises(vn.VinculumError, match="must be positive"):
        gain_interval("ab2", -1e-3, 1e-3)


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4", "ab2", "abm3"])
def test_nothing_is_guaranteed_without_the_residual_of_a_step(method):
    """On a circle, 0.2 s per step leave more than 1e-9; γ alone does not tell for methods above the first order."""
    if method != "euler":
        with pytest.raises(vn.VinculumError, match=r"Pass error=E.*Guaranteed"):
            gain_interval(method, 0.2, 1e-9, curvature=1.0)
    with pytest.raises(vn.VinculumError, match="not known"):
        gain_interval(method, 0.2, 1e-9)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-4, 4e-5])
def test_the_interval_of_euler_s_method_in_closed_form(epsilon):
    """γτ/(2ε) ≤ k ≤ 2/τ - γτ/(2ε)."""
    step, curvature = 1e-3, 16.0
    found = gain_interval("euler", step, epsilon, curvature=curvature)
    assert found.low == pytest.approx(curvature * step / (2 * epsilon), rel=1e-9)
    assert found.high == pytest.approx(2 / step - curvature * step / (2 * epsilon), rel=1e-9)


def test_too_long_a_step_leaves_no_gain():
    """Euler: τ ≤ √(2ε/γ); midpoint with continuous feedback: ε > γτ²/8 whatever the gain."""
    assert gain_interval("euler", 0.99 * (2 * 1e-4 / 16) ** 0.5, 1e-4, curvature=16)
    assert not gain_interval("euler", 1.01 * (2 * 1e-4 / 16) ** 0.5, 1e-4, curvature=16)
    assert gain_interval("midpoint", 1e-3, 1.01 * 16e-6 / 8, curvature=16, error=0, sampled=False)
    assert not gain_interval("midpoint", 1e-3, 0.99 * 16e-6 / 8, curvature=16, error=0, sampled=False)


def test_the_interval_is_drawn_for_every_method():
    steps = np.geomspace(1e-4, 1e-2, 5)
    figure = plot_gain_intervals(1e-4, steps, curvature=16.0, errors={"midpoint": 0, "rk4": 0, "ab2": 5.0, "ab4": 1.0})
    assert {trace.name for trace in figure.data if trace.name} == {"euler", "midpoint", "rk4", "ab2", "ab4"}
    euler = [trace for trace in figure.data if trace.legendgroup == "euler" or trace.name == "euler"]
    assert max(euler[0].x) < (2 * 1e-4 / 16) ** 0.5  # no band beyond the longest step
