"""The inputs of a motion: the law of each, and its values over time."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from vinculum.derivation import ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.graph import from_sympy, tree_size
from vinculum.model.examine import Findings
from vinculum.names import variable_name
from vinculum.present.report import charts
from vinculum.present.report.figures import Figures
from vinculum.present.report.formulas import quantity, shortened
from vinculum.present.report.html import Html, Section, paragraph, section, table, text
from vinculum.present.report.mathematics import latex_of, mathml
from vinculum.present.report.words import listing
from vinculum.simulation import Trajectory

_MOST_PICTURES = 24
_SHORT = 60  # operations of a law that is written out


def inputs(findings: Findings, figures: Figures) -> Section | None:
    """The law of every input of the main motion where it is short, and the input over time."""
    motion = findings.main_motion
    if motion is None or motion.problem is None or not motion.inputs:
        return None
    equations = motion.problem.equations
    keys = list(dict.fromkeys((*equations.inputs, *equations.holding.values())))
    given = (findings.model.simulation or {}).get("inputs") or {} if motion is findings.motion else {}
    laws: Mapping[sp.Expr, sp.Expr] = {**equations.laws, **given}
    rows = [[quantity(findings.model, u), _law(u, laws, equations)] for u in keys]
    pictures = [(quantity(findings.model, u), _course(motion, u)) for u in keys[:_MOST_PICTURES]]
    left = len(keys) - len(pictures)
    more = paragraph(f"{left} more in the trajectory.", class_="note") if left else text("")
    return section("inputs", "Inputs", table(["input", "law"], rows), figures.grid(pictures), more)


def _course(motion: Trajectory, u: sp.Expr) -> charts.Figure:
    return charts.small([charts.line(motion.t, motion.inputs[variable_name(u)])])


def _law(u: sp.Expr, laws: Mapping[sp.Expr, sp.Expr], equations: Equations) -> Html:
    """The formula, what it is made for, or that it is long."""
    if u in equations.holding.values():
        return _held(u, equations)
    law = sp.sympify(laws.get(u, 0))
    if tree_size(from_sympy(law), 10 * _SHORT) > _SHORT:
        return text(f"a formula of the state with more than {_SHORT} operations, compiled with the equations")
    return mathml(shortened(latex_of(law)))


def _held(u: sp.Expr, equations: Equations) -> Html:
    """The constraints it holds, with the other inputs where there are several."""
    names = list(equations.holding)
    if isinstance(equations, ProgramEquations):
        return text(f"unknown; with the others it holds {listing(equations.constraint_names)}")
    if len(names) == 1:
        return text(f"holds the servo constraint {names[0]}")
    return text(f"with the others it holds the servo constraints {listing(names)}")
