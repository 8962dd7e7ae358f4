"""HTML for notebooks: tables with labeled rows, grids of numbers, formulas as MathML. All text is escaped.

Browsers render MathML themselves: a table needs no scripts and no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from vinculum.names import name_of
from vinculum.present.html import Html, joined, tag, text
from vinculum.present.mathml import mathml
from vinculum.text_printer import number, vlatex

_LEFT = "text-align: left"
_LARGEST = 400  # symbols, numbers and operations of one formula; printing a larger one may take a minute
_MANY = 12  # symbols in one row


class Grid(NamedTuple):
    """A table inside a table: the names of its columns, and its rows, each with a name first."""

    columns: Sequence[Any]
    rows: Mapping[Any, Sequence[Any]]


class Formula(NamedTuple):
    """LaTeX to be shown as a formula."""

    latex: str


def table(title: str, rows: Mapping[str, Any]) -> Html:
    """A title and labeled rows; a value may be text, a number, a formula, an array, a `Grid` or several of them."""
    body = [tag("tr", tag("th", label, style=_LEFT), tag("td", cell(v), style=_LEFT)) for label, v in rows.items()]
    head = tag("tr", tag("th", title, colspan=2, style=_LEFT))
    return tag("table", tag("thead", head), tag("tbody", *body))


@singledispatch
def cell(value: Any) -> Html:
    """One value as HTML."""
    return text(value)


@cell.register(float)
@cell.register(complex)
def _number(value: complex) -> Html:
    return text(number(value))


@cell.register
def _formula(value: Formula) -> Html:
    return mathml(value.latex)


@cell.register(sp.Basic)
@cell.register(sp.MatrixBase)
def _expression(value: Any) -> Html:
    if sum(1 for _ in islice(sp.preorder_traversal(value), _LARGEST + 1)) > _LARGEST:
        return tag("em", f"a formula of more than {_LARGEST} parts")
    return cell(Formula(vlatex(value)))


@cell.register
def _array(value: np.ndarray) -> Html:
    """A column of numbers as one row, a matrix as a grid."""
    if value.ndim < 2:
        return _row(cell(entry.item()) for entry in value.ravel())
    return _lines([[cell(entry.item()) for entry in row] for row in value])


@cell.register
def _grid(value: Grid) -> Html:
    head = [text(""), *map(cell, value.columns)]
    return _lines([head, *([cell(name), *map(cell, row)] for name, row in value.rows.items())])


@cell.register(list)
@cell.register(tuple)
def _several(value: Sequence[Any]) -> Html:
    """Values side by side; many symbols by name, which takes less space than formulas."""
    entries = [name_of(v) if isinstance(v, sp.Basic) else v for v in value] if len(value) > _MANY else value
    return _row(map(cell, entries))


@cell.register(Mapping)
def _assigned(value: Mapping[Any, Any]) -> Html:
    return _row(joined([cell(name), " = ", cell(entry)]) for name, entry in value.items())


def _row(cells: Iterable[Html]) -> Html:
    return Html(", ".join(cells) or "none")


def _lines(rows: Iterable[Sequence[Html]]) -> Html:
    return tag("table", *(tag("tr", *(tag("td", entry, style=_LEFT) for entry in row)) for row in rows))
