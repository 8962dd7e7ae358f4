"""The model and its equations: formulas, parameters, constraints, motors, measured curves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe import AffineSystem, DCMotor, Holonomic, Servo
from vinculum.describe.check_affine import by_name
from vinculum.describe.motors import charge_of, voltage_of
from vinculum.expressions import as_expression
from vinculum.graph import Node, to_sympy, tree_size
from vinculum.graph.from_sympy import from_sympy
from vinculum.model.examine import Results
from vinculum.model.model import Measured, Model
from vinculum.present.html import (
    Html,
    Section,
    counted,
    folded,
    joined,
    listing,
    number,
    paragraph,
    section,
    sentence,
    table,
    tag,
    text,
)
from vinculum.present.mathml import equations as typeset
from vinculum.present.mathml import inline, prose
from vinculum.present.report.charts import figure, grid
from vinculum.present.svg import SERIES, Axis, Line, Marks, Picture, raised
from vinculum.text_printer import vlatex

_FEW = 40  # definitions shown without a click
_DIGITS = 6
_LONG_NUMBER = re.compile(r"\d+\.\d{5,}")
_LONG = 400  # operations above which a formula is not printed

_POWER = re.compile(r"\^\(?(-?\d+)\)?")
_LETTERS = {"T": "kinetic energy T", "V": "potential energy V", "D": "Rayleigh's dissipation function D"}


def formulas(results: Results) -> Section | None:
    """The equations of motion in the requested form, with definitions of abbreviations first."""
    equations = results.equations
    if equations is None:
        return None
    printed = equations.printed(simplify=True)
    definitions, lines = rounded(printed.definitions), rounded(printed.equations)
    free = equations.form.name == "multipliers" and not results.model.system.constraints
    parts = [paragraph("Lagrange's equations, M q̈ + h = Q." if free else equations.form.summary)]
    if definitions:
        parts.append(_definitions(definitions))
    parts.append(typeset(lines))
    if (definitions, lines) != (list(printed.definitions), list(printed.equations)):
        parts.append(paragraph(f"Numbers are shown with {_DIGITS} digits.", class_="note"))
    return section("equations", "Equations of motion", *parts)


def rounded(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Equations with numbers rounded for reading."""
    return [(shortened(left), shortened(right)) for left, right in lines]


def shortened(latex: str) -> str:
    """A formula with numbers rounded for reading."""
    return _LONG_NUMBER.sub(_short, latex)


def _short(found: re.Match[str]) -> str:
    return np.format_float_positional(float(found[0]), _DIGITS, unique=False, fractional=False, trim="-")


def _definitions(definitions: Sequence[tuple[str, str]]) -> Html:
    box = typeset(definitions, data_kind="definitions")
    title = f"{counted(len(definitions), 'abbreviation')}, each used below"
    return joined([paragraph("With the abbreviations"), box]) if len(definitions) <= _FEW else folded(title, box)


def description(results: Results) -> Section:
    """Energies, constraints, parameters, motors and measured curves as stated in the model."""
    model = results.model
    parts = [_stated(model), _constraints(model), _variables(model), _parameters(model)]
    parts += [motors(model), curves(model)]
    return section("model", "The model", *parts)


def _stated(model: Model) -> Html:
    system = model.system
    if isinstance(system, AffineSystem):
        return typeset([(vlatex(sp.Symbol("E")), _latex(system.energy))]) if system.energy is not None else text("")
    energies = {"T": system.kinetic_energy, "V": system.potential_energy, "D": system.dissipation}
    lines = [(letter, _latex(energy)) for letter, energy in energies.items() if energy != 0]
    forces = [(f"Q_{{{vlatex(q)}}}", _latex(force)) for q, force in system.forces.items() if force != 0]
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
    """Coordinates (or states) and inputs, if the model describes them or gives units."""
    system = model.system
    keys = [*(system.states if isinstance(system, AffineSystem) else system.coordinates), *system.inputs]
    if not any(known.get(key) for key in keys for known in (model.units, model.meanings)):
        return text("")
    columns: dict[str, list[Any]] = {
        "symbol": [inline(key) for key in keys],
        "unit": [unit_of(model, key) for key in keys],
        "meaning": [prose(model.meanings.get(key, "")) for key in keys],
    }
    shown = {name: column for name, column in columns.items() if any(column)}
    return joined([tag("h3", "Coordinates and inputs"), table(list(shown), zip(*shown.values(), strict=True))])


