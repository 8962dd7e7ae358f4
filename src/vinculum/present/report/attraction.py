"""The region of attraction: sampled starts, and the set of Lyapunov's form inside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.control import Attraction, AttractionEstimate
from vinculum.control.attraction import AWAY, CONVERGED
from vinculum.model.examine import Results
from vinculum.model.examine.region_steps import RegionOfAttraction
from vinculum.names import name_of
from vinculum.present.html import Html, Section, counted, joined, number, paragraph, section, sentence, table, tag, text
from vinculum.present.mathml import inline
from vinculum.present.report import study_charts as svg
from vinculum.present.report.charts import key_of
from vinculum.present.report.formulas import quantity
from vinculum.present.report.regions import figure, labeled

_GOOD = "var(--series-1)"


def attraction(results: Results) -> Section | None:
    """Sampled starts, and the set of Lyapunov's form inside the region."""
    found = results.attraction
    if found is None:
        return None
    asked = results.model.attraction or {}
    sampled, over = found.sampled, list(found.sampled.starts[0])
    names = [inline(key) for key in over]
    unit = "\N{NO-BREAK SPACE}s" if results.model.units else ""
    time = joined([number(float(asked["time"]), 4), unit])
    words = paragraph(
        f"{int(sampled.converged.sum())} of {len(sampled.starts)} starts with other values of ",
        *(joined([name, " and "]) for name in names[:-1]), tag("span", names[-1], ",", class_="closed"),
        " all else at the equilibrium, converged within ", time, ": every state ended below ",
        number(100 * sampled.within, 3), "\N{NO-BREAK SPACE}% of its largest deviation.",
    )  # fmt: skip
    picture = _plane(results, found, over) if len(over) == 2 else _line(results, found, over[0])
    estimate = _estimate(results, found)
    both = tag("div", figure(_attraction_keys(found, over), picture), tag("div", *estimate), class_="beside")
    return section("attraction", "Region of attraction", words, both, _outcomes(sampled))


def _attraction_keys(found: RegionOfAttraction, over: Sequence[sp.Expr]) -> Html:
    keys = [key_of(_GOOD, "converged")] if found.sampled.converged.any() else []
    keys += [] if found.sampled.converged.all() else [key_of("var(--bad)", "did not converge (cross)")]
    keys += [key_of("var(--series-3)", "Lyapunov's set")] if _half_widths(found.estimate, over) is not None else []
    return tag("span", *keys, class_="keys")


def _plane(results: Results, found: RegionOfAttraction, over: Sequence[sp.Expr]) -> Html:
    """Starts over two quantities, and the section of the set through their plane."""
    a, b = (np.array([start[key] for start in found.sampled.starts]) for key in over)
    outline = _outline(found.estimate, over)
    x, y = svg.across(a, outline[0]), svg.upward(b, outline[1])
    marks = [svg.area(x.at(outline[0]), y.at(outline[1]), "var(--series-3)")] if len(outline[0]) else []
    share = np.where(found.sampled.converged, 0.0, np.nan)
    titles = [_start(start, told) for start, told in zip(found.sampled.starts, found.sampled.outcomes, strict=True)]
    marks += svg.dots(x.at(a), y.at(b), share, titles)
    rest = results.points[0].rest
    center = float(x.at(rest.get(over[0], 0.0))), float(y.at(rest.get(over[1], 0.0)))
    marks.append(svg.ring(*center, "the equilibrium"))
    names = labeled(results, over[0]), labeled(results, over[1])
    return svg.chart(x, y, marks, *names, "Starts that converge to the equilibrium, and Lyapunov's set inside")


