"""The corrected Theorem 1 against an independent kinetic energy, in exact arithmetic.

Polynomials over the rationals in c_a, s_a, φ̇_a, φ̈_a, m_a, V_1, V̇_1, Ω_0, g, reduced modulo c² + s² = 1. The independent
energy differentiates positions; the independent equations are d/dt ∂T/∂φ̇ - ∂T/∂φ.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from sympy import QQ, ring

from vinculum.derive.bodies.theorem import Arc, Tree, coefficients, gravity_forces
from vinculum.describe.bodies.lemma import direction_cosines
from vinculum.graph.vectors import IDENTITY, cross, dot, matrix_times, plus, scaled, times, transposed

SKEW = [(1, 2, 2, 3), (2, 3, 6, 7), (-4, 4, -7, 9), (2, -6, 9, 11)]
SHAPES = {"planar 2R": (-1, 0), "skew 3R": (-1, 0, 1), "tree of four": (-1, 0, 0, 1), "two roots": (-1, 0, -1)}


def model(shape, base):
    parents = SHAPES[shape]
    n = len(parents)
    names = [f"{k}{i}" for k in ("c", "s", "w", "dw", "m") for i in range(n)]
    names += [f"{k}{i}" for k in ("V", "dV", "O", "g") for i in range(3)]
    R, *gens = ring(names, QQ)
    get = dict(zip(names, gens, strict=True))
    arcs = [arc(R, get, shape, i, parent) for i, parent in enumerate(parents)]
    V = tuple(get[f"V{i}"] for i in range(3)) if base != "fixed" else (0, 0, 0)
    O = tuple(get[f"O{i}"] for i in range(3)) if base == "turning" else (0, 0, 0)
    R0 = tuple(tuple(R(x) for x in row) for row in _rational(SKEW[3])) if base == "turning" else IDENTITY
    return R, get, Tree(arcs, V, O, R0)


def _rational(axis):
    x, y, z, length = (QQ(k) for k in axis)
    return direction_cosines((x / length, y / length, z / length))


def arc(R, get, shape, i, parent):
    one = R.one
    A = IDENTITY if shape == "planar 2R" else tuple(tuple(one * x for x in row) for row in _rational(SKEW[i]))
    r, rho = (
        (one * QQ(2 + i, 3), one * QQ(1, 2 + i), one * QQ(i, 5)),
        (one * QQ(1, 2), one * QQ(i + 1, 7), one * QQ(2, 5)),
    )
    S = [[QQ(3 + i), QQ(1, 3), QQ(1, 5)], [QQ(1, 3), QQ(4), QQ(2, 7)], [QQ(1, 5), QQ(2, 7), QQ(5 + i, 2)]]
    m = get[f"m{i}"]
    square = dot(rho, rho)
    J = [[one * S[a][b] + m * ((square if a == b else 0) - rho[a] * rho[b]) for b in range(3)] for a in range(3)]
    return Arc(parent, A, r, rho, m, tuple(map(tuple, J)), get[f"c{i}"], get[f"s{i}"])


def reduced(R, get, n, p):
    return R(p).rem([get[f"c{i}"] ** 2 + get[f"s{i}"] ** 2 - 1 for i in range(n)])


def by_angle(p, get, i):
    """∂/∂φ_i by the chain rule."""
    return p.diff(get[f"s{i}"]) * get[f"c{i}"] - p.diff(get[f"c{i}"]) * get[f"s{i}"]


def by_time(p, get, n):
    """d/dt of a polynomial of angles, velocities and V_1."""
    total = sum(by_angle(p, get, i) * get[f"w{i}"] + p.diff(get[f"w{i}"]) * get[f"dw{i}"] for i in range(n))
    return total + sum(p.diff(get[f"V{i}"]) * get[f"dV{i}"] for i in range(3))


def places(R, tree):
    """Rotation and origin of every body in the axes of the external body, and its center of mass."""
    found = []
    for a in tree.arcs:
        before, origin = (found[a.parent][:2]) if a.parent >= 0 else (IDENTITY, (R.zero,) * 3)
        turn = ((a.c, -a.s, 0), (a.s, a.c, 0), (0, 0, 1))
        Q = matrix_times(before, matrix_times(transposed(a.A), turn))
        p = plus(origin, times(before, a.r))
        found.append((Q, p, plus(p, times(Q, a.rho))))
    return found


def independent_energy(R, get, tree):
    """½ Σ m |d r_C/dt|² + (J_C ω, ω), with ω from Ṙ Rᵀ."""
    n, total = len(tree.arcs), R.zero
    for (Q, _, center), a in zip(places(R, tree), tree.arcs, strict=True):
        x = times(tree.R0, center)
        v = plus(tree.V1, cross(tree.Omega0, x), times(tree.R0, [by_time(R(k), get, n) for k in center]))
        rate = [[by_time(R(k), get, n) for k in row] for row in Q]
        W = matrix_times(transposed(Q), rate)
        omega = plus((W[2][1], W[0][2], W[1][0]), times(transposed(matrix_times(tree.R0, Q)), tree.Omega0))
        square = dot(a.rho, a.rho)
        Jc = [[a.J[i][j] - a.m * ((square if i == j else 0) - a.rho[i] * a.rho[j]) for j in range(3)] for i in range(3)]
        total += a.m * dot(v, v) / 2 + dot(times(Jc, omega), omega) / 2
    return total


@pytest.mark.parametrize("base", ["fixed", "translating", "turning"])
@pytest.mark.parametrize("shape", SHAPES)
def test_kinetic_energy_is_exact(shape, base):
    R, get, tree = model(shape, base)
    n = len(tree.arcs)
    T = coefficients(tree).energy([get[f"w{i}"] for i in range(n)], QQ(1, 2))
    difference = reduced(R, get, n, T - independent_energy(R, get, tree))
    assert difference == 0
    assert reduced(R, get, n, T) != 0


@pytest.mark.parametrize("shape", ["planar 2R", "skew 3R", "tree of four"])
def test_lagrange_equations_and_gravity_are_exact(shape):
    R, get, tree = model(shape, "translating")
    n = len(tree.arcs)
    w, dw = ([get[f"{k}{i}"] for i in range(n)] for k in ("w", "dw"))
    found = coefficients(tree)
    T = independent_energy(R, get, tree)
    accelerating = coefficients(replace(tree, V1=tuple(get[f"dV{i}"] for i in range(3)))).alpha
    g = tuple(get[f"g{i}"] for i in range(3))
    V = -sum(a.m * dot(g, p[2]) for a, p in zip(tree.arcs, places(R, tree), strict=True))
    for b in range(n):
        left = dot(found.alpha_bc[b], dw) - R(accelerating[b]) - by_angle(R(found.alpha_0), get, b) / 2
        for c in range(n):
            left += (by_angle(R(found.alpha[c]), get, b) - by_angle(R(found.alpha[b]), get, c)) * w[c]
            for d in range(n):
                christoffel = by_angle(R(found.alpha_bc[b, c]), get, d) - by_angle(R(found.alpha_bc[d, c]), get, b) / 2
                left += christoffel * w[c] * w[d]
        right = by_time(T.diff(w[b]), get, n) - by_angle(T, get, b)
        assert reduced(R, get, n, left - right) == 0
        assert reduced(R, get, n, gravity_forces(tree, g)[b] + by_angle(V, get, b)) == 0


def test_what_the_paper_prints_is_wrong():
    """E1: with A_bb+ A(φ_b) in place of A(φ_b+) A_bb+ even a planar arm comes out wrong; E3: so do the signs of d."""
    R, get, tree = model("planar 2R", "fixed")
    T = independent_energy(R, get, tree)
    rates = [get["w0"], get["w1"]]

    class Printed(Tree):
        def step(self, a):
            before = self.arcs[self.arcs[a].parent] if self.arcs[a].parent >= 0 else None
            turn = IDENTITY if before is None else ((before.c, before.s, 0), (-before.s, before.c, 0), (0, 0, 1))
            return matrix_times(self.arcs[a].A, turn)

    class Reversed(Tree):
        def d(self, b, a):
            return scaled(-1, super().d(b, a))

    for wrong in (Printed, Reversed):
        printed = coefficients(wrong(tree.arcs)).energy(rates, QQ(1, 2))
        assert reduced(R, get, 2, printed - T) != 0


def test_direction_cosines_near_antiparallel_axes():
    for k in range(1, 17):
        angle = sp.N(sp.pi - sp.Rational(1, 10**k), 40)
        e = (float(sp.sin(angle)) * 0.6, float(sp.sin(angle)) * 0.8, float(sp.cos(angle)))
        A = direction_cosines(e)
        product = matrix_times(A, transposed(A))
        assert max(abs(product[i][j] - (i == j)) for i in range(3) for j in range(3)) < 1e-15
        assert tuple(A[2]) == e
    assert direction_cosines((0, 0, -1)) == ((1, 0, 0), (0, -1, 0), (0, 0, -1))


def test_the_free_angle_of_lemma_1_does_not_matter():
    R, get, tree = model("skew 3R", "fixed")
    twist = Fraction(3, 5), Fraction(4, 5)
    c, s = (R.one * QQ(x.numerator, x.denominator) for x in twist)
    turn = ((c, s, R.zero), (-s, c, R.zero), (R.zero, R.zero, R.one))
    arcs = []
    for i, a in enumerate(tree.arcs):
        before = transposed(turn) if a.parent >= 0 else IDENTITY
        J = matrix_times(matrix_times(turn, a.J), transposed(turn))
        moved = times(turn, a.r) if a.parent >= 0 else a.r
        arcs.append(replace(a, A=matrix_times(matrix_times(turn, a.A), before), r=moved, rho=times(turn, a.rho), J=J))
        assert i == len(arcs) - 1
    one, other = coefficients(tree).alpha_bc, coefficients(Tree(arcs)).alpha_bc
    assert all(reduced(R, get, 3, x - y) == 0 for x, y in zip(one.ravel(), other.ravel(), strict=True))
