"""The response of closed loops: states and inputs with feedback and with the inputs held."""

from __future__ import annotations

import sympy as sp

from vinculum.model.examine import Point, Results
from vinculum.present.html import Html, number, paragraph, powers, sentence, tag, text
from vinculum.present.mathml import inline
from vinculum.present.report import digital
from vinculum.present.report.charts import Charts, Series, grid, key_of, settled
from vinculum.present.report.motion import course, how, part
from vinculum.present.svg import SERIES
from vinculum.simulation import Trajectory


def response(results: Results, number_: int, charts: Charts) -> Html:
    """States and inputs after the same displacement, with feedback and with the inputs held."""
    point = results.points[number_ - 1]
    closed, held = point.closed_motion, point.held_motion
    if closed is None or point.linear is None:
        return text("")
    keys = (*point.linear.states, *point.linear.inputs)
    end = settled(closed.t, [closed[key] for key in keys])
    drawn = [_compared(results, number_, key, end, charts) for key in keys]
    names = {SERIES[0]: "with feedback", SERIES[1]: "without, inputs held"}
    names = {color: words for color, words in names.items() if held is not None or color == SERIES[0]}
    names |= {} if point.digital is None else {digital.COLOR: digital.NAME}
    legend = tag("div", *(key_of(f"var({color})", words) for color, words in names.items()), class_="keys")
    notes = [_moved(results, point), _arrived(point), _stopped("With feedback", closed)]
    notes += [] if held is None else [_stopped("Without feedback", held)]
    notes += [] if point.digital is None else digital.notes(point.digital)
    if end < closed.t[-1]:
        notes.append(paragraph(f"Shown until it has settled; the run went on to t = {closed.t[-1]:g}.", class_="note"))
    several = f", equilibrium {number_}" if len(results.points) > 1 else ""
    identifier, title = f"response-{number_}", f"Response with feedback{several}"
    return part(identifier, title, legend if len(names) > 1 else "", *notes, grid(drawn), how(closed))


def _compared(results: Results, number_: int, key: sp.Expr, end: float, charts: Charts) -> Html:
    """One quantity with feedback, behind it without feedback, and with the law at samples."""
    other = charts.tables.get(f"held-{number_}")
    lines = [] if other is None else [Series(f"held-{number_}", other.quantity(key), "", SERIES[1], "dot")]
    lines += digital.line(results.points[number_ - 1].digital, f"digital-{number_}", key, charts, end)
    return course(results, f"closed-{number_}", key, charts, *lines, until=end)


def _moved(results: Results, point: Point) -> Html:
    """A note that the model's start was moved to another equilibrium, with its new values."""
    first = results.points[0].rest
    moved = [q for q in first if point.rest[q] != first[q] and not isinstance(q, sp.Derivative)]
    shown = [q for q in moved if point.linear is not None and q in point.linear.states]
    if point is results.points[0] or point.closed_motion is None or not shown:
        return text("")
    motion = point.closed_motion
    places = [part for q in shown for part in (", ", inline(q), " = ", number(float(motion[q][0]), 6))]
    words = "The start of the model, shifted from equilibrium 1 to this equilibrium: "
    return paragraph(words, *places[1:], ".", class_="note")


def _arrived(point: Point) -> Html:
    """Whether the motion converged to the equilibrium, and how long inputs were at their limits."""
    if point.settling is None:
        return text("")
    return paragraph(powers(sentence(f"The motion {point.settling.words}")), class_="good" if point.settling else "bad")


def _stopped(which: str, motion: Trajectory) -> Html:
    """When and why a run ended early."""
    return text("") if motion.outcome else paragraph(f"{which}: {sentence(str(motion.outcome))}", class_="note")
