"""Formulas as MathML: what the browser gets is what LaTeX said, and nothing else."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import vinculum as vn
from examples import four_bar
from vinculum.present.mathml import mathml

EVIL = '<img src="x" onerror="alert(1)">'


def test_lines_of_aligned_equations_are_rows():
    root = ElementTree.fromstring(mathml(vn.derive(four_bar.system()).latex(), display=True))
    assert root.get("display") == "block"
    lines = vn.derive(four_bar.system()).latex().count("\\\\\n") + 1
    assert len(root.findall(".//mtr")) == lines
    assert all(len(row.findall("mtd")) == 2 for row in root.findall(".//mtr"))


@pytest.mark.parametrize(("latex", "sign"), [(r"\dot{x}", "˙"), (r"\ddot{x}", "¨"), (r"\hat{x}", "^")])
def test_accents_stand_above_their_letter(latex, sign):
    accent = ElementTree.fromstring(mathml(latex)).find(".//mover")
    assert ["".join(child.itertext()) for child in accent] == ["x", sign]


@pytest.mark.parametrize("latex", [EVIL, rf"\text{{{EVIL}}}", rf"\mathrm{{{EVIL}}}", r"\text{</mtext></math><script>}"])
def test_no_text_becomes_a_tag(latex):
    assert "<img" not in mathml(latex)
    assert "<script" not in mathml(latex)


def test_no_links():
    assert "href" not in mathml(r"\href{javascript:alert(1)}{x}")


@pytest.mark.parametrize("latex", [r"\frac{", "{", r"x_{", "%"])
def test_what_cannot_be_set_is_shown_as_code(latex):
    assert mathml(latex) == f"<code>{latex}</code>"
