"""Corners of the equations: sign, |x| and branches, which are smooth on either side of a surface g = 0 only.

σ = ±1 says on which side the motion is. With σ a number in place of sign(g), |g| = g σ and g > 0, the equations are
smooth until the surface is met. Along a surface (dry friction at rest) σ lies between, such that dg/dt = 0 (Filippov).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.graph import ONE, ZERO, Node, along, constant, jacobian, order, solve, substitute, symbol, symbols
from vinculum.graph.node import compare
from vinculum.graph.splines import in_pieces

CORNERED = {"sign", "abs"}  # functions, beside comparisons, whose corners are met exactly
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
        return substitute(in_pieces(outputs), self.replaced)

    def slopes(self, time: Node, state: Sequence[Node], rates: Sequence[Node]) -> list[Node]:
        """dg/dt along the motion, as nodes of the state and σ."""
        return along(self.surfaces, {time: ONE, **dict(zip(state, self.smooth(rates), strict=True))})


def corners(outputs: Sequence[Node]) -> Corners:
    """All surfaces at which the outputs are not smooth, inner ones first."""
    surfaces: dict[Node, int] = {}
    replaced: dict[Node, Node] = {}
    for node in order(in_pieces(outputs)):
        if node.op in CORNERED:
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


def below(sigma: Sequence[Node]) -> dict[Node, Node]:
    """All surfaces seen from their lower sides."""
    return dict.fromkeys(sigma, constant(-1))


def held(slopes: Sequence[Node], sigma: Sequence[Node], matrix: np.ndarray) -> dict[Node, Node]:
    """{σ: expression} with dg/dt = 0 along several surfaces; ``matrix`` is d(dg/dt)/dσ at a state, for the pivots."""
    low = substitute(list(slopes), below(sigma))
    high = [substitute(list(slopes), below(sigma) | {s: ONE}) for s in sigma]
    D = np.array([[up - down for up, down in zip(column, low, strict=True)] for column in high], dtype=object).T
    right = np.array([[-node] for node in low], dtype=object)
    shares = solve(D, right, 2 * matrix[None]).solution[:, 0]  # of the upper side, (1 + σ)/2
    return {s: 2 * share - 1 for s, share in zip(sigma, shares, strict=True)}


def mixed(outputs: Sequence[Node], slid: dict[Node, Node]) -> list[Node]:
    """Outputs along surfaces: those of the upper and lower sides in the shares (1 ± σ)/2."""
    low = substitute(list(outputs), below(list(slid)))
    result = low
    for sigma, held_at in slid.items():
        high = substitute(list(outputs), below(list(slid)) | {sigma: ONE})
        share = (1 + held_at) / 2
        result = [r + share * (up - down) for r, up, down in zip(result, high, low, strict=True)]
    return result


def linear_in(outputs: Sequence[Node], sigma: Sequence[Node]) -> bool:
    """Whether outputs are of the first degree in σ, so that σ itself may be put in."""
    known = order(outputs)
    branches = any(node.op == "less" and any(s in node.args for s in sigma) for node in known)
    slopes = [node for node in jacobian(list(outputs), sigma).ravel() if node is not ZERO]
    return not branches and not symbols(slopes) & set(sigma)
