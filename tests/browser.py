"""A real browser without a screen: Chromium, driven by Playwright. ``python tests/browser.py`` installs it.

The tests of pages use Debian's Chromium or Google Chrome where there is one, and Playwright's own Chromium otherwise.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Chromium was not found. Install it: make browser"
_FLAGS = (
    "--headless",
    "--no-sandbox",  # Chromium has no sandbox for root, the user of most containers
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card; pages themselves are drawn by the processor
)
_PATIENCE = 180_000  # milliseconds: 3D drawings without a graphics card are slow on a busy machine
_PACKAGES = ("libatomic1", "chromium")  # the first is a library that Playwright needs itself
_OPENMP = "libgomp.so.1"
_INSTALL = 900  # seconds for one attempt to install


class NoBrowserError(Exception):
    """No browser could be started."""


@dataclass
class Seen:
    """What a page did: the errors it wrote to the console, and the addresses it requested."""

    errors: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """No errors, no requests."""
        return not self.errors and not self.fetched

    def __str__(self) -> str:
        errors = "no console errors" if not self.errors else f"console errors: {'; '.join(self.errors)}"
        fetched = "nothing fetched" if not self.fetched else f"fetched: {', '.join(self.fetched)}"
        return f"{errors}, {fetched}"


# -- finding and installing it ---------------------------------------------------------------------------------------


def find() -> str:
    """The path of Chromium; refused where there is none."""
    for path in (*map(shutil.which, NAMES), _own()):
        if path and _usable(path):
            return path
    raise NoBrowserError(MISSING)


def _usable(path: str) -> bool:
    """Whether it starts. The snap of Ubuntu is not usable: it cannot read the folder of temporary files."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and "snap" not in done.stdout


def _own() -> str | None:
    """The Chromium that Playwright downloaded, if it did."""
    folders = (os.environ.get("PLAYWRIGHT_BROWSERS_PATH"), Path.home() / ".cache/ms-playwright")
    names = ("chromium*/*/chrome", "chromium*/*/headless_shell", "chromium*/*/chrome-headless-shell")
    found = (
        path for folder in folders if folder for name in names for path in sorted(Path(folder).glob(name), reverse=True)
    )
    return next(map(str, found), None)


def install(ask: bool = False) -> str | None:
    """Install Chromium with apt, or else with Playwright; returns why it could not be installed.

    With ``ask`` sudo may ask for a password, and all output is shown; without it nobody is asked anything.
    """
    apt = _apt(ask)
    if apt:
        _run([*apt, "update"], ask)
        for package in _PACKAGES:  # one by one: Ubuntu has no package chromium
            _run([*apt, "install", "-y", "--no-install-recommends", package], ask)
        if refusal() is None:
            return None
    libraries = ["--with-deps"] if apt else []
    _run([sys.executable, "-m", "playwright", "install", "chromium", "--only-shell", *libraries], ask)
    return refusal()


def install_openmp(ask: bool = False) -> bool:
    """Install the OpenMP library that Pinocchio loads, which a minimal Debian lacks; returns whether it is there."""
    apt = [] if _loads(_OPENMP) else _apt(ask)
    if apt:
        _run([*apt, "update"], ask)
        _run([*apt, "install", "-y", "--no-install-recommends", "libgomp1"], ask)
    return _loads(_OPENMP)


def _loads(library: str) -> bool:
    """Whether a shared library can be loaded."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _apt(ask: bool) -> list[str]:
    """The command apt-get, with sudo where it is needed; empty where it cannot be used."""
    sudo = [] if os.geteuid() == 0 else ["sudo"] if ask else ["sudo", "-n"]
    if not shutil.which("apt-get") or (sudo and not _run([*sudo, "true"], ask)):
        return []
    return [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=60"]


def _run(command: Sequence[str], ask: bool) -> bool:
    """Whether a command succeeded within the time limit."""
    quiet: dict[str, Any] = {} if ask else {"capture_output": True, "stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(command, timeout=_INSTALL, **quiet).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def refusal() -> str | None:
    """Why no browser can be driven, or None."""
    try:
        with browser():
            return None
    except NoBrowserError as error:
        return str(error)


# -- driving it ------------------------------------------------------------------------------------------------------


@contextmanager
def browser() -> Iterator[Any]:
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:
        path = find()
        try:  # the driver may lack a library, and the browser too
            playwright = stack.enter_context(sync_playwright())
            running = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        except Exception as error:
            raise NoBrowserError(f"{path} could not be driven. Install what is missing: make browser") from error
        stack.callback(running.close)
        yield running


@contextmanager
def opened(running: Any, path: str | Path, width: int = 1200, height: int = 900, **options: Any) -> Iterator[Any]:
    """Open a file and yield (page, what it did) when everything is drawn; ``options`` of a Playwright context."""
    context = running.new_context(viewport={"width": width, "height": height}, **options)
    try:
        page, seen, address = context.new_page(), Seen(), Path(path).resolve().as_uri()
        watch(page, address, seen)
        page.set_default_timeout(_PATIENCE)
        page.goto(address, wait_until="commit")
        wait_until(page, "window.vinculumReady === true")
        yield page, seen
    finally:
        context.close()


def wait_until(page: Any, expression: str) -> None:
    """Wait until an expression is true. Playwright's own function evaluates text in the page, which pages forbid."""
    for _ in range(_PATIENCE // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{expression} did not become true")


def watch(page: Any, address: str, seen: Seen) -> None:
    """Record errors and requests of a page; its own address and the data inside it do not count."""
    page.on("console", lambda m: seen.errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    own = (address, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(own) else seen.fetched.append(r.url))


def photograph(running: Any, path: str | Path, picture: str | Path, width: int = 1200, height: int = 1600) -> Seen:
    """Save a picture of the top of a page; returns what the page did while it loaded and was scrolled through."""
    with opened(running, path, width, height) as (page, seen):
        page.screenshot(path=str(picture))
        page.evaluate("window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
        page.wait_for_timeout(500)
        return seen


def main() -> int:
    """Install Chromium and OpenMP where they are missing; with --optional (`make test`) a failure counts only in CI."""
    optional = "--optional" in sys.argv[1:]
    if not install_openmp(ask=not optional):
        print(f"{_OPENMP} is missing, so the tests against Pinocchio fail. Install it: apt install libgomp1")
    if refusal() is None:
        return 0
    print("Installing Chromium, in which the tests open pages", flush=True)
    if (why := install(ask=not optional)) is None:
        return 0
    if optional and not os.environ.get("CI"):
        print("Chromium could not be installed: the tests that open a page are left out (make browser says more).")
        return 0
    print(why.replace("make browser", f"apt install {' '.join(_PACKAGES)}"), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
