"""The loop in the frequency domain: margins at every input, and Bode's diagram of the open loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vinculum.control.frequency import FrequencyResponse, loop_response
from vinculum.control.margins import Margin, margins, small_margins
from vinculum.model.examine import Point
from vinculum.present.html import Html, joined, number, paragraph, table, tag, text
from vinculum.present.mathml import formula, inline
from vinculum.present.report.charts import figure, wide_grid
from vinculum.present.svg import Axis, Line, Picture


def loop(point: Point, seconds: bool) -> Html:
    """Margins and Bode's diagrams of a stable closed loop; nothing for another one."""
    if point.law is None or not point.closed_verdict:
        return text("")
    found = margins(point.law, point.estimator)
    words = paragraph(
        "The loop is opened at one input, with the others closed; ",
        formula("L"),
        " is its transfer function. The loop stays stable while its gain is multiplied by a factor between the limits, "
        "or delayed by less than the delay margin.",
    )
    pictures = [picture for u in found for picture in _pictures(point, u, seconds)]
    said = doubtful(found, point.estimator is not None)
    return joined([tag("h4", "Margins"), words, margin_table(found, seconds), *said, wide_grid(pictures)])


def doubtful(found: Mapping[Any, Margin], observed: bool) -> list[Html]:
    """What is to say about small margins."""
    words = small_margins(found, observed)
    return [paragraph(" ".join(words), class_="bad")] if words else []


def margin_table(found: Mapping[Any, Margin], seconds: bool = True) -> Html:
    """A row for each input."""
    delay = "delay [s]" if seconds else "delay"
    head = ["input", "gain from", "gain to", "phase [°]", delay, "smallest |1 + L|"]
    rows = [[inline(u), *_numbers(margin)] for u, margin in found.items()]
    return table(head, rows, range(1, len(head)))


def _numbers(margin: Margin) -> list[Html]:
    values = (margin.gain_reduction, margin.gain, np.degrees(margin.phase), margin.delay, margin.distance)
    return [number(float(x), 4) if np.isfinite(x) else text("no limit") for x in values]


def _pictures(point: Point, u: object, seconds: bool) -> list[Html]:
    """Magnitude and phase of L over frequency."""
    assert point.law is not None
    response = loop_response(point.law, u, estimator=point.estimator)
    magnitude = _over_frequency(response, response.magnitude[0, 0], 1.0, seconds, log=True)
    phase = _over_frequency(response, np.degrees(response.phase[0, 0]), -180.0, seconds)
    return [
        figure(magnitude, joined([formula("|L|"), " at ", inline(u)])),
        figure(phase, joined(["phase of ", formula("L"), " at ", inline(u), " [°]"])),
    ]


def _over_frequency(
    response: FrequencyResponse, values: np.ndarray, level: float, seconds: bool, log: bool = False
) -> Picture:
    """A curve and the stability limit, dashed."""
    ends = response.frequencies[[0, -1]]
    lines = [Line(ends, np.full(2, level), color="--text", dash="dash"), Line(response.frequencies, values, width=2)]
    return Picture(
        lines,
        Axis(f"frequency [rad{'/s' if seconds else ' per unit of time'}]", log=True),
        Axis(log=log),
        height=230,
        width=420,
    )
