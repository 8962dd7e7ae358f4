"""Trees of any shape against Pinocchio, to rounding."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from bodies.pinocchio_model import KINDS, Peer, random_state, random_tree

from vinculum.derive.bodies import recursion
from vinculum.graph import evaluate, symbol, ZERO

CASES = [(kind, 4) for kind in KINDS[:-1]] + [("all", n) for n in (3, 8, 15, 30)]


@pytest.mark.parametrize(("kind", "count"), CASES)
def test_accelerations_forces_and_mass_matrix(kind, count, random):
    tree = random_tree(random, count, KINDS if kind == "all" else ("revolute", kind))
    peer, steps = Peer(tree), recursion(tree)
    state = random_state(tree, random)
    values = {symbol(key): x for key, x in state.items()}
    q, v = peer.state(state)
    tau_q = random.normal(size=len(tree.coordinates))
    for method in ("composite", "articulated"):
        nodes, _ = steps.accelerations([*map(float, tau_q)], {}, method)
        found = dict(zip(tree.coordinates, evaluate(nodes, values), strict=True))
        tau = _hinge_forces(steps, tau_q, state)
        expected = pin.aba(peer.model, peer.data, q, v, tau)
        error = np.abs(peer.accelerations(state, found) - expected).max() / np.abs(expected).max()
        assert error < 1e-12
    again = evaluate(list(steps.inverse_dynamics(nodes)), values)
    assert np.allclose(_hinge_forces(steps, again, state), tau, rtol=0, atol=1e-12 * np.abs(again).max())


def _hinge_forces(steps, applied, state):
    values = {symbol(key): x for key, x in state.items()}
    rows = [
        steps._right(h, place, (ZERO,) * (3 if len(h.q) == 4 else 1), [*map(float, applied)])
        for h, place in zip(steps.hinges, steps.places, strict=True)
    ]
    return np.array(evaluate([x for row in rows for x in row], values))
