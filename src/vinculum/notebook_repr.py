"""Display of records in a notebook: a class needs one line, ``_repr_html_ = html``."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from vinculum.hooks import call

LONGEST_FORMULA = 20_000  # longest LaTeX that a notebook displays well; a table replaces anything longer

_PRINTED: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # Jupyter requests every format it knows


def html(record: Any) -> str:
    """The record as an HTML table (see `vinculum.present.records`)."""
    return str(call("notebook table", record))


def formula(record: Any) -> str | None:
    """The record's ``latex()`` for Jupyter, or None if it would fill pages."""
    return f"$\\displaystyle {_latex(record)}$" if len(_latex(record)) <= LONGEST_FORMULA else None


def html_formula(record: Any) -> str:
    """The record's formulas as MathML, which needs no network, unlike `formula`; a table if they would fill pages."""
    return html(record) if len(_latex(record)) > LONGEST_FORMULA else str(call("notebook formula", _latex(record)))


def _latex(record: Any) -> str:
    if record not in _PRINTED:
        _PRINTED[record] = record.latex()
    return _PRINTED[record]
