"""The five papers: every erratum is shown, wrong and right; every number agrees; the page is complete and up to date.

One file, so that everything is computed once.
"""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from papers import PAPERS, Evidence, Number, reproduce
from papers.markdown import formula, markdown, pictures
from papers.page import page
from papers.record import last_unit, rounded
from papers.reproduce import computed
from papers.words import readable, size
from vinculum.present.mathml import mathml

DOCS = Path(__file__).parents[2] / "docs"
PAPER = {paper.key: paper for paper in PAPERS}
LABELS = {
    "redundant": [
        "Lyapunov", "A", "7", "10 range", "10 multiplier", "12", "13", "15", "27", "section 7", "16", "before 21", "20",
        "expansion", "24 signs", "24 entries", "24 C3", "24 missing", "theorem", "before 25", "26", "after 26",
        "before 29", "32", "33", "38", "proportional",
    ],
    "quasi": [
        "5", "7 sum", "7 right", "8 sign", "8 matrix", "W first", "W second", "after 10", "V_Ay", "T", "12", "mass",
        "W22", "W23", "W32", "W33", "13a", "13b", "13c", "ideal", "lambda", "gyroscope third", "gyroscope W23", "16a",
        "after 16",
    ],
    "graph": [
        "E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10", "E11 unit vector", "E11 axis", "E12 index",
        "E12 duplicate", "E12 minus", "E13 bracket", "E13 lost", "E13 axes", "E13 sum", "Lemma 1", "roots", "base",
        "gravity", "hinge",
    ],
    "reactions": [
        "7", "after 10", "25", "25 off", "26", "26 off", "27", "A e", "A minor", "A determinant", "A d", "gutter",
        "range", "f3", "letters",
    ],
    "program": [
        "4", "7", "8", "10", "11", "X nu", "20 index", "20 kinematics", "bound", "25", "estimate", "theorem", "26 b",
        "26 u", "interval", "keyword",
    ],
}  # fmt: skip
ERRATA = [(paper, erratum) for paper in PAPERS for erratum in paper.errata]
CONFIRMED = [(paper, confirmation) for paper in PAPERS for confirmation in paper.confirmations]
TABLES = [(paper, table) for paper in PAPERS for table in paper.tables]


def named(pairs, name):
    return [pytest.param(part, id=f"{paper.key}-{name(part)}") for paper, part in pairs]


def test_the_papers_are_complete():
    assert list(PAPER) == list(LABELS)


@pytest.mark.parametrize("key", LABELS)
def test_every_erratum_has_its_entry(key):
    assert PAPER[key].labels == LABELS[key]


@pytest.mark.parametrize("erratum", named(ERRATA, lambda e: e.label))
def test_the_printed_form_is_wrong_and_the_corrected_one_right(erratum):
    found = computed(erratum.show)
    assert found.printed_is_wrong, f"as printed: {found.printed:g} ({found.measure})"
    assert found.corrected_is_right, f"corrected: {found.corrected:g} ({found.measure})"
    assert erratum.printed != erratum.corrected


@pytest.mark.parametrize("confirmation", named(CONFIRMED, lambda c: c.where))
def test_what_is_right_as_printed(confirmation):
    measure, error = computed(confirmation.check)
    assert error <= confirmation.accepted, measure


@pytest.mark.parametrize("table", named(TABLES, lambda t: t.title))
def test_numbers_agree_to_the_digits_printed(table):
    numbers = computed(table.make)
    wrong = [f"{n.quantity}: {n.printed} printed, {n.shown} found" for n in numbers if not n.agrees and not n.reason]
    assert not wrong


# -- the records themselves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "unit"), [("2.80", 0.01), ("-3", 1), ("1.2236e-7", 1e-11), ("4e3", 1e3)])
def test_the_last_digit_decides(text, unit):
    assert last_unit(text) == pytest.approx(unit)
    value = float(text)
    assert Number("x", text, value + 0.49 * unit).agrees
    assert not Number("x", text, value + 0.51 * unit).agrees


