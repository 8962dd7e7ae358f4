"""The documentation site: builds without a warning, needs no network, holds every example and every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import vinculum as vn
from browser import Seen, watch
from docs.hooks.formulas import with_formulas

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("[a-z]*.py"))
LOADED = {
    "link": "href",
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}


class Page(HTMLParser):
    """What a page loads, where it leads, what can be led to, how many formulas it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.formulas = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.append(given[LOADED[tag]])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get("id"):
            self.anchors.add(given["id"])
        self.formulas += tag == "math"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as ``make docs`` builds it; mkdocs.yml makes every warning an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder]
    paths = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=paths | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_nothing_is_loaded_from_outside(pages):
    assert len(pages) > 50
    outside = {
        (p.name, url) for p, page in pages.items() for url in page.loaded if urlsplit(url).scheme not in ("", "data")
    }
    assert not outside


def test_style_sheets_load_nothing_from_outside(site):
    for path in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", path.read_text(encoding="utf-8")), path


def test_what_is_loaded_and_linked_is_there(pages):
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of the server
            continue
        for url in (*page.loaded, *page.links):
            place = urlsplit(url)
            if place.scheme or url.startswith("//"):
                continue
            target = (path.parent / unquote(place.path)).resolve() if place.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.name}: {url}"
            if place.fragment and target.suffix == ".html":
                assert unquote(place.fragment) in pages[target].anchors | {"__top"}, f"{path.name}: {url}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_its_page_with_picture_and_code(site, pages, name):
    path = site / "gallery" / f"{name}.html"
    text = path.read_text(encoding="utf-8")
    assert "The code" in text
    assert "import" in text
    if name != "demo":
        assert f"../images/{name}.png" in pages[path].loaded
    assert f"{name}.html" in pages[site / "gallery" / "index.html"].links


def test_every_public_name_is_in_the_reference(site, pages):
    anchors = {anchor for path in (site / "reference").glob("*.html") for anchor in pages[path].anchors}
    parts = [
        getattr(vn, part) for part in ("bodies", "motors", "servo", "program", "quasi", "linear", "hurwitz", "feedback")
    ]
    names = [name for part in (vn, *parts) for name in part.__all__]
    missing = [name for name in names if not any(anchor.endswith(f".{name}") for anchor in anchors)]
    assert not missing


def test_docstrings_with_doctests_are_blocks_of_code(site):
    text = (site / "reference" / "describe.html").read_text(encoding="utf-8")
    assert "language-pycon" in text
    assert "<blockquote>" not in text


def test_formulas_are_set(site, pages):
    assert sum(page.formulas for page in pages.values()) > 20
    for path in pages:
        assert '<div class="formula"><code>' not in path.read_text(encoding="utf-8"), f"{path.name}: a formula failed"
        assert "$$" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("path", [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")], ids=lambda path: path.name)
def test_lists_stand_apart(path):
    """Markdown on the site wants an empty line above a list; elsewhere it may be left out."""
    text = re.sub(r"^```.*?^```$|\$\$.*?\$\$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(r"^(?![-*\d ]).*\S.*\n(?:- |1\. ).*$", text, re.MULTILINE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_telephone_and_a_screen(running, site, pages, scheme):
    width = {"light": 390, "dark": 1300}[scheme]
    page, seen = running.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme), Seen()
    watch(page, "file:", seen)
    alike = [site / "gallery" / f"{name}.html" for name in EXAMPLES if name != "ball_and_beam"]
    for path in sorted({*pages} - {site / "404.html", *alike}):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        assert seen.clean, f"{path.name}: {seen}"


def test_search_works_from_the_disk(running, site):
    page, seen = running.new_page(viewport={"width": 1300, "height": 800}), Seen()
    watch(page, "file:", seen)
    page.goto((site / "gallery" / "index.html").as_uri())
    page.keyboard.press("f")
    page.keyboard.type("shulgin")
    page.wait_for_function("/matching/.test(document.querySelector('.md-search-result__meta').textContent)")
    assert int(page.inner_text(".md-search-result__meta").split()[0]) > 3
    assert seen.clean, str(seen)


def test_formulas_in_lines_are_kept_from_markdown():
    """Stars and underscores of two formulas are no emphasis, and code with dollars is no formula."""
    from markdown import markdown

    page = markdown(with_formulas("From $a^*_{l}$ to $b^*_{r}$ for `$5` and `$6`."))
    assert page.count("<math") == 2
    assert "<em>" not in page
    assert page.count("<code>") == 2
