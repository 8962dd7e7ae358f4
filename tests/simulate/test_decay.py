"""The decay of residuals of a run that starts off its constraints: a bound and the measurement."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import solve_continuous_lyapunov
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from simulate.models import hanging, pendulum, run, x
from vinculum.simulation import decay_bound

t = dynamicsymbols._t
s, v = dynamicsymbols("s v")
OFF = {s: 0.5, v: -1.0}


def point_on_line(rates: object) -> vn.program.ProgramEquations:
    """s̈ = N held at s = sin t."""
    line = vn.AffineSystem([s, v], [v, 0], [sp.Symbol("N")], [[0], [1]], {"line": s - sp.sin(t)})
    return vn.derive(line, form="program", rates=rates)


def linear(*row: object) -> vn.program.LinearPerturbation:
    return vn.program.LinearPerturbation([list(row)])


def test_variable_coefficients_have_an_exponential_bound_that_holds():
    """ÿ = -(4 + cos t) y - (4 + sin 2t) ẏ."""
    equations = point_on_line(linear(-(4 + sp.cos(t)), -(4 + sp.sin(2 * t))))
    motion = vn.simulate(equations, OFF, np.linspace(0, 6, 301))
    found = decay_bound(motion)
    assert found.rate > 0.5
    assert found.kept
    assert found.measured[0] == pytest.approx(np.hypot(0.5, -2.0))
    assert found.measured[-1] < found.bound[-1] < found.measured[0]
    text = repr(found)
    for part in ("exp(-", "at the end", "bound", "G  "):
        assert part in text


def test_the_rate_of_constant_coefficients_is_a_over_2c2():
    """AᵀG + GA = -1: V̇ ≤ -V/c₂, so |η| decays with at least 1/(2c₂), half of what is printed, and not beyond 2."""
    motion = vn.simulate(point_on_line(2.0), OFF, np.linspace(0, 4, 101))
    A = np.array([[0.0, 1.0], [-4.0, -4.0]])
    G = solve_continuous_lyapunov(A.T, -np.eye(2))
    found = decay_bound(motion, G)
    assert 1 / (2 * np.linalg.eigvalsh(G)[-1]) <= found.rate < 2.0
    assert found.kept
    chosen = decay_bound(motion)
    assert found.rate < chosen.rate < 2.0
    assert chosen.kept
    assert chosen.bound[-1] < found.bound[-1]


@pytest.mark.parametrize("rate", [0.02, 1.0, 500.0])
def test_units_of_time_do_not_matter(rate):
    """All roots -k: the chosen rate is between k/2 and k."""
    motion = vn.simulate(point_on_line(rate), OFF, np.linspace(0, 6 / rate, 61))
    found = decay_bound(motion)
    assert found.kept
    assert 0.5 * rate < found.rate < rate


def test_a_matrix_inequality_finds_g_where_the_mean_does_not():
    """ÿ = -(10/3 + 0.86 sin 2t) y - (5.6 + 5 cos t) ẏ: the Lyapunov equation of the mean gives a V that grows."""
    coefficients = (-(sp.Rational(10, 3) + 0.86 * sp.sin(2 * t)), -(5.6 + 5 * sp.cos(t)))
    motion = vn.simulate(point_on_line(linear(*coefficients)), OFF, np.linspace(0, 6, 301))
    numbers = [[float(c.subs(t, time)) for c in coefficients] for time in motion.t]
    mean = np.array([[0.0, 1.0], np.mean(numbers, axis=0)])
    with pytest.raises(vn.VinculumError, match="does not decrease everywhere"):
        decay_bound(motion, solve_continuous_lyapunov(mean.T, -np.eye(2)))
    found = decay_bound(motion)
    assert found.rate > 0.05
    assert found.kept
    for k0, k1 in numbers:  # the inequality itself, at every sample
        A = np.array([[0.0, 1.0], [k0, k1]])
        assert np.linalg.eigvalsh(A.T @ found.G + found.G @ A + 2 * found.rate * found.G).max() < 1e-9 * found.G.max()


def test_a_law_that_is_not_linear_is_sampled_between_zero_and_the_residual():
    """ẏ1 = -4 y - 4 ẏ + ẏ³/2 grows for large ẏ; the linearization alone would promise decay."""
    r, rate = vn.program.residual("line"), vn.program.residual("line", 1)
    softening = point_on_line(vn.program.Perturbation({"line": -4 * r - 4 * rate + rate**3 / 2}))
    motion = vn.simulate(softening, {s: 0.0, v: 3.4}, (0, 1))
    with pytest.raises(vn.VinculumError, match="No quadratic form"):
        decay_bound(motion)
    close = decay_bound(vn.simulate(softening, {s: 0.05, v: 1.1}, (0, 3)))
    assert close.kept


def test_the_constraints_of_a_mechanism():
    """Baumgarte's feedback with the user's gains, from a pendulum off its circle."""
    motion = run(pendulum("multipliers"), hanging() | {x: 0.9}, (0, 2), stabilization=vn.Baumgarte(3.0))
    found = decay_bound(motion)
    assert found.measured[0] > 0.05
    assert found.kept
    assert 1.5 < found.rate < 3.0


def test_a_form_g_that_grows_is_refused():
    motion = vn.simulate(point_on_line(2.0), OFF, (0, 1))
    with pytest.raises(vn.VinculumError, match="does not decrease"):
        decay_bound(motion, G=np.diag([1.0, 100.0]))
    with pytest.raises(vn.VinculumError, match="symmetric and positive definite"):
        decay_bound(motion, G=np.diag([1.0, -1.0]))


def test_runs_that_show_no_decay_are_refused():
    """On the constraints, with held feedback, without feedback."""
    equations = point_on_line(2.0)
    with pytest.raises(vn.VinculumError, match=r"starts on its constraints .* Start off them"):
        decay_bound(vn.simulate(equations, {}, (0, 1)))
    with pytest.raises(vn.VinculumError, match=r"for continuous feedback, but this run used 'sampled"):
        decay_bound(vn.simulate(equations, OFF, (0, 1), "rk4", step=0.01))
    adams = vn.simulate(equations, OFF, (0, 1), "rk4", step=0.01, stabilization="baumgarte")  # the advice
    assert decay_bound(adams).kept
    with pytest.raises(vn.VinculumError, match="No quadratic form"):
        decay_bound(vn.simulate(equations, OFF, (0, 1), stabilization="none"))
