"""A page looked at in a real browser, without a screen: Debian's Chromium driven by Playwright."""

from __future__ import annotations

import os
import shutil
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vinculum.errors import VinculumError

_FLAGS = (
    "--headless",
    "--no-sandbox",  # Chromium has no sandbox for root, as whom containers run
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",  # drawings in space without a graphics card
    "--enable-unsafe-swiftshader",
)
_PATIENCE = 180_000  # milliseconds: drawing in space without a graphics card is slow on a busy machine


@dataclass
class Seen:
    """What a page did: errors it wrote to the console, and all that it asked for beside itself."""

    errors: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """No errors, nothing fetched."""
        return not self.errors and not self.fetched

    def __str__(self) -> str:
        errors = "no console errors" if not self.errors else f"console errors: {'; '.join(self.errors)}"
        fetched = "nothing fetched" if not self.fetched else f"fetched: {', '.join(self.fetched)}"
        return f"{errors}, {fetched}"


def chromium() -> str:
    """Where Chromium is; refused with what to type where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        raise VinculumError("Chromium was not found. Install it: apt install chromium (or: make browser).")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """A running Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise VinculumError("Playwright is needed to drive a browser. Install it: pip install playwright") from error
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=list(_FLAGS))
        try:
            yield running
        finally:
            running.close()


@contextmanager
def opened(running: Any, path: str | Path, width: int = 1200, height: int = 900, **options: Any) -> Iterator[Any]:
    """(page, what was seen of it) of a file, once it has drawn everything; ``options`` of a Playwright context."""
    context = running.new_context(viewport={"width": width, "height": height}, **options)
    try:
        page, seen, address = context.new_page(), Seen(), Path(path).resolve().as_uri()
        watch(page, address, seen)
        page.set_default_timeout(_PATIENCE)
        page.goto(address, wait_until="commit")
        page.wait_for_function("window.vinculumReady === true")
        yield page, seen
    finally:
        context.close()


def watch(page: Any, address: str, seen: Seen) -> None:
    """Record errors and requests of a page; its own address, and data inside it, are no requests."""
    page.on("console", lambda m: seen.errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    own = (address, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(own) else seen.fetched.append(r.url))


def photographed(path: str | Path, picture: str | Path, width: int = 1200, height: int = 1600) -> Seen:
    """A picture of the top of a page, and what was seen while it loaded and was scrolled through."""
    with browser() as running, opened(running, path, width, height) as (page, seen):
        page.screenshot(path=str(picture))
        page.evaluate("window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
        page.wait_for_timeout(500)
        return seen


def shown(path: str | Path) -> bool:
    """Open a page in the user's own browser, where there is a screen; whether there was one."""
    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(screen) and webbrowser.open(Path(path).resolve().as_uri())
