"""The intervals of a fit contain the truth as often as they say: 200 sets of noisy data made by one study each."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy import stats
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")
k, c, h, u = sp.symbols("k c h u")
SETS = 200
FEWEST, MOST = stats.binom.ppf([1e-4, 1 - 1e-4], SETS, 0.95)


def oscillator(cubic: float) -> vn.System:
    """Two masses with springs, one of them cubic; the second one is not measured."""
    T = (x.diff() ** 2 + y.diff() ** 2) / 2
    V = k * x**2 / 2 + h * (x - y) ** 2 / 2 + cubic * x**4 / 4
    return vn.System(
        [x, y], T, V, {x: u - c * x.diff(), y: -0.2 * y.diff()}, inputs=[u], parameters={k: 4.0, c: 0.3, h: 1.5}
    )


def curve(between: str):
    points = np.linspace(0, 6, 25)
    return vn.signal(points, np.random.default_rng(7).normal(0, 2, 25), between=between)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cubic", "between", "runs"), [(0.0, "linear", 1), (1.0, "spline", 2)], ids=["linear", "nonlinear"]
)
def test_intervals_contain_the_truth_as_often_as_they_say(cubic, between, runs):
    """Irregular times, a part of the states, an input between recorded points, one run or two with their own starts."""
    random, sigma = np.random.default_rng(3), 0.02
    equations, law = vn.derive(oscillator(cubic)), {u: curve(between)}
    times = np.append(0.0, np.sort(random.uniform(0, 6, 45)))
    starts = [1.0, -0.7][:runs]
    motion = vn.study(equations, {}, times, over={x: starts}, inputs=law, keep="motion")
    truth = {k: 4.0, c: 0.3, h: 1.5} | ({x: 1.0} if runs == 1 else {(x, 0): 1.0, (x, 1): -0.7})
    inside = dict.fromkeys(truth, 0)
    for _ in range(SETS):
        data = [{"time": times, "x": row + random.normal(0, sigma, len(times))} for row in motion.x.values]
        found = vn.fit(equations, data, {k: 3.8, c: 0.4, h: 1.4, x: 0.1}, inputs=law)
        for key, value in truth.items():
            low, high = found.interval(key)
            inside[key] += low < value < high
    assert all(FEWEST <= count <= MOST for count in inside.values()), inside


a, b, d = sp.symbols("a b d")
NUMBERS = {a: 1.0, b: 2.0, d: 3.0}


@pytest.mark.parametrize(
    ("mass", "potential", "force", "unknown", "names"),
    [
        pytest.param(a, 0, b, (a, b), "a, b", id="force over mass"),
        pytest.param(1, (a + b) * x**2 / 2, -d * x.diff(), (a, b, d), "a, b", id="springs in parallel"),
        pytest.param(1, (d * b - a**2) * x**2 / 2, 0, (a, d), "a, d", id="bead on a turning parabola"),
    ],
)
def test_three_systems_whose_parameters_cannot_be_told_apart(mass, potential, force, unknown, names):
    T, forces = mass * x.diff() ** 2 / 2, {x: sp.sympify(force)} if force else {}
    used = (T + potential + sum(forces.values())).free_symbols
    system = vn.System([x], T, potential, forces, parameters={key: NUMBERS[key] for key in NUMBERS if key in used})
    times = np.linspace(0, 3, 40)
    motion = vn.simulate(system, {x: 0.5, x.diff(): 0.1}, times)
    data = {"time": times, "x": motion[x] + np.random.default_rng(1).normal(0, 1e-3, 40)}
    with pytest.raises(vn.VinculumError, match=f"cannot tell {names} apart"):
        vn.fit(system, data, {key: 1.1 * NUMBERS[key] for key in unknown}, {x: 0.5, x.diff(): 0.1})