def test_several_numbers_in_one_text():
    found = Number("roots", "±2.81 (double), -0.5 ± 1.20i", (2.8099, -0.46, 1.2))
    assert found.agrees
    assert found.shown == "±2.81 (double), -0.5 ± 1.20i"
    assert Number("roots", "±2.81, ±2.5i", (2.83, 2.5)).shown == "±2.83, ±2.5i"
    with pytest.raises(ValueError, match="2 numbers are printed, 1 computed"):
        _ = Number("roots", "1, 2", 1.0).agrees


def test_bounds():
    assert Number("residual", "< 5e-10", 4e-10).agrees
    assert not Number("residual", "< 5e-10", 6e-10).agrees
    assert rounded(-0.00034, "0.000") == "0.000"


def test_evidence_needs_both():
    assert Evidence("", 0.1, 1e-12).shows
    assert not Evidence("", 1e-12, 1e-12).shows
    assert not Evidence("", 0.1, 0.1).shows
    assert not Evidence("", 0.1, 1e-17, exact=True).shows
    assert Evidence("", math.nan, 0.0, exact=True).shows


# -- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told():
    """What progress was told: steps and shares."""
    return []


@pytest.fixture(scope="module")
def found(told):
    return list(reproduce(PAPERS, lambda step, share: told.append((step, share))))


@pytest.fixture(scope="module")
def written(found):
    return page(found)


class Reader(HTMLParser):
    """Collects what the page refers to."""

    def __init__(self):
        super().__init__()
        self.references, self.identifiers, self.elements = [], set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.append((tag, given.get("class", "")))
        self.references += [given[key] for key in ("src", "href", "data", "action", "srcset") if key in given]
        self.identifiers.add(given.get("id"))


@pytest.fixture(scope="module")
def read(written):
    reader = Reader()
    reader.feed(written)
    return reader


def test_nothing_is_fetched(read, written):
    assert all(reference.startswith(("#", "data:")) for reference in read.references)
    style = written[written.index("<style>") : written.index("</style>")]
    assert not re.search(r"url\((?!data:)|@import", style)


def test_links_lead_somewhere(read):
    inside = {reference[1:] for reference in read.references if reference.startswith("#")}
    assert inside <= read.identifiers
    assert {paper.key for paper in PAPERS} <= inside


def test_everything_is_on_the_page(found, read, written):
    articles = sum(element == ("article", "erratum") for element in read.elements)
    assert articles == sum(len(p.errata) + len(p.confirmations) for p in found)
    assert sum(c == "badge good" for _, c in read.elements) == sum(p.agreeing for p in found)
    assert sum(c == "badge open" for _, c in read.elements) == sum(len(p.numbers) - p.agreeing for p in found)
    assert sum(c in ("plot", "plot broad") for _, c in read.elements) == len(pictures(found))
    assert all(paper.authors in written for paper in PAPERS)


def test_every_formula_can_be_set():
    for paper in PAPERS:
        texts = [text for erratum in paper.errata for text in (erratum.printed, erratum.corrected)]
        for text in [*texts, *(c.formula for c in paper.confirmations)]:
            assert mathml(text).startswith("<math"), text
            assert mathml(formula(text)).startswith("<math"), text
            assert "$" not in text


def test_progress_tells_every_step(found, told):
    shares = [share for _, share in told]
    assert shares[0] == 0
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert len(shares) == 1 + sum(len(p.tables) + len(p.errata) + len(p.confirmations) + len(p.figures) for p in found)


def test_the_page_of_the_documentation_is_up_to_date(found):
    """Write it with `python -m papers --markdown`."""
    assert markdown(found) == (DOCS / "papers.md").read_text(encoding="utf-8")
    assert sorted(pictures(found)) == sorted(path.name for path in (DOCS / "images" / "papers").glob("*.svg"))


def test_pictures_show_something(found):
    for name, drawn in pictures(found).items():
        assert drawn.startswith("<svg"), name
        assert "nan" not in drawn, name
        assert drawn.count("<polyline") + drawn.count("<circle") >= 1, name


@pytest.mark.parametrize(
    ("error", "text"), [(0.0, "below 10⁻¹⁵"), (3e-13, "below 10⁻¹²"), (0.04, "0.04"), (2.4, "2"), (5e8, "5·10⁸")]
)
def test_sizes_of_errors(error, text):
    assert size(error) == text


def test_readable_numbers():
    assert readable("±2.81, -1.2e-7") == "±2.81, −1.2·10⁻⁷"
