"""Timing, tables and growth curves: functions of their arguments alone."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import median
from time import process_time
from timeit import Timer

import numpy as np
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, over several repeats."""

    best: float
    median: float
    repeats: int
    calls: int  # in each repeat

    def __str__(self) -> str:
        return f"{duration(self.best)} (median {duration(self.median)} of {self.repeats})"


def measure(function: Callable, repeats: int = 5, calls: int | None = None, prepare: Callable | None = None) -> Timing:
    """Time `function()` with the garbage collector off, as `timeit` does.

    Each repeat makes `calls` calls, by default as many as fill 0.2 s. `prepare` runs before each repeat
    outside the clock: pass `sympy.core.cache.clear_cache` and `calls=1` to time a derivation.
    """
    timer = Timer(function, setup=prepare or "pass")
    calls = calls or timer.autorange()[0]
    seconds = [total / calls for total in timer.repeat(repeats, calls)]
    return Timing(min(seconds), median(seconds), repeats, calls)


def duration(seconds: float) -> str:
    """Three digits in the unit that suits: 0.0000123 -> '12.3 µs'."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope p of the least-squares line log(seconds) = p log(size) + const."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def grown(rows: Sequence[Mapping], size: str, columns: Sequence[str]) -> str:
    """How columns grow with the size, a line each; rows without a number are left out."""
    lines = []
    for column in columns:
        pairs = [(row[size], row[column]) for row in rows if isinstance(row[column], float)]
        power = growth_exponent(*zip(*pairs, strict=True)) if len(pairs) > 1 else float("nan")
        lines.append(f"{column} grows as the number of {size} to the power {power:.2f}")
    return "\n".join(lines)


def least(run: Callable, repeats: int = 3) -> tuple[float, object]:
    """The least CPU time of a function, and its result; one run is enough if it takes longer than 5 s."""
    found: list[float] = []
    while len(found) < repeats and sum(found) < 5.0:
        began = process_time()
        result = run()
        found.append(process_time() - began)
    return min(found), result


def markdown_table(rows: Sequence[Mapping]) -> str:
    """Rows of equal keys as a Markdown table; numbers to three digits."""
    columns = list(rows[0])
    lines = [columns, ["---"] * len(columns), *([_cell(row[c]) for c in columns] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def csv_table(rows: Sequence[Mapping]) -> str:
    """Rows of equal keys as CSV; numbers in full, a timing as the seconds of its best repeat."""
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _number(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def save_table(rows: Sequence[Mapping], path: Path | str) -> None:
    """Write `path` with the suffixes .md and .csv."""
    Path(path).with_suffix(".md").write_text(markdown_table(rows), encoding="utf-8")
    Path(path).with_suffix(".csv").write_text(csv_table(rows), encoding="utf-8")


def growth_figure(curves: Mapping[str, Mapping[float, float]], size: str, quantity: str, title: str = "") -> Figure:
    """Growth curves {label: {size: value}} on logarithmic axes, the exponent of each in the legend."""
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for label, curve in curves.items():
        sizes, values = zip(*sorted(curve.items()), strict=True)
        slope = f" (∝ {size}^{growth_exponent(sizes, values):.1f})" if len(sizes) > 1 else ""
        axes.loglog(sizes, values, "o-", label=label + slope)
    ticks = sorted({s for curve in curves.values() for s in curve})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set(xlabel=size, ylabel=quantity, title=title)
    axes.grid(which="major", alpha=0.3)
    axes.legend()
    return figure


def save_growth(curves: Mapping, path: Path | str, size: str, quantity: str, title: str = "") -> None:
    """Draw `growth_figure` into a file; the suffix (.svg, .png) decides the format."""
    growth_figure(curves, size, quantity, title).savefig(path, dpi=150)


def _number(value: object) -> object:
    return value.best if isinstance(value, Timing) else value


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
