"""What all tests share: one fixed source of random numbers for each test."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def random() -> np.random.Generator:
    """The same random numbers in every run."""
    return np.random.default_rng(1885)
