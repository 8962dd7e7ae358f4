"""What one came for, in a strip at the top: verdict, settling, residuals, energy, inputs at their limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vinculum.control.attraction import deviations_of
from vinculum.model.examine import Point, Results
from vinculum.names import variable_name
from vinculum.present.html import Html, joined, number, tag, text
from vinculum.present.report.formulas import unit_of
from vinculum.present.report.stability import badge

_NEAR = 0.05  # fraction of its largest deviation within which a state has settled


def strip(results: Results) -> Html:
    """Tiles with a word, a number and a color; those that a model does not ask for are left out."""
    tiles = [*_verdicts(results), *_settlings(results), *_errors(results)]
    return tag("dl", *tiles, class_="strip") if tiles else text("")


def _tile(label: str, value: object, note: object = "", kind: str = "") -> Html:
    told = tag("small", note) if note else ""
    return tag("div", tag("dt", label), tag("dd", value, told), class_=f"tile {kind}".strip())


def _titled(results: Results) -> list[tuple[str, Point]]:
    several = len(results.points) > 1
    return [(f" {i}" if several else "", point) for i, point in enumerate(results.points[:2], start=1)]


def _verdicts(results: Results) -> Iterator[Html]:
    for which, point in _titled(results):
        if point.verdict is None:
            continue
        closed = point.closed_verdict
        label = f"{point.rest.kind.capitalize()}{which}"
        yield _tile(label, badge(point.verdict), "" if closed is None else joined(["with feedback ", badge(closed)]))


def _settlings(results: Results) -> Iterator[Html]:
    for which, point in _titled(results):
        found = point.settling
        if found is None:
            continue
        unit = " s" if results.model.units else ""
        time = _settling_time(point)
        value = joined([number(time, 3), unit]) if found and time is not None else "no"
        note = "to within 5 % of the largest deviation" if found else "did not converge to its equilibrium"
        yield _tile(f"Settles{which and f', equilibrium{which}'}", value, note, "" if found else "bad")
        for u, lasted in found.limited.items():
            share = joined([number(lasted, 3), unit, " of ", number(found.lasted, 3), unit])
            limit = joined(["±", number(found.limits[u], 6), _unit(results, u)])
            yield _tile(f"{u} at its limit", share if lasted else "never", limit, "open" if lasted else "")


def _unit(results: Results, name: str) -> str:
    """The unit of an input, with a space before it."""
    units = [unit_of(results.model, u) for u in results.model.system.inputs if variable_name(u) == name]
    return f"\N{NO-BREAK SPACE}{units[0]}" if units and units[0] else ""


def _settling_time(point: Point) -> float | None:
    """The time after which every state stays within a twentieth of its largest deviation; None if nothing moved."""
    if point.law is None or point.closed_motion is None:
        return None
    away = np.atleast_2d(deviations_of(point.law.linear, point.closed_motion))
    far = np.nonzero((away > _NEAR * away.max(axis=1, keepdims=True)).any(axis=0))[0]
    t = point.closed_motion.t
    return float(t[min(far[-1] + 1, len(t) - 1)] - t[0]) if len(far) else None


def _errors(results: Results) -> Iterator[Html]:
    motion = results.main_motion
    if motion is None:
        return
    if not motion.outcome:
        yield _tile("Ended early", joined(["t = ", number(float(motion.t[-1]), 4)]), motion.outcome.reason, "bad")
    if motion.largest_residuals:
        bound = None if not motion.promised else motion.kept
        note = (
            "of any constraint" if bound is None else "every promised bound is kept" if bound else "a bound is exceeded"
        )
        kind = "" if bound is None else "good" if bound else "bad"
        yield _tile("Largest residual", number(max(motion.largest_residuals.values()), 2), note, kind)
    if np.any(motion.energy):
        size = float(np.nanmax(np.abs(motion.energy))) or 1.0
        yield _tile("Energy error", number(motion.energy_error / size, 2), "of the largest energy")
