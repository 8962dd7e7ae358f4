"""The linear model of a closed loop: the same verdict from the law and from the equations with the law inserted."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, theta, phi = dynamicsymbols("x theta phi")
u = sp.Symbol("u")


def cart_with_pendulum():
    T = x.diff() ** 2 + ((x.diff() + theta.diff() * sp.cos(theta)) ** 2 + (theta.diff() * sp.sin(theta)) ** 2) / 2
    equations = vn.derive(vn.System([x, theta], T, 9.81 * sp.cos(theta), forces={x: u}, inputs=[u]))
    return equations, vn.equilibrium(equations, {x: 0.2, theta: 0.0})


def pendulum_on_a_shaft():
    """The shaft turns freely: its momentum is conserved, whatever the torque on θ does."""
    T = (theta.diff() ** 2 + (sp.sin(theta) ** 2 + 0.3) * phi.diff() ** 2) / 2
    equations = vn.derive(vn.System([theta, phi], T, 9.81 * (1 - sp.cos(theta)), forces={theta: u}, inputs=[u]))
    return equations, vn.steady(equations, {theta: 0.7, phi.diff(): 2.0})


def skate_that_is_steered():
    """A disc on a turntable axis: the spin runs freely, the tilt is driven."""
    T = (theta.diff() ** 2 + (phi.diff() + x.diff() * sp.sin(theta)) ** 2 + (x.diff() * sp.cos(theta)) ** 2) / 2
    equations = vn.derive(
        vn.System(
            [theta, phi, x], T, 4.9 * sp.cos(theta), forces={theta: u}, inputs=[u], dissipation=0.1 * x.diff() ** 2
        )
    )
    return equations, vn.steady(equations, {theta: 0.2, phi.diff(): 3.0, x.diff(): 0.0})


SYSTEMS = [cart_with_pendulum, pendulum_on_a_shaft, skate_that_is_steered]


@pytest.mark.parametrize("make", SYSTEMS)
def test_the_law_and_the_loop_have_one_verdict(make):
    equations, at = make()
    law = vn.stabilize(vn.linearize(equations, at=at))
    by_law = vn.stability(vn.feedback.closed_model(law))
    loop = vn.close_loop(equations, law)
    values = {key: value for key, value in at.items() if key != u}
    by_loop = vn.stability(vn.linearize(loop, at=values))
    assert str(by_law) == str(by_loop)
    assert by_law.kind in ("asymptotically stable", "stable")
    assert dict(by_law.zeros) == dict(by_loop.zeros)


@pytest.mark.parametrize("make", SYSTEMS[:2])
def test_the_roots_are_those_of_the_matrices(make):
    """F + HK, beside the structural zeros of what is conserved."""
    equations, at = make()
    linear = vn.linearize(equations, at=at)
    law = vn.stabilize(linear)
    closed = vn.feedback.closed_model(law)
    assert closed.states == linear.states
    np.testing.assert_allclose(
        closed.system_matrix, linear.system_matrix + linear.input_matrix @ law.gain, rtol=1e-9, atol=1e-9
    )
    conserved = sum(count for reason, count in closed.zeros.items() if "constraint" not in reason)
    assert len(closed.roots) + conserved == len(linear.states)


def test_a_loop_at_a_conserved_momentum_is_decided():
    """Before, the zero root of the conserved momentum left the verdict of the law open."""
    equations, at = pendulum_on_a_shaft()
    law = vn.stabilize(vn.linearize(equations, at=at))
    verdict = vn.stability(vn.feedback.closed_model(law))
    assert (verdict.kind, verdict.theorem) == ("stable", "the Lyapunov-Malkin theorem")
