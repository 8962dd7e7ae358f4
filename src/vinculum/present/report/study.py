"""Many runs on the page: maps, distributions, parallel coordinates, and the worst runs over the nominal one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.model.examine import Results
from vinculum.model.examine.study_step import Runs
from vinculum.names import variable_name
from vinculum.present.html import Html, Section, joined, number, paragraph, section, table, tag
from vinculum.present.plots import coordinates
from vinculum.present.report import study_charts as svg
from vinculum.present.report.charts import Charts, grid
from vinculum.present.report.formulas import bracketed_unit
from vinculum.present.report.motion import course, part
from vinculum.present.report.scenes import Animation
from vinculum.present.thinning import thinned
from vinculum.simulation import Trajectory

_MOST_DOTS, _MOST_LINES, _MOST_MAPS, _MOST_COURSES = 1500, 300, 4, 12
_WORST = 3
_BINS = 24


def study(results: Results) -> Section | None:
    """All runs in pictures."""
    runs = results.runs
    if runs is None or not runs.computed.any():
        return None
    parts = [
        _words(runs),
        _table(runs),
        _histograms(runs),
        _maps(results, runs),
        _parallel(runs),
        _worst(results, runs),
    ]
    return section("study", "Many runs", *parts)


WORST = "worst"  # the group and the table of the worst run


def worst_animation(results: Results, charts: Charts) -> list[Animation]:
    """The worst run, to be played."""
    runs = results.runs
    if runs is None or not runs.computed.any():
        return []
    number = runs.worst(1)[0]
    try:
        charts.table(WORST, runs.plan.one(number))
    except VinculumError:  # its start was refused
        return []
    return [Animation(f"Worst of many runs: {runs.described(number)}", WORST, WORST, WORST)]


def worst_charts(results: Results, charts: Charts) -> Html:
    """The coordinates of the worst run over time."""
    keys = coordinates(charts.tables[WORST].motion)[:_MOST_COURSES]
    return part(WORST, "The worst of many runs", grid(course(results, WORST, key, charts) for key in keys))


def _words(runs: Runs) -> Html:
    done, count = int(runs.computed.sum()), runs.plan.runs
    ended = ", ".join(f"{n} {kind}" for kind, n in runs.outcomes.items())
    some = "" if done == count else f" of {count}"
    return paragraph(f"{done}{some} runs with other values of {', '.join(runs.varied)}. Outcomes: {ended}.")


def _table(runs: Runs) -> Html:
    """The distribution of every measure in numbers."""
    rows = []
    for name in runs.measured:
        values = runs.column(name)
        finite = values[np.isfinite(values)]
        spread = np.quantile(finite, [0, 0.05, 0.5, 0.95, 1]) if len(finite) else []
        numbers: list[object] = [number(float(x), 4) for x in spread] or ["none"] * 5
        rows.append([name, *numbers, str(int(runs.computed.sum()) - len(finite))])
    head = ["quantity", "smallest", "5 %", "median", "95 %", "largest", "without a value"]
    return table(head, rows, range(1, len(head)))


def _histograms(runs: Runs) -> Html:
    pictures = [_figure(name, _histogram(name, runs.column(name))) for name in runs.measured[:8]]
    return joined([tag("h3", "Distributions"), tag("div", *pictures, class_="grid two")])


def _histogram(name: str, values: np.ndarray) -> Html:
    finite = values[np.isfinite(values)]
    x = svg.across(finite)
    counts, edges = np.histogram(finite, min(_BINS, max(4, int(np.sqrt(len(finite) or 1)) * 2)), (x.low, x.high))
    y = svg.Axis(0.0, max(1.0, 1.08 * counts.max()), svg.HEIGHT - svg.BOTTOM, svg.TOP)
    return svg.chart(x, y, svg.bars(x, y, edges, counts), name, "runs", f"Histogram of {name} over all runs")


# -- maps --------------------------------------------------------------------------------------------------------


def _maps(results: Results, runs: Runs) -> Html:
    """Every measure over the first two varied quantities; over one if only one varies."""
    if not runs.measured:
        return joined([])
    if len(runs.varied) == 1:
        pictures = [_figure(name, _against(results, runs, name)) for name in runs.measured[:_MOST_MAPS]]
        return joined([tag("h3", f"Over {runs.varied[0]}"), tag("div", *pictures, class_="grid two")])
    pictures = [_map(results, runs, name) for name in runs.measured[:_MOST_MAPS]]
    title = f"Over {runs.varied[0]} and {runs.varied[1]}"
    note = "A cross is a run without a value: it ended early, or never settled." if _has_gaps(runs) else ""
    return joined([tag("h3", title), paragraph(note) if note else "", tag("div", *pictures, class_="grid two")])


def _has_gaps(runs: Runs) -> bool:
    return any(np.isnan(runs.column(name)[runs.computed]).any() for name in runs.measured[:_MOST_MAPS])


def _map(results: Results, runs: Runs, name: str) -> Html:
    values = runs.column(name)
    finite = values[np.isfinite(values)]
    key = svg.color_key(float(finite.min()), float(finite.max()), name) if len(finite) else f"{name}: no values"
    first, second = runs.varied[:2]
    words = f"Map of {name} over {first} and {second}"
    return _figure(key, (_cells if runs.is_grid(first, second) else _dots)(results, runs, name, words))


def _axes(results: Results, runs: Runs) -> list[str]:
    """The varied quantities, with their units."""
    return [f"{name}{bracketed_unit(results.model, key)}" for key, name in runs.plan.column_names().items()]


def _dots(results: Results, runs: Runs, name: str, words: str) -> Html:
    chosen = np.flatnonzero(runs.computed)[:_MOST_DOTS]
    (a, b), values = (runs.column(key)[chosen] for key in runs.varied[:2]), runs.column(name)[chosen]
    x, y = svg.across(a), svg.upward(b)
    titles = [runs.described(int(k)) for k in chosen]
    marks = svg.dots(x.at(a), y.at(b), svg.shares(values), titles)
    return svg.chart(x, y, marks, _axes(results, runs)[0], _axes(results, runs)[1], words)


def _cells(results: Results, runs: Runs, name: str, words: str) -> Html:
    """Cells of a grid; over further dimensions, the worst (largest) value."""
    grid, (a, b) = runs.largest_over(name), runs.varied[:2]
    columns, rows = (runs.data[key].values for key in (a, b))
    x, y = svg.across(svg.edges(columns)), svg.upward(svg.edges(rows))
    return svg.chart(
        x, y, svg.cells(x, y, columns, rows, svg.shares(grid)), _axes(results, runs)[0], _axes(results, runs)[1], words
    )


def _against(results: Results, runs: Runs, name: str) -> Html:
    chosen = np.flatnonzero(runs.computed)[:_MOST_DOTS]
    a, values = runs.column(runs.varied[0])[chosen], runs.column(name)[chosen]
    x, y = svg.across(a), svg.upward(values)
    drawn = np.isfinite(values)
    titles = [runs.described(int(k)) for k in chosen[drawn]]
    marks = svg.dots(x.at(a[drawn]), y.at(values[drawn]), np.zeros(int(drawn.sum())), titles)
    return svg.chart(x, y, marks, _axes(results, runs)[0], name, f"{name} over {runs.varied[0]}")


def _figure(caption: object, picture: Html) -> Html:
    return tag("figure", tag("figcaption", caption), picture)


def _parallel(runs: Runs) -> Html:
    """All varied quantities and measures of a run on one line."""
    names = [*runs.varied, *runs.measured][:10]
    if len(names) < 3:
        return joined([])
    done = np.flatnonzero(runs.computed)
    chosen = done[np.linspace(0, len(done) - 1, min(_MOST_LINES, len(done))).astype(int)]
    share = svg.shares(runs.column(runs.measured[0])[chosen]) if runs.measured else np.zeros(len(chosen))
    picture = svg.parallel(names, [runs.column(name)[chosen] for name in names], share, "All runs, one line each")
    some = "" if len(chosen) == len(done) else f" {len(chosen)} of {len(done)} runs are drawn."
    words = f"One line for every run, colored by {runs.measured[0] if runs.measured else 'nothing'}.{some}"
    return joined([tag("h3", "All quantities"), paragraph(words), _figure("", picture)])


# -- the worst runs ----------------------------------------------------------------------------------------------


def _worst(results: Results, runs: Runs) -> Html:
    """The worst runs over the nominal motion."""
    motions = []
    for k in runs.worst(_WORST):
        try:
            motions.append((runs.described(k), runs.plan.one(k)))
        except VinculumError:
            continue  # its start was refused
    nominal = results.nominal_motion
    if not motions:
        return joined([])
    keys = runs.plan.ensemble.shown[: min(4, len(runs.plan.ensemble.shown) // 2 or 1)]  # coordinates come first
    names = [f"run with {words}" for words, _ in motions]
    legend = [*(_key(f"var(--series-{i + 2})", name) for i, name in enumerate(names))]
    if nominal is not None:
        legend.insert(0, _key("var(--text)", "the motion of the file (dashed)"))
    pictures = [_figure(variable_name(key), _over_time(results, key, nominal, [m for _, m in motions])) for key in keys]
    by = f"by {runs.measured[0]}" if runs.measured else "by outcome"
    return joined(
        [tag("h3", f"The worst runs {by}"), paragraph(joined(legend)), tag("div", *pictures, class_="grid two")]
    )


def _key(color: str, name: str) -> Html:
    patch = tag("svg", tag("rect", width="12", height="12", fill=color), viewBox="0 0 12 12", width="12", height="12")
    return tag("span", patch, f" {name} ", class_="key")


def _over_time(results: Results, key: sp.Expr, nominal: Trajectory | None, motions: Sequence[Trajectory]) -> Html:
    """One coordinate of all these motions over time."""
    last = max(float(motion.t[-1]) for motion in motions)
    lines = [] if nominal is None else [_until(nominal, key, last)]
    lines += [_until(motion, key, last) for motion in motions]
    x, y = svg.across(*(t for t, _ in lines)), svg.upward(*(v for _, v in lines))
    colors = ([] if nominal is None else ["var(--text)"]) + [f"var(--series-{i + 2})" for i in range(len(motions))]
    dashes = ([] if nominal is None else ["5 3"]) + [None] * len(motions)
    marks = [svg.curve(x.at(t), y.at(v), c, 1.5, d) for (t, v), c, d in zip(lines, colors, dashes, strict=True)]
    name, time = variable_name(key), "t [s]" if results.model.units else "t"
    return svg.chart(
        x, y, marks, time, f"{name}{bracketed_unit(results.model, key)}", f"{name} of the worst runs over time"
    )


def _until(motion: Trajectory, key: sp.Expr, last: float) -> tuple[np.ndarray, np.ndarray]:
    t, y = np.asarray(motion.t), np.asarray(motion[key])
    t, y = thinned(t[t <= last], y[t <= last], 400)
    return t, y
