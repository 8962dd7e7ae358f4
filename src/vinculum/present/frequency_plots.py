"""Bode's and Nyquist's diagrams as Plotly figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from vinculum.control.frequency import FrequencyResponse
from vinculum.extras import extra
from vinculum.names import name_of


def bode(found: FrequencyResponse) -> Any:
    """Magnitude and phase over frequency, one line for each pair of input and output."""
    from vinculum.present.shown_figure import ShownFigure

    figure = extra("plotly.subplots", "plots").make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for name, (i, j) in _pairs(found):
        for row, values in ((1, found.magnitude[i, j]), (2, np.degrees(found.phase[i, j]))):
            figure.add_scatter(
                x=found.frequencies, y=values, name=name, legendgroup=name, showlegend=row == 1, row=row, col=1
            )
    figure.update_xaxes(type="log")
    figure.update_xaxes(title="frequency [rad per unit of time]", row=2, col=1)
    figure.update_yaxes(title="magnitude", type="log", row=1, col=1)
    figure.update_yaxes(title="phase [degrees]", row=2, col=1)
    return ShownFigure(figure.update_layout(template="plotly_white"))


def nyquist(found: FrequencyResponse) -> Any:
    """G(iω) in the complex plane with the point -1, one line for each pair of input and output."""
    from vinculum.present.shown_figure import ShownFigure

    figure = ShownFigure()
    for name, (i, j) in _pairs(found):
        values = found.values[i, j]
        figure.add_scatter(x=values.real, y=values.imag, name=name, customdata=found.frequencies, mode="lines")
    figure.add_scatter(x=[-1], y=[0], name="-1", mode="markers", marker={"symbol": "cross", "color": "black"})
    figure.update_yaxes(scaleanchor="x", title="imaginary part")
    return figure.update_layout(template="plotly_white", xaxis_title="real part")


def _pairs(found: FrequencyResponse) -> Iterator[tuple[str, tuple[int, int]]]:
    for i, y in enumerate(found.outputs):
        for j, u in enumerate(found.inputs):
            yield f"{name_of(u)} to {name_of(y)}", (i, j)
