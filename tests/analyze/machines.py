"""Systems to analyze: random ones with every kind of term, and a column under a follower load."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import delta_robot
from laws.random_systems import Maker, t, without_time


@cache
def random_machine(seed):
    """Gyroscopic terms, T₀, damping, circulatory forces, constant forces on every coordinate, geometric constraints.

    T = |L(q) q̇|²/2 + b(q)·q̇ + c(q); forces: constants + u - (skew) q - (not symmetric, positive) q̇.
    """
    random = np.random.default_rng(seed)
    n = 3 + seed % 4
    make, inputs = Maker(random, n), sp.symbols("u1 u2")
    quadratic = sum(make.combination(i) ** 2 for i in range(n)) / 2
    linear = sum(make.number(0.5, 1) * make.wave() * make.v[i] for i in random.integers(n, size=3))
    skew, losses = random.normal(size=(n, n)), np.eye(n) + 0.3 * random.normal(size=(n, n))
    q, v = sp.Matrix(make.q), sp.Matrix(make.v)
    forces = -sp.Matrix(0.4 * (skew - skew.T)) * q - sp.Matrix(losses) * v + sp.Matrix(random.normal(size=n))
    forces[0] += inputs[0] * (2 + make.wave())
    forces[n - 1] += inputs[1]
    leading = random.permutation(n)[: 1 + seed % (n - 1)]
    constraints = [vn.Holonomic(without_time(make.holonomic(i)), name=f"holds{i + 1}") for i in leading]
    return vn.System(
        coordinates=make.q,
        kinetic_energy=quadratic + linear + make.number(0.3, 1) * make.wave(),
        potential_energy=sum(make.number(4, 8) * x**2 / 2 for x in make.q) + make.number(0.5, 1) * make.wave(),
        forces=dict(zip(make.q, forces, strict=True)),
        constraints=constraints,
        parameters=make.parameters,
        inputs=inputs,
        name=f"random machine {seed}",
    )


phi1, phi2, y = dynamicsymbols("phi1 phi2 y")
k, c, P, k_y = sp.symbols("k c P k_y")


def follower_column():
    """Ziegler's double pendulum under a follower load P, its tip y = sin φ₁ + sin φ₂ kept as a redundant coordinate."""
    T = (3 * phi1.diff() ** 2 + 2 * phi1.diff() * phi2.diff() * sp.cos(phi1 - phi2) + phi2.diff() ** 2) / 2
    V = k * (phi1**2 + (phi2 - phi1) ** 2) / 2 + k_y * y**2 / 2
    return vn.System(
        [phi1, phi2, y],
        T,
        V,
        forces={phi1: P * sp.sin(phi1 - phi2)},
        dissipation=c * (phi1.diff() ** 2 + (phi2.diff() - phi1.diff()) ** 2) / 2,
        constraints=[vn.Holonomic(y - sp.sin(phi1) - sp.sin(phi2), name="tip")],
        parameters={k: 1.0, c: 0.1, P: 1.0, k_y: 0.2},
        name="column under a follower load",
    )


@cache
def two_deltas():
    """Two Delta robots whose platforms are joined by a spring: 12 coordinates, 6 constraints, 6 motors."""
    left = delta_robot.system()
    names = {q: sp.Function(f"{q.func.__name__}_b")(t) for q in left.coordinates}
    inputs = {u: sp.Symbol(f"{u}_b") for u in left.inputs}

    def other(expression):
        return sp.sympify(expression).subs(names).subs(inputs)

    apart = sum((q - names[q]) ** 2 for q in delta_robot.platform)
    both = vn.System(
        coordinates=[*left.coordinates, *names.values()],
        kinetic_energy=left.kinetic_energy + other(left.kinetic_energy),
        potential_energy=left.potential_energy + other(left.potential_energy) + 200 * apart / 2,
        forces={**left.forces, **{names[q]: other(f) for q, f in left.forces.items()}},
        constraints=[
            *left.constraints,
            *(replace(c, expression=other(c.expression), name=f"{c.name} b") for c in left.constraints),
        ],
        parameters=left.parameters,
        inputs=[*left.inputs, *inputs.values()],
        name="two Delta robots",
    )
    moved = vn.motors.motorize(both, dict.fromkeys(both.inputs, delta_robot.MOTOR))
    places = [*delta_robot.platform, *(names[q] for q in delta_robot.platform)]
    arms = [*delta_robot.theta, *(names[q] for q in delta_robot.theta)]
    return moved, places, arms
