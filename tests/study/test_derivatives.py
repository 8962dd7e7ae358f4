"""Derivatives of motions against differences and exact solutions; identification and optimization that rest on them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
import xarray as xr
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam, four_bar, rolling_disc
from vinculum import measure
from vinculum.ensembles import sensitivity
from vinculum.errors import VinculumError

x, theta = dynamicsymbols("x theta")
k, c, m, g, l = sp.symbols("k c m g l", positive=True)
u = sp.Symbol("u")


def oscillator() -> vn.EquationsOfMotion:
    return vn.derive(
        vn.System([x], m * x.diff() ** 2 / 2, k * x**2 / 2, {x: -c * x.diff()}, parameters={m: 1.0, k: 4.0, c: 0.3})
    )


def pendulum() -> vn.EquationsOfMotion:
    T, V = m * l**2 * theta.diff() ** 2 / 2, -m * g * l * sp.cos(theta)
    numbers = {m: 1.0, g: 9.81, l: 0.8, c: 0.05}
    return vn.derive(vn.System([theta], T, V, {theta: -c * theta.diff()}, parameters=numbers))


def differences(equations, initial, times, key, output, h=1e-4, **options):
    """d(output)/d(key), of fourth order."""

    def at(change):
        start, numbers = dict(initial), {}
        if key in equations.parameters:
            numbers = {key: equations.parameters[key] + change}
        else:
            start[key] += change
        return vn.simulate(equations, start, times, parameters=numbers, **options)[output]

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


# -- derivatives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [c, "c", ["c"], (c,)])
def test_one_key_or_a_name_is_enough(by):
    start, times = {x: 1.0}, (0.0, 1.0)
    found, same = sensitivity(oscillator(), start, times, by), sensitivity(oscillator(), start, times, [c])
    np.testing.assert_array_equal(found.derivative(x, "c"), same.derivative(x, c))


def test_starts_may_be_named_and_everything_else_is_refused():
    found = sensitivity(oscillator(), {"x": 1.0, "x_dot": 0.0}, (0.0, 1.0), ["x", "dot(x)"], parameters={"c": 0})
    np.testing.assert_allclose(found.derivative(x, "x")[-1], np.cos(2), rtol=1e-12)
    np.testing.assert_allclose(found.derivative(x, x.diff())[-1], np.sin(2) / 2, rtol=1e-12)
    for by, words in (
        ([[c]], "is not a symbol"),
        (3, "Pass by="),
        ("", "Pass by="),
        (["q"], "q has no value"),
        ([c, "c"], "c is twice in by="),
    ):
        with pytest.raises(VinculumError, match=words):
            sensitivity(oscillator(), {x: 1.0}, (0.0, 1.0), by)
    with pytest.raises(VinculumError, match=r"c is None\. Give it a finite value"):
        sensitivity(oscillator(), {x: 1.0}, (0.0, 1.0), c, parameters={"c": None})


def test_derivatives_of_the_oscillator_are_those_of_its_solution():
    times = np.linspace(0, 5, 21)
    found = sensitivity(oscillator(), {x: 1.0, x.diff(): 0.5}, times, [k, c, x, x.diff()])
    t, q, v = sp.symbols("t q v")
    delta, omega = c / 2, sp.sqrt(k - c**2 / 4)
    exact = sp.exp(-delta * t) * (q * sp.cos(omega * t) + (v + delta * q) / omega * sp.sin(omega * t))
    numbers = {k: 4.0, c: 0.3, q: 1.0, v: 0.5}
    assert np.allclose(found[x], sp.lambdify(t, exact.subs(numbers))(times), atol=1e-13)
    for by, letter in ((k, k), (c, c), (x, q), (x.diff(), v)):
        slope = sp.lambdify(t, exact.diff(letter).subs(numbers))(times)
        assert np.allclose(found.derivative(x, by), slope, atol=1e-11)


def test_derivatives_of_a_linkage_move_its_start_along_the_constraints():
    alpha, gamma = four_bar.alpha, four_bar.gamma
    equations, guess = vn.derive(four_bar.system()), {four_bar.beta: 1.0, gamma: 1.5}
    times, initial = np.linspace(0, 0.3, 4), {alpha: 0.5}
    by = [four_bar.b, four_bar.rho, alpha]
    found = sensitivity(equations, initial, times, by, guess=guess)
    for key in by:
        for output in (gamma, gamma.diff(), gamma.diff(four_bar.t, 2), vn.reaction("loop x")):
            expected = differences(equations, initial, times, key, output, guess=guess)
            assert np.allclose(found.derivative(output, key), expected, atol=1e-9 * np.abs(expected).max())
    # the derivative of the constraint along the derivative of the motion is zero
    a, b, cc, d = four_bar.a, four_bar.b, four_bar.c, four_bar.d
    loop = a * sp.cos(alpha) + b * sp.cos(four_bar.beta) - cc * sp.cos(gamma) - d
    assert np.abs(found.derivative(loop, b)).max() < 1e-12


@pytest.mark.parametrize("angle", [0.7, 1e-12])
@pytest.mark.parametrize("radius", [1.0, 0.01, 1e-6])
def test_derivatives_of_a_start_are_exact_in_any_units(angle, radius):
    """x = r cos θ + √(l² - (r sin θ - e)²), l = 3 r, by the offset e at e = 0 and by θ."""
    offset = sp.Symbol("offset")
    rod = vn.Holonomic((x - l * sp.cos(theta)) ** 2 + (l * sp.sin(theta) - offset) ** 2 - 9 * l**2, name="rod")
    energy = (l * theta.diff()) ** 2 / 2 + x.diff() ** 2 / 2
    crank = vn.System([theta, x], energy, constraints=[rod], parameters={l: radius, offset: 0.0})
    start = {theta: angle, theta.diff(): 1.0}
    found = sensitivity(crank, start, (0, 0.1), by=[offset, theta], guess={x: 4 * radius})
    across, along = radius * np.sin(angle), radius * np.cos(angle)
    root = np.sqrt(9 * radius**2 - across**2)
    np.testing.assert_allclose(found.derivative(x, by=offset)[0], across / root, rtol=1e-12)
    np.testing.assert_allclose(found.derivative(x, by=theta)[0], -across - across * along / root, rtol=1e-12)


def test_derivatives_under_nonholonomic_constraints():
    equations, times = vn.derive(rolling_disc.system()), np.linspace(0, 1, 5)
    initial = rolling_disc.start(1.1, 1.5, 2.0, falling=0.2)
    place, lean = rolling_disc.x, rolling_disc.theta
    found = sensitivity(equations, initial, times, [rolling_disc.r, lean, rolling_disc.psi.diff()])
    for by in (rolling_disc.r, lean, rolling_disc.psi.diff()):
        for output in (place, lean):
            expected = differences(equations, initial, times, by, output)
            assert np.allclose(found.derivative(output, by), expected, atol=1e-9 * max(1, np.abs(expected).max()))


def test_corners_have_no_derivatives():
    dry = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, {x: -c * sp.sign(x.diff())}, parameters={k: 4.0, c: 0.3})
    with pytest.raises(VinculumError, match="smooth equations"):
        sensitivity(vn.derive(dry), {x: 1.0}, (0, 1), [c])
    with pytest.raises(VinculumError, match="Nothing to differentiate"):
        sensitivity(oscillator(), {x: 1.0}, (0, 1), [])
    with pytest.raises(VinculumError, match="g has no value"):
        sensitivity(oscillator(), {x: 1.0}, (0, 1), [g])


# -- identification ----------------------------------------------------------------------------------------------------


def recorded(noise: float, seed: int, count: int = 120) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    times = np.concatenate([[0.0], np.sort(random.uniform(0.01, 6, count - 1))])  # irregular
    motion = vn.simulate(pendulum(), {theta: 1.1}, times)
    return {"time": times, "theta": motion[theta] + random.normal(0, noise, count)}


def test_exact_data_give_the_exact_parameters():
    found = vn.fit(pendulum(), recorded(0.0, 0), {l: 1.0, c: 0.2, theta: 1.0})
    assert found.values[l] == pytest.approx(0.8, abs=1e-11)
    assert found.values[c] == pytest.approx(0.05, abs=1e-11)
    assert found.values[theta] == pytest.approx(1.1, abs=1e-11)


def test_intervals_contain_the_truth_as_often_as_they_say():
    inside = {l: 0, c: 0, theta: 0}
    truth = {l: 0.8, c: 0.05, theta: 1.1}
    for seed in range(40):
        found = vn.fit(pendulum(), recorded(0.02, seed), {l: 0.9, c: 0.1, theta: 1.0})
        assert found.deviations["theta"] == pytest.approx(0.02, rel=0.3)
        for key, value in truth.items():
            low, high = found.interval(key, 0.9)
            inside[key] += low < value < high
    assert all(29 <= count <= 40 for count in inside.values()), inside  # 36 expected; 29 has a chance of 1 in 300


def test_a_few_exact_values_among_many_rough_ones_do_not_make_intervals_narrow():
    """Six good positions determine the estimates; their residuals are smaller than their errors."""
    random, times, truth = np.random.default_rng(3), np.linspace(0, 6, 100), {k: 3.7, c: 0.42}
    system = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, {x: -c * x.diff()}, parameters={k: 4.0, c: 0.5})
    motion, inside = vn.simulate(system, {x: 1.2}, times, parameters=truth), 0
    start = {x: 1.2, x.diff(): 0.0}
    data = {"time": times, "x": np.full(100, np.nan)}
    for _ in range(60):
        data["x"][10::16] = motion[x][10::16] + random.normal(0, 0.01, 6)
        data["x_dot"] = motion[x.diff()] + random.normal(0, 2, 100)
        found = vn.fit(system, data, {k: 4.0, c: 0.5}, start)
        intervals = {key: found.interval(key, 0.9) for key in truth}
        inside += sum(low < truth[key] < high for key, (low, high) in intervals.items())
    assert 96 <= inside <= 118  # 108 expected, with a deviation of about 4
    data["x"][30:] = np.nan  # two values are fitted by two unknowns, without residuals
    with pytest.raises(VinculumError, match="x has 2 values, too few to estimate its deviation"):
        vn.fit(system, data, {k: 4.0, c: 0.5}, start)
    assert vn.fit(system, data, {k: 4.0, c: 0.5}, start, deviations={"x": 0.01}).values[k] == pytest.approx(3.7, abs=1)


def test_an_estimate_at_its_bound_says_so():
    data = recorded(0.001, 0)
    found = vn.fit(pendulum(), data, {l: 0.95, c: 0.05, theta: 1.1}, bounds={l: (0.9, 1.0)})
    assert found.at_bounds == (l,)
    assert "0.9 (at its bound)" in str(found)
    free = vn.fit(pendulum(), data, {l: 0.85, c: 0.05, theta: 1.1}, bounds={l: (0.7, 1.0)})
    assert not free.at_bounds


def test_several_runs_share_parameters_and_have_their_own_starts(tmp_path):
    equations, random = pendulum(), np.random.default_rng(3)
    runs = []
    for number, start in enumerate((0.5, 1.2)):
        motion = vn.simulate(equations, {theta: start}, np.linspace(0, 4, 81))
        angle = motion[theta] + random.normal(0, 0.01, 81)
        angle[::7] = np.nan  # lost samples
        data = xr.Dataset({"angle": ("time", angle)}, {"time": motion.t})
        data.to_netcdf(tmp_path / f"{number}.nc")
        np.savetxt(
            tmp_path / f"{number}.csv",
            np.column_stack([motion.t, angle]),
            delimiter=",",
            header="time,angle",
            comments="",
        )
        runs.append(data)
    for measured in (runs, [tmp_path / "0.nc", tmp_path / "1.csv"]):
        found = vn.fit(equations, measured, {l: 1.0, c: 0.1, theta: 0.8}, outputs={"angle": theta})
        assert found.values[l] == pytest.approx(0.8, abs=5 * found.errors[l])
        assert found.values[theta, 0] == pytest.approx(0.5, abs=5 * found.errors[theta, 0])
        assert found.values[theta, 1] == pytest.approx(1.2, abs=5 * found.errors[theta, 1])
        assert found.errors[l] < 2e-3


def test_mass_and_friction_of_the_ball_and_beam_from_noisy_positions():
    r, alpha, torque = ball_and_beam.r, ball_and_beam.alpha, ball_and_beam.u
    rolling = sp.Symbol("rolling")
    system = ball_and_beam.system()
    with_friction = vn.System(
        system.coordinates, system.kinetic_energy, system.potential_energy,
        {**system.forces, r: -rolling * r.diff(), ball_and_beam.theta: torque - 0.02 * ball_and_beam.theta.diff()},
        constraints=system.constraints, parameters={**system.parameters, rolling: 0.05}, inputs=[torque],
    )  # fmt: skip
    equations = vn.derive(with_friction, "shulgin", dependent=[alpha])
    law = {torque: 0.085 + 0.01 * sp.sin(3 * equations.time)}
    guess, start = {alpha: 0.0}, {r: 0.2, ball_and_beam.theta: 0.1}
    times, random = np.linspace(0, 0.8, 161), np.random.default_rng(5)
    motion = vn.simulate(equations, start, times, inputs=law, guess=guess)
    data = {"time": times, "r": motion[r] + random.normal(0, 2e-4, 161)}
    data["theta"] = motion[ball_and_beam.theta] + random.normal(0, 1e-3, 161)
    found = vn.fit(equations, data, {ball_and_beam.M: 0.25, rolling: 0.01}, start, inputs=law, guess=guess)
    for key, truth in ((ball_and_beam.M, ball_and_beam.BEAM), (rolling, 0.05)):
        assert abs(found.values[key] - truth) < 4 * found.errors[key]
        assert found.errors[key] < 0.1 * truth


def test_what_the_data_cannot_tell_apart_is_named():
    data = recorded(0.01, 1)
    with pytest.raises(VinculumError, match="cannot tell l, g, c apart"):
        vn.fit(pendulum(), data, {l: 0.9, g: 9.0, c: 0.05, theta: 1.0})
    free = vn.derive(vn.System([theta], m * l**2 * theta.diff() ** 2 / 2, -m * g * l * sp.cos(theta),
                               parameters={m: 1.0, g: 9.81, l: 0.8}))  # fmt: skip
    with pytest.raises(VinculumError, match="do not depend on m"):
        vn.fit(free, data, {m: 1.2, l: 0.9}, {theta: 1.1})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(unknown={}), "Nothing is unknown"),
        (dict(unknown={k: 1.0}), "k is not a parameter"),
        (dict(unknown={l: np.nan}), "first guess of l is nan"),
        (dict(measured={"theta": [1.0, 2.0]}), "no column time"),
        (dict(measured={"time": [0.0, 1.0], "angle": [1.0, 2.0]}), "No column of the measurements is a state"),
        (dict(measured={"time": [0.0, 0.0], "theta": [1.0, 2.0]}), "times of the measurements must be"),
        (dict(measured={"time": [0.0, 1.0], "theta": [1.0, 2.0, 3.0]}), "has the shape"),
        (dict(measured=[]), "No measurements"),
        (dict(measured=3.0), "must be a dataset"),
        (dict(measured="none.csv"), "no file none.csv"),
        (dict(bounds={l: (1.0, 2.0)}), "not between its bounds"),
        (dict(deviations={"theta": 0.0}), "must be positive"),
        (dict(outputs={"angel": theta}), "no column angel"),
        (dict(measured={"time": [0.0, 1.0], "theta": [1.0, np.nan]}), r"1 measured values for 1 unknowns \(l\)"),
    ],
)
def test_a_fit_says_what_is_wrong(change, words):
    data = {"time": [0.0, 1.0, 2.0], "theta": [1.0, 0.5, 0.2]}
    call = dict(measured=data, unknown={l: 0.9}) | change
    with pytest.raises(VinculumError, match=words):
        vn.fit(pendulum(), call.pop("measured"), call.pop("unknown"), {theta: 1.0}, **call)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rows of numbers"),
        ("time,theta\n", "no rows of numbers"),
        ("time,theta\n0,1\n1,2;3\n", "Line 3 of .* has '2;3' where a number"),
        ("time,theta\n0,1\n\n1\n", "Line 4 of .* does not have 2 cells"),
        ("time;theta\n0;1\n1;2\n", "Line 2 of .* separate cells by commas"),
    ],
)
def test_a_file_that_is_not_a_table_of_numbers_is_refused(tmp_path, text, words):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(VinculumError, match=words):
        vn.fit(pendulum(), tmp_path / "data.csv", {l: 0.9}, {theta: 1.0})


def test_two_masses_that_appear_as_a_sum_are_named():
    cart = vn.System([x], (m + l) * x.diff() ** 2 / 2, k * x**2 / 2, {x: sp.sin(3 * dynamicsymbols._t)},
                     parameters={m: 1.0, l: 0.5, k: 20.0})  # fmt: skip
    times = np.linspace(0, 6, 60)
    data = {"time": times, "x": vn.simulate(cart, {x: 0.2}, times)[x]}
    with pytest.raises(VinculumError, match="cannot tell m, l apart"):
        vn.fit(cart, data, {m: 0.8, l: 0.8, k: 18.0}, {x: 0.2})
    assert vn.fit(cart, data, {m: 0.8, k: 18.0}, {x: 0.2}).values[m] == pytest.approx(1.0, abs=1e-9)


# -- optimal choices ---------------------------------------------------------------------------------------------------


def test_the_best_damping_of_an_oscillator():
    """∫ x² dt of x'' + c x' + x = 0 from rest is (c² + 1)/(2c), least at c = 1; with x'² it is (c² + 2)/(2c)."""
    system = vn.System([x], x.diff() ** 2 / 2, x**2 / 2, {x: -c * x.diff()}, parameters={c: 0.4})
    equations = vn.derive(system)
    best = vn.optimize(equations, {x: 1.0}, (0, 80), {c: (0.2, 5)}, measure.integral(x**2))
    assert best.converged
    assert best.values[c] == pytest.approx(1.0, abs=1e-7)
    assert best.measure == pytest.approx(1.0, abs=1e-12)
    assert best.before == pytest.approx((0.16 + 1) / 0.8, abs=1e-6)
    both = vn.optimize(equations, [{x: 1.0}, {x: 2.0}], (0, 80), {c: (0.2, 5)}, measure.integral(x**2 + x.diff() ** 2))
    assert both.values[c] == pytest.approx(np.sqrt(2), abs=1e-7)
    edge = vn.optimize(equations, {x: 1.0}, (0, 80), {c: (1.5, 5)}, measure.integral(x**2))
    assert edge.at_bounds == (c,)
    assert edge.values[c] == 1.5


@pytest.mark.parametrize(
    "one",
    [
        measure.final(x**2), measure.maximum(-x), measure.minimum(x.diff()), measure.integral(x**4),
        measure.first_time(x), measure.settling_time(x, 0.2),
    ],
    ids=lambda one: one.kind,
)  # fmt: skip
def test_derivatives_of_measures_are_differences_of_measures(one):
    equations, call = oscillator(), dict(times=(0, 7), measure={"one": one})
    found = sensitivity(equations, {x: 1.0}, by=[k, c], **call)
    for key in (k, c):
        steps = np.array([-2e-4, -1e-4, 1e-4, 2e-4])
        runs = vn.study(equations, {x: 1.0}, over={key: equations.parameters[key] + steps}, **call)
        far_below, below, above, far_above = runs.one.values
        expected = (8 * (above - below) - (far_above - far_below)) / 12e-4
        assert found.derivative("one", key) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e4])
def test_the_best_damping_does_not_depend_on_units(size):
    """∫ x² dt = x0² (m/(2 c) + c/(2 k)) is smallest at c = √(k m), in meters and in micrometers."""
    found = vn.optimize(oscillator(), {x: size}, (0, 80), {c: (0.2, 5)}, measure.integral(x**2))
    assert found.converged
    assert found.values[c] == pytest.approx(2, rel=1e-6)
    assert found.measure == pytest.approx(size**2 / 2, rel=1e-6)


def test_a_search_steps_back_from_motions_that_do_not_exist():
    """A spring of negative stiffness: the motion becomes infinite beyond some k."""
    growing = vn.System([x], x.diff() ** 2 / 2, -k * x**4 / 4, {x: -x.diff()}, parameters={k: 0.1})
    found = vn.optimize(growing, {x: 1.0}, (0, 3), {k: (0.0, 20.0)}, measure.integral(-(x**2)))
    again = vn.study(growing, {x: 1.0}, (0, 3), over={k: [found.values[k]]}, measure={"J": measure.integral(-(x**2))})
    assert found.measure < 2 * found.before
    assert float(again.J[0]) == pytest.approx(found.measure, rel=1e-6)


def test_a_search_says_what_is_wrong():
    with pytest.raises(VinculumError, match="There is no start"):
        vn.optimize(oscillator(), [], (0, 1), {c: (1, 2)}, measure.final(x))
    for limits in (1.0, (1, 2, 3)):
        with pytest.raises(VinculumError, match="bounds of c are"):
            vn.optimize(oscillator(), {x: 1.0}, (0, 1), {c: limits}, measure.final(x))
    with pytest.raises(VinculumError, match="Nothing to choose"):
        vn.optimize(oscillator(), {x: 1.0}, (0, 1), {}, measure.final(x))
    with pytest.raises(VinculumError, match="bounds of k are"):
        vn.optimize(oscillator(), {x: 1.0}, (0, 1), {k: (2.0, 1.0)}, measure.final(x))
    with pytest.raises(VinculumError, match="minimize must be a measure"):
        vn.optimize(oscillator(), {x: 1.0}, (0, 1), {k: (1.0, 2.0)}, x**2)
    with pytest.raises(VinculumError, match="no such instant"):
        vn.optimize(oscillator(), {x: 1.0}, (0, 1), {k: (1.0, 2.0)}, measure.first_time(x - 5))


def test_a_start_that_was_forgotten_is_named():
    """Without a start the pendulum would hang at rest, and no parameter would matter."""
    data = recorded(0.0, 0)
    with pytest.raises(vn.VinculumError, match=r"start of theta was not given.* begin at theta = 0, .* into initial="):
        vn.fit(pendulum(), data, {l: 1.0})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y * 1j, "where a real number should be"),
        (lambda y: y.astype(str) + "°", "where a real number should be"),
        (lambda y: y.astype("timedelta64[s]"), "holds dates"),
    ],
)
def test_columns_that_are_not_real_numbers(change, words):
    data = recorded(0.0, 0)
    columns = {str(name): np.asarray(data[name]) for name in ("time", "theta")}
    for name in columns:
        with pytest.raises(vn.VinculumError, match=f"{name} of the measurements .*{words}"):
            vn.fit(pendulum(), columns | {name: change(columns[name])}, {l: 1.0, theta: 1.0})
