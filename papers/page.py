"""The five papers on one page: printed numbers and figures next to ours, and every erratum with its check."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from papers import words
from papers.drawing import Panel
from papers.record import Confirmation, Erratum, Evidence, Figure, Number, Paper, Table
from papers.reproduce import Progress, Reproduced, reproduce
from vinculum.present.html import Html, Section, duration, joined, paragraph, table, tag, text
from vinculum.present.mathml import STYLE, mathml
from vinculum.present.report.charts import figure as placed
from vinculum.present.report.charts import grid
from vinculum.present.report.page import assembled
from vinculum.writing import refuse_place, write_file

TITLE = "Five papers, computed again"
ABOUT = (
    "Vinculum rests on five papers. This page repeats their computations. A number agrees when all its printed digits "
    "do. Every erratum has two checks against an independent reference (Lagrange's equations with multipliers, "
    "differences of the motion, differentiated positions in exact arithmetic): the printed form fails, and the "
    "corrected form passes."
)
LOOK = """
.erratum { border: 1px solid var(--line); border-radius: .6rem; background: var(--panel); padding: .7rem 1rem .5rem;
  margin: .7rem 0; break-inside: avoid; }
.erratum h4 { margin: 0 0 .3rem; }
.forms { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .3rem 1.5rem; }
.forms.long { grid-template-columns: minmax(0, 1fr); }
.forms math { math-style: normal; }
.forms > div { overflow-x: auto; overflow-y: hidden; padding: .2rem 0; }
.forms b, .shown b { font-weight: 600; font-size: .85rem; display: block; }
.forms .printed b { color: var(--bad); } .forms .corrected b { color: var(--good); }
.shown { font-size: .9rem; margin: .3rem 0 0; color: var(--muted); max-width: none; }
.shown strong { color: var(--text); font-weight: 600; }
sub { line-height: 0; font-size: .75em; }
.about-figure { font-size: .92rem; color: var(--muted); margin: 0 0 .4rem; }
@media (max-width: 40rem) { .forms { grid-template-columns: minmax(0, 1fr); } }
@media print { .erratum { border: none; border-bottom: 1px solid var(--line); border-radius: 0; padding: .3rem 0; } }
"""


def write_page(path: str | Path, progress: Progress | None = None, *, overwrite: bool = False) -> Path:
    """Compute everything again and write the page; ``progress`` takes the step and the fraction done."""
    from papers import PAPERS

    refuse_place(path, overwrite)
    write_file(path, page(list(reproduce(PAPERS, progress))), overwrite=overwrite)
    return Path(path)


def page(papers: list[Reproduced]) -> str:
    """The page as text."""
    sections = [_paper(found) for found in papers]
    told = [paragraph(ABOUT), paragraph(words.summary(papers), class_="summary"), _overview(papers)]
    heading = tag("header", tag("h1", TITLE), *told, class_="title")
    return assembled(TITLE, heading, sections, style=STYLE + LOOK)


def _overview(papers: list[Reproduced]) -> Html:
    rows = []
    for found in papers:
        counts = (
            f"{found.agreeing} of {len(found.numbers)}",
            f"{found.shown} of {len(found.errata)}",
            len(found.figures),
        )
        rows.append([tag("a", found.paper.short, href=f"#{found.paper.key}"), *counts, duration(found.seconds)])
    return table(["paper", "numbers agree", "errata shown", "figures", "computed in"], rows, [1, 2, 3, 4])


def _paper(found: Reproduced) -> Section:
    paper = found.paper
    parts: list[object] = [_source(paper)]
    if found.figures:
        parts += [tag("h3", "Figures"), *(_figure(figure, panels) for figure, panels in found.figures)]
    if found.tables:
        parts += [tag("h3", "Numbers"), *(_numbers(about, numbers) for about, numbers in found.tables)]
    parts += [tag("h3", "Errata"), *(_erratum(erratum, shown) for erratum, shown in found.errata)]
    if found.confirmations:
        parts += [tag("h3", "Right as printed"), *(_confirmation(*part) for part in found.confirmations)]
    return Section(paper.key, paper.short, joined(parts), short=paper.short)


def _source(paper: Paper) -> Html:
    return joined([paragraph(tag("cite", paper.title), ". ", words.source(paper), "."), paragraph(paper.about)])


def _figure(figure: Figure, panels: Iterable[Panel]) -> Html:
    drawn = [placed(picture, name, figure.caption) for name, picture in panels]
    about = paragraph(figure.caption, " In the paper: ", figure.printed, class_="about-figure")
    return joined([tag("h4", figure.where), about, drawn[0] if len(drawn) == 1 else grid(drawn)])


def _numbers(about: Table, numbers: list[Number]) -> Html:
    remark = paragraph(_indexed(about.remark), class_="note") if about.remark else ""
    head = ["quantity", "printed" if all(n.in_paper for n in numbers) else "reference", "ours", ""]
    return joined([tag("h4", _indexed(about.title)), remark, table(head, map(_row, numbers))])


def _row(number: Number) -> list[object]:
    kind = "badge good" if number.agrees else "badge open"
    verdict = tag("span", "agrees" if number.agrees else "differs", class_=kind)
    why = number.reason if not number.agrees else ("" if number.agrees_strictly else "to a unit of the last digit")
    origin = tag("span", "in the paper", class_="kind") if number.in_paper else ""
    given = joined([words.readable(number.printed), origin])
    return [_indexed(number.quantity), given, words.readable(number.shown), joined([verdict, " ", why])]


def _erratum(erratum: Erratum, shown: Evidence) -> Html:
    printed, corrected = words.evidence(shown)
    long = max(map(_length, (erratum.printed, erratum.corrected))) > _LONG
    forms = tag(
        "div",
        tag("div", tag("b", "printed"), _formula(erratum.printed), class_="printed"),
        tag("div", tag("b", "right"), _formula(erratum.corrected), class_="corrected"),
        class_="forms long" if long else "forms",
    )
    errors = ("Error as printed ", tag("strong", printed), ", corrected ", tag("strong", corrected), ". ")
    measured = paragraph(*errors, _indexed(f"{words.sentence(shown.measure)}."), class_="shown")
    remark = paragraph(_indexed(erratum.remark), class_="shown") if erratum.remark else ""
    return tag("article", tag("h4", _indexed(words.sentence(erratum.where))), forms, remark, measured, class_="erratum")


def _confirmation(confirmation: Confirmation, measure: str, error: float) -> Html:
    formula = tag("div", tag("div", _formula(confirmation.formula)), class_="forms long")
    found = ("Error ", tag("strong", words.size(error)), ". ", _indexed(f"{words.sentence(measure)}."))
    head = tag("h4", _indexed(words.sentence(confirmation.where)))
    return tag("article", head, formula, paragraph(*found, class_="shown"), class_="erratum")


def _formula(latex: str) -> Html:
    return Html(mathml(words.spaced(latex)))


def _length(latex: str) -> int:
    """Letters and signs of a formula, roughly."""
    return len(
        re.sub(
            r"[{}_^ ]|\\[,;\\ ]",
            "",
            re.sub(r"\\(?:[td]?frac|left|right|text|dot|partial)", "", re.sub(r"\\[A-Za-z]+", "x", latex)),
        )
    )


def _indexed(words: str) -> Html:
    """q_n with its index below, C^B with it above."""
    markup = _INDEX.sub(lambda found: f"<{_PLACES[found[1]]}>{found[2]}</{_PLACES[found[1]]}>", text(words))
    return Html(markup)


_LONG = 42  # letters from which the two forms stand below each other
_INDEX = re.compile("([_^])([A-Za-z0-9\u0300-\u03ff]+)")
_PLACES = {"_": "sub", "^": "sup"}
