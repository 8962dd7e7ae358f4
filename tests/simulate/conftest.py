"""What the tests of the simulation share."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start where ``initial`` says, also off the constraints, which `consistent_state` would refuse."""
    module = importlib.import_module("vinculum.simulation.run")
    monkeypatch.setattr(module, "consistent_state", lambda equations, initial, **_: dict(initial))
