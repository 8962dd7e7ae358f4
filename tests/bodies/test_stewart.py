"""A Stewart platform whose legs have prescribed lengths: derived and started without a given state."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from bodies.test_large_trees import calls
from examples.stewart_platform import FEET, HEADS, HEIGHT, LENGTH, forces, holding_force, tree

t = sp.Symbol("t")


def prescribed(lengths, constraint):
    """The platform of the example, its six legs held at given changes of length."""
    mechanism = tree()
    rods = [mechanism.body(f"rod{k + 1}").coordinates[0] for k in range(6)]
    laws = zip(rods, lengths, forces, strict=True)
    held = [constraint(rod - length, u, f"leg {k}") for k, (rod, length, u) in enumerate(laws)]
    return mechanism.system(constraints=held)


def servo(expression, u, name):
    return vn.Servo(expression, through=[u], name=name)


def ideal(expression, u, name):
    return vn.Holonomic(expression, name=name)


@pytest.mark.parametrize("constraint", [servo, ideal])
def test_prescribed_legs_need_no_given_state(constraint):
    """The heads are at the prescribed distances from the feet, near the middle position, after little work."""
    changes = [sp.Rational(5, 100) * sp.sin(2 * t + k) for k in range(6)]
    found = {}

    def work():
        system = prescribed(changes, constraint)
        found["equations"] = vn.derive(system)
        found["start"] = vn.consistent_state(found["equations"], {})

    assert calls(work) < 40_000_000
    system, start = found["equations"].system, found["start"]
    q = [start[x] for x in system.coordinates]
    machine = vn.bodies.dynamics(system.bodies)
    for k in range(6):
        head = machine.position("platform", q, tuple(HEADS[k]))
        assert np.linalg.norm(head - FEET[k]) == pytest.approx(LENGTH + 0.05 * np.sin(k), rel=1e-12)
    assert np.linalg.norm(machine.position("platform", q) - (0, 0, HEIGHT)) < 0.1


def test_legs_of_constant_length_carry_the_weight():
    """The servo forces at rest are those of virtual work."""
    equations = vn.derive(prescribed([0] * 6, servo))
    start = vn.consistent_state(equations, {})
    found = equations.recover(start)
    assert [found[f"leg {k}"] for k in range(6)] == pytest.approx([holding_force()] * 6, rel=1e-9)
