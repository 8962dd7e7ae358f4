"""The model and its equations: formulas, parameters, constraints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from vinculum.describe import AffineSystem, Holonomic, Servo
from vinculum.describe.check_affine import by_name
from vinculum.graph import Node, to_sympy, tree_size
from vinculum.graph.from_sympy import from_sympy
from vinculum.model.examine import Findings
from vinculum.model.model import Model
from vinculum.present.report.figures import Figures
from vinculum.present.report.html import Html, Section, folded, joined, paragraph, section, table, tag, text
from vinculum.present.report.mathematics import equations as typeset
from vinculum.present.report.mathematics import inline, latex_of
from vinculum.present.report.parts import curves, motor_units, motors
from vinculum.present.report.words import counted, listing, number, sentence

_FEW = 40  # definitions that are shown without being asked for
_DIGITS = 6
_LONG_NUMBER = re.compile(r"\d+\.\d{5,}")
_LONG = 400  # operations of a formula that is not written out

_LETTERS = {"T": "kinetic energy T", "V": "potential energy V", "D": "Rayleigh's dissipation function D"}


def formulas(findings: Findings) -> Section | None:
    """The equations of motion in the form asked for, definitions of intermediates first."""
    equations = findings.equations
    if equations is None:
        return None
    printed = equations.printed()
    definitions, lines = rounded(printed.definitions), rounded(printed.equations)
    free = equations.form.name == "multipliers" and not findings.model.system.constraints
    parts = [paragraph("Lagrange's equations, M q̈ + h = Q." if free else equations.form.summary)]
    if definitions:
        parts.append(_definitions(definitions))
    parts.append(typeset(lines))
    if (definitions, lines) != (list(printed.definitions), list(printed.equations)):
        parts.append(paragraph(f"Numbers are shown with {_DIGITS} digits.", class_="note"))
    return section("equations", "Equations of motion", *parts)


def rounded(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Equations with the decimals of their numbers cut to what one reads."""
    return [(shortened(left), shortened(right)) for left, right in lines]


def shortened(latex: str) -> str:
    """A formula with the decimals of its numbers cut to what one reads."""
    return _LONG_NUMBER.sub(_short, latex)


def _short(found: re.Match[str]) -> str:
    return np.format_float_positional(float(found[0]), _DIGITS, unique=False, fractional=False, trim="-")


def _definitions(definitions: Sequence[tuple[str, str]]) -> Html:
    box = typeset(definitions, data_kind="definitions")
    title = f"{counted(len(definitions), 'abbreviation')}, each used below"
    return joined([paragraph("With the abbreviations"), box]) if len(definitions) <= _FEW else folded(title, box)


def description(findings: Findings, figures: Figures) -> Section:
    """Energies, constraints, parameters, motors and measured curves as they were stated."""
    model = findings.model
    parts = [_stated(model), _constraints(model), _variables(model), _parameters(model)]
    parts += [motors(model), curves(model, figures)]
    return section("model", "The model", *parts)


def _stated(model: Model) -> Html:
    system = model.system
    if isinstance(system, AffineSystem):
        return typeset([(latex_of(sp.Symbol("E")), _latex(system.energy))]) if system.energy is not None else text("")
    energies = {"T": system.kinetic_energy, "V": system.potential_energy, "D": system.dissipation}
    lines = [(letter, _latex(energy)) for letter, energy in energies.items() if energy != 0]
    forces = [(f"Q_{{{latex_of(q)}}}", _latex(force)) for q, force in system.forces.items() if force != 0]
    words = [_LETTERS[letter] for letter, _ in lines] + (["generalized forces Q"] if forces else [])
    return joined([paragraph(sentence(listing(words)), class_="note"), typeset([*lines, *forces])])


def _constraints(model: Model) -> Html:
    system = model.system
    if isinstance(system, AffineSystem):
        rows = [(name, "held by the inputs", f) for name, f in by_name(system.constraints).items()]
    else:
        rows = [(c.name, _kind(c), c.expression) for c in system.constraints]
    if not rows:
        return text("")
    boxes = [
        joined([tag("h4", name, tag("span", kind, class_="kind")), typeset([(_latex(f), "0")])])
        for name, kind, f in rows
    ]
    title = tag("h3", counted(len(rows), "constraint").capitalize())
    few = len(rows) <= 6
    return joined([title, *boxes]) if few else joined([title, folded("Show all", *boxes)])


def _kind(constraint: object) -> str:
    if isinstance(constraint, Servo):
        return "servo constraint"
    return "holonomic" if isinstance(constraint, Holonomic) else "nonholonomic"


def _variables(model: Model) -> Html:
    """Coordinates (or states) and inputs, where the model says more about them than their names."""
    system = model.system
    keys = [*(system.states if isinstance(system, AffineSystem) else system.coordinates), *system.inputs]
    if not any(known.get(key) for key in keys for known in (model.units, model.meanings)):
        return text("")
    rows = [[inline(key), unit_of(model, key), model.meanings.get(key, "")] for key in keys]
    return joined([tag("h3", "Coordinates and inputs"), table(["symbol", "unit", "meaning"], rows)])


def unit_of(model: Model, key: object) -> str:
    """The unit of a coordinate, an input or, from its coordinate's, a velocity; nothing where none was given."""
    if isinstance(key, sp.Derivative):
        times = sum(count for _, count in key.variable_count)
        unit = unit_of(model, key.expr)
        if unit == "A s" and times == 1:
            return "A"
        return f"{unit}/s{'²' if times == 2 else ''}" if unit and times <= 2 else ""
    return model.units.get(key) or motor_units(model).get(key, "")


def quantity(model: Model, key: sp.Expr) -> Html:
    """A symbol with its unit, over a picture or beside a number."""
    unit = unit_of(model, key)
    return joined([inline(key), tag("span", f" {unit}", class_="unit") if unit else ""])


def _parameters(model: Model) -> Html:
    values: Mapping[sp.Symbol, float] = model.system.parameters
    if not values:
        return text("")
    head, numeric = ["symbol", "value"], [1]
    columns = [[inline(p) for p in values], [number(v, 8) for v in values.values()]]
    for title, known in (("unit", model.units), ("meaning", model.meanings)):
        if any(known.get(p) for p in values):
            head.append(title)
            columns.append([text(known.get(p, "")) for p in values])
    return joined([tag("h3", "Parameters"), table(head, zip(*columns, strict=True), numeric, class_="parameters")])


def _latex(expression: sp.Expr | Node | float) -> str:
    """LaTeX of what the user stated; a formula that would fill pages is only counted."""
    node = expression if isinstance(expression, Node) else from_sympy(sp.sympify(expression))
    operations = tree_size(node, 10 * _LONG)
    if operations > _LONG:
        return r"\text{(a formula of more than " + str(_LONG) + r" operations)}"
    return shortened(latex_of(to_sympy(node) if isinstance(expression, Node) else expression))
