"""Reversible steady motions with one odd state (disc, hoop, coin): stable without an energy.

If exactly one state v of the closed set changes its sign under R, and the rates satisfy f(R y) = -R f(y) identically,
then  y₊' = v a(y₊, v²),  v' = F(y₊, v²),  and with λ² = F_y₊·a < 0 every motion nearby is periodic or steady: a motion
that meets v = 0 twice is closed by R. The steady motion is stable; with λ² > 0 it is unstable.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import Point
from vinculum.analyze.reduction import chart_at, reduced_rates
from vinculum.graph import Node, substitute, symbol
from vinculum.graph.exact import vanishing


def odd_state(linear: LinearModel, where: Point) -> sp.Expr | None:
    """The one state v with f(R y) = -R f(y), proved exactly; None if there is none."""
    rates = where.closed.rates if where.closed is not None else None
    if rates is None:
        rates = reduced_rates(where.form, where.values, chart_at(where.form, where.values))
    if rates is None or any(symbol(x) not in rates for x in linear.states):
        return None
    for v in linear.states:
        node = symbol(v)
        if isinstance(v, sp.Derivative) and where.values[node] == 0.0 and _reverses(linear, where, rates, node):
            return v
    return None


def _reverses(linear: LinearModel, where: Point, rates: Mapping[Node, Node], v: Node) -> bool:
    states = [symbol(x) for x in linear.states]
    nodes = [rates[x] for x in states]
    turned = substitute(nodes, {v: -v})
    conditions = [b - a if x is v else b + a for x, a, b in zip(states, nodes, turned, strict=True)]
    return all(vanishing(conditions, where.values))
