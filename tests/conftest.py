"""What all tests share: fixed random numbers, a browser, and a Ctrl-C that is heard."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from browser import NoBrowserError, browser

# a shell lets what it runs in the background ignore SIGINT, and the tests of interruption would never end
signal.signal(signal.SIGINT, signal.default_int_handler)


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
