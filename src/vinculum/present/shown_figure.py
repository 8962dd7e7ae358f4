"""Plotly figures that a notebook shows without Plotly too: exported to HTML, offline, or in an editor that lacks it.

A figure has two forms in a notebook: Plotly's own, and HTML that contains everything it needs. The reader's program
chooses.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from vinculum.extras import extra
from vinculum.present.html import Html
from vinculum.present.paper import STYLE

_Figure: Any = extra("plotly.graph_objects", "plots").Figure
_LINES = ("scatter", "scattergl")


class ShownFigure(_Figure):
    """A Plotly figure with a form for readers without Plotly: a static picture, or what ``instead`` makes."""

    def __init__(self, *arguments: Any, instead: Callable[[], str] | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._instead = instead

    def _repr_mimebundle_(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(*arguments, **options) or {})
        return bundle | {"text/html": (self._instead or (lambda: static(self)))()}

    def __repr__(self) -> str:
        """One line: Plotly would print all numbers."""
        frames = f", {len(self.frames)} frames" if self.frames else ""
        return f"<figure with {len(self.data)} lines{frames}: .show() opens it, .write_html(file) keeps it>"

    _ipython_display_ = None  # Plotly's own would show its form alone


def static(figure: Any) -> Html:
    """The lines and the map of a figure as SVG, with its axes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        kinds = list(dict.fromkeys(trace.yaxis or "y" for trace in figure.data))
        drawn = Figure(figsize=(5.6, 1.0 + 2.2 * len(kinds)), layout="constrained")
        for axes, kind in zip(drawn.subplots(len(kinds), squeeze=False)[:, 0], kinds, strict=True):
            _draw(axes, figure, kind)
        content = io.StringIO()
        drawn.savefig(content, format="svg", metadata={"Date": None})
    return Html(content.getvalue()[content.getvalue().index("<svg") :])


def _draw(axes: Any, figure: Any, kind: str) -> None:
    """The traces of one pair of axes."""
    named = []
    for trace in (trace for trace in figure.data if (trace.yaxis or "y") == kind):
        if trace.type in _LINES:
            look = {"linestyle": "", "marker": "+"} if trace.mode == "markers" else {"linewidth": 1.2}
            named += axes.plot(trace.x, trace.y, label=trace.name or "_", **look)
        elif trace.type == "heatmap":
            limit = trace.zmax
            axes.pcolormesh(trace.x, trace.y, trace.z, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="nearest")
            axes.contour(trace.x, trace.y, trace.z, levels=[0.0], colors="black")
    for name in ("x", "y"):
        stated = figure.layout[kind.replace("y", f"{name}axis")]
        getattr(axes, f"set_{name}label")((stated.title.text or "").replace("$", r"\$"))
        getattr(axes, f"set_{name}scale")("log" if stated.type == "log" else "linear")
    if any(trace.showlegend is not False for trace in figure.data) and named:
        axes.legend(fontsize=7)
