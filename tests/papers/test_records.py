"""The five papers: every erratum is shown, wrong and right; every number agrees to the digits printed."""

from __future__ import annotations

import math

import pytest

from papers import PAPERS, Evidence, Number
from papers.record import last_unit, rounded

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
    found = erratum.show()
    assert found.printed_is_wrong, f"as printed: {found.printed:g} ({found.measure})"
    assert found.corrected_is_right, f"corrected: {found.corrected:g} ({found.measure})"
    assert erratum.printed != erratum.corrected


@pytest.mark.parametrize("confirmation", named(CONFIRMED, lambda c: c.where))
def test_what_is_right_as_printed(confirmation):
    measure, error = confirmation.check()
    assert error <= confirmation.accepted, measure


@pytest.mark.parametrize("table", named(TABLES, lambda t: t.title))
def test_numbers_agree_to_the_digits_printed(table):
    numbers = table.make()
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
