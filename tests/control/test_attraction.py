"""Regions of attraction and tolerance of parameter errors: every state counts, in any units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam

x, y, theta = dynamicsymbols("x y theta")
f, m, k = sp.symbols("f m k")


def mass(stiffness, length=1.0):
    """A mass on a spring in units of ``length`` meters."""
    return vn.derive(
        vn.System(
            [x], length**2 * x.diff() ** 2 / 2, stiffness * length**2 * x**2 / 2, forces={x: length**2 * f}, inputs=[f]
        )
    )


def test_a_place_that_is_not_held_has_not_converged():
    """Damping alone stops the mass, but 0.7 m away: the weak spring has not moved it back."""
    equations = mass(1e-6)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    closed = vn.close_loop(equations, vn.feedback.law(linear, [[0.0, -5.0]]))
    found = vn.feedback.region_of_attraction(closed, linear.at, {x: [0.7], x.diff(): [0.0, 0.5]}, 10.0)
    assert not found.converged.any()
    assert set(found.outcomes) == {"did not converge"}


def test_a_cart_that_stands_elsewhere_has_not_converged():
    """A law that holds the pole and brakes the cart, but not its place: x is a state, and it has not come back."""
    T = x.diff() ** 2 / 2 + 0.1 * (x.diff() ** 2 + sp.cos(theta) * x.diff() * theta.diff() + theta.diff() ** 2 / 4) / 2
    system = vn.System([x, theta], T, 0.1 * 9.81 * sp.cos(theta) / 2, forces={x: f}, inputs=[f])
    equations = vn.derive(system)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0, theta: 0}))
    assert linear.states == (x, theta, x.diff(), theta.diff())
    with pytest.raises(vn.VinculumError, match="Give a weight to x"):
        vn.stabilize(linear, {theta: 1.0})
    starts = {x: [0.7], theta: [0.0, 0.1]}
    braked = vn.close_loop(equations, vn.feedback.law(linear, [[0.0, 40.0, 2.0, 8.0]]))
    assert not vn.feedback.region_of_attraction(braked, linear.at, starts, 20.0).converged.any()
    held = vn.close_loop(equations, vn.stabilize(linear, {x: 1.0, theta: 10.0}))
    assert vn.feedback.region_of_attraction(held, linear.at, starts, 20.0).converged.all()


@pytest.mark.parametrize("length", [1.0, 1e-6, 1e6])
def test_the_region_does_not_depend_on_units(length):
    equations = mass(-1.0, length)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    law = vn.feedback.law(linear, [[-2.0, -1.0]])
    closed = vn.close_loop(equations, law, limits={f: 1.0 / length})
    starts = {x: list(np.array([0.1, 0.7, 1.5]) / length), x.diff(): [0.0, 0.2 / length]}
    found = vn.feedback.region_of_attraction(closed, linear.at, starts, 20.0, method="bdf")
    np.testing.assert_array_equal(found.converged, [True, True, True, True, False, False])


def test_starts_of_dependent_coordinates():
    """A hanging pendulum in x, y with a rod: the height is the dependent coordinate."""
    system = vn.System(
        [x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, forces={x: f - 2 * x.diff(), y: -2 * y.diff()},
        constraints=[vn.Holonomic(x**2 + y**2 - 1, name="rod")], inputs=[f],
    )  # fmt: skip
    for form in ("shulgin", "multipliers"):
        equations = vn.derive(system, form)
        rest = vn.equilibrium(equations, {f: 0}, near={x: 0.0, y: -1.0}, starts=0)
        linear = vn.linearize(equations, rest)
        closed = vn.close_loop(equations, vn.feedback.law(linear, np.zeros((1, 2))))
        found = vn.feedback.region_of_attraction(closed, rest, {x: [0.3, -0.5]}, 12.0)
        assert found.converged.all(), (form, found.outcomes)


def test_states_of_the_controller_may_be_varied():
    equations = mass(1.0)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    law = vn.stabilize(linear, integral=[x])
    (integral,) = law.compensator.states
    closed = vn.close_loop(equations, law)
    found = vn.feedback.region_of_attraction(closed, linear.at, {x: [0.1], integral: [0.0, 0.05]}, 40.0)
    assert found.converged.all()
    with pytest.raises(vn.ModelError, match="theta is not among x, dot"):
        vn.feedback.region_of_attraction(closed, linear.at, {theta: [0.1]}, 1.0)


def test_a_run_that_diverges_is_an_outcome():
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2 - x**4, forces={x: f}, inputs=[f]))
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0, f: 0}))
    closed = vn.close_loop(equations, vn.feedback.law(linear, [[0.0, -1.0]]))
    found = vn.feedback.region_of_attraction(closed, linear.at, {x: [0.2, 3.0]}, 20.0)
    np.testing.assert_array_equal(found.converged, [True, False])
    assert found.outcomes[0] == "converged"
    assert found.distances[1] == np.inf
    assert len(found.outcomes[1]) > 10


def test_a_run_that_only_grows_ends_early():
    """An unstable loop would go on to e^200; it ends when it has diverged."""
    equations = mass(-100.0)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    closed = vn.close_loop(equations, vn.feedback.law(linear, [[1.0, 0.0]]))
    found = vn.feedback.region_of_attraction(closed, linear.at, {x: [0.1]}, 20.0)
    assert found.distances[0] == np.inf
    assert "diverged" in found.outcomes[0]


@pytest.mark.parametrize(
    ("starts", "time", "options", "words"),
    [
        (0.5, 5, {}, "Give a list of finite numbers"),
        ([], 5, {}, "Give a list of finite numbers"),
        (vn.vary.uniform(0, 1), 5, {}, "Give a list of finite numbers"),
        ([0.5, np.nan], 5, {}, "Give a list of finite numbers"),
        ([0.5], -5, {}, "time=-5 must be positive"),
        ([0.5], 5, dict(within=np.nan), "within=nan must be between 0 and 1"),
        ([0.5], 5, dict(store="runs.zarr"), "A region of attraction has no option store"),
        ([0.5], 5, dict(until=[]), "A region of attraction has no option until"),
    ],
)
def test_starts_and_options_that_decide_nothing_are_refused(starts, time, options, words):
    equations = mass(1.0)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    closed = vn.close_loop(equations, vn.feedback.law(linear, [[0.0, -1.0]]))
    with pytest.raises(vn.VinculumError, match=words):
        vn.feedback.region_of_attraction(closed, linear.at, {x: starts}, time, **options)


# -- Lyapunov's estimate ---------------------------------------------------------------------------------------------


def test_every_start_inside_the_estimate_converges():
    """A softening spring: motions beyond x = 1 run away."""
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2 - x**4 / 4, {x: -0.5 * x.diff()}))
    rest = vn.equilibrium(equations, {x: 0})
    found = vn.feedback.attraction_estimate(equations, rest)
    assert 0.3 < found.reach[x] < 1.0
    random = np.random.default_rng(1).normal(size=(60, 2))
    z = np.linalg.solve(np.linalg.cholesky(found.matrix).T, (random / np.linalg.norm(random, axis=1)[:, None]).T).T
    z *= 0.999 * np.sqrt(found.level)
    assert all(found.contains({x: a, x.diff(): b}) for a, b in z)
    assert not found.contains({x: 1.001 * found.reach[x]})
    runs = vn.study(equations, {}, (0, 60), over=vn.vary.table({x: z[:, 0], x.diff(): z[:, 1]}))
    assert np.abs(runs.x).max() < 1e-5
    narrow = vn.feedback.attraction_estimate(equations, rest, weights={x: 1.0, x.diff(): 1e-3}, directions=300)
    assert narrow.matrix[0, 0] / narrow.matrix[1, 1] != pytest.approx(found.matrix[0, 0] / found.matrix[1, 1], rel=0.1)


def test_a_fast_mode_does_not_make_the_set_thin():
    """A softening spring driven through a fast and stiff second mass; roots from -0.25 to -1000."""
    T = (x.diff() ** 2 + y.diff() ** 2) / 2
    V = x**2 / 2 - x**4 / 4 + 5e4 * y**2 - 200 * x * y**2
    equations = vn.derive(vn.System([x, y], T, V, {x: -0.5 * x.diff(), y: -1100 * y.diff()}))
    rest = vn.equilibrium(equations, {x: 0, y: 0})
    found = vn.feedback.attraction_estimate(equations, rest, directions=500)
    assert 0.3 < found.reach[x] < 1, "x = 1 is another equilibrium"
    random = np.random.default_rng(1).normal(size=(40, 4))
    z = np.linalg.solve(np.linalg.cholesky(found.matrix).T, (random / np.linalg.norm(random, axis=1)[:, None]).T)
    starts = dict(zip(found.states, 0.99 * np.sqrt(found.level) * z, strict=True))
    runs = vn.study(equations, {}, (0, 60), over=vn.vary.table(starts))
    assert np.abs(runs.x).max() < 1e-4


def escapes(equations, over, key):
    """The number of starts that do not come back."""
    runs = vn.study(equations, {}, (0, 60), over=over)
    return int(((runs.outcome != 0) | (np.abs(runs[key.name]) > 1e-3)).sum())


def test_directed_starts_find_an_escape_that_random_ones_miss():
    """Four independent masses; the first has a slow mode and runs away from beyond x = 1, next to that mode alone.

    The level set is 1.4 times too long: 200 random starts on its boundary all converge, those along the mode do not.
    """
    masses = dynamicsymbols("x1:5")
    slow, *others = masses
    T, V = sum(q.diff() ** 2 / 2 for q in masses), slow**2 / 2 - slow**4 / 4 + sum(50 * q**2 for q in others)
    equations = vn.derive(vn.System(masses, T, V, {q: -(2.5 if q is slow else 25) * q.diff() for q in masses}))
    found = vn.feedback.attraction_estimate(equations, vn.equilibrium(equations, dict.fromkeys(masses, 0)))
    assert found.reach[slow] < 1
    assert escapes(equations, found.boundary(), slow) == 0
    wrong = replace(found, level=found.level * 1.4**2)
    w = np.random.default_rng(1).normal(size=(200, 8))
    z = np.linalg.solve(np.linalg.cholesky(wrong.matrix).T, (w / np.linalg.norm(w, axis=1)[:, None]).T)
    starts = dict(zip(wrong.states, np.sqrt(wrong.level) * z, strict=True))
    assert escapes(equations, vn.vary.table(starts), slow) == 0
    assert escapes(equations, wrong.boundary(), slow) > 10


def test_a_linear_loop_converges_from_everywhere():
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2, {x: -x.diff()}))
    found = vn.feedback.attraction_estimate(equations, vn.equilibrium(equations, {x: 0}), directions=50)
    assert found.level == np.inf
    assert found.contains({x: 1e9})
    with pytest.raises(vn.VinculumError, match="no boundary"):
        found.boundary()


def test_the_estimate_needs_a_stable_equilibrium():
    equations = mass(-1.0)
    rest = vn.equilibrium(equations, {x: 0})
    closed = vn.close_loop(equations, vn.feedback.law(vn.linearize(equations, rest), [[0.5, 0.0]]))
    with pytest.raises(vn.VinculumError, match="not asymptotically stable"):
        vn.feedback.attraction_estimate(closed, rest)
    held = vn.close_loop(equations, vn.feedback.law(vn.linearize(equations, rest), [[-2.0, -1.0]]))
    with pytest.raises(vn.VinculumError, match="y has a weight"):
        vn.feedback.attraction_estimate(held, rest, weights={y: 1.0})


def test_the_share_that_may_remain_is_not_the_accuracy_of_the_runs():
    """From x = (1 + t) e^(-t) 9 % remains at t = 4, and 20 % of the speed. The share was once called tolerance."""
    equations = mass(1.0)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    closed, starts = vn.close_loop(equations, vn.feedback.law(linear, [[0.0, -2.0]])), {x: [1.0]}
    region = vn.feedback.region_of_attraction
    assert not region(closed, linear.at, starts, 4.0, within=0.08, method=vn.BDF(tolerance=1e-6)).converged.any()
    assert region(closed, linear.at, starts, 4.0, within=0.3, method=vn.BDF(tolerance=1e-6)).converged.all()
    with pytest.warns(DeprecationWarning, match=r"now within=, and the accuracy of the runs is method=vn\.Taylor"):
        found = region(closed, linear.at, starts, 4.0, tolerance=0.3)
    assert found.within == 0.3
    assert found.converged.all()
    for share in (0.0, 1.0, float("nan")):
        with pytest.raises(vn.VinculumError, match=r"within=.* must be between 0 and 1"):
            region(closed, linear.at, starts, 4.0, within=share)


# -- tolerance of parameter errors -----------------------------------------------------------------------------------


def inverted():
    system = vn.System(
        [theta], m * theta.diff() ** 2 / 2, 9.81 * m * sp.cos(theta), forces={theta: f}, inputs=[f], parameters={m: 1.0}
    )
    return vn.derive(system)


def test_a_law_holds_a_pendulum_up_to_the_mass_of_its_gain():
    """m θ̈ = m g sin θ - 20 θ - 5 θ̇ is stable for m g < 20."""
    equations = inverted()
    law = vn.feedback.law(vn.linearize(equations, vn.equilibrium(equations, {theta: 0})), [[-20.0, -5.0]])
    limit = 20 / 9.81
    found = vn.feedback.parameter_tolerance(law, {m: [0.1, 1.0, 0.999 * limit, 1.001 * limit, 5.0]})
    assert list(found.kinds) == ["asymptotically stable"] * 3 + ["unstable"] * 2
    assert repr(found) == "Tolerance: asymptotically stable at 3 of 5 parameters"


def test_the_equilibrium_of_the_changed_loop_is_found():
    """Held at 0.5 rad with the torque of m = 1, a heavier pendulum rests elsewhere and is judged there."""
    equations = inverted()
    law = vn.stabilize(vn.linearize(equations, vn.equilibrium(equations, {theta: 0.5})))
    assert vn.feedback.parameter_tolerance(law, {m: [0.8, 1.0, 1.2]}).stable.all()
    with pytest.raises(vn.ModelError, match="k is not a parameter"):
        vn.feedback.parameter_tolerance(law, {k: [1.0]})


def mass_with_damper(stiffness):
    system = vn.System([x], m * x.diff() ** 2 / 2, stiffness * x**2 / 2, forces={x: f}, inputs=[f], parameters={m: 1.0},
                       dissipation=0.8 * x.diff() ** 2 / 2)  # fmt: skip
    return vn.derive(system)


def test_a_controller_with_an_integral_tolerates_a_limited_mass():
    """m ẍ + c ẋ + k x = -kp x - ki ∫x is stable for m < c (k + kp)/ki (Routh-Hurwitz)."""
    c, kp, ki, equations = 0.8, 1.5, 0.5, mass_with_damper(1.0)
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {x: 0.0}))
    law = vn.feedback.pid(linear, output=x, input=f, kp=kp, ki=ki)
    limit = c * (1 + kp) / ki
    found = vn.feedback.parameter_tolerance(law, {m: [0.5, 0.999 * limit, 1.001 * limit]})
    assert found.kinds.tolist() == ["asymptotically stable", "asymptotically stable", "unstable"]


def test_an_observer_in_the_loop_keeps_its_own_plant():
    """The roots at another mass are those of the true plant with the observer and the law of the nominal one."""
    equations, c = mass_with_damper(1.0), 0.8
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {x: 0.0}))
    law, eyes = vn.stabilize(linear), vn.observe(linear, outputs=[x])
    verdicts = vn.feedback.parameter_tolerance(law, {m: [0.5, 2.0]}, eyes).verdicts
    own, K = eyes.realization, law.gain
    for value, verdict in zip((0.5, 2.0), verdicts, strict=True):
        F, H = np.array([[0, 1], [-1 / value, -c / value]]), np.array([[0], [1 / value]])
        whole = np.block([
            [F + H @ K @ own.R @ eyes.C, H @ K @ own.P],
            [(own.L + own.B @ K @ own.R) @ eyes.C, own.A + own.B @ K @ own.P],
        ])  # fmt: skip
        roots = np.sort_complex(np.linalg.eigvals(whole))
        np.testing.assert_allclose(np.sort_complex(verdict.roots), roots, rtol=1e-9)


def test_a_fixed_step_finds_what_diverged_too():
    """Beyond f = -1 the mass runs away as x = 1 + cosh(t)/2; in 600 s without an end it would reach 1e260."""
    equations = mass(-1.0)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    closed = vn.close_loop(equations, vn.feedback.law(linear, [[-2.0, -1.0]]), limits={f: 1.0})
    found = vn.feedback.region_of_attraction(closed, linear.at, {x: [0.1, 0.7, 1.5]}, 600.0, method="rk4", step=0.01)
    np.testing.assert_array_equal(found.converged, [True, True, False])
    end = float(found.outcomes[2].removeprefix("diverged at t = "))
    assert np.hypot(1 + np.cosh(end) / 2, np.sinh(end) / 2) == pytest.approx(1e4 * 1.5, rel=1e-4)


def test_a_run_that_ends_at_once_has_not_converged():
    """The motor is faster than this step of rk4: the run ends before its second sample."""
    equations, rest, _, law = ball_and_beam.stabilized(1)
    r, closed = ball_and_beam.r, vn.close_loop(equations, law)
    starts = {r: [0.3], r.diff(): [-1.0]}
    found = vn.feedback.region_of_attraction(closed, rest, starts, 10.0, method="rk4", step=0.01)
    assert found.outcomes == ("singular at t = 0",)
