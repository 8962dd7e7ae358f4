"""Reports written once and opened once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

import browser
from report import mechanisms
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
def opened(running, written):
    """Open a report: (page, what it did). The tests share a page, one for each set of options."""
    with ExitStack() as stack:
        pages: dict[str, tuple[Any, browser.Seen]] = {}

        def page(name: str, **options: Any) -> tuple[Any, browser.Seen]:
            key = f"{name} {sorted(options.items())}"
            if key not in pages:
                pages[key] = stack.enter_context(browser.opened(running, written(name).path, **options))
            return pages[key]

        yield page
