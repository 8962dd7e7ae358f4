"""Tables for people, JSON for machines, files that are never overwritten unasked."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vinculum.cli.codes import Wrong, tell
from vinculum.json_data import json_data


def free_place(path: Path | None, force: bool, kinds: Sequence[str], how: str = " with -o") -> None:
    """Refuse a file that is there already, or of a kind that is not written: before anything is computed."""
    if path is None:
        return
    if path.suffix.lower() not in kinds:
        raise Wrong(f"{path.name} cannot be written: the file must end in {' or '.join(kinds)}.")
    if path.exists() and not force:
        raise Wrong(f"{path} is there already. Choose another name{how}, or overwrite it with --force.")
    if not path.resolve().parent.is_dir():
        raise Wrong(f"{path.resolve().parent} is not a folder. Create it, or choose another place{how}.")


def written(path: Path, text: str) -> None:
    """Write a text, and say where."""
    path.write_text(text, encoding="utf-8")
    tell_where(path)


def tell_where(place: object) -> None:
    """Say where something was written, on the error stream."""
    tell(f"Written to {place}")


def table(title: str, rows: Mapping[str, Any]) -> None:
    """Labelled rows."""
    from rich.table import Table

    made = Table(show_header=False, box=None, pad_edge=False)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for label, value in rows.items():
        made.add_row(label, shown(value))
    _print(title, made)


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table with columns."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False)
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        made.add_row(*map(shown, row))
    _print(title, made)


def _print(title: str, made: Any) -> None:
    """A title and a table; a pipe gets plain lines, as wide as they need to be."""
    from rich.console import Console
    from rich.padding import Padding

    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 200, markup=False, highlight=False)
    with console.capture() as captured:
        console.print(title, style="bold" if terminal else "")
        console.print(Padding(made, (0, 0, 0, 2)))
    print("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def shown(value: Any) -> str:
    """A number with six digits, everything else as it is."""
    from vinculum.text_printer import number

    return number(value) if isinstance(value, (float, complex)) else str(value)


def as_json(data: Any) -> str:
    """A result as JSON for machines (see `json_data`)."""
    return json.dumps(json_data(data), indent=2, ensure_ascii=False, allow_nan=False)
