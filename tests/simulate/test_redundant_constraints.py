"""Constraints that repeat each other: by least squares, the same motion as without the repetition."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import (
    SKATE_START,
    cartesian_system,
    difference,
    hanging,
    l,
    largest,
    pendulum,
    rod,
    run,
    skate,
    theta,
    x,
    y,
)

METHODS = [("taylor", {}, 1e-12), ("rk4", {"step": 1e-3}, 1e-9), ("ab4", {"step": 1e-3}, 1e-7), ("bdf", {}, 1e-5)]
every_method = pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)


def doubled(form: str = "multipliers") -> vn.EquationsOfMotion:
    """The rod stated twice, in two ways that agree on the circle."""
    second = vn.Holonomic(3 * (sp.sqrt(x**2 + y**2) - l), name="rod again")
    return vn.derive(cartesian_system(constraints=[rod(), second]), form, redundant="least_squares")


def doubled_skate() -> vn.EquationsOfMotion:
    system = skate().system
    (edge,) = system.constraints
    again = vn.Nonholonomic(edge.expression * (2 + sp.sin(theta)), name="edge again")
    return vn.derive(
        vn.System(
            system.coordinates,
            system.kinetic_energy,
            system.potential_energy,
            constraints=[edge, again],
            parameters=system.parameters,
        ),
        redundant="least_squares",
    )


@every_method
@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
def test_a_rod_stated_twice(method, options, accuracy, form):
    times = np.linspace(0, 3, 31)
    motion = run(doubled(form), hanging(speed=0.5), times, method, **options)
    assert difference(motion, run(pendulum(), hanging(speed=0.5), times)) < accuracy


@every_method
def test_an_edge_stated_twice(method, options, accuracy):
    times = np.linspace(0, 3, 31)
    motion = run(doubled_skate(), SKATE_START, times, method, **options)
    assert difference(motion, run(skate(), SKATE_START, times)) < accuracy


@pytest.mark.parametrize("stabilization", ["none", "baumgarte", "projection"])
def test_all_stabilizations_hold_both_statements(stabilization):
    motion = run(doubled(), hanging(speed=8.0), (0, 5), stabilization=stabilization)
    assert largest(motion) < 1e-12


@pytest.mark.parametrize("method", ["euler", "rk4", "ab3"])
def test_projection_onto_dependent_constraints(method):
    motion = run(doubled(), hanging(), (0, 1), method, step=1e-2, stabilization="projection")
    assert largest(motion) < 1e-14


def test_the_reactions_share_the_force():
    """Jᵀλ is the force of the one rod, and λ the shortest that gives it: proportional to the lengths of the rows."""
    motion = run(doubled(), hanging(speed=0.5), (0, 2))
    single = run(pendulum(), hanging(speed=0.5), (0, 2)).reactions["rod"]
    first, second = motion.reactions["rod"], motion.reactions["rod again"]
    np.testing.assert_allclose(first + 3 * second, single, rtol=0, atol=1e-11)
    np.testing.assert_allclose(second, 3 * first, rtol=0, atol=1e-11)


def test_without_least_squares_they_are_refused():
    second = vn.Holonomic(3 * (sp.sqrt(x**2 + y**2) - l), name="rod again")
    with pytest.raises(vn.errors.ConstraintError, match="least_squares"):
        vn.derive(cartesian_system(constraints=[rod(), second]))


def test_a_contradiction_is_refused_at_the_start():
    """Two rods of different length cannot both be met."""
    longer = vn.Holonomic((x**2 + y**2 - 4 * l**2) / 2, name="longer rod")
    equations = vn.derive(
        cartesian_system(constraints=[rod(), longer]),
        redundant="least_squares",
        at=hanging(),
    )
    with pytest.raises(vn.errors.ConstraintError, match="longer rod"):
        vn.simulate(equations, {x: 0.6, y: -0.8}, (0, 1), fixed=[])
