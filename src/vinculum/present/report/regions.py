"""Stability over one value and over two parameters, in pictures without a script."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy as sp

from vinculum.analyze import Continuation, Region
from vinculum.model.examine import Results
from vinculum.names import gain_symbol, name_of
from vinculum.present.html import Html, Section, joined, number, paragraph, section, tag, text
from vinculum.present.mathml import inline
from vinculum.present.report import study_charts as svg
from vinculum.present.report.charts import key_of, wide_grid
from vinculum.present.report.formulas import bracketed_unit, quantity, unit_of

_MOST_QUANTITIES = 4
_GOOD, _BAD = "var(--series-1)", "var(--series-2)"


def labeled(results: Results, key: sp.Expr) -> str:
    """The name of an axis, with the unit."""
    return f"{name_of(key)}{bracketed_unit(results.model, key)}"


# -- over one value ----------------------------------------------------------------------------------------------


def continuation(results: Results) -> Section | None:
    """The roots and the motion over one value, with the borders of stability."""
    found = results.continuation
    if found is None:
        return None
    kind = results.points[0].rest.kind if results.points else "equilibrium"
    unit = unit_of(results.model, found.over)
    ends = joined([number(found.values[0], 4), " to ", number(found.values[-1], 4), f" {unit}" if unit else ""])
    words = paragraph(f"The {kind} followed over ", inline(found.over), " from ", ends, ". ", _told(found))
    keys = tag("div", key_of("var(--good-back)", "stable"), class_="keys") if found.stable.any() else ""
    roots = [figure(caption, picture) for caption, picture in _roots(results, found)]
    motion = [figure(quantity(results.model, key), _course(results, found, key, y)) for key, y in _shown(found)]
    return section("continuation", f"Stability over {name_of(found.over)}", words, keys, wide_grid([*roots, *motion]))


def _told(found: Continuation) -> Html:
    if not found.borders:
        return text("It is stable everywhere." if found.stable.all() else "It is unstable everywhere.")
    changes = [("becomes stable" if one.gained else "ceases to be stable", one) for one in found.borders]
    return joined(
        part for words, one in changes for part in (f"It {words} at ", number(one.value, 6), f" ({one.mode}). ")
    )


def _roots(results: Results, found: Continuation) -> list[tuple[str, Html]]:
    """Real and imaginary parts over the value; of a conjugate pair the imaginary part above zero."""
    upper = np.where(found.roots.imag > 0, found.roots.imag, np.nan)
    parts = {"real": found.roots.real, "imaginary": upper}
    return [(f"{name} parts of the roots", _root_parts(results, found, name, one)) for name, one in parts.items()
            if np.isfinite(one).any()]  # fmt: skip


def _root_parts(results: Results, found: Continuation, name: str, parts: np.ndarray) -> Html:
    x, y = svg.across(found.values), svg.upward(parts, np.zeros(1))
    lines = [svg.curve(x.at(found.values), y.at(one), _GOOD, 1.8) for one in parts.T if np.isfinite(one).any()]
    marks = [*_stable_ranges(found, x, y), svg.level(x, y, 0.0), *lines, *_borders(found, x, y)]
    words = f"{name.capitalize()} parts of the roots over {name_of(found.over)}"
    return svg.chart(x, y, marks, labeled(results, found.over), f"{name} part{_per_second(results)}", words)


def _per_second(results: Results) -> str:
    return " [1/s]" if results.model.units else ""


def _course(results: Results, found: Continuation, key: sp.Expr, values: np.ndarray) -> Html:
    """One quantity of the motion."""
    x, y = svg.across(found.values), svg.upward(values)
    marks = [*_stable_ranges(found, x, y), svg.curve(x.at(found.values), y.at(values), _GOOD, 1.8)]
    names = labeled(results, found.over), labeled(results, key)
    return svg.chart(x, y, [*marks, *_borders(found, x, y)], *names, f"{name_of(key)} over {name_of(found.over)}")


def _shown(found: Continuation) -> list[tuple[sp.Expr, np.ndarray]]:
    """The quantities that change, coordinates before velocities and inputs."""
    return sorted(found.motion.items(), key=lambda one: isinstance(one[0], sp.Derivative))[:_MOST_QUANTITIES]


def _stable_ranges(found: Continuation, x: svg.Axis, y: svg.Axis) -> list[Html]:
    """The ranges between borders where the motion is stable."""
    ends = [float(found.values[0]), *(border.value for border in found.borders), float(found.values[-1])]
    first = bool(found.stable[0]) if not found.borders else not found.borders[0].gained
    ranges = [(a, b) for k, (a, b) in enumerate(pairwise(ends)) if first == (k % 2 == 0)]
    return [svg.box(x, y, (a, b), (y.low, y.high), "var(--good-back)") for a, b in ranges]


def _borders(found: Continuation, x: svg.Axis, y: svg.Axis) -> list[Html]:
    places = [border.value for border in found.borders]
    return [mark for value in places for mark in svg.upright(x, y, value, f"{value:.4g}")]


# -- over two parameters -----------------------------------------------------------------------------------------


def stability_map(results: Results) -> Section | None:
    """The rightmost root over two parameters, with the border of stability."""
    found = results.stability_map
    if found is None:
        return None
    asked = results.model.stability_map or {}
    closed = asked.get("loop", "closed" if results.model.control else "open") == "closed"
    p, q = found.parameters
    which = "The loop with its feedback" if closed else "The equilibrium"
    words = paragraph(
        f"{which} is stable at {int(found.stable.sum())} of {found.sides.size} pairs of values of ",
        inline(p), " and ", inline(q), ", and unstable at ",
        f"{int(found.unstable.sum())}", _further(found), ". The color is the real part of the rightmost root.",
    )  # fmt: skip
    held = " Equilibrium and gains are those of the original parameters." if closed else ""
    note = paragraph(f"A cross marks an unstable pair.{held}", class_="note")
    return section("map", f"Stability over {name_of(p)} and {name_of(q)}", words, note, figure(*_map(results, found)))


def _further(found: Region) -> str:
    open_, none = int(found.undecided.sum()), int((found.sides == "none").sum())
    told = [f"{open_} undecided" if open_ else "", f"{none} without an equilibrium" if none else ""]
    return "".join(f", {words}" for words in told if words)


def _map(results: Results, found: Region) -> tuple[Html, Html]:
    """The legend and the map."""
    p, q = found.parameters
    x, y = svg.across(svg.edges(found.first)), svg.upward(svg.edges(found.second))
    marks = [_cell(found, x, y, i, j) for i, j in np.ndindex(found.sides.shape)]
    marks += svg.steps_between(x, y, found.first, found.second, found.sides)
    crosses = [(found.first[i], found.second[j]) for i, j in np.argwhere(found.unstable)]
    marks += [svg.cross(float(x.at(a)), float(y.at(b)), "var(--text)", 2.2) for a, b in crosses]
    own = {**results.model.system.parameters, **_gains(results)}
    if p in own and q in own:
        marks.append(svg.ring(float(x.at(own[p])), float(y.at(own[q])), "the numbers of the model"))
    words = f"Real part of the rightmost root over {name_of(p)} and {name_of(q)}"
    return _map_keys(found), svg.chart(x, y, marks, labeled(results, p), labeled(results, q), words)


def _gains(results: Results) -> dict[sp.Expr, float]:
    """The gains of the first feedback, by their symbols."""
    law = results.point.law if results.point else None
    if law is None:
        return {}
    pairs = [(gain_symbol(u, s), k) for u, row in zip(law.linear.inputs, law.gain, strict=True)
             for s, k in zip(law.linear.states, row, strict=True)]  # fmt: skip
    return {symbol: float(k) for symbol, k in pairs}


def _cell(found: Region, x: svg.Axis, y: svg.Axis, i: int, j: int) -> Html:
    (a, b), (c, d) = svg.edges(found.first)[i : i + 2], svg.edges(found.second)[j : j + 2]
    side, root = str(found.sides[i, j]), found.rightmost[i, j]
    p, q = map(name_of, found.parameters)
    told = f"{p} = {found.first[i]:.4g}, {q} = {found.second[j]:.4g}: "
    told += "no equilibrium" if side == "none" else f"{side}, {root:.4g}"
    return svg.box(x, y, (a, b), (c, d), _color(found, side, float(root)), told)


def _color(found: Region, side: str, root: float) -> str:
    """Stable and unstable cells, stronger the farther the root is from the axis."""
    if side not in ("stable", "unstable"):
        return "var(--open-back)" if side == "undecided" else "var(--grid)"
    largest = float(np.abs(found.rightmost[found.sides == side]).max()) or 1.0
    strength = 15 + 70 * abs(root) / largest
    return f"color-mix(in oklab, {_GOOD if side == 'stable' else _BAD} {strength:.0f}%, var(--panel))"


def _map_keys(found: Region) -> Html:
    keys = []
    for side, words in (("stable", "stable, down to"), ("unstable", "unstable, up to")):
        roots = found.rightmost[found.sides == side]
        if len(roots):
            farthest = float(roots[np.abs(roots).argmax()])
            keys.append(key_of(_color(found, side, farthest), joined([f"{words} ", number(farthest, 3)])))
    rest = {"undecided": "on the axis within rounding", "none": "no equilibrium"}
    keys += [key_of(_color(found, side, 0.0), words) for side, words in rest.items() if (found.sides == side).any()]
    return tag("span", *keys, class_="keys")


def figure(caption: object, picture: Html) -> Html:
    """A picture under its name."""
    return tag("figure", tag("figcaption", caption), picture)
