"""Axes and rotations that contain symbols."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from bodies.pinocchio_model import random_state

beta, gamma, delta = sp.symbols("beta gamma delta")
VALUES = {beta: 0.7, gamma: -0.4, delta: 1.1}


def tree(values=VALUES, numbers=False):
    """All kinds of joints with axes; ``numbers=True`` puts the values in place of the symbols."""

    def own(*entries):
        return tuple(float(sp.sympify(x).subs(values)) if numbers else x for x in entries)

    turned = [own(*row) for row in vn.bodies.rotation_rpy(beta, gamma, delta).tolist()]
    shape = dict(mass=1.0, center_of_mass=(0.3, 0.2, 0.1), inertia=(0.1, 0.12, 0.15), origin=(0.2, 0.1, 0))
    return vn.BodyTree(
        [
            vn.Body("a", None, axis=own(sp.sin(beta), 0, sp.cos(beta)), **shape),
            vn.Body("b", "a", axis=(0, 1, 0), rotation=turned, **shape),
            vn.Body("c", "b", joint="prismatic", axis=own(gamma, 1, delta), **shape),
            vn.Body("d", "c", joint="universal", axis=(own(1, gamma, 0), own(0, 1, gamma)), rotation=turned, **shape),
            vn.Body("e", "d", joint="spherical", rotation=turned, **shape),
            vn.Body("f", "b", joint=vn.bodies.Helical(pitch=own(beta)[0]), axis=own(delta, 0, 1), **shape),
        ],
        parameters=values,
    )


def state_of(tree, random):
    state = random_state(tree, random)
    return state, *(np.array([state[key] for key in keys]) for keys in (tree.coordinates, tree.velocities))


@pytest.mark.parametrize("method", ["composite", "articulated", "looped"])
@pytest.mark.parametrize("fold", [True, False])
def test_symbols_and_their_values_give_one_acceleration(method, fold, random):
    _, q, v = state_of(tree(), random)
    tau = random.normal(size=len(q))
    expected = vn.bodies.dynamics(tree(numbers=True), "articulated").forward(q, v, tau)
    machine = vn.bodies.dynamics(tree(), method, fold=fold)
    assert np.allclose(machine.forward(q, v, tau), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    if not fold:
        other = VALUES | {beta: 0.3}
        expected = vn.bodies.dynamics(tree(other, numbers=True), "articulated").forward(q, v, tau)
        found = machine.with_parameters({beta: 0.3}).forward(q, v, tau)
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_recursions_and_energies_give_one_acceleration(random):
    system = tree().system()
    state, _, _ = state_of(tree(), random)
    found = vn.derive(system).accelerations(state)
    expected = vn.derive(replace(system, bodies=None)).accelerations(state)
    assert np.allclose(
        list(found.values()), list(expected.values()), rtol=0, atol=1e-11 * max(map(abs, expected.values()))
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"axis": (beta - 0.7, 0, 0)}, ["no direction at the values"]),
        ({"rotation": [[beta, 0, 0], [0, 1, 0], [0, 0, 1]]}, ["not a rotation matrix for all values"]),
        ({"joint": "planar", "axis": (beta, 0, 1)}, ["planar", "rotation"]),
        ({"axis": (sp.Symbol("zeta"), 0, 0)}, ["zeta of 'a' has no value", "parameters={zeta: number}"]),
    ],
)
def test_refusals(given, words):
    with pytest.raises(vn.ModelError) as refusal:
        vn.BodyTree([vn.Body("a", None, mass=1, inertia=1, **given)], parameters=VALUES)
    assert all(word in str(refusal.value) for word in words)


def test_the_closed_form_with_an_axis_of_symbols(random):
    """A cone of half angle β: T = ½ (J + m (ρ cos β)²) φ̇² for a mass at ρ on x."""
    body = vn.Body("a", None, axis=(sp.sin(beta), 0, sp.cos(beta)), mass=2, center_of_mass=(0.5, 0, 0), inertia=0)
    found = vn.bodies.closed_form_kinetic_energy(vn.BodyTree([body], parameters=VALUES))
    assert sp.simplify(found.alpha_bc[0, 0] - 2 * (sp.cos(beta) / 2) ** 2) == 0


def test_a_model_file_with_axes_and_rotations_of_parameters(random):
    text = """
parameters = { tilt = 0.3 }
[tree.bodies.arm]
axis = ["sin(tilt)", 0, "cos(tilt)"]
rotation = { roll = "2*tilt" }
mass = 1
center_of_mass = [1, 0, 0]
inertia = 0.1
"""
    found = vn.model.loads(text).tree
    assert found.body("arm").axis[0] == sp.sin(sp.Symbol("tilt"))
    machine = vn.bodies.dynamics(found, fold=False).with_parameters({sp.Symbol("tilt"): 0.5})
    same = vn.model.loads(text.replace("tilt = 0.3", "tilt = 0.5")).tree
    expected = vn.bodies.dynamics(same).forward([0.2], [0.0], [0.0])
    assert np.allclose(machine.forward([0.2], [0.0], [0.0]), expected, rtol=1e-14)
