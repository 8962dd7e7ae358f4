"""Kinds of stability, and a decision with its theorem."""

from __future__ import annotations

from dataclasses import dataclass

ASYMPTOTIC, STABLE, UNSTABLE, UNDECIDED = "asymptotically stable", "stable", "unstable", "undecided"
CRITICAL, BORDER, CORNER = "critical case", "the border of stability", "corner of a force law"

WOULD_DECIDE = {
    CRITICAL: "Damping usually moves the roots off the imaginary axis, and then they decide. Without damping, simulate "
    "small perturbations: a motion that leaves shows instability; one that stays proves nothing.",
    BORDER: "Change a parameter slightly: the verdict holds on one side of the border and fails on the other.",
    CORNER: "Simulate small perturbations, or replace the corner by a smooth law.",
}  # what to do about an undecided case


@dataclass(frozen=True)
class Decision:
    """A kind of stability with its theorem and explanation."""

    kind: str
    theorem: str
    explanation: str
