"""What all tests share: fixed random numbers, a browser, and a Ctrl-C that is heard."""

from __future__ import annotations

import gc
import os
import signal

import numpy as np
import pytest

from browser import NoBrowserError, browser

# a shell lets what it runs in the background ignore SIGINT, and the tests of interruption would never end
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup():
    """Hypothesis times the collector of garbage with a callback; a Ctrl-C raised in it would be lost."""
    gc.callbacks[:] = [callback for callback in gc.callbacks if not callback.__module__.startswith("hypothesis.")]


@pytest.fixture
def random() -> np.random.Generator:
    """The same random numbers in every run."""
    return np.random.default_rng(1885)


@pytest.fixture(scope="session")
def running():
    """Chromium, without a screen. Where there is none the test is left out; in CI it fails."""
    try:
        with browser() as started:
            yield started
    except NoBrowserError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    """Tests left out for want of a browser share one place, so that the summary has one line for all of them."""
    report = yield
    if report.skipped and "running" in item.fixturenames and isinstance(report.longrepr, tuple):
        report.longrepr = (__file__, 0, report.longrepr[2])
    return report
