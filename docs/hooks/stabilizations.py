"""Puts the table of all registered stabilizations where a page has the line <!-- stabilizations -->."""

from vinculum.simulation import METHODS
from vinculum.simulation.stabilization.stabilization import STABILIZATIONS, names_without_options

MARK = "<!-- stabilizations -->"


def on_page_markdown(markdown: str, **_) -> str:
    """Called by MkDocs for every page."""
    return markdown.replace(MARK, table()) if MARK in markdown else markdown


def table() -> str:
    """A row for each stabilization: its name and class, its summary, the methods that use it by default."""
    rows = ["| `stabilization` | what it does | default of |", "|---|---|---|"]
    for name, kind in STABILIZATIONS.items():
        options = ", ".join(f"{option}=..." for option in kind.options())
        by_name = f'`"{name}"`, ' if name in names_without_options() else ""
        users = [f'`"{method}"`' for method, used in METHODS.items() if used.stabilizations[0] is kind]
        rows.append(f"| {by_name}`vn.{kind.__name__}({options})` | {kind.summary} | {', '.join(users)} |")
    return "\n".join(rows)
