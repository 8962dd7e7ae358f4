"""A second run of the same equations prepares nothing again: counts, without any timing."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from benchmarks import models, ours
from vinculum.compile.function import Function
from vinculum.graph import differentiate, traverse
from vinculum.simulation.integrators import heyoka_steps, series

x = dynamicsymbols("x")
k, mu = sp.symbols("k mu")
GRAPH = (traverse.order, traverse.substitute, traverse.hoistable, traverse.symbols, differentiate.jacobian)
COMPILED = (Function.__init__, heyoka_steps.compiled.__wrapped__, series.compiled.__wrapped__)


def counted(run) -> Counter[str]:
    """Calls of Python functions while something runs: of all, of walks over the graph, of compilations."""
    walks, compilations = ({f.__code__ for f in group} for group in (GRAPH, COMPILED))
    found: Counter[str] = Counter()

    def see(frame, event, _):
        if event == "call":
            found["all"] += 1
            found["walks"] += frame.f_code in walks
            found["compilations"] += frame.f_code in compilations

    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def pendulum():
    return models.pendulum(1)


def friction() -> vn.EquationsOfMotion:
    force = {x: -mu * sp.sign(x.diff())}
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, force, parameters={k: 10, mu: 0.5}))


@pytest.mark.parametrize("method", ["taylor", "rk4", "ab4"])
@pytest.mark.parametrize("model", [pendulum, models.wheel, models.four_bar])
def test_a_second_run_walks_no_graph_and_compiles_nothing(model, method):
    """Also for other times and another accuracy of the same method, which need no other code."""
    stated, options = model(), {} if method == "taylor" else {"step": 1e-3}
    equations = ours.derivation(stated)
    first = vn.simulate(equations, stated.initial, (0, 0.05), method, **options)
    assert first.outcome, first.outcome
    again = counted(lambda: vn.simulate(equations, stated.initial, (0, 0.05), method, **options))
    assert again["walks"] == again["compilations"] == 0
    assert again["all"] < 600  # whatever the size of the equations
    longer = counted(lambda: vn.simulate(equations, stated.initial, (0, 0.04), method, **options))
    assert longer["walks"] == longer["compilations"] == 0


def test_the_gains_of_the_same_start_are_kept(monkeypatch):
    """And only those: another start, other parameters or the other direction have their own time scale."""
    stated, found = models.wheel(), []
    equations, first_step = ours.derivation(stated), series.Series.first_step
    monkeypatch.setattr(series.Series, "first_step", lambda *given: found.append(1) or first_step(*given))
    runs = [vn.simulate(equations, stated.initial, times) for times in ((0, 0.05), (0, 0.05), (0, -0.05))]
    assert len(found) == 2
    np.testing.assert_array_equal(runs[0].segments[0].states, runs[1].segments[0].states)
    assert runs[0].stabilization == runs[1].stabilization
    faster = {key: 1.5 * value if key in stated.velocities else value for key, value in stated.initial.items()}
    assert vn.simulate(equations, faster, (0, 0.05)).stabilization != runs[0].stabilization
    fresh = vn.simulate(ours.derivation(stated), faster, (0, 0.05))
    assert fresh.stabilization == vn.simulate(equations, faster, (0, 0.05)).stabilization
    mass = next(iter(stated.parameters))
    heavier = vn.simulate(equations, stated.initial, (0, 0.05), parameters={mass: 3.0})
    alone = vn.simulate(ours.derivation(stated), stated.initial, (0, 0.05), parameters={mass: 3.0})
    assert heavier.stabilization == alone.stabilization


def test_the_calls_of_a_second_run_grow_only_with_the_numbers_given():
    """With states and parameters, which are read one by one, not with the size of the expressions (here n³)."""
    calls = []
    for links in (2, 8):
        model = models.pendulum(links)
        equations = ours.derivation(model)
        vn.simulate(equations, model.initial, (0, 0.01), "rk4", step=1e-3)
        calls.append(counted(lambda m=model, e=equations: vn.simulate(e, m.initial, (0, 0.01), "rk4", step=1e-3)))
    assert calls[1]["all"] < calls[0]["all"] + 6 * 50  # six links with two states and two parameters each


def test_another_start_and_other_parameters_compile_nothing():
    """Only the search for a consistent start walks over the constraints again."""
    stated = models.wheel()
    equations = ours.derivation(stated)
    vn.simulate(equations, stated.initial, (0, 0.05))
    mass = next(iter(stated.parameters))
    for changed in (
        {"initial": {**stated.initial, stated.coordinates[0]: stated.start[0]}},
        {"parameters": {mass: 1.5}},
    ):
        options = {"initial": stated.initial, **changed}
        assert counted(lambda o=options: vn.simulate(equations, times=(0, 0.05), **o))["compilations"] == 0


def test_a_second_run_through_corners_compiles_nothing():
    """Slipping, sticking and slipping again: every branch of the equations is kept."""
    equations, times = friction(), np.linspace(0, 12, 200)
    first = vn.simulate(equations, {x: 1.03}, times)
    again = counted(lambda: vn.simulate(equations, {x: 1.03}, times))
    assert again["compilations"] == 0
    np.testing.assert_array_equal(first[x], vn.simulate(equations, {x: 1.03}, times)[x])


@pytest.mark.parametrize("method", ["taylor", "rk4"])
def test_runs_in_threads_are_the_same_bit_by_bit(method):
    """All threads share what was prepared; every run owns its integrator."""
    stated, options = models.wheel(), {} if method == "taylor" else {"step": 1e-3}
    alone = ours.derivation(stated)
    speeds = [1.0 + 0.01 * i for i in range(8)]
    moving = [v for v in stated.velocities if stated.initial[v]][-1]

    def run(equations, speed):
        initial = {**stated.initial, moving: speed * stated.initial[moving]}
        free = {key: value for key, value in initial.items() if key == moving or key in stated.coordinates}
        return vn.simulate(equations, free, (0, 0.2), method, **options).segments[0].states

    expected = [run(alone, speed) for speed in speeds]
    shared = ours.derivation(stated)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda speed: run(shared, speed), speeds * 2))
    for a, b in zip(expected * 2, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_kept_is_bounded_and_dies_with_the_equations():
    model = pendulum()
    equations = ours.derivation(model)
    angle = model.coordinates[0]
    for i in range(200):
        vn.simulate(equations, {angle: 0.001 * i}, (0, 0.01), "rk4", step=5e-3)
    assert len(equations.kept) <= 64
    assert len(pickle.loads(pickle.dumps(equations)).kept) == 0
    gone = weakref.ref(equations)
    del equations
    gc.collect()
    assert gone() is None


def test_a_digital_law_is_prepared_once_for_all_its_samples():
    """The walks over the graph do not grow with the number of samples."""
    u = sp.Symbol("u")
    plant = vn.derive(vn.System([x], x.diff() ** 2 / 2, k * sp.cos(x), {x: u}, inputs=[u], parameters={k: 1}))

    def run(end):
        law = vn.Digital(lambda t, y, memory: -3.0 * y[0] - y[1], 0.01)
        assert vn.simulate(plant, {x: 0.1, x.diff(): 0.0}, (0, end), inputs=law).outcome

    run(0.1)
    short, long = (counted(lambda end=end: run(end)) for end in (0.1, 0.5))
    assert short["walks"] == long["walks"]
    assert short["compilations"] == long["compilations"] == 0


@pytest.mark.parametrize("stabilization", ["baumgarte", "projection"])
def test_short_runs_collect_the_polynomials_of_heyoka_themselves(monkeypatch, stabilization):
    """heyoka's dense output, which takes a millisecond, is for long runs; both give the same motion between steps."""
    a, b = dynamicsymbols("a b")
    rod, T = vn.Holonomic(a**2 + b**2 - 1, name="rod"), (a.diff() ** 2 + b.diff() ** 2) / 2
    friction = {a: -mu * sp.sign(a.diff())}
    system = vn.System([a, b], T, k * b, friction, constraints=[rod], parameters={k: 9.81, mu: 0.5})
    equations, start = vn.derive(system), {a: 0.6, b: -0.8, a.diff(): 0.0}
    made = heyoka_steps.HeyokaSteps._many
    calls = []
    monkeypatch.setattr(heyoka_steps.HeyokaSteps, "_many", lambda *given: calls.append(given) or made(*given))
    few = vn.simulate(equations, start, np.linspace(0, 1, 77), stabilization=stabilization, dense=True)
    assert not calls
    monkeypatch.setattr(heyoka_steps, "_FEW", 0)
    many = vn.simulate(equations, start, np.linspace(0, 1, 77), stabilization=stabilization, dense=True)
    assert calls
    assert few.steps == many.steps
    for q in (a, b, a.diff(), b.diff()):
        assert few[q] == pytest.approx(many[q], abs=1e-12)
    assert few.at(0.123)["a"] == pytest.approx(many.at(0.123)["a"], abs=1e-12)
