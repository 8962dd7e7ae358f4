"""The formulas of the paper as printed, one at a time: everything else in each tree is corrected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vinculum.derivation.bodies.theorem import Coefficients, E, Tree
from vinculum.graph.vectors import NULL, Matrix, Vector, cross, dot, matrix_times, plus, scaled, times


class TurnsBefore(Tree):
    """A_b(φ_b) = A_bb+ A(φ_b): ends in a frame fixed in the parent (l. 85, 91)."""

    def step(self, a: int) -> Matrix:
        """A_pa A(φ_p)."""
        arc = self.arcs[a]
        if arc.parent < 0:
            return arc.A
        before = self.arcs[arc.parent]
        return matrix_times(arc.A, ((before.c, before.s, 0), (-before.s, before.c, 0), (0, 0, 1)))


class MixedFrames(Tree):
    """C_ac = Σ B_ab B_bc [e_c, d_bb+]: the factors of the product live in different frames (l. 99, 115, 119)."""

    def C(self, a: int, c: int) -> Vector:
        """As printed."""
        path, total = self.paths[a], NULL
        for b in path[path.index(c) : -1]:
            total = plus(total, times(matrix_times(self.B[a][b], self.B[b][c]), cross(E, self.d(b, a))))
        return total


class Forward(Tree):
    """d_bb+ = O_bO_b+ together with the printed minus signs (l. 99, 103)."""

    def d(self, b: int, a: int) -> Vector:
        """O_bO_b+."""
        return scaled(-1, super().d(b, a))


class WithoutFirstTurn(Tree):
    """B_a1 V_1 with B_11 = I: the velocity of the base is in inertial axes, not in those of body 1 (l. 93 to 97)."""

    def u(self, a: int) -> Vector:
        """B_a1 V_1."""
        return times(self.B[a][self.paths[a][0]], self.V1)


def one_root(tree: Tree) -> Tree:
    """B_a1 for every body: all hinges of the base taken as carried by hinge 1, which exists in the paper alone."""
    return replace(
        tree, arcs=[replace(arc, parent=0) if i and arc.parent < 0 else arc for i, arc in enumerate(tree.arcs)]
    )


def nearest_smaller(tree: Tree) -> Tree:
    """a⁻ = "the nearest index smaller than a" in place of the parent (l. 85)."""
    return replace(tree, arcs=[replace(arc, parent=i - 1) for i, arc in enumerate(tree.arcs)])


def literal_coefficients(tree: Tree, *, center: str = "a", mixed: str = "symmetric", axis: str = "b") -> Coefficients:
    """Theorem 1 on a base that does not turn, with choices of what is printed.

    ``center``: d_bb of l. 141, 143 for d_aa; ``mixed``: "double" of l. 143; ``axis`` "c": B_ac e_b of l. 189.
    """
    n = len(tree.arcs)
    alpha_0: Any = 0
    alpha: list[Any] = [0] * n
    alpha_bc = np.full((n, n), 0, dtype=object)
    for a, arc in enumerate(tree.arcs):
        u = tree.u(a)
        alpha_0 = alpha_0 + arc.m * dot(u, u)
        e = {b: tree.direction(a, b) for b in tree.paths[a]}
        C = {b: tree.C(a, b) for b in tree.paths[a]}
        d = {b: scaled(-1, tree.arcs[b if center == "b" else a].rho) for b in tree.paths[a]}
        for b in e:
            alpha[b] = alpha[b] + arc.m * (dot(cross(u, e[b]), d[b]) + dot(u, C[b]))
            for c in e:
                turned = e[c] if axis == "c" else e[b]
                first = dot(cross(C[c], turned), d[b])
                other = first if mixed == "double" else dot(cross(C[b], e[c]), d[c])
                alpha_bc[b, c] = (
                    alpha_bc[b, c] + arc.m * (dot(C[b], C[c]) + first + other) + dot(times(arc.J, turned), e[c])
                )
    return Coefficients(alpha_0, alpha, alpha_bc)


def rodrigues(e: Vector, alpha: float, printed: bool) -> tuple[float, ...]:
    """λ_0 ... λ_3 of Lemma 1, λ_2 from l. 57 as printed or corrected."""
    x = (1 + e[2]) / 2
    l0, l3 = np.sqrt(x) * np.cos(alpha / 2), np.sqrt(x) * np.sin(alpha / 2)
    l1 = (e[0] * l3 + e[1] * l0) / (2 * x)
    l2 = (e[1] * l0 - e[0] * l3) / (2 * x) if printed else (e[1] * l3 - e[0] * l0) / (2 * x)
    return l0, l1, l2, l3


def matrix_of(l: tuple[float, ...]) -> np.ndarray:
    """The direction cosines of the parameters λ."""
    l0, l1, l2, l3 = l
    return np.array([
        [l0**2 + l1**2 - l2**2 - l3**2, 2 * (-l0 * l3 + l1 * l2), 2 * (l1 * l3 + l0 * l2)],
        [2 * (l0 * l3 + l1 * l2), l0**2 + l2**2 - l1**2 - l3**2, 2 * (-l0 * l1 + l2 * l3)],
        [2 * (-l0 * l2 + l1 * l3), 2 * (l0 * l1 + l2 * l3), l0**2 - l1**2 - l2**2 + l3**2],
    ])  # fmt: skip


def lemma_1(e: Vector, alpha: float) -> np.ndarray:
    """A_ab as printed: the chart that divides by 1 + e_3."""
    x, y, z = e
    c, s, k = np.cos(alpha), np.sin(alpha), 1 + z
    return np.array([
        [(k - x * x) / k * c + x * y / k * s, -x * y / k * c - (k - y * y) / k * s, -x * c + y * s],
        [-x * y / k * c + (k - x * x) / k * s, (k - y * y) / k * c - x * y / k * s, -y * c - x * s],
        [x, y, z],
    ])  # fmt: skip
