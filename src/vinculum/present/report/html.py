"""HTML from Python: what a user wrote is text and is escaped; only what these functions made is markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


class Html(str):
    """Markup that needs no escaping."""

    __slots__ = ()


def text(content: object) -> Html:
    """Anything as markup: plain strings are escaped."""
    return content if isinstance(content, Html) else Html(escape(str(content), quote=True))


def tag(name: str, *children: object, **attributes: object) -> Html:
    """An element; ``class_`` gives class, ``data_id`` data-id; an attribute that is None is left out."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{escape(str(value), quote=True)}"' for key, value in given.items())
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[object]) -> Html:
    """Parts one after the other."""
    return Html("".join(text(part) for part in parts))


def table(
    head: Sequence[object], rows: Iterable[Sequence[object]], numeric: Sequence[int] = (), **attributes: object
) -> Html:
    """A table in a box that scrolls by itself; columns in ``numeric`` are set to the right."""
    kinds = ["number" if i in numeric else None for i in range(len(head))]
    top = tag("tr", *(tag("th", cell, class_=kind, scope="col") for cell, kind in zip(head, kinds, strict=True)))
    body = [tag("tr", *(tag("td", c, class_=k) for c, k in zip(row, kinds, strict=True))) for row in rows]
    return tag("div", tag("table", tag("thead", top), tag("tbody", *body), **attributes), class_="wide", tabindex="0")


@dataclass(frozen=True)
class Section:
    """A part of the page that can be linked to."""

    identifier: str
    title: str
    content: Html
    short: str = ""  # the line of the contents, where it is not the identifier

    @property
    def html(self) -> Html:
        """The part with its heading."""
        return tag("section", tag("h2", self.title), self.content, id=self.identifier)

    @property
    def link(self) -> Html:
        """A line of the contents."""
        return tag("a", self.short or self.identifier.capitalize(), href=f"#{self.identifier}")


def section(identifier: str, title: str, *children: object) -> Section:
    """A part of the page."""
    return Section(identifier, title, joined(children))


def paragraph(*children: object, **attributes: object) -> Html:
    """A paragraph."""
    return tag("p", *children, **attributes)


def folded(title: object, *children: object) -> Html:
    """What is shown when it is asked for."""
    return tag("details", tag("summary", title), *children)
