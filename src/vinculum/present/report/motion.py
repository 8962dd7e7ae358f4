"""The motion: coordinates, inputs, residuals against their bounds, energy and reactions over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from vinculum.derivation import ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.expressions import as_expression
from vinculum.graph import from_sympy, tree_size
from vinculum.model.examine import Results
from vinculum.names import variable_name
from vinculum.present.html import Html, Section, joined, listing, number, paragraph, section, sentence, table, tag, text
from vinculum.present.mathml import formula
from vinculum.present.plots import coordinates
from vinculum.present.report import charts
from vinculum.present.report.charts import Figures
from vinculum.present.report.formulas import quantity, shortened
from vinculum.simulation import Trajectory
from vinculum.simulation.trajectory.trajectory import instants
from vinculum.text_printer import vlatex

_MOST_PICTURES = 24
_MOST_LINES = 8


def movement(results: Results, figures: Figures) -> Section | None:
    """The outcome of the run, and every coordinate over time."""
    motion = results.main_motion
    if motion is None:
        return None
    keys = coordinates(motion)
    shown = keys[:_MOST_PICTURES]
    pictures = [(quantity(results.model, key), charts.small([charts.line(motion.t, motion[key])])) for key in shown]
    title = "Motion" if results.motion is not None else "Motion with feedback"
    return section("motion", title, _how(motion), figures.grid(pictures), _more(len(keys) - len(shown)))


def _more(count: int) -> Html:
    return paragraph(f"{count} more in the trajectory.", class_="note") if count else text("")


def _how(motion: Trajectory) -> Html:
    facts = {
        "outcome": sentence(motion.outcome.reason),
        "method": motion.method,
        "stabilization": motion.stabilization,
        "steps": f"{motion.steps}",
        "warning": "; ".join(map(str, motion.beyond)),
    }
    facts |= {f"event {name}": instants(times) for name, times in motion.event_times.items()}
    cells = [joined([tag("dt", key), tag("dd", value)]) for key, value in facts.items() if value]
    kind = "facts" if motion.outcome else "facts stopped"
    return tag("dl", *cells, class_=kind)


def residuals(results: Results, figures: Figures) -> Section | None:
    """|residual| of every constraint over time on a logarithmic axis, with the guaranteed bounds."""
    motion = results.main_motion
    if motion is None or not motion.residuals:
        return None
    worst = sorted(motion.residuals, key=lambda key: -motion.largest_residuals.get(key, 0.0))
    shown = [key for key in motion.residuals if key in worst[:_MOST_LINES]]
    columns = [(_level(key), motion.residuals[key]) for key in shown]
    bounds = [(_level(key), bound) for key, bound in motion.promised.items() if key in shown]
    chart = charts.levels(motion.t, columns, bounds)
    return section(
        "constraints", "Constraints", _kept(motion), figures.place(chart, words="residuals over time"), _table(motion)
    )


def _level(key: tuple[str, str]) -> str:
    return text(f"{key[0]}, {key[1]}")


def _kept(motion: Trajectory) -> Html:
    if not motion.promised:
        words = "No bound was requested. These residuals are taken over every step, not only over the samples."
        return paragraph(words, " To guarantee a bound, use stabilization = Guaranteed(ε) with a fixed-step method.")
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


def energy(results: Results, figures: Figures) -> Section | None:
    """E(t) with the work of forces, and the error of the balance."""
    motion = results.main_motion
    if motion is None or not np.any(motion.energy):
        return None
    E, W = motion.energy, motion.work
    lines = [charts.line(motion.t, E, "energy E")]
    if np.any(W):
        lines.append(charts.line(motion.t, E[0] + W, "E(0) + work W", charts.SERIES[1], "dash"))
    left = charts.levels(motion.t, [("|E − E(0) − W|", E - E[0] - W)])
    pair = [
        ("Energy", charts.over_time(lines, 260)),
        ("Error of the balance", left | {"layout": left["layout"] | {"height": 260}}),
    ]
    both = tag("div", *(figures.place(figure, caption) for caption, figure in pair), class_="grid two")
    return section("energy", "Energy", _balance(motion), both)


def _balance(motion: Trajectory) -> Html:
    """The energy balance in words."""
    size = float(np.nanmax(np.abs(motion.energy))) or 1.0
    return paragraph(
        "The energy changes by the work of forces, of moving constraints and of explicit time, and by nothing else: ",
        formula("E(t) - E(0) = W(t)"), ". Largest error over all steps: ", number(motion.energy_error, 2),
        ", which is ", number(motion.energy_error / size, 2), " of the largest energy.",
    )  # fmt: skip


def reactions(results: Results, figures: Figures) -> Section | None:
    """λ over time of every constraint that no input holds."""
    motion = results.main_motion
    if motion is None:
        return None
    ideal = [(name, values) for name, values in motion.reactions.items() if name not in motion.holding]
    if not ideal:
        return None
    shown = ideal[:_MOST_PICTURES]
    pictures = [(name, charts.small([charts.line(motion.t, values)])) for name, values in shown]
    words = paragraph("The multipliers λ of M q̈ + h = Q + Jᵀλ: forces that hold the constraints.")
    return section("reactions", "Reactions", words, figures.grid(pictures), _more(len(ideal) - len(shown)))


_MOST_PICTURES = 24
_SHORT = 60  # maximum operations of a law that is printed


def inputs(results: Results, figures: Figures) -> Section | None:
    """The law of every input of the main motion if it is short, and the input over time."""
    motion = results.main_motion
    if motion is None or motion.problem is None or not motion.inputs:
        return None
    equations = motion.problem.equations
    keys = list(dict.fromkeys((*equations.inputs, *equations.holding.values())))
    given = (results.model.simulation or {}).get("inputs") or {} if motion is results.motion else {}
    laws: Mapping[sp.Expr, sp.Expr] = {**equations.laws, **given}
    rows = [[quantity(results.model, u), _law(u, laws, equations)] for u in keys]
    pictures = [(quantity(results.model, u), _course(motion, u)) for u in keys[:_MOST_PICTURES]]
    left = len(keys) - len(pictures)
    more = paragraph(f"{left} more in the trajectory.", class_="note") if left else text("")
    return section("inputs", "Inputs", table(["input", "law"], rows), figures.grid(pictures), more)


def _course(motion: Trajectory, u: sp.Expr) -> charts.Figure:
    return charts.small([charts.line(motion.t, motion.inputs[variable_name(u)])])


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
