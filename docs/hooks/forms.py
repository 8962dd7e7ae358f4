"""Puts the table of all registered forms and their options where a page has the line <!-- forms -->."""

from vinculum.derivation import FORMS, form_names

MARK = "<!-- forms -->"


def on_page_markdown(markdown: str, **_) -> str:
    """Called by MkDocs for every page."""
    return markdown.replace(MARK, table()) if MARK in markdown else markdown


def table() -> str:
    """A row for each form: its class, its summary, its options."""
    rows = ["| form | class | equations | options |", "|---|---|---|---|"]
    for name in form_names():
        form = FORMS[name]
        options = ", ".join(f"`{option}`" for option in form.options())
        rows.append(f'| `"{name}"` | `{form.__name__}` | {form.summary} | {options} |')
    return "\n".join(rows)
