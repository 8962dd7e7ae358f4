"""The graph of a tree of bodies as a picture: bodies in columns by their depth, arcs with the kind of joint."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.topology import GROUND
from vinculum.extras import extra
from vinculum.writing import write_file

Place = tuple[float, float]


def tree_figure(tree: BodyTree) -> Any:
    """A Plotly figure of the tree; numbers are those of ``tree.order``."""
    places = positions(tree)
    figure = extra("plotly.graph_objects", "plots").Figure()
    _add_arcs(figure, tree, places)
    number = {name: i for i, name in enumerate(tree.order, start=1)}
    labels = [name if name == GROUND else f"{number[name]} {name}" for name in places]
    x, y = zip(*places.values(), strict=True)
    figure.add_scatter(x=x, y=y, mode="markers+text", text=labels, textposition="top center", showlegend=False)
    return figure.update_layout(title=tree.name, xaxis_visible=False, yaxis_visible=False)


def _add_arcs(figure: Any, tree: BodyTree, places: Mapping[str, Place]) -> None:
    """A line for each joint, with its kind in the middle, and a dotted one for each loop."""
    for parent, child, joint in tree.graph.edges(data="joint"):
        x, y = zip(places[parent], places[child], strict=True)
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": "gray"}, showlegend=False)
        figure.add_annotation(x=sum(x) / 2, y=sum(y) / 2, text=joint, showarrow=False, font={"size": 10})
    for loop in tree.loops:
        x, y = zip(*(places[name or GROUND] for name in (loop.first, loop.second)), strict=True)
        figure.add_scatter(x=x, y=y, mode="lines", line={"dash": "dot"}, name=loop.label)


def positions(tree: BodyTree) -> dict[str, Place]:
    """Depth increases to the right, leaves are one below the other, a parent is level with its children's middle."""
    import networkx as nx

    graph = tree.graph
    depth = nx.single_source_shortest_path_length(graph, GROUND)
    places: dict[str, Place] = {}
    leaves = 0
    for name in nx.dfs_postorder_nodes(graph, GROUND):
        below = [places[child][1] for child in graph.successors(name)]
        leaves += not below
        places[name] = (float(depth[name]), sum(below) / len(below) if below else -float(leaves))
    return dict(sorted(places.items(), key=lambda item: item[1][0]))


def draw_tree(tree: BodyTree, path: str | Path) -> None:
    """Write the tree to a file: .html with Plotly included, or a picture with Matplotlib (.png, .svg, .pdf)."""
    if Path(path).suffix == ".html":
        write_file(path, tree_figure(tree).to_html(include_plotlyjs=True))
        return
    from matplotlib.figure import Figure

    places = positions(tree)
    axes = (figure := Figure(figsize=(9, 5), layout="constrained")).subplots()
    for parent, child in tree.graph.edges():
        axes.plot(*zip(places[parent], places[child], strict=True), color="gray", lw=1)
    for name, (x, y) in places.items():
        axes.plot(x, y, "o", color="tab:blue")
        axes.annotate(name, (x, y), textcoords="offset points", xytext=(4, 4), fontsize=8)
    axes.set_axis_off()
    axes.set_title(tree.name)
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:] or "png", dpi=150)
    write_file(path, picture.getvalue())
