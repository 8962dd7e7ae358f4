"""The page of the five papers: complete, readable without a network, and the same in the documentation."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from papers import PAPERS, reproduce
from papers.markdown import formula, markdown, pictures
from papers.page import page
from papers.words import readable, size
from vinculum.present.mathml import mathml

DOCS = Path(__file__).parents[2] / "docs"


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
    assert sum(c == "plot" for _, c in read.elements) == len(pictures(found))
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
