"""Discontinuities: sign, |x| and branches make equations that are smooth only on either side of a surface g = 0.

σ = ±1 is the side on which the motion is. With a number σ for sign(g), g σ for |g| and σ > 0 for g > 0, the equations
are smooth until the motion reaches the surface. There the next σ_k must agree with the motion that follows (Filippov
1988, for several surfaces at once):

    σ_k = 1 with dg_k/dt ≥ 0,   σ_k = -1 with dg_k/dt ≤ 0,   or -1 ≤ σ_k ≤ 1 with dg_k/dt = 0,

where the last is a motion along the surface (dry friction at rest). Where dg_k/dt = 0 and contains no σ, the same
conditions apply to d²g_k/dt² (rest at a kink of the potential).

Splines have pieces instead of sides (`pieces`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from vinculum.errors import SingularError
from vinculum.graph import (
    ONE,
    ZERO,
    Node,
    along,
    constant,
    evaluate,
    jacobian,
    order,
    solve,
    substitute,
    symbol,
    symbols,
)
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import compare
from vinculum.graph.splines import expand_splines
from vinculum.graph.traverse import describe
from vinculum.kept import Kept
from vinculum.simulation.problem.pieces import Search

if TYPE_CHECKING:
    from vinculum.simulation.problem.motion_expressions import MotionNodes
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan

CORNERED = {"sign", "abs"}  # functions, in addition to comparisons, whose corners are found exactly
_COMPARED = ("less", "less_equal")
_SPARE = 1e-9  # σ² may exceed 1 by this much along a surface: friction just at its limit is not a corner
_ON = 1e-12  # |g| up to this times (1 + |dg/dt|) counts as on the surface
_MOST = 8  # surfaces at once for which all combinations of sides are tried
_SLACK = 1e-9

# -- surfaces and their sides ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sides:
    """σ of every surface; the surfaces along which the motion goes, with d(dg/dt)/dσ at the start of that motion.

    For surfaces that are ``tangent`` as well (dg/dt = 0 there without any σ), d²g/dt² takes the place of dg/dt. An
    ``idle`` surface is one on which the motion stays because it follows another one: v = 0 for x = 0.
    """

    sigma: tuple[float, ...]
    along: tuple[int, ...] = ()
    matrix: np.ndarray | None = None  # (k, k)
    forward: bool = True  # in time
    tangent: tuple[int, ...] = ()
    idle: tuple[int, ...] = ()
    chosen: tuple[float, ...] = ()  # the numbers of the pieces of all splines

    @property
    def branch(self) -> tuple[tuple[int, ...], ...]:
        """What determines the equations: everything but the values of σ."""
        return self.along, self.tangent, self.idle


@dataclass(frozen=True, eq=False)
class Corners:
    """The surfaces of some outputs, and the replacements of sign, |x| and comparisons on one side."""

    surfaces: tuple[Node, ...]  # g, which may contain σ of other surfaces
    sigma: tuple[Node, ...]  # symbols
    replaced: dict[Node, Node]  # {sign(g): σ, |g|: g σ, a < b: σ > 0, entry: symbol}
    searches: tuple[Search, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.surfaces or self.searches)

    @property
    def numbers(self) -> tuple[Node, ...]:
        """The symbols of the numbers of all pieces."""
        return tuple(node for search in self.searches for node in (search.low, search.high, *search.entries.values()))

    @property
    def natural(self) -> dict[Node, Node]:
        """{symbol of an entry: the entry itself}, where no piece is chosen."""
        return {new: node for search in self.searches for node, new in search.entries.items()}

    def smooth(self, outputs: Sequence[Node]) -> list[Node]:
        """The outputs with σ as numbers."""
        return substitute(expand_splines(outputs), self.replaced)

    def slopes(self, time: Node, state: Sequence[Node], rates: Sequence[Node]) -> list[Node]:
        """dg/dt along the motion, as nodes of the state and σ."""
        return along(self.surfaces, {time: ONE, **dict(zip(state, self.smooth(rates), strict=True))})


def find_corners(outputs: Sequence[Node]) -> Corners:
    """All surfaces at which the outputs are not smooth, inner ones first."""
    surfaces: dict[Node, int] = {}
    replaced: dict[Node, Node] = {}
    searches: dict[Node, Search] = {}
    for node in order(expand_splines(outputs)):
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
        elif node.op == "piece":
            s = substitute([node.args[0]], replaced)[0]
            low, high = (symbol((end, len(searches))) for end in ("from knot", "to knot"))
            searches[node] = Search(node, s, low, high, {})
        elif node.op == "entry":
            entries = searches[node.args[0]].entries
            replaced[node] = entries[node] = symbol(("entry", searches[node.args[0]].low.value[1], len(entries)))
    sides = tuple(symbol(("side", k)) for k in surfaces.values())
    return Corners(tuple(surfaces), sides, replaced, tuple(searches.values()))


def _below(sigma: Sequence[Node]) -> dict[Node, Node]:
    """σ = -1 for all surfaces."""
    return dict.fromkeys(sigma, constant(-1))


def _solve_sliding(slopes: Sequence[Node], sigma: Sequence[Node], matrix: np.ndarray) -> dict[Node, Node]:
    """{σ: expression} with dg/dt = 0 along several surfaces; ``matrix`` is d(dg/dt)/dσ at a state, for the pivots."""
    low = substitute(list(slopes), _below(sigma))
    high = [substitute(list(slopes), _below(sigma) | {s: ONE}) for s in sigma]
    D = np.array([[up - down for up, down in zip(column, low, strict=True)] for column in high], dtype=object).T
    right = np.array([[-node] for node in low], dtype=object)
    shares = solve(D, right, 2 * matrix[None]).solution[:, 0]  # of the upper side, (1 + σ)/2
    return {s: 2 * share - 1 for s, share in zip(sigma, shares, strict=True)}


def _mix(outputs: Sequence[Node], slid: dict[Node, Node]) -> list[Node]:
    """Outputs along surfaces: those of the upper and lower sides in the shares (1 ± σ)/2."""
    low = substitute(list(outputs), _below(list(slid)))
    result = low
    for sigma, held_at in slid.items():
        high = substitute(list(outputs), _below(list(slid)) | {sigma: ONE})
        share = (1 + held_at) / 2
        result = [r + share * (up - down) for r, up, down in zip(result, high, low, strict=True)]
    return result


def _is_linear_in(outputs: Sequence[Node], sigma: Sequence[Node]) -> bool:
    """Whether outputs are of the first degree in σ, so σ can be substituted directly."""
    known = order(outputs)
    branches = any(node.op == "less" and any(s in node.args for s in sigma) for node in known)
    slopes = [node for node in jacobian(list(outputs), sigma).ravel() if node is not ZERO]
    return not branches and not symbols(slopes) & set(sigma)


def rough_functions(outputs: Sequence[Node]) -> list[str]:
    """Nonsmooth functions whose corners are not known."""
    kinks = {node.op for node in order(outputs) if node.op in FUNCTIONS and not FUNCTIONS[node.op].smooth}
    return sorted(kinks - CORNERED)


# -- the equations between corners -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Branch:
    """The equations along the same surfaces, or along none; the sides of the other surfaces are run-time numbers."""

    nodes: MotionNodes
    sides: Sides | None  # the first ones on this branch; None: sign, |x| and comparisons are unchanged
    known: Kept = field(default_factory=lambda: Kept(256))  # what was `prepared`

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """p: settings, expressions computed once from them, held corrections, sides of corners."""
        corners = self.nodes.corners
        sides = () if self.sides is None else (*corners.sigma, *corners.numbers)
        return (*self.nodes.settings, *self.nodes.hoisted.values(), *self.nodes.integrable.corrections, *sides)

    def prepared(self, outputs: Sequence[Node]) -> tuple[Node, ...]:
        """Outputs on this branch, with the hoisted subexpressions replaced by their symbols."""
        key = tuple(outputs)
        return self.known.get(key, lambda: tuple(substitute(self._smooth(key), self.nodes.hoisted)))

    def _smooth(self, outputs: Sequence[Node]) -> list[Node]:
        """Outputs on the present sides of all corners, or along them."""
        if self.sides is None:
            return list(outputs)
        smooth = self.nodes.corners.smooth(outputs)
        return substitute(smooth, self._held) if self._is_linear else _mix(smooth, self._held)

    @cached_property
    def _is_linear(self) -> bool:
        """Whether f is of the first degree in the σ of the surfaces along which the motion goes."""
        return not self._held or _is_linear_in(self.nodes.corners.smooth(self.nodes.rates), list(self._held))

    @cached_property
    def _held(self) -> dict[Node, Node]:
        """{σ: expression} of the surfaces along which the motion goes."""
        if self.sides is None or self.sides.matrix is None:
            return {}
        chosen = self.sides.along
        sigma = [self.nodes.corners.sigma[k] for k in chosen]
        return _solve_sliding(_rates_of(self.nodes, chosen, self.sides.tangent), sigma, self.sides.matrix)

    @cached_property
    def margins(self) -> tuple[Node, ...]:
        """Positive while the motion stays on the present sides: σ g, and 1 - σ² along a surface; without constants."""
        if self.sides is None:
            return ()
        pairs = zip(self.nodes.corners.sigma, self.nodes.corners.surfaces, strict=True)
        along = {sigma: 1 + _SPARE - node * node for sigma, node in self._held.items()}
        along |= {self.nodes.corners.sigma[k]: ONE for k in self.sides.idle}
        inside = [
            x for search in self.nodes.corners.searches if search.s is not self.nodes.time for x in search.margins
        ]
        found = substitute([*(along.get(sigma, sigma * g) for sigma, g in pairs), *inside], self._held)
        moving = {self.nodes.time, *self.nodes.state}
        return tuple(margin for margin in found if symbols([margin]) & moving)


# -- the side on which a motion continues ------------------------------------------------------------------------


def place_on_sides(problem: Problem, plan: Plan, t: float, x: np.ndarray) -> Problem:
    """The problem on the sides of its corners, for methods that follow corners; the others step over them."""
    return choose_sides(problem, t, x, plan.t1 - plan.t0) if plan.method.follows_corners else problem


def choose_sides(problem: Problem, t: float, x: np.ndarray, direction: float) -> Problem:
    """The problem with the sides on which the motion continues from a state."""
    if not problem.nodes.corners:
        return problem
    g, sigma, known, chosen = _sides_at(problem, t, x, direction)
    rates = evaluate(problem.nodes.corner_slopes, known)
    on = [k for k in range(len(g)) if abs(g[k]) <= _ON * (1.0 + abs(rates[k]))]
    if not on:
        return problem.on_sides(Sides(tuple(sigma), forward=direction > 0, chosen=chosen))
    sides = _from_surfaces(problem, on, sigma, known, direction)
    return problem.on_sides(replace(sides, chosen=chosen))


def _sides_at(
    problem: Problem, t: float, x: np.ndarray, direction: float
) -> tuple[list[float], list[float], dict[Node, float], tuple[float, ...]]:
    """g and σ = sign(g) of every surface at a state, the values of all symbols, and the numbers of all pieces."""
    corners, known = problem.nodes.corners, problem.numbers(t, x)
    chosen = _pieces_at(problem, known, direction)
    known |= dict(zip(corners.numbers, chosen, strict=True))
    g: list[float] = []
    for surface, sigma in zip(corners.surfaces, corners.sigma, strict=True):  # inner first: outer ones may contain σ
        g.append(evaluate([surface], known)[0])
        known[sigma] = 1.0 if g[-1] >= 0 else -1.0
    return g, [known[sigma] for sigma in corners.sigma], known, chosen


def _pieces_at(problem: Problem, known: dict[Node, float], direction: float) -> tuple[float, ...]:
    """The numbers of the pieces of all splines on which the motion continues."""
    searches = problem.nodes.corners.searches
    if not searches:
        return ()
    places = evaluate([search.node.args[0] for search in searches], known)
    rates = evaluate(problem.nodes.search_slopes, known)
    triples = zip(searches, places, rates, strict=True)
    return tuple(x for search, s, rate in triples for x in search.numbers(s, rate, direction))


def _from_surfaces(
    problem: Problem, on: list[int], sigma: list[float], known: dict[Node, float], direction: float
) -> Sides:
    """The sides that the motion takes from a state on the surfaces ``on``; σ of the other surfaces does not change."""
    nodes = problem.nodes
    sigma_on = [nodes.corners.sigma[k] for k in on]
    tangent = _tangent_surfaces(nodes, on, known)
    c, G = _affine(_rates_of(nodes, on, tangent), sigma_on, known)
    along_run = np.array([1.0 if k in tangent else np.sign(direction) for k in on])  # d²g/dt² is the same backward
    found = consistent_sides(along_run * c, along_run[:, None] * G)
    if found is None:
        names = ", ".join(describe(nodes.corners.surfaces[k]) for k in on)
        raise SingularError(f"the equations jump where {names} = 0, and no consistent motion continues from there")
    changed = dict(enumerate(sigma)) | dict(zip(on, found, strict=True))
    kept = [i for i, side in enumerate(found) if side == 0.0]
    matrix = G[np.ix_(kept, kept)] if kept else None
    idle = tuple(on[i] for i in _following(c, G, kept))
    return Sides(tuple(changed.values()), tuple(on[i] for i in kept), matrix, direction > 0, tangent, idle)


def _rates_of(nodes: MotionNodes, surfaces: Sequence[int], tangent: Sequence[int]) -> list[Node]:
    """dg/dt of some surfaces, and d²g/dt² of the tangent ones."""
    return [nodes.corner_curvatures[k] if k in tangent else nodes.corner_slopes[k] for k in surfaces]


def _tangent_surfaces(nodes: MotionNodes, on: list[int], known: dict[Node, float]) -> tuple[int, ...]:
    """The surfaces with dg/dt = 0 here, where dg/dt contains no σ."""
    sides = {nodes.corners.sigma[k] for k in on}
    smooth = [k for k in on if not symbols([nodes.corner_slopes[k]]) & sides]
    if not smooth:
        return ()
    slopes = evaluate([nodes.corner_slopes[k] for k in smooth], known)
    curvatures = evaluate([nodes.corner_curvatures[k] for k in smooth], known)
    pairs = zip(smooth, slopes, curvatures, strict=True)
    return tuple(k for k, slope, curvature in pairs if abs(slope) <= _ON * (1.0 + abs(curvature)))


def _following(c: np.ndarray, G: np.ndarray, kept: list[int]) -> list[int]:
    """The surfaces whose rate c + G σ vanishes because it is a combination of rates that are held at zero."""
    if not kept:
        return []
    rows = np.column_stack([G, c])
    shares = np.linalg.lstsq(rows[kept].T, rows.T, rcond=None)[0]
    off = np.abs(rows - shares.T @ rows[kept]).max(axis=1)
    return [i for i in range(len(c)) if i not in kept and off[i] <= _SLACK * np.abs(rows[i]).max(initial=0.0)]


def _affine(slopes: list[Node], sigma: list[Node], known: dict[Node, float]) -> tuple[np.ndarray, np.ndarray]:
    """c and G of dg/dt = c + G σ, from the slopes with all σ = -1 and with each σ = 1 in turn."""
    below = dict.fromkeys(sigma, -1.0)
    low = np.array(evaluate(slopes, known | below))
    high = np.array([evaluate(slopes, known | below | {s: 1.0}) for s in sigma]).T
    G = (high - low[:, None]) / 2
    return low + G.sum(axis=1), G


def consistent_sides(c: np.ndarray, G: np.ndarray) -> list[float] | None:
    """σ (0: along the surface) consistent with dg/dt = c + G σ; None if there is no such choice."""
    if len(c) > _MOST:
        return _relax(c, G)
    for choice in product((0.0, 1.0, -1.0), repeat=len(c)):
        if _agrees(np.array(choice), c, G):
            return list(choice)
    return None


def _agrees(sides: np.ndarray, c: np.ndarray, G: np.ndarray) -> bool:
    """Whether the motion stays on these sides; the motion follows a surface only if it attracts (G < 0)."""
    held = sides == 0.0
    sigma = sides.copy()
    if np.any(np.diag(G)[held] >= 0):
        return False
    if np.any(held):
        block = G[np.ix_(held, held)]
        if np.linalg.matrix_rank(block) < len(block):
            return False
        sigma[held] = np.linalg.solve(block, -(c + G @ sides)[held])
    leaving = (sides * (c + G @ sigma))[~held]
    slack = _SLACK * (np.abs(c) + np.abs(G).sum(axis=1))[~held]
    return bool(np.all(np.abs(sigma[held]) <= 1.0 + _SPARE / 10) and np.all(leaving >= -slack))


def _relax(c: np.ndarray, G: np.ndarray) -> list[float] | None:
    """The same for many surfaces: σ moves with its rate, limited to [-1, 1], until it converges."""
    size = np.maximum(np.abs(G).sum(axis=1), 1e-300)
    sigma = np.zeros(len(c))
    for _ in range(20_000):
        new = np.clip(sigma + 0.5 * (c + G @ sigma) / size, -1.0, 1.0)
        if np.abs(new - sigma).max() < 1e-15:
            break
        sigma = new
    sides = np.where(np.abs(sigma) >= 1.0 - 1e-12, np.sign(sigma), 0.0)
    return list(sides) if _agrees(sides, c, G) else None
