"""HTML for notebooks: tables with labelled rows, grids of numbers, formulas as MathML. Every text is escaped.

Formulas are MathML, which browsers draw themselves: a table needs no script and no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from html import escape
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from vinculum.names import name_of
from vinculum.present.mathml import mathml

_LEFT = 'style="text-align: left"'
_LARGEST = 400  # symbols, numbers and operations of one formula; printing a larger one may take a minute
_MANY = 12  # symbols in a row


class Grid(NamedTuple):
    """A table inside a table: the names of its columns, and its rows, each with a name first."""

    columns: Sequence[Any]
    rows: Mapping[Any, Sequence[Any]]


class Formula(NamedTuple):
    """LaTeX to be shown as a formula."""

    latex: str


def table(title: str, rows: Mapping[str, Any]) -> str:
    """A title and labelled rows; a value may be text, a number, a formula, an array, a `Grid` or several of them."""
    body = "".join(f"<tr><th {_LEFT}>{escape(label)}</th><td {_LEFT}>{cell(v)}</td></tr>" for label, v in rows.items())
    head = f'<tr><th colspan="2" {_LEFT}>{escape(title)}</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


@singledispatch
def cell(value: Any) -> str:
    """One value as HTML."""
    return escape(str(value))


@cell.register
def _number(value: float) -> str:
    return escape(f"{value + 0.0:.6g}")  # no minus before a zero


@cell.register
def _complex_number(value: complex) -> str:
    return escape(f"{value.real:.6g}" if value.imag == 0 else f"{value:.6g}")


@cell.register
def _formula(value: Formula) -> str:
    return mathml(value.latex)


@cell.register(sp.Basic)
@cell.register(sp.MatrixBase)
def _expression(value: Any) -> str:
    from sympy.physics.vector.printing import vlatex

    if sum(1 for _ in islice(sp.preorder_traversal(value), _LARGEST + 1)) > _LARGEST:
        return f"<em>a formula of more than {_LARGEST} parts</em>"
    return cell(Formula(vlatex(value)))


@cell.register
def _array(value: np.ndarray) -> str:
    """A column of numbers as a row of them, a matrix as a grid."""
    if value.ndim < 2:
        return ", ".join(cell(number.item()) for number in value.ravel())
    return _lines([[cell(number.item()) for number in row] for row in value])


@cell.register
def _grid(value: Grid) -> str:
    head = ["", *map(cell, value.columns)]
    return _lines([head, *([cell(name), *map(cell, row)] for name, row in value.rows.items())])


@cell.register(list)
@cell.register(tuple)
def _several(value: Sequence[Any]) -> str:
    """One beside the other; many symbols by their names, which take less room than formulas."""
    entries = [name_of(v) if isinstance(v, sp.Basic) else v for v in value] if len(value) > _MANY else value
    return ", ".join(map(cell, entries)) or "none"


@cell.register(Mapping)
def _assigned(value: Mapping[Any, Any]) -> str:
    return ", ".join(f"{cell(name)} = {cell(number)}" for name, number in value.items()) or "none"


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return f"<table>{''.join(f'<tr>{_cells(row)}</tr>' for row in rows)}</table>"


def _cells(row: Sequence[str]) -> str:
    return "".join(f"<td {_LEFT}>{entry}</td>" for entry in row)
