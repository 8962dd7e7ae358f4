"""Velocities in a frame that turns with a heading, for bodies that travel in a plane.

A sleigh that circles has constant speeds along and across its heading ψ, while ẋ and ẏ turn. With

    ẋ = a cos ψ - c sin ψ,    ẏ = a sin ψ + c cos ψ,    ȧ = ẍ cos ψ + ÿ sin ψ + ψ̇ c,    ċ = -ẍ sin ψ + ÿ cos ψ - ψ̇ a

in place of ẋ and ẏ the heading becomes ignorable, and the motion in a circle is steady.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import sympy as sp

from vinculum.analyze.descriptor import Descriptor
from vinculum.graph import Node, apply, substitute, symbol, symbols
from vinculum.names import name_of


class Frame(NamedTuple):
    """Coordinates x, y in a plane and the heading ψ of a body."""

    x: sp.Expr
    y: sp.Expr
    heading: sp.Expr

    @property
    def speeds(self) -> tuple[sp.Expr, sp.Expr]:
        """The symbols of the speeds along and across the heading."""
        time, name = self.x.args[0], name_of(self.heading)
        return sp.Function(f"along_{name}")(time), sp.Function(f"across_{name}")(time)

    @property
    def definitions(self) -> dict[sp.Expr, sp.Expr]:
        """The speeds as expressions of the velocities."""
        vx, vy = self.x.diff(), self.y.diff()
        c, s = sp.cos(self.heading), sp.sin(self.heading)
        return dict(zip(self.speeds, (vx * c + vy * s, -vx * s + vy * c), strict=True))


def framed(form: Descriptor, frame: Frame) -> Descriptor:
    """The same equations with the speeds along and across a heading in place of ẋ and ẏ."""
    return form.remembered(("framed", frame), lambda: _framed(form, frame))


def _framed(form: Descriptor, frame: Frame) -> Descriptor:
    n = form.coordinates
    x, y, psi = (form.states.index(symbol(q)) for q in frame)
    along, across = map(symbol, frame.speeds)
    c, s = apply("cos", form.states[psi]), apply("sin", form.states[psi])
    velocities = {form.states[n + x]: along * c - across * s, form.states[n + y]: along * s + across * c}
    turning, (ax, ay) = form.states[n + psi], (form.algebraic[x], form.algebraic[y])
    states, rates = list(form.states), list(form.rates)
    states[n + x], states[n + y] = along, across
    rates[n + x], rates[n + y] = ax * c + ay * s + turning * across, ay * c - ax * s - turning * along
    return replace(
        form,
        states=tuple(states),
        rates=tuple(substitute(rates, velocities)),
        balance=tuple(substitute(list(form.balance), velocities)),
        residuals=tuple(substitute(list(form.residuals), velocities)),
        turned=velocities,
        frame=frame,
    )


def candidates(form: Descriptor, felt: frozenset[Node]) -> list[Frame]:
    """Pairs of coordinates of which only the velocities matter, with each heading that a motion feels."""
    return form.remembered(("frames", felt), lambda: list(_candidates(form, felt)))


def _candidates(form: Descriptor, felt: frozenset[Node]) -> Iterator[Frame]:
    n, t = form.coordinates, form.time
    absent = [q for q in form.states[:n] if q not in form.present]
    for x, y in combinations(absent, 2):
        for heading in form.states[:n]:
            if heading in felt and heading is not t and _meet(form, x, y, heading):
                yield Frame(x.value, y.value, heading.value)


def _meet(form: Descriptor, x: Node, y: Node, heading: Node) -> bool:
    """Whether both velocities appear together with the heading."""
    n = form.coordinates
    v = {form.states[n + form.states.index(q)] for q in (x, y)} | {form.algebraic[form.states.index(q)] for q in (x, y)}
    together = set[Node]().union(*(found for found in _symbols_of_rows(form) if heading in found))
    return len(v & together) >= 2


def _symbols_of_rows(form: Descriptor) -> list[set[Node]]:
    """The symbols of every equation."""
    rows = (*form.residuals, *form.balance)
    return form.remembered(("symbols of rows",), lambda: [symbols([row]) for row in rows])
