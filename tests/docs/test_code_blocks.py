"""Every block of the README and of the pages in docs/ runs, and prints what the page says it prints.

The blocks of one page share their names and their folder, in order. A block followed at once by a ``text`` or ``math``
block prints it, word by word; numbers may differ in the last digits, and those at the level of rounding in all digits.
Python, commands (``bash``, ``console``) and files (``toml``) are known; any other block is an error.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.blocks import OUTPUT, TITLE, Block, blocks, commands, keep_file, run_command, run_python
from vinculum.derivation import FORMS
from vinculum.graph.functions import FUNCTIONS
from vinculum.simulation import STABILIZATIONS
from vinculum.simulation.integrators.methods import METHODS

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))]
GENERATED = ("gallery/", "reference/", "contributing.md", "changelog.md")  # test_site.py follows these links
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
ROUNDING = 1e-9


def promised(code: Block, following: Block | None) -> str | None:
    """What a block of code should print, where the page says it."""
    if following is None or following.language not in OUTPUT or following.line != code.end + 2:
        return None
    return following.text


@pytest.fixture(autouse=True)
def tables():
    """The tables that a page may add a row to, as they were before."""
    before = [(table, set(table)) for table in (FORMS, FUNCTIONS, METHODS, STABILIZATIONS)]
    yield
    for table, names in before:
        for added in set(table) - names:
            del table[added]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    found = blocks(page)
    for block, following in zip(found, [*found[1:], None], strict=False):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            printed = run_python(block, page, names)
        elif block.language in ("bash", "console"):
            printed = "".join(run_and_compare(command, output, tmp_path, where) for command, output in commands(block))
        elif block.language == "toml":
            keep_file(block, tmp_path)
            continue
        else:
            assert block.language in OUTPUT, f"{where}: no test runs a block of {block.language or 'no language'}"
            continue
        if (output := promised(block, following)) is not None:
            assert_same(printed, output, where)


def run_and_compare(command: str, output: str, folder: Path, where: str) -> str:
    """What a command prints; of a ``console`` block, compared with what stands below the command."""
    printed = run_command(command, folder)
    if output:
        assert_same(printed, output, where)
    return printed


def assert_same(printed: str, promised: str, where: str) -> None:
    """The same words, and numbers that agree."""
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", promised).split(), f"{where} prints:\n{printed}"
    for found, shown in zip(NUMBER.findall(printed), NUMBER.findall(promised), strict=True):
        whole = "." not in shown and "e" not in shown  # a count, such as that of the steps
        near = pytest.approx(float(shown), rel=0.02 if whole else 1e-3, abs=ROUNDING)
        assert float(found) == near, f"{where} prints {found}, the page says {shown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_output_stands_below_what_prints_it(page):
    found = blocks(page)
    printing = {block.end + 2 for block in found if block.language in ("python", "bash", "console")}
    for block in found:
        assert block.language not in OUTPUT or block.line in printing, (
            f"{page.name}, line {block.line}: printed by what?"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_are_used(page):
    found = blocks(page)
    run = "".join(block.text for block in found if block.language in ("python", "bash", "console"))
    files = [name for block in found if block.language == "toml" for name in TITLE.findall(block.options)]
    assert all(name in run for name in files), f"{page.name}: a file of {files} is used by no block"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http", *GENERATED)):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_there_are_blocks():
    assert sum(block.language == "python" for page in PAGES for block in blocks(page)) > 70
