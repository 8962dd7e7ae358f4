"""Every Python block of the README and of the pages in docs/ runs, and prints what the page says it prints.

The blocks of one page share their names, in order. A block followed at once by a ``text`` or ``math`` block prints it,
word by word; numbers may differ in the last digits, and those at the level of rounding in all digits.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
ROUNDING = 1e-9


class Block(NamedTuple):
    """A fenced block: its language, the line of the page it begins at, its text."""

    language: str
    line: int
    text: str


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order; what stands at once below another is its output."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], text.count("\n", 0, m.start(2)) + 1, m[2]) for m in BLOCK.finditer(text)]


def promised(code: Block, following: Block | None) -> str | None:
    """What a block of code should print, where the page says it."""
    end = code.line + code.text.count("\n") + 1  # the line after its closing fence
    if following is None or following.language not in ("text", "math") or following.line != end + 2:
        return None
    return following.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    found = blocks(page)
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.language == "python":
            printed = run(block, page, names)
            if (output := promised(block, following)) is not None:
                assert_same(printed, output, f"{page.name}, line {block.line}")


def run(block: Block, page: Path, names: dict) -> str:
    """What a block prints; a failure names the line of the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
    return printed.getvalue()


def assert_same(printed: str, promised: str, where: str) -> None:
    """The same words, and numbers that agree."""
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", promised).split(), f"{where} prints:\n{printed}"
    for found, shown in zip(NUMBER.findall(printed), NUMBER.findall(promised), strict=True):
        whole = "." not in shown and "e" not in shown  # a count, such as that of the steps
        near = pytest.approx(float(shown), rel=0.02 if whole else 1e-3, abs=ROUNDING)
        assert float(found) == near, f"{where} prints {found}, the page says {shown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_there_are_blocks():
    assert sum(block.language == "python" for page in PAGES for block in blocks(page)) > 20
