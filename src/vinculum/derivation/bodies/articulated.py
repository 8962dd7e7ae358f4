"""Forward dynamics in O(n) by articulated bodies (Featherstone 2008, chapter 7), on top of the Newton-Euler forces.

The effect p of velocities and gravity on each body is the Newton-Euler force at zero hinge acceleration. The
accelerations ν̇ = M⁻¹ (τ - bias) then come from one sweep inwards and one outwards,

    U = I S,  D = SᵀU,  I_parent += I - U D⁻¹ Uᵀ,  p_parent += p + U D⁻¹ (τ - Sᵀp);    ν̇ = D⁻¹ (τ - Sᵀp - Uᵀ a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vinculum.derivation.bodies.hinges import Hinge
from vinculum.derivation.bodies.newton_euler import carry_inwards
from vinculum.describe.bodies.transforms import Articulated, Inertia, Six, matrix_plus, skew
from vinculum.graph import ZERO, Node, lift
from vinculum.graph.vectors import Matrix, Vector, dot, minus, plus, times


@dataclass
class Swept:
    """Results of the inward sweep at a hinge, for the outward sweep."""

    columns: list[Six]  # U, one for each velocity of the hinge
    inverse: Matrix  # D⁻¹
    left: Vector  # τ - Sᵀp


def solve(
    hinges: Sequence[Hinge], tau: Sequence[Sequence[Any]], wrenches: Sequence[Six]
) -> tuple[list[Vector], list[Node]]:
    """ν̇ of every hinge from its force τ and the forces p on every body at ν̇ = 0, and the pivots D."""
    bodies, p = [articulated(hinge.inertia) for hinge in hinges], list(wrenches)
    found, pivots = [], []
    for i in reversed(range(len(hinges))):
        hinge = hinges[i]
        at, pivot = sweep_hinge(hinge, bodies[i], p[i], tau[i])
        found.append(at)
        pivots += pivot
        if hinge.parent >= 0:
            body, (n, f) = pass_inwards(hinge, bodies[i], p[i], at)
            bodies[hinge.parent] = join(bodies[hinge.parent], body)
            p[hinge.parent] = plus(p[hinge.parent][0], n), plus(p[hinge.parent][1], f)
    return _outwards(hinges, found[::-1]), pivots


def articulated(inertia: Inertia) -> Articulated:
    """A = tr(Σ) 1 - Σ, B = [h]×, C = m 1."""
    m, h, S = inertia
    trace = (S[1][1] + S[2][2], S[0][0] + S[2][2], S[0][0] + S[1][1])
    A = tuple(tuple(trace[i] if i == j else -S[i][j] for j in range(3)) for i in range(3))
    C = tuple(tuple(m if i == j else ZERO for j in range(3)) for i in range(3))
    return A, tuple(tuple(lift(x) for x in row) for row in skew(h)), C


def sweep_hinge(hinge: Hinge, body: Articulated, p: Six, tau: Sequence[Any]) -> tuple[Swept, list[Node]]:
    """U, D⁻¹ and τ - Sᵀp of a hinge, and the divisors."""
    left = minus(tau, hinge.joint.component(p))
    columns = hinge.joint.columns(body)
    inverse, pivots = hinge.joint.invert(body, columns, hinge.rotor)
    return Swept(columns, inverse, left), pivots


def pass_inwards(hinge: Hinge, body: Articulated, p: Six, at: Swept) -> tuple[Articulated, Six]:
    """Inertia and force that a free hinge passes on to the parent, in the parent's frame."""
    rest = hinge.joint.remainder(body, at.columns, at.inverse, hinge.rotor)
    for stage in reversed(hinge.stages):
        rest = stage.articulated(rest)
    return rest, carry_inwards(hinge, _push(p, at))


def join(parent: Articulated, body: Articulated) -> Articulated:
    """Two articulated inertias as one."""
    return tuple(matrix_plus(a, b) for a, b in zip(parent, body, strict=True))  # type: ignore[return-value]  # three


def _push(p: Six, at: Swept) -> Six:
    """p + U D⁻¹ (u - Sᵀp)."""
    n, f = p
    for factor, column in zip(times(at.inverse, at.left), at.columns, strict=True):
        n = plus(n, tuple(factor * x for x in column[0]))
        f = plus(f, tuple(factor * x for x in column[1]))
    return n, f


def _outwards(hinges: Sequence[Hinge], found: Sequence[Swept]) -> list[Vector]:
    rates: list[Vector] = []
    moved: list[Six] = []
    still: Six = ((ZERO,) * 3, (ZERO,) * 3)
    for hinge, at in zip(hinges, found, strict=True):
        own, a = accelerate(hinge, at, moved[hinge.parent] if hinge.parent >= 0 else still)
        rates.append(own)
        moved.append(a)
    return rates


def accelerate(hinge: Hinge, at: Swept, parent: Six) -> tuple[Vector, Six]:
    """ν̇ of a hinge and the acceleration (ω̇, v̇) of its frame from that of the parent, both beyond the state ν̇ = 0."""
    a = parent
    for stage in hinge.stages:
        a = stage.motion(a)
    left = minus(at.left, tuple(dot(n, a[0]) + dot(f, a[1]) for n, f in at.columns))
    rates = times(at.inverse, left)
    return rates, hinge.joint.add(a, rates)
