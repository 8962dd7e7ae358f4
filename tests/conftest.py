"""What all tests share: one fixed source of random numbers for each test, and a Ctrl-C that is heard."""

from __future__ import annotations

import signal

import numpy as np
import pytest

# a shell lets what it runs in the background ignore SIGINT, and the tests of interruption would never end
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def random() -> np.random.Generator:
    """The same random numbers in every run."""
    return np.random.default_rng(1885)
