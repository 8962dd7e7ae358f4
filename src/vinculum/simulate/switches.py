"""Corners of the equations: sign, |x| and branches, which are smooth on either side of a surface g = 0 only.

σ = ±1 says on which side the motion is. With σ a number in place of sign(g), |g| = g σ and g > 0, the equations are
smooth until the surface is met. Along a surface (dry friction at rest) σ lies between, such that dg/dt = 0 (Filippov).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.graph import ONE, ZERO, Node, along, jacobian, order, solve, substitute, symbol
from vinculum.graph.node import compare

_COMPARED = ("less", "less_equal")
SPARE = 1e-9  # by how much σ² may exceed 1 along a surface, so that friction just at its limit is no corner


@dataclass(frozen=True, eq=False)
class Sides:
    """σ of every surface, and those along which the motion goes, with d(dg/dt)/dσ of these where that began."""

    sigma: tuple[float, ...]
    along: tuple[int, ...] = ()
    matrix: np.ndarray | None = None  # (k, k)
    forward: bool = True  # in time


@dataclass(frozen=True, eq=False)
class Corners:
    """The surfaces of some outputs, and what stands for their sign, |x| and comparisons on one side."""

    surfaces: tuple[Node, ...]  # g, which may contain σ of other surfaces
    sigma: tuple[Node, ...]  # symbols
    replaced: dict[Node, Node]  # {sign(g): σ, |g|: g σ, a < b: σ > 0}

    def smooth(self, outputs: Sequence[Node]) -> list[Node]:
        """The outputs with σ as numbers."""
        return substitute(list(outputs), self.replaced)

    def slopes(self, time: Node, state: Sequence[Node], rates: Sequence[Node]) -> list[Node]:
        """dg/dt along the motion, as nodes of the state and σ."""
        return along(self.surfaces, {time: ONE, **dict(zip(state, self.smooth(rates), strict=True))})


def corners(outputs: Sequence[Node]) -> Corners:
    """All surfaces at which the outputs are not smooth, inner ones first."""
    surfaces: dict[Node, int] = {}
    replaced: dict[Node, Node] = {}
    for node in order(outputs):
        if node.op in ("sign", "abs"):
            g = substitute([node.args[0]], replaced)[0]
            sigma = symbol(("side", surfaces.setdefault(g, len(surfaces))))
            replaced[node] = sigma if node.op == "sign" else g * sigma
        elif node.op in _COMPARED:
            a, b = substitute(list(node.args), replaced)
            opposite = (a - b) in surfaces
            g = a - b if opposite else b - a
            sigma = symbol(("side", surfaces.setdefault(g, len(surfaces))))
            replaced[node] = compare("less", sigma, ZERO) if opposite else compare("less", ZERO, sigma)
    return Corners(tuple(surfaces), tuple(symbol(("side", k)) for k in surfaces.values()), replaced)


def held(slopes: Sequence[Node], sigma: Sequence[Node], matrix: np.ndarray) -> dict[Node, Node]:
    """{σ: expression} with dg/dt = c + G σ = 0 along several surfaces; ``matrix`` is G at a state, for the pivots."""
    free = substitute(list(slopes), dict.fromkeys(sigma, ZERO))
    G = jacobian(list(slopes), sigma)
    right = np.array([[-node] for node in free], dtype=object)
    return dict(zip(sigma, solve(G, right, matrix[None]).solution[:, 0], strict=True))
