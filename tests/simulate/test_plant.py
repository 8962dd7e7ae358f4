"""The program law on a plant that differs from its model, against solutions by hand and independent integration."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.simulation import run_on_plant

t = dynamicsymbols._t
x, v = dynamicsymbols("x v")
u, m, c = sp.symbols("u m c")
CART = vn.AffineSystem([x, v], [v, -c * v / m], [u], [[0], [1 / m]], {"track": x - sp.sin(t)}, {m: 2.0, c: 0.5})
START = {x: 0.3, v: 0.0}
RATE = 5.0


def law(rate: float = RATE) -> vn.program.ProgramEquations:
    """The law that makes x follow sin t."""
    return vn.derive(CART, "program", rates=rate)


def force(time, position, speed, rate=RATE):
    """The law by hand: m (-sin t - 2k ẏ - k² y) + c v."""
    y, dy = position - np.sin(time), speed - np.cos(time)
    return 2.0 * (-np.sin(time) - 2 * rate * dy - rate**2 * y) + 0.5 * speed


def test_on_its_own_model_the_law_is_exact():
    """y = (y₀ + (ẏ₀ + k y₀) t) e^{-kt}, and nothing remains."""
    found = run_on_plant(law(), START, (0, 8))
    y0, dy0 = 0.3, -1.0
    expected = (y0 + (dy0 + RATE * y0) * found.t) * np.exp(-RATE * found.t)
    np.testing.assert_allclose(found.residuals["track", "position"], expected, atol=1e-12)
    assert max(found.mismatch.values()) < 1e-12
    assert found.explained


@pytest.mark.parametrize("rate", [2.0, 5.0, 20.0])
def test_a_constant_force_leaves_its_acceleration_over_the_square_of_the_rate(rate):
    """ÿ + 2kẏ + k²y = d/m: what remains is d/(m k²), and the bound is just that."""
    found = run_on_plant(law(rate), START, (0, 30), disturbances={u: 1.0})
    assert found.remaining("track") == pytest.approx(0.5 / rate**2, rel=1e-4)
    assert found.bound["track", "position"][-1] == pytest.approx(0.5 / rate**2, rel=0.01)
    assert found.mismatch["track", "velocity"] == pytest.approx(0.5, rel=1e-12)


def test_other_masses_leave_what_linear_theory_says():
    """(m'/m) ÿ... : the steady error of the loop with another mass and damping, by integration with SciPy."""
    found = run_on_plant(law(), START, np.linspace(0, 8, 401), parameters={m: 2.4, c: 0.7})

    def plant(time, z):
        return [z[1], (force(time, *z) - 0.7 * z[1]) / 2.4]

    exact = solve_ivp(plant, (0, 8), [0.3, 0.0], t_eval=found.t, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found["x"], exact.y[0], atol=1e-8)
    assert found.explained
    assert 0.005 < found.remaining("track") < found.bound["track", "position"][-1] < 0.02


@pytest.mark.parametrize("period", [0.02, 0.15])
def test_a_sampled_law_is_held_between_its_instants(period):
    """The same loop, stepped by hand with the exact motion of the cart under a constant force."""
    found = run_on_plant(law(), START, (0, 3), sampling=period)
    z, time = np.array([0.3, 0.0]), 0.0
    for tick in range(round(3 / period)):
        held, decay = force(time, *z), np.exp(-0.25 * period)
        final = held / 0.5
        z = np.array([z[0] + final * period + (z[1] - final) * (1 - decay) / 0.25, final + (z[1] - final) * decay])
        time = (tick + 1) * period
        at = np.argmin(np.abs(found.t - time))
        assert found.t[at] == pytest.approx(time)
        np.testing.assert_allclose([found["x"][at], found["v"][at]], z, atol=1e-9)
    assert found.explained


def test_limits_are_applied_and_counted():
    """The force never leaves its limits; with too little of it the program is lost, with enough it is held."""
    weak = run_on_plant(law(), START, (0, 10), limits={u: (-0.5, 0.5)})
    assert np.abs(weak["u"]).max() <= 0.5
    assert weak.limited["u"] > 0.5
    assert weak.remaining("track") > 0.2
    enough = run_on_plant(law(), START, (0, 10), limits={u: (-4.0, 4.0)})
    assert 0 < enough.limited["u"] < 0.2
    assert enough.remaining("track") < 1e-6
    assert weak.explained
    assert enough.explained


def test_everything_at_once_stays_within_the_bound():
    found = run_on_plant(
        law(), START, (0, 8), parameters={m: 2.3}, disturbances={u: 0.3 * sp.sin(7 * t), x: 0.02 * sp.cos(t)},
        limits={u: (-30, 30)}, sampling=0.05,
    )  # fmt: skip
    assert found.explained
    assert 1e-3 < found.remaining("track") < found.bound["track", "position"][-1] < 0.1
    assert "remains" in repr(found)


def test_a_nonlinear_plant_of_two_constraints():
    """A two-link arm with a heavier load than its law knows; the bound holds with the coupled mismatch."""
    q, p = dynamicsymbols("q p")
    M, load, left, right = sp.symbols("M load left right")
    kinetic = M * q.diff() ** 2 / 2 + load * (q.diff() + p.diff() * sp.cos(p)) ** 2 / 2 + load * p.diff() ** 2 / 2
    arm = vn.System([q, p], kinetic, 9.81 * load * sp.cos(p), forces={q: left, p: right}, inputs=[left, right],
                    parameters={M: 1.0, load: 0.5})  # fmt: skip
    model = vn.program.to_affine(arm, program={"slide": q - sp.sin(t) / 2, "swing": p - sp.cos(t) / 3})
    equations = vn.derive(model, "program", rates={"slide": 6.0, "swing": 8.0})
    start = {q: 0.1, q.diff(): 0.4, p: 0.3, p.diff(): 0.1}
    found = run_on_plant(equations, start, (0, 6), parameters={load: 0.6})
    assert found.explained
    assert 1e-3 < found.remaining("swing") < found.bound["swing", "position"][-1]
    own = run_on_plant(equations, start, (0, 6))
    assert own.remaining("swing") < 1e-8


def test_what_does_not_belong_is_refused_at_once():
    with pytest.raises(vn.ModelError) as caught:
        run_on_plant(law(), START, (0, 1), parameters={sp.Symbol("mm"): 1.0}, limits={sp.Symbol("w"): (0, 1)},
                     disturbances={sp.Symbol("q"): 1})  # fmt: skip
    assert {"mm is not a parameter", "w is not an input", "q is not a state or an input"} <= {
        found.split(" of the plant")[0].split(".")[0] for found in map(str, caught.value.findings)
    }
    with pytest.raises(vn.ModelError, match="derive it with rates"):
        run_on_plant(vn.derive(CART, "program"), START, (0, 1))
    with pytest.raises(vn.ModelError, match=r"limits of u are \(2, 1\)"):
        run_on_plant(law(), START, (0, 1), limits={u: (2, 1)})
    with pytest.raises(vn.VinculumError, match="positive period"):
        run_on_plant(law(), START, (0, 1), sampling=0.0)
    other = vn.AffineSystem([x], [0], [u], [[1]], {"track": x})
    with pytest.raises(vn.ModelError, match="the law was made for x, v and u"):
        run_on_plant(law(), START, (0, 1), plant=other)
