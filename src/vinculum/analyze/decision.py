"""Kinds of stability, and a decision with its theorem."""

from __future__ import annotations

from dataclasses import dataclass

ASYMPTOTIC, STABLE, UNSTABLE, UNDECIDED = "asymptotically stable", "stable", "unstable", "undecided"


@dataclass(frozen=True)
class Decision:
    """A kind of stability with its theorem and explanation."""

    kind: str
    theorem: str
    explanation: str
