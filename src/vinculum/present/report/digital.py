"""A law at its samples: the processor, the motion next to the continuous one, and the margins of the sampled loop."""

from __future__ import annotations

import numpy as np
import sympy as sp

from vinculum.model.examine import DigitalRun
from vinculum.names import name_of
from vinculum.present.html import Html, joined, paragraph, powers, sentence, table, tag, text
from vinculum.present.report.charts import Charts, Series
from vinculum.present.report.loop import doubtful, margin_table
from vinculum.present.report.tables import packed_table
from vinculum.present.svg import SERIES

COLOR = SERIES[2]
NAME = "at samples"


def line(found: DigitalRun | None, run: str, key: sp.Expr, charts: Charts, until: float | None = None) -> list[Series]:
    """A quantity of the motion with a law at samples; an input as stairs, because it is held between commands."""
    if found is None:
        return []
    if key not in found.held:
        return [Series(run, charts.table(run, found.motion).quantity(key), "", COLOR)]
    name = f"{run} {name_of(key)}"
    t, u = stairs(found.motion.t, found.motion[key])
    shown = slice(None) if until is None else t <= until
    charts.envelopes[name] = packed_table(t[shown], {name_of(key): u[shown]})
    return [Series(name, name_of(key), "", COLOR)]


def stairs(t: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a line that keeps every value until the next change."""
    kept = np.flatnonzero(np.append(True, np.diff(u) != 0))
    times, values = np.append(t[kept], t[-1]), np.append(u[kept], u[-1])
    return np.repeat(times, 2)[1:], np.repeat(values, 2)[:-1]


def processor(found: DigitalRun) -> Html:
    """Sensors, delay and actuators, what the law warns of, and the margins of the sampled loop."""
    rows = [[key, value] for key, value in found.rows.items()]
    parts = [tag("h4", "At samples"), table(["part", "value"], rows), *notes(found)]
    if found.margins:
        words = "The loop of the exact discrete model, opened at one input, with its delay:"
        parts += [paragraph(words), margin_table(found.margins), *doubtful(found.margins, found.observed)]
    elif found.without_margins:
        parts.append(paragraph(sentence(found.without_margins), class_="note"))
    return joined(parts)


def notes(found: DigitalRun) -> list[Html]:
    """Warnings, whether the motion converged, and why it ended early."""
    said = [paragraph(sentence(words), class_="bad") for words in found.warnings]
    if found.settling is not None:
        words = f"With its law at samples, the motion {found.settling.words}"
        said.append(paragraph(powers(sentence(words)), class_="good" if found.settling else "bad"))
    if not found.motion.outcome:
        said.append(paragraph(f"At samples: {sentence(str(found.motion.outcome))}", class_="note"))
    return said or [text("")]
