"""Motors and measured curves of a model."""

from __future__ import annotations

import numpy as np
import sympy as sp

from vinculum.describe import AffineSystem, DCMotor
from vinculum.describe.motors import charge_of, voltage_of
from vinculum.model.model import Measured, Model
from vinculum.present.report import charts
from vinculum.present.report.figures import Figures
from vinculum.present.report.html import Html, folded, joined, paragraph, table, tag, text
from vinculum.present.report.mathematics import inline
from vinculum.present.report.words import counted, number

_HEAD = ("input", "voltage", "torque constant", "back EMF", "resistance Ω", "inductance H", "gear")


def motors(model: Model) -> Html:
    """A row for each motor: what it drives, and its numbers."""
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
    """The units of charges and voltages, where the model has units at all."""
    if not model.units or isinstance(model.system, AffineSystem):
        return {}
    charges = {charge_of(model.system, u): "A s" for u in model.motors}
    return charges | {voltage_of(u): "V" for u in model.motors}


def curves(model: Model, figures: Figures) -> Html:
    """Every measured curve: its points, their range, and how it runs between them."""
    if not model.curves:
        return text("")
    pictures = [(_caption(name, curve), _picture(curve)) for name, curve in model.curves.items()]
    tables = [_points(name, curve) for name, curve in model.curves.items()]
    return joined([tag("h3", "Measured curves"), figures.grid(pictures), *tables])


def _caption(name: str, curve: Measured) -> Html:
    """The name, the number of points and the range in which they lie."""
    (low, high), unit = (min(curve.points), max(curve.points)), curve.units[0]
    range_ = [number(low, 6), " to ", number(high, 6), f" {unit}" if unit else ""]
    return joined([tag("b", name), f", {counted(len(curve.points), 'point')} from ", *range_])


def _picture(curve: Measured) -> charts.Figure:
    s = np.linspace(min(curve.points), max(curve.points), 200)
    line = charts.line(s, np.array([curve.pieces.at(float(x)) for x in s]))
    marks = charts.line(np.array(curve.points), np.array(curve.values), color=charts.SERIES[1])
    return charts.small([line, marks | {"mode": "markers", "marker": {"color": charts.SERIES[1], "size": 6}}])


def _points(name: str, curve: Measured) -> Html:
    """The points as a table that opens when it is asked for."""
    head = [f"point{_in(curve.units[0])}", f"value{_in(curve.units[1])}"]
    rows = [[number(x, 6), number(y, 6)] for x, y in zip(curve.points, curve.values, strict=True)]
    return folded(f"Points of {name}", table(head, rows, [0, 1]))


def _in(unit: str) -> str:
    return f" {unit}" if unit else ""
