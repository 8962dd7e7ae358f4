"""What the tests of the simulation share."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np
import pytest

import vinculum as vn
from simulate.models import spinner
from vinculum.derivation.mechanics import explicit
from vinculum.graph import Elimination, solve

Make = Callable[..., vn.EquationsOfMotion]


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start where ``initial`` says, also off the constraints, which `consistent_state` would refuse."""
    module = importlib.import_module("vinculum.simulation.problem.pose")
    monkeypatch.setattr(module, "consistent_state", lambda equations, initial, **_: dict(initial))


def with_chosen_pivots(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, constraints: int = 0) -> Elimination:
    """What `solve_definite` does where a matrix is not definite."""
    return solve(A, B, numbers, symmetric=True)


@pytest.fixture
def changing(monkeypatch: pytest.MonkeyPatch) -> Make:
    """`spinner` with pivots that have to be chosen again and again."""
    monkeypatch.setattr(explicit, "solve_definite", with_chosen_pivots)
    return spinner.__wrapped__
