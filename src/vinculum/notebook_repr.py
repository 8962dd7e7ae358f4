"""How a record shows itself in a notebook: one line, ``_repr_html_ = html``, in its class."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from vinculum.hooks import call

LONGEST_FORMULA = 20_000  # characters of LaTeX that a notebook still shows well; a longer one gives way to a table

_PRINTED: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # Jupyter asks for every form it knows


def html(record: Any) -> str:
    """The record as an HTML table (see `vinculum.present.records`)."""
    return str(call("notebook table", record))


def formula(record: Any) -> str | None:
    """The record's ``latex()`` as Jupyter wants it, or nothing where it would fill pages."""
    return f"$\\displaystyle {_latex(record)}$" if len(_latex(record)) <= LONGEST_FORMULA else None


def html_if_large(record: Any) -> str | None:
    """A table in place of formulas that would fill pages. Jupyter prefers tables, so there is none beside `formula`."""
    return html(record) if len(_latex(record)) > LONGEST_FORMULA else None


def _latex(record: Any) -> str:
    if record not in _PRINTED:
        _PRINTED[record] = record.latex()
    return _PRINTED[record]
