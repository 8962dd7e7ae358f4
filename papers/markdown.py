"""The same as `page`, as Markdown for the documentation: only digits that every machine reproduces."""

from __future__ import annotations

import re
from pathlib import Path

from papers import words
from papers.drawing import svg_file
from papers.page import ABOUT, TITLE
from papers.record import Confirmation, Erratum, Evidence, Figure, Number, Table
from papers.reproduce import Progress, Reproduced, reproduce
from vinculum.writing import refuse_place, write_file

PICTURES = "images/papers"
NOTE = (
    "`python -m papers --markdown` writes this page. `make papers` writes the same as one HTML page, "
    "build/papers.html. For a corrected form, the page gives the bound that its error meets."
)


def write_markdown(path: str | Path, progress: Progress | None = None, *, overwrite: bool = False) -> Path:
    """Compute everything again and write the page, and its pictures into a folder next to it, which belong to it."""
    from papers import PAPERS

    refuse_place(path, overwrite)
    found = list(reproduce(PAPERS, progress))
    folder = Path(path).parent / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures(found).items():
        write_file(folder / name, picture)
    write_file(path, markdown(found), overwrite=overwrite)
    return Path(path)


def pictures(papers: list[Reproduced]) -> dict[str, str]:
    """{file name: SVG}."""
    return {
        _file(found, i, k): svg_file(picture)
        for found in papers
        for i, (_, panels) in enumerate(found.figures, start=1)
        for k, (_, picture) in enumerate(panels, start=1)
    }


def _file(found: Reproduced, figure: int, panel: int) -> str:
    return f"{found.paper.key}_{figure}_{panel}.svg"


def markdown(papers: list[Reproduced]) -> str:
    """The page as text."""
    parts = [f"# {TITLE}", ABOUT, words.summary(papers), NOTE]
    for found in papers:
        parts += _paper(found)
    return "\n\n".join(parts) + "\n"


def _paper(found: Reproduced) -> list[str]:
    paper = found.paper
    parts = [f"## {paper.short}", f"*{plain(paper.title)}.* {plain(words.source(paper))}.", plain(paper.about)]
    if found.figures:
        parts.append("### Figures")
        for i, (figure, panels) in enumerate(found.figures, start=1):
            names = [(name or figure.where, _file(found, i, k)) for k, (name, _) in enumerate(panels, start=1)]
            parts += _figure(figure, names)
    if found.tables:
        parts += ["### Numbers", *(_table(about, numbers) for about, numbers in found.tables)]
    parts += ["### Errata", "\n".join(_erratum(erratum, shown) for erratum, shown in found.errata)]
    if found.confirmations:
        parts += ["### Right as printed", "\n".join(_confirmation(*part) for part in found.confirmations)]
    return parts


def _figure(figure: Figure, names: list[tuple[str, str]]) -> list[str]:
    shown = [f"![{plain(name)}]({PICTURES}/{file})" for name, file in names]
    return [f"**{figure.where}.** {plain(figure.caption)} In the paper: {plain(figure.printed)}", *shown]


def _table(about: Table, numbers: list[Number]) -> str:
    lines = [
        f"**{plain(about.title)}.** {plain(about.remark)}".rstrip(),
        "",
        "| quantity | reference | ours | |",
        "|---|---|---|---|",
    ]
    for number in numbers:
        origin = " (in the paper)" if number.in_paper else ""
        row = (number.quantity, words.readable(number.printed) + origin, _ours(number), words.verdict(number))
        lines.append(f"| {' | '.join(map(plain, row))} |")
    return "\n".join(lines)


def _ours(number: Number) -> str:
    if number.is_bound:
        return "below that" if number.agrees else ", ".join(words.size(value) for value in number.values)
    return words.readable(number.shown)


def _erratum(erratum: Erratum, shown: Evidence) -> str:
    corrected = "exactly 0" if shown.exact else f"at most {words.readable(f'{shown.accepted:.0e}')}"
    forms = f"printed ${formula(erratum.printed)}$, right ${formula(erratum.corrected)}$."
    remark = f" {plain(erratum.remark)}" if erratum.remark else ""
    errors = f"*Error as printed {words.size(shown.printed)}, corrected {corrected}.*"
    place, measure = (plain(words.sentence(part)) for part in (erratum.where, shown.measure))
    return f"- **{place}:** {forms}{remark} {errors} {measure}."


def _confirmation(confirmation: Confirmation, measure: str, error: float) -> str:
    place, shown = (plain(words.sentence(part)) for part in (confirmation.where, measure))
    return f"- **{place}:** ${formula(confirmation.formula)}$. {shown}."


def plain(text: str) -> str:
    r"""Text that Markdown takes as it stands.

    >>> plain("T* of |v_C|")
    'T\\* of \\|v\\_C\\|'
    """
    return re.sub(r"([*_|<>\[\]`])", r"\\\1", text).replace("\\<", "&lt;").replace("\\>", "&gt;")


def formula(latex: str) -> str:
    """LaTeX with bars by name, which stand in tables too."""
    return words.spaced(latex).replace(r"\|", r"\Vert ").replace("|", r"\vert ").strip()