def unit_of(model: Model, key: object) -> str:
    """The unit of a coordinate, an input or (from its coordinate) a velocity; empty if none was given."""
    if isinstance(key, sp.Derivative):
        times = sum(count for _, count in key.variable_count)
        unit = unit_of(model, key.expr)
        if unit == "A s" and times == 1:
            return "A"
        return f"{unit}/s{'²' if times == 2 else ''}" if unit and times <= 2 else ""
    return pretty_unit(model.units.get(key) or motor_units(model).get(key, ""))


def bracketed_unit(model: Model, key: object) -> str:
    """The unit after the name of an axis, `` [m/s]``; empty if none is known."""
    unit = unit_of(model, key)
    return f" [{unit}]" if unit else ""


def pretty_unit(unit: str) -> str:
    """A unit as a physicist writes it.

    >>> pretty_unit("kg*m^2"), pretty_unit("m/s^2"), pretty_unit("N*m*s")
    ('kg·m²', 'm/s²', 'N·m·s')
    """
    return _POWER.sub(lambda found: raised(int(found[1])), unit.replace("**", "^").replace("*", "·"))


def quantity(model: Model, key: sp.Expr) -> Html:
    """A symbol with its unit, as a chart title or in a table."""
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
            words = pretty_unit if title == "unit" else prose
            columns.append([text(words(known.get(p, ""))) for p in values])
    return joined([tag("h3", "Parameters"), table(head, zip(*columns, strict=True), numeric, class_="parameters")])


def _latex(expression: sp.Expr | Node | float) -> str:
    """LaTeX of the user's formula; for one that would fill pages, only its size."""
    node = expression if isinstance(expression, Node) else from_sympy(as_expression(expression))
    operations = tree_size(node, 10 * _LONG)
    if operations > _LONG:
        return r"\text{(a formula of more than " + str(_LONG) + r" operations)}"
    return shortened(vlatex(to_sympy(node) if isinstance(expression, Node) else expression))


_HEAD = ("input", "voltage", "torque constant", "back EMF", "resistance Ω", "inductance H", "gear")


def motors(model: Model) -> Html:
    """A row for each motor: its input and its parameters."""
    if not model.motors:
        return text("")
    rows = [_motor(u, motor) for u, motor in model.motors.items()]
    words = (
        "A motor gives the torque n k i (gear, torque constant, current) in place of the input; i is the rate of its "
    )
    words += "charge. Numbers in SI units."
    return joined([tag("h3", "Motors"), paragraph(words, class_="note"), table(_HEAD, rows, range(2, len(_HEAD)))])


def _motor(u: sp.Expr, motor: DCMotor) -> list[Html]:
    back = motor.torque_constant if motor.back_emf is None else motor.back_emf
    numbers = (motor.torque_constant, back, motor.resistance, motor.inductance, motor.gear)
    return [inline(u), inline(voltage_of(u)), *(number(float(value), 6) for value in numbers)]


def motor_units(model: Model) -> dict[sp.Expr, str]:
    """The units of charges and voltages, if the model has units."""
    if not model.units or isinstance(model.system, AffineSystem):
        return {}
    charges = {charge_of(model.system, u): "A s" for u in model.motors}
    return charges | {voltage_of(u): "V" for u in model.motors}


def curves(model: Model) -> Html:
    """Every measured curve: its points, their range, and its graph."""
    if not model.curves:
        return text("")
    pictures = [figure(_picture(curve), _caption(name, curve)) for name, curve in model.curves.items()]
    tables = [_points(name, curve) for name, curve in model.curves.items()]
    return joined([tag("h3", "Measured curves"), grid(pictures), *tables])


def _caption(name: str, curve: Measured) -> Html:
    """The name, the number of points and their range."""
    (low, high), unit = (min(curve.points), max(curve.points)), curve.units[0]
    range_ = [number(low, 6), " to ", number(high, 6), _in(unit)]
    return joined([tag("b", name), f", {counted(len(curve.points), 'point')} from ", *range_])


def _picture(curve: Measured) -> Picture:
    s = np.linspace(min(curve.points), max(curve.points), 200)
    line = Line(s, [curve.pieces.at(float(x)) for x in s], width=2)
    x, y = (Axis(pretty_unit(unit)) for unit in curve.units)
    return Picture([line, Marks(curve.points, curve.values, color=SERIES[1], size=6)], x, y, height=230, width=420)


def _points(name: str, curve: Measured) -> Html:
    """The points as a table that opens on click."""
    head = [f"point{_in(curve.units[0])}", f"value{_in(curve.units[1])}"]
    rows = [[number(x, 6), number(y, 6)] for x, y in zip(curve.points, curve.values, strict=True)]
    return folded(f"Points of {name}", table(head, rows, [0, 1]))


def _in(unit: str) -> str:
    return f" {pretty_unit(unit)}" if unit else ""
