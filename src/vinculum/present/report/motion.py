"""The motion: coordinates, inputs, residuals against their bounds, energy and reactions over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from vinculum.derivation import ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.expressions import as_expression
from vinculum.graph import from_sympy, tree_size
from vinculum.model.examine import Results
from vinculum.names import variable_name
from vinculum.present.html import Html, folded, joined, listing, number, paragraph, sentence, table, tag, text
from vinculum.present.mathml import formula, inline
from vinculum.present.plots import coordinates
from vinculum.present.report import digital
from vinculum.present.report.charts import Charts, Series, grid, key_of
from vinculum.present.report.formulas import quantity, shortened, unit_of
from vinculum.present.strokes import has_units
from vinculum.present.svg import SERIES
from vinculum.simulation import Trajectory
from vinculum.simulation.trajectory.trajectory import instants
from vinculum.text_printer import vlatex

_MOST_PICTURES = 24
_MOST_LINES = 8
_ROUNDING = 1e-12  # residuals below it are rounding; they get a sentence instead of a chart
_SHORT = 60  # maximum operations of a law that is printed


def movement(results: Results, run: str, charts: Charts) -> Html:
    """The outcome of the run, and every coordinate over time."""
    table = charts.tables[run]
    keys = coordinates(table.motion)
    moving = [key for key in keys if not _constant(table.motion[key])]
    sampled = results.digital if table.motion is results.motion else None
    drawn = [
        course(results, run, key, charts, *digital.line(sampled, "digital", key, charts))
        for key in moving[:_MOST_PICTURES]
    ]
    resting = _resting(results, table.motion, [key for key in keys if key not in moving])
    board = text("") if sampled is None else joined([digital.processor(sampled), _legend()])
    return part("motion", "Motion", how(table.motion), board, grid(drawn), _more(len(moving) - len(drawn)), resting)


def _legend() -> Html:
    names = {SERIES[0]: "continuous law", digital.COLOR: digital.NAME}
    return tag("div", *(key_of(f"var({color})", words) for color, words in names.items()), class_="keys")


def _constant(y: np.ndarray) -> bool:
    return bool(np.ptp(y) <= _ROUNDING * max(1.0, float(np.max(np.abs(y)))))


def _resting(results: Results, motion: Trajectory, keys: Sequence[sp.Expr]) -> Html:
    """Coordinates that keep their values, in a line."""
    if not keys:
        return text("")
    shown = [
        part for q in keys for part in (", ", inline(q), " = ", number(float(motion[q][0]), 6), unit_after(results, q))
    ]
    return paragraph("Constant: ", *shown[1:], ".", class_="note")


def unit_after(results: Results, key: sp.Expr) -> str:
    """The unit of a quantity, with a space before it."""
    unit = unit_of(results.model, key)
    return f" {unit}" if unit else ""


def part(identifier: str, title: str, *children: object) -> Html:
    """A part of the group of charts of one motion."""
    return tag("section", tag("h3", title), *children, id=identifier, class_="part")


def course(results: Results, run: str, key: sp.Expr | str, charts: Charts, *more: Series, **options: object) -> Html:
    """One quantity over time, and other lines with it."""
    caption = key if isinstance(key, str) else quantity(results.model, key)
    unit = "" if isinstance(key, str) else unit_of(results.model, key)
    own = Series(run, charts.tables[run].quantity(key))
    return charts.over_time(caption, [own, *more], unit, **options)


def _more(count: int) -> Html:
    return paragraph(f"{count} more in the trajectory.", class_="note") if count else text("")


def how(motion: Trajectory) -> Html:
    """How the run went: its outcome, method, stabilization, events."""
    facts = {
        "outcome": sentence(motion.outcome.reason),
        "method": motion.method,
        "stabilization": motion.stabilization,
        "steps": f"{motion.steps}",
        "warning": "; ".join(map(str, motion.beyond)),
    }
    facts |= {f"event {name}": instants(times) for name, times in motion.event_times.items()}
    cells = [joined([tag("dt", key), tag("dd", value)]) for key, value in facts.items() if value]
    if motion.outcome and not motion.event_times and not motion.beyond:
        return folded("How it was computed", tag("dl", *cells, class_="facts"))
    return tag("dl", *cells, class_="facts" if motion.outcome else "facts stopped")


def residuals(run: str, charts: Charts) -> Html:
    """|residual| of every constraint over time on a logarithmic axis, with the guaranteed bounds."""
    motion = charts.tables[run].motion
    if not motion.residuals:
        return text("")
    worst = sorted(motion.residuals, key=lambda key: -motion.largest_residuals.get(key, 0.0))
    shown = [key for key in motion.residuals if key in worst[:_MOST_LINES]]
    chart = text("")
    if motion.promised or motion.largest_residuals.get(worst[0], 0.0) > _ROUNDING:
        columns = [(_level(key), motion.residuals[key]) for key in shown]
        bounds = [(_level(key), bound) for key, bound in motion.promised.items() if key in shown]
        chart = charts.sizes("|residual|", f"{run} residuals", motion.t, columns, bounds)
    return part("constraints", "Constraints", _kept(motion), chart, folded("Every residual", _table(motion)))


def _level(key: tuple[str, str]) -> str:
    return f"{key[0]}, {key[1]}"


def _kept(motion: Trajectory) -> Html:
    if not motion.promised:
        largest = max(motion.largest_residuals.values())
        words = "Largest residual over every step, not only over the samples: "
        return paragraph(
            words, number(largest, 2), ". No bound was requested; stabilization = Guaranteed(ε) guarantees one."
        )
    largest = max(motion.largest_residuals[key] / bound for key, bound in motion.promised.items())
    kept = (
        "Every residual stayed within its guaranteed bound"
        if motion.kept
        else "A residual exceeded its guaranteed bound"
    )
    return paragraph(
        f"{kept}: at the worst, ", number(100 * largest, 3), " % of its bound.", class_="good" if motion.kept else "bad"
    )


def _table(motion: Trajectory) -> Html:
    rows = []
    for (name, level), value in motion.largest_residuals.items():
        bound = motion.promised.get((name, level))
        rows.append([name, level, number(value, 3), "none" if bound is None else number(bound, 3)])
    return table(["constraint", "level", "largest residual", "promised"], rows, [2, 3])


def energy(run: str, charts: Charts) -> Html:
    """E(t) with the work of forces, and the error of the balance."""
    table = charts.tables[run]
    motion = table.motion
    if not np.any(motion.energy):
        return text("")
    E, W = motion.energy, motion.work
    lines = [Series(run, table.column("energy", E), "energy E")]
    if np.any(W):
        lines.append(Series(run, table.column("energy and work", E[0] + W), "E(0) + work W", SERIES[1], "dash"))
    drawn = [charts.over_time("E", lines, "J" if has_units(motion) else "")]
    if motion.energy_error > _ROUNDING * _size(motion):
        drawn.append(charts.sizes("|E − E(0) − W|", f"{run} balance", motion.t, [("balance", E - E[0] - W)]))
    return part("energy", "Energy", _balance(motion), grid(drawn))


def _size(motion: Trajectory) -> float:
    return float(np.nanmax(np.abs(motion.energy))) or 1.0


def _balance(motion: Trajectory) -> Html:
    """The energy balance in words."""
    return paragraph(
        "The energy changes by the work of forces, of moving constraints and of explicit time, and by nothing else: ",
        formula("E(t) - E(0) = W(t)"), ". Largest error over all steps: ", number(motion.energy_error, 2),
        ", which is ", number(motion.energy_error / _size(motion), 2), " of the largest energy.",
    )  # fmt: skip


def reactions(run: str, charts: Charts) -> Html:
    """λ over time of every constraint that no input holds."""
    table = charts.tables[run]
    motion = table.motion
    ideal = [(name, values) for name, values in motion.reactions.items() if name not in motion.holding]
    if not ideal:
        return text("")
    ideal, zero = _without_rounding(ideal)
    shown = ideal[:_MOST_PICTURES]
    drawn = [charts.over_time(name, [Series(run, table.column(f"reaction {name}", values))]) for name, values in shown]
    words = paragraph("The multipliers λ of M q̈ + h = Q + Jᵀλ: forces that hold the constraints.")
    resting = paragraph(f"Zero but for rounding: {listing(zero)}.", class_="note") if zero else text("")
    return part("reactions", "Reactions", words, grid(drawn), _more(len(ideal) - len(shown)), resting)


def _without_rounding(
    reactions: Sequence[tuple[str, np.ndarray]],
) -> tuple[list[tuple[str, np.ndarray]], list[str]]:
    """The reactions that are larger than rounding errors of the largest one, and the names of the others."""
    sizes = {name: float(np.nanmax(np.abs(values))) for name, values in reactions}
    least = _ROUNDING * max(sizes.values())
    kept = [(name, values) for name, values in reactions if sizes[name] > least]
    return kept, [name for name, size in sizes.items() if size <= least]


def inputs(results: Results, run: str, charts: Charts) -> Html:
    """The law of every input if it is short, and the input over time."""
    motion = charts.tables[run].motion
    if motion.problem is None or not motion.inputs:
        return text("")
    equations = motion.problem.equations
    keys = list(dict.fromkeys((*equations.inputs, *equations.holding.values())))
    given = (results.model.simulation or {}).get("inputs") or {} if motion is results.motion else {}
    laws: Mapping[sp.Expr, sp.Expr] = {**equations.laws, **given}
    rows = [[quantity(results.model, u), _law(u, laws, equations)] for u in keys]
    moving = [u for u in keys if np.ptp(motion.inputs[variable_name(u)]) > 0]
    drawn = [_input(results, run, u, charts) for u in moving[:_MOST_PICTURES]]
    more = _more(len(moving) - len(drawn))
    return part("inputs", "Inputs", table(["input", "law"], rows), grid(drawn), more)


def _input(results: Results, run: str, u: sp.Expr, charts: Charts) -> Html:
    own = charts.tables[run]
    own.column(variable_name(u), own.motion.inputs[variable_name(u)], u)
    sampled = results.digital if own.motion is results.motion else None
    series = [Series(run, variable_name(u)), *digital.line(sampled, "digital", u, charts)]
    return charts.over_time(quantity(results.model, u), series, unit_of(results.model, u))


def _law(u: sp.Expr, laws: Mapping[sp.Expr, sp.Expr], equations: Equations) -> Html:
    """The formula, its purpose, or that it is long."""
    if u in equations.holding.values():
        return _held(u, equations)
    law = as_expression(laws.get(u, 0))
    if tree_size(from_sympy(law), 10 * _SHORT) > _SHORT:
        return text(f"a formula of the state with more than {_SHORT} operations, compiled with the equations")
    return formula(shortened(vlatex(law)))


def _held(u: sp.Expr, equations: Equations) -> Html:
    """The constraints it holds, with the other inputs if there are several."""
    names = list(equations.holding)
    if isinstance(equations, ProgramEquations):
        return text(f"unknown; with the others it holds {listing(equations.constraint_names)}")
    if len(names) == 1:
        return text(f"holds the servo constraint {names[0]}")
    return text(f"with the others it holds the servo constraints {listing(names)}")
