"""The tree as a graph: numbering, incidence matrix S, its inverse, paths (Dolgii, Sesekin, Chupin, part 1).

Vertices are bodies, arcs are joints; the ground s_0 has no row. Arc a goes from the parent of body a to
body a. In the internal numbering, every body comes after its parent and the bodies of a branch are consecutive
(depth-first), which is stronger than the paper's "correct numbering".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.describe.bodies.body import Body

GROUND = "the ground"  # its key in the graph


def graph_of(bodies: Sequence[Body]) -> Any:
    """The directed graph ground -> ... -> leaves, as a ``networkx.DiGraph`` with the joint kind on each arc."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_node(GROUND)
    for body in bodies:
        graph.add_edge(GROUND if body.parent is None else body.parent, body.name, joint=str(body.joint))
    return graph


def depth_first(bodies: Sequence[Body]) -> list[str]:
    """Names of the bodies, each after its parent, with branches kept together and otherwise in the user's order."""
    children: dict[str | None, list[str]] = {}
    for body in bodies:
        children.setdefault(body.parent, []).append(body.name)
    found, waiting = [], children.get(None, [])[::-1]
    while waiting:
        name = waiting.pop()
        found.append(name)
        waiting += reversed(children.get(name, []))
    return found


def incidence(bodies: Sequence[Body]) -> np.ndarray:
    """S, rows bodies and columns arcs: S_ia = +1 where arc a ends in body i, -1 where it begins there."""
    import networkx as nx

    order = depth_first(bodies)
    graph = graph_of(bodies)
    matrix = nx.incidence_matrix(
        graph, nodelist=[*order, GROUND], edgelist=[(next(graph.predecessors(name)), name) for name in order],
        oriented=True,
    )  # fmt: skip
    return matrix.toarray()[:-1].astype(int)


def inverse_incidence(bodies: Sequence[Body]) -> np.ndarray:
    """S⁻¹, rows arcs and columns bodies: 1 where arc b lies on the path from the ground to body a, else 0."""
    order = depth_first(bodies)
    ways = paths(bodies)
    return np.array([[int(arc in ways[body]) for body in order] for arc in order])


def paths(bodies: Sequence[Body]) -> dict[str, tuple[str, ...]]:
    """The arcs (named by the body they carry) from the ground to every body."""
    import networkx as nx

    ways = nx.single_source_shortest_path(graph_of(bodies), GROUND)
    return {name: tuple(ways[name][1:]) for name in depth_first(bodies)}
