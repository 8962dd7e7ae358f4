"""What the tests of model files share: what other tests left in the process is not searched while a file is timed."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def own_garbage() -> Iterator[None]:
    gc.freeze()
    yield
    gc.unfreeze()
