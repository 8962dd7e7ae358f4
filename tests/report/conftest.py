"""Pages written once and a browser started once for all tests of reports."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from report import mechanisms
from vinculum.present import browser
from vinculum.present.report import Written, write_report


@pytest.fixture(scope="session")
def written(tmp_path_factory) -> Callable[[str], Written]:
    """The report of a mechanism, by name."""
    folder, done = tmp_path_factory.mktemp("reports"), {}

    def report(name: str) -> Written:
        if name not in done:
            done[name] = write_report(getattr(mechanisms, name)(), folder / f"{name}.html")
        return done[name]

    return report


@pytest.fixture(scope="session")
def running():
    """Chromium; where there is none the tests fail and say what to install."""
    with browser.browser() as started:
        yield started


@pytest.fixture(scope="session")
def opened(running, written):
    """(page, what was seen) of a report; a page is opened once for each set of options and shared by the tests."""
    with ExitStack() as stack:
        pages: dict[str, tuple[Any, browser.Seen]] = {}

        def page(name: str, **options: Any) -> tuple[Any, browser.Seen]:
            key = f"{name} {sorted(options.items())}"
            if key not in pages:
                pages[key] = stack.enter_context(browser.opened(running, written(name).path, **options))
            return pages[key]

        yield page
