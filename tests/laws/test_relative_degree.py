"""The relative degree of servo and program constraints is one number, decided by structure."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import gyroscope_in_gimbals as gyro

t = dynamicsymbols._t
x, y, z = dynamicsymbols("x y z")
u, tau = sp.symbols("u tau")
m, c, m1, m2, l1, l2, inertia = sp.symbols("m c m1 m2 l1 l2 I")


def as_servo(system: vn.System) -> object:
    return vn.derive(system)


def as_program(system: vn.System) -> object:
    return vn.derive(system, form="program")


ROADS = pytest.mark.parametrize("derived", [as_servo, as_program])


@ROADS
@pytest.mark.parametrize("moment", [2.0, 2.2, 1.7])
@pytest.mark.parametrize("motor", ["outer ring", "inner ring"])
def test_motors_of_the_rings_never_hold_the_rotor(derived, motor, moment):
    """Without a torque on the rotor, C ω_z is an integral of the motion, whatever C is."""
    system = dataclasses.replace(gyro.system(motor), parameters={**gyro.NUMBERS, gyro.C: moment})
    with pytest.raises(vn.errors.ConstraintError, match=r"`spin` cannot be held|No input ever acts on .*'spin'"):
        derived(system)


def links(spelling: str) -> vn.System:
    """Two links, free about a vertical axis, with a motor between them: the angular momentum is conserved."""
    q1, q2 = dynamicsymbols("q1 q2")
    v1, v2 = q1.diff(), q1.diff() + q2.diff()
    numbers = {m1: 0.7, m2: 1.3, l1: 0.45, l2: 0.6, inertia: 0.11}
    outer = l1**2 * v1**2 + l2**2 * v2**2 + 2 * l1 * l2 * sp.cos(q2) * v1 * v2
    energy = m1 * l1**2 * v1**2 / 2 + m2 * outer / 2 + inertia * v2**2 / 2
    if spelling == "numbers":
        energy, numbers = energy.subs(numbers), {}
    momentum = energy.diff(q1.diff())
    momentum = sp.expand(momentum) if spelling == "expanded" else momentum
    return vn.System(
        [q1, q2],
        energy,
        forces={q2: tau},
        inputs=[tau],
        constraints=[vn.Servo(momentum - sp.Rational(1, 5), through=[tau], name="momentum")],
        parameters=numbers,
    )


@ROADS
@pytest.mark.parametrize("spelling", ["as derived", "expanded", "numbers"])
def test_no_inner_torque_changes_the_momentum(derived, spelling):
    with pytest.raises(
        vn.errors.ConstraintError, match=r"`momentum` cannot be held|No input ever acts on .*'momentum'"
    ):
        derived(links(spelling))


def test_a_servo_is_held_by_its_own_input_in_form_program():
    """x = y + m ÿ/c, u = m ẍ + c (x - y); with y = sin 2t: u = -c sin 2t. Both roads find the degree four."""
    system = vn.System(
        [x, y],
        m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        c * (x - y) ** 2 / 2,
        forces={x: u},
        inputs=[u],
        constraints=[vn.Servo(y - sp.sin(2 * t), through=[u], name="load")],
        parameters={m: 2.0, c: 8.0},
    )
    equations = vn.derive(system, form="program")
    assert equations.degrees == vn.servo.realizability(system).relative_degrees == {"load": 4}
    assert equations.system.inputs == (u,)
    motion = vn.simulate(equations, {}, (0, 2))
    np.testing.assert_allclose(motion[u], -8.0 * np.sin(2 * motion.t), rtol=0, atol=1e-9)


def test_a_coefficient_that_vanishes_identically_is_not_dropped_but_zero():
    one = sp.sin(z) ** 2 + sp.cos(z) ** 2
    system = vn.AffineSystem([x, y, z], [y, -x, y], [u], [[one - 1], [1], [0]], {"place": x - sp.sin(t)})
    (chain,) = vn.derive(system, form="program").chains_found
    assert chain.degree == 2
    assert chain.dropped == ()


def test_a_small_coefficient_is_not_zero():
    """1e-12 u acts, weakly: the degree is one."""
    system = vn.AffineSystem([x, y], [y, -x], [u], [[1e-12], [1]], {"place": x - sp.sin(t)})
    assert vn.derive(system, form="program").degrees == {"place": 1}