def _line(results: Results, found: RegionOfAttraction, key: sp.Expr) -> Html:
    """What remains of the deviation over one quantity, and the range of the set."""
    a = np.array([start[key] for start in found.sampled.starts])
    left = np.minimum(np.where(np.isfinite(found.sampled.distances), found.sampled.distances, 1.0), 1.0)
    half = _half_widths(found.estimate, [key])
    ends = np.array([]) if half is None else found.estimate.center[key] + half[0] * np.array([-1.0, 1.0])  # type: ignore[union-attr]
    x, y = svg.across(a, ends), svg.upward(left, np.array([0.0, 1.0]))
    marks = (
        [svg.box(x, y, tuple(ends), (y.low, y.high), "color-mix(in oklab, var(--series-3) 25%, var(--panel))")]
        if len(ends)
        else []
    )
    titles = [_start(start, told) for start, told in zip(found.sampled.starts, found.sampled.outcomes, strict=True)]
    marks += svg.dots(x.at(a), y.at(left), np.where(found.sampled.converged, 0.0, np.nan), titles)
    return svg.chart(x, y, marks, labeled(results, key), "remaining deviation", f"Starts over {name_of(key)}")


def _start(start: dict[sp.Expr, float], outcome: str) -> str:
    return f"{', '.join(f'{name_of(key)} = {value:.4g}' for key, value in start.items())}: {outcome}"


def _half_widths(estimate: AttractionEstimate | None, over: Sequence[sp.Expr]) -> np.ndarray | None:
    """Half the widths of the set where the other states are at the equilibrium; None if it has no section."""
    if estimate is None or not np.isfinite(estimate.level) or any(key not in estimate.states for key in over):
        return None
    rows = [estimate.states.index(key) for key in over]
    return np.sqrt(estimate.level * np.diag(np.linalg.inv(estimate.matrix[np.ix_(rows, rows)])))


def _outline(estimate: AttractionEstimate | None, over: Sequence[sp.Expr]) -> tuple[np.ndarray, np.ndarray]:
    """The ellipse (z - z₀)ᵀ P (z - z₀) = level in the plane of two states."""
    if estimate is None or _half_widths(estimate, over) is None:
        return np.array([]), np.array([])
    rows = [estimate.states.index(key) for key in over]
    angles = np.linspace(0, 2 * np.pi, 97)
    L = np.linalg.cholesky(estimate.matrix[np.ix_(rows, rows)] / estimate.level)
    z = np.linalg.solve(L.T, np.array([np.cos(angles), np.sin(angles)]))
    return estimate.center[over[0]] + z[0], estimate.center[over[1]] + z[1]


def _estimate(results: Results, found: RegionOfAttraction) -> list[Html]:
    """How far every state may be from the equilibrium, and whether sampled starts contradict it."""
    estimate = found.estimate
    if estimate is None:
        return [paragraph("There is no set of Lyapunov's form: ", sentence(found.without_estimate), class_="note")]
    if not np.isfinite(estimate.level):
        return [paragraph("Lyapunov's form decays in all directions at all distances that were tried.", class_="note")]
    words = (
        f"From inside: Lyapunov's quadratic form decays along the nonlinear motion on and inside the set, in "
        f"{counted(estimate.directions, 'sampled direction')}. It is an estimate, not a proof. "
    )
    rows = [
        [quantity(results.model, s), number(estimate.center[s], 4), number(far, 4)] for s, far in estimate.reach.items()
    ]
    return [paragraph(words, _checked(found)), table(["state", "equilibrium", "reach ±"], rows, [1, 2])]


def _checked(found: RegionOfAttraction) -> str:
    """How many of the sampled starts are in the set, and whether all of them converged."""
    estimate, sampled = found.estimate, found.sampled
    assert estimate is not None
    if any(key not in estimate.states for key in sampled.starts[0]):
        return ""
    away = [any(start[key] != estimate.center[key] for key in start) for start in sampled.starts]
    inside = np.array([estimate.contains(start) for start in sampled.starts]) & np.array(away)
    if not inside.any():
        return "The sampled starts are too far apart to check it."
    lost = int((inside & ~sampled.converged).sum())
    found_there = f"{counted(int(inside.sum()), 'sampled start')} in it"
    return f"Of {found_there}, {lost or 'none'} did not converge."


def _outcomes(sampled: Attraction) -> Html:
    """How the other runs ended."""
    kinds = [told.partition(" at t = ")[0] for told in sampled.outcomes if told not in (CONVERGED, AWAY)]
    counts = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)][:4]
    return paragraph(f"Runs that ended early: {', '.join(counts)}.", class_="note") if counts else text("")
