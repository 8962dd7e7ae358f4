"""The errors Vinculum raises. Each says what was found, the likely cause and what to type."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["VinculumError", "ModelError", "DomainError", "ConstraintError", "SingularError"]


class VinculumError(ValueError):
    """Any error that Vinculum raises."""


class ModelError(VinculumError):
    """An invalid description. ``findings`` lists everything that was found, at once."""

    def __init__(self, subject: str, findings: Sequence[str]) -> None:
        self.findings = tuple(findings)
        count = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
        super().__init__("\n  - ".join([f"{subject} ({count}):", *findings]))


class DomainError(VinculumError):
    """A number outside the domain of an operation: division by zero, logarithm of a negative number."""


class ConstraintError(VinculumError):
    """Constraints that contradict each other, depend on each other or cannot be met."""


class SingularError(VinculumError):
    """Equations that do not determine the accelerations and reactions at a state."""
