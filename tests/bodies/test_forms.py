"""Every form, the first approximation and feedback on systems made from trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vinculum as vn
from examples import planar_3rrr, puma560


@pytest.mark.parametrize("form", ["lyapunov", "shulgin", "lurie-suslov"])
def test_closed_loops_in_every_form(form):
    """Loops eliminated on the tree give the accelerations that multipliers give, and that energies give."""
    system = planar_3rrr.system()
    multipliers = vn.derive(system)
    closed = vn.consistent_state(multipliers, planar_3rrr.start(system.bodies), fixed=[])
    speeds = dict(zip(system.velocities[:3], (0.3, -0.5, 0.7), strict=True))
    moving = {q: closed[q] for q in system.coordinates} | speeds
    state = vn.consistent_state(multipliers, moving)
    names = ("lower1", "lower2", "lower3", "platform")
    choice = {} if form == "lyapunov" else {"dependent": [system.bodies.body(name).coordinates[0] for name in names]}
    equations = vn.derive(system, form, at=state, **choice)
    found = np.array(list(equations.accelerations({key: state[key] for key in equations.states}).values()))
    energies = vn.derive(replace(system, bodies=None))
    for other in (multipliers, energies):
        assert np.allclose(found, list(other.accelerations(state).values()), rtol=0, atol=1e-11 * np.abs(found).max())


def test_lqr_holds_the_puma_at_a_configuration():
    """Linearized at its nominal pose, on a sloping floor, with the torques that hold it there, and stabilized."""
    system = puma560.tree(driven=True, gravity=(1.0, 0.5, -9.7)).system()
    equations = vn.derive(system)
    rest = vn.equilibrium(equations, puma560.NOMINAL)
    held = [rest[u] for u in puma560.u]
    assert np.allclose(
        held, vn.bodies.dynamics(system.bodies).bias(list(puma560.NOMINAL.values()), np.zeros(6)), atol=1e-10
    )
    law = vn.stabilize(vn.linearize(equations, at=rest), state_weights=np.eye(12), input_weights=1e-2 * np.eye(6))
    closed = vn.close_loop(equations, law)
    start = {x: value + 0.05 for x, value in puma560.NOMINAL.items()}
    motion = vn.simulate(closed, initial=start, times=(0, 8))
    assert max(abs(motion[x][-1] - value) for x, value in puma560.NOMINAL.items()) < 1e-2 * 0.05


def test_a_system_changed_afterwards_leaves_the_recursions():
    """Energies added by hand must count: the tree then serves only as their source."""
    system = puma560.system()
    q = system.coordinates
    heavier = replace(system, kinetic_energy=system.kinetic_energy + 3 * q[0].diff() ** 2)
    state = dict.fromkeys((*system.coordinates, *system.velocities), 0.2)
    plain, changed = (vn.derive(s).mechanics for s in (system, heavier))
    assert plain.recursion is not None
    assert changed.recursion is None
    one, two = (vn.derive(s).accelerations(state) for s in (system, heavier))
    assert abs(one[q[0].diff().diff()] - two[q[0].diff().diff()]) > 1e-3
