"""Constraints held by inputs."""

from __future__ import annotations

import sympy as sp

import vinculum as vn
from laws.verdicts.cases import Case, Draw, by_roots, t, theta, x, y


def servo(seed: int) -> Case:
    draw = Draw(seed, "servo")
    return (_held_cart, _held_masses)[seed % 2](draw)


def _held_cart(draw: Draw) -> Case:
    """Cart and inverted pendulum with x + c θ = 0: (l - c) s² + (b/ml) s - g = 0 on the constraint."""
    length, load, arm, joint = draw.number(), draw.number(), draw.number(0, 4), draw.number(0.02, 0.5)
    if abs(arm - length) < 0.1:
        arm = length + 0.3
    u = sp.Symbol("u")
    hanging = draw.chance()
    side = -1 if hanging else 1
    T = (2.0 + load) * x.diff(t) ** 2 / 2 + side * load * length * sp.cos(theta) * x.diff(t) * theta.diff(t)
    T += load * length**2 * theta.diff(t) ** 2 / 2
    system = vn.System(
        [x, theta], T, side * load * 9.81 * length * sp.cos(theta), forces={x: u}, inputs=[u],
        dissipation=joint * theta.diff(t) ** 2 / 2,
        constraints=[vn.Servo(x + side * arm * theta, through=[u], name="servo")],
    )  # fmt: skip
    # upright: m l ẍ + m l² θ̈ + b θ̇ - m g l θ = 0 with ẍ = -c θ̈
    A = sp.Matrix([[0, 1], [side * 9.81 / (length - arm), -joint / (load * length * (length - arm))]])
    return Case("cart held by a servo", system, by_roots(A))


def _held_masses(draw: Draw) -> Case:
    """Two masses, spring and damper between, the second to a wall; the first held at c times the second."""
    k1, k2, c1, ratio = draw.number(), draw.number(), draw.number(0.1, 1), draw.number(-1, 4)
    u = sp.Symbol("u")
    T = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    system = vn.System(
        [x, y], T, (k1 * (x - y) ** 2 + k2 * y**2) / 2, forces={x: u}, inputs=[u],
        dissipation=c1 * (x - y).diff(t) ** 2 / 2,
        constraints=[vn.Servo(x - ratio * y, through=[u], name="servo")],
    )  # fmt: skip
    A = sp.Matrix([[0, 1], [-(k2 + k1 * (1 - ratio)), -c1 * (1 - ratio)]])
    return Case("masses held by a servo", system, by_roots(A))
