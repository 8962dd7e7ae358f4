"""Where figures stand on the page; their data travels beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vinculum.present.report.html import Html, tag


def key_of(color: str, name: str) -> Html:
    """An entry of a legend: a patch of the color, and what it stands for."""
    return tag("span", tag("i", style=f"background:{color}"), name, class_="key")


class Figures:
    """Figures placed so far, by identifier."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}

    def place(self, figure: dict[str, Any], caption: object = "", words: str = "") -> Html:
        """An empty box of the figure's height that the page's script fills; ``words`` say what is to be seen."""
        identifier = f"figure-{len(self.data) + 1}"
        self.data[identifier] = figure
        style = f"height:{figure['layout']['height']}px"
        box = tag("div", id=identifier, class_="plot", style=style, role="img", aria_label=words or None)
        return tag("figure", tag("figcaption", caption) if caption else "", box)

    def grid(self, pictures: Iterable[tuple[object, dict[str, Any]]]) -> Html:
        """Small pictures side by side, as many as the page is wide, each under its name."""
        return tag("div", *(self.place(figure, caption) for caption, figure in pictures), class_="grid")
