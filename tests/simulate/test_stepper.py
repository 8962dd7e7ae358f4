"""One step at a time from Python: the same numbers as a run, constraints held, threads side by side."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from benchmarks import models, ours

x, y = dynamicsymbols("x y")
u, m = sp.symbols("u m")
g = 9.81


def pendulum() -> vn.EquationsOfMotion:
    rod = vn.Holonomic((x**2 + y**2 - 1) / 2, name="rod")
    T = m * (x.diff() ** 2 + y.diff() ** 2) / 2
    return vn.derive(vn.System([x, y], T, m * g * y, {x: u}, constraints=[rod], inputs=[u], parameters={m: 2.0}))


def driven(advance, state, steps, law=lambda t, x: 0.0):
    for i in range(steps):
        state = advance(i * advance.step, state, [law(i * advance.step, state)])
    return state


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4"])
def test_steps_are_those_of_a_run(method):
    """With the same feedback of the constraint, to rounding."""
    equations = pendulum()
    advance = equations.stepper(method, 1e-3)
    start = advance.state({x: 0.6}, guess={y: -0.8})
    run = vn.simulate(equations, {x: 0.6}, (0, 0.5), method, step=1e-3, guess={y: -0.8}, inputs={u: 0})
    np.testing.assert_allclose(driven(advance, start, 500), run.segments[0].states[-1][:4], rtol=0, atol=1e-12)


def test_a_law_in_python_is_held_through_the_step():
    """A controller that samples: the energy of the rod falls under u = -4 ẋ, and the rod keeps its length."""
    advance = pendulum().stepper("rk4", 1e-3)
    assert advance.inputs == (u,)
    assert advance.states == (x, y, x.diff(), y.diff())
    state = driven(advance, advance.state({x: 0.6}, guess={y: -0.8}), 20_000, lambda t, s: -4.0 * s[2])
    np.testing.assert_allclose(state, [0, -1, 0, 0], atol=1e-4)
    assert abs(state[0] ** 2 + state[1] ** 2 - 1) < 1e-12


def test_laws_and_parameters_of_the_stepper():
    """An input with a law is no argument any more."""
    advance = pendulum().stepper("rk4", 1e-3, inputs={u: -4 * x.diff()}, parameters={m: 3.0})
    assert advance.inputs == ()
    state = advance.state({x: 0.6}, guess={y: -0.8})
    run = vn.simulate(pendulum(), {x: 0.6}, (0, 0.01), "rk4", step=1e-3, guess={y: -0.8}, inputs={u: -4 * x.diff()},
                      parameters={m: 3.0})  # fmt: skip
    for i in range(10):
        state = advance(i * 1e-3, state)
    np.testing.assert_allclose(state, run.segments[0].states[-1][:4], rtol=0, atol=1e-15)


@pytest.mark.parametrize("model", [models.wheel, models.four_bar])
def test_any_equations_step(model):
    stated = model()
    equations = ours.derivation(stated)
    advance = equations.stepper("rk4", 1e-3, at=stated.initial)
    state = advance.state(stated.initial)
    run = vn.simulate(equations, stated.initial, (0, 0.05), "rk4", step=1e-3)
    for i in range(50):
        state = advance(i * 1e-3, state)
    np.testing.assert_allclose(state, run.segments[-1].states[-1][: len(state)], rtol=1e-12, atol=1e-12)


def test_threads_use_one_stepper():
    advance = pendulum().stepper("rk4", 1e-3)
    starts = [advance.state({x: 0.1 * i}, guess={y: -0.8}) for i in range(8)]
    alone = [driven(advance, start, 500) for start in starts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda start: driven(advance, start, 500), starts))
    np.testing.assert_array_equal(alone, found)
    for twin in (pickle.loads(pickle.dumps(advance)), copy.deepcopy(advance)):
        np.testing.assert_allclose(driven(twin, starts[3], 10), driven(advance, starts[3], 10), rtol=0, atol=1e-15)


def test_refusals():
    equations = pendulum()
    with pytest.raises(vn.VinculumError, match="without memory"):
        equations.stepper("ab4", 1e-3)
    with pytest.raises(vn.VinculumError, match="positive step"):
        equations.stepper("rk4", -1.0)
    with pytest.raises(vn.VinculumError, match="stabilization"):
        equations.stepper("rk4", 1e-3, stabilization="projection")
    advance = equations.stepper("rk4", 1e-3)
    with pytest.raises(vn.VinculumError, match=r"x must have 4 values"):
        advance(0.0, np.zeros(3), [0.0])
    with pytest.raises(vn.VinculumError, match=r"u must have 1 values, of u"):
        advance(0.0, np.zeros(4))
    with pytest.raises(vn.errors.SingularError, match=r"pivots|finite"):
        advance(0.0, np.zeros(4), [0.0])


def test_a_compiled_function_called_often_gives_the_same_numbers():
    """After a thousand calls the quick way: other arrays than contiguous doubles are still converted."""
    motion = vn.simulate(pendulum(), {x: 0.6}, (0, 0.1), "rk4", step=1e-3, guess={y: -0.8}, inputs={u: 0})
    f, p = motion.problem.compiled(motion.problem.nodes.rates), motion.problem.values
    state = motion.segments[0].states[-1]
    first = f(0.0, state, p)
    for _ in range(1100):
        f(0.0, state, p)
    np.testing.assert_array_equal(f(0.0, state, p), first)
    np.testing.assert_array_equal(f(0, np.repeat(state, 2)[::2], p), first)
    np.testing.assert_array_equal(f(0, list(state), p), first)
    with pytest.raises(ValueError, match="shape"):
        f(0.0, state[:-1], p)
