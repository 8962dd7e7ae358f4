"""Trees and their compiled dynamics are copied, sent to other processes and used by many threads."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from bodies.pinocchio_model import random_state, random_tree
from vinculum.bodies import Loop, Rolling, Sliding, closed_form_kinetic_energy, dynamics
from vinculum.compile import looped
from vinculum.compile.function import Function, function
from vinculum.compile.simd import simd_function
from vinculum.graph import apply, symbol

k = sp.Symbol("k")
SHAPE = dict(mass=1.0, center_of_mass=(0.2, 0, 0), inertia=0.1)


def arm(count=4):
    """Joints of all kinds, a spring with a parameter, a moving base."""
    random = np.random.default_rng(5)
    t = sp.Symbol("t")
    tree = random_tree(random, count, base_velocity=(sp.sin(t), 0, 0))
    screw = vn.Body("screw", "b0", joint=vn.bodies.Helical(pitch=k), stiffness=k, **SHAPE)
    return vn.BodyTree([*tree.bodies, screw], parameters={k: 0.3}, base_velocity=(sp.sin(t), 0, 0))


def numbers(machine):
    """Everything the compiled dynamics answers, at one state and at many."""
    random = np.random.default_rng(3)
    states = [random_state(machine.tree, random) for _ in range(3)]
    q, v = (
        np.array([[s[x] for x in keys] for s in states]) for keys in (machine.tree.coordinates, machine.tree.velocities)
    )
    tau = random.normal(size=q.shape)
    return [machine.forward(q, v, tau, 0.2), machine.forward(q[0], v[0], tau[0], 0.2), machine.inverse(q, v, tau, 0.2),
            machine.mass_matrix(q), machine.bias(q, v, 0.2), *machine.inverse_derivatives(q[0], v[0], tau[0], 0.2),
            machine.position("screw", q), machine.jacobian("screw", q[0])]  # fmt: skip


def same(one, other, tolerance=0.0):
    return all(
        np.allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(a).max()) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("method", ["composite", "articulated", "looped"])
@pytest.mark.parametrize("fold", [True, False])
def test_compiled_dynamics_are_copied(method, fold):
    machine = dynamics(arm(), method, fold=fold)
    if not fold:
        machine = machine.with_parameters({k: 0.7})
    expected = numbers(machine)
    for twin in (copy.deepcopy(machine), pickle.loads(pickle.dumps(machine))):
        assert (twin.method, dict(twin.parameters)) == (machine.method, dict(machine.parameters))
        assert same(numbers(twin), expected)


def test_compiled_dynamics_are_sent_to_another_process():
    """Rounding may differ there, since nodes are numbered in another order."""
    machine = dynamics(arm(), fold=False).with_parameters({k: 0.7})
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert same(pool.apply(numbers, (machine,)), numbers(machine), 1e-12)


@pytest.mark.parametrize("method", ["composite", "looped"])
def test_one_object_serves_many_threads(method):
    """Cold, so that the threads compile at the same time as well."""
    machine, expected = dynamics(arm(), method), numbers(dynamics(arm(), method))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(numbers, [machine] * 12))
    assert all(same(one, expected) for one in found)


def test_trees_and_what_closes_them_are_copied():
    tree = vn.BodyTree(
        [vn.Body("a", axis=(0, 1, 0), **SHAPE), vn.Body("b", "a", axis=(0, 1, 0), origin=(1, 0, 0), **SHAPE)],
        loops=[Loop("b", None, point=(1, 0, 0), other_point=(1.2, 0, 0))],
        contacts=[Sliding("b", across=(0, 0, 1))], parameters={k: 1.0},
    )  # fmt: skip
    ball = vn.BodyTree([vn.Body("ball", joint="free", mass=1, inertia=0.1)], contacts=[Rolling("ball", 0.3)])
    for record in (tree, ball, arm()):
        for twin in (copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
            assert repr(twin) == repr(record)
            assert twin.energies == record.energies
            assert twin.moves(record.system())
            assert [str(c.expression) for c in twin.constraints] == [str(c.expression) for c in record.constraints]


def test_the_kinetic_energy_in_closed_form_is_copied():
    energy = closed_form_kinetic_energy(vn.BodyTree([vn.Body("a", axis=(0, 1, 0), **SHAPE)]))
    for twin in (copy.deepcopy(energy), pickle.loads(pickle.dumps(energy))):
        assert twin.expression == energy.expression


def test_compiled_functions_are_copied():
    x, t = symbol(sp.Symbol("x")), symbol(sp.Symbol("t"))
    f, g = function(t, [x], [], [apply("sin", x) * t]), simd_function([x], [], [apply("cos", x)], 4)
    at = np.array([0.3])
    for send in (copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))):
        assert send(f)(2.0, at, np.empty(0)) == f(2.0, at, np.empty(0))
        np.testing.assert_array_equal(send(g)(at[None, :], np.empty(0)), g(at[None, :], np.empty(0)))


def test_code_that_is_called_by_address_is_kept():
    """Loops of a large tree are called from the code of its equations: they live as long as that does."""
    tree = random_tree(np.random.default_rng(2), 34, ("revolute",))
    rates = vn.derive(tree.system()).explicit().rates
    q, v = (list(map(symbol, keys)) for keys in (tree.coordinates, tree.velocities))
    f = Function(symbol(tree.time), [*q, *v], [], rates)
    x = np.linspace(-1, 1, 68)
    before = f(0.0, x, np.empty(0))
    looped.code.cache_clear()
    gc.collect()
    assert all(kernel.code(1)._code is not None and kernel._codes for kernel in f._kernels)
    dynamics(random_tree(np.random.default_rng(4), 34, ("prismatic",))).forward(x[:34], x[34:], x[:34])
    np.testing.assert_array_equal(f(0.0, x, np.empty(0)), before)


def test_the_old_name_of_looped_code_still_works():
    with pytest.warns(DeprecationWarning, match='is now called "looped"'):
        assert dynamics(arm(1), "rolled").chosen == "looped"
