"""Systems whose stability is known by construction or by an independent calculation, of twelve kinds, from a seed.

    make(kind, seed) -> Case(system, point, truth)

The truth comes from definiteness of matrices, from roots with 50 digits of equations derived by hand, or from a theorem
that fits the construction; never from the package. ``BORDER`` marks systems where a root is zero only to rounding:
"undecided" is the only honest answer. ``REFUSED`` marks questions that have none.
"""

from __future__ import annotations

from collections.abc import Callable

from laws.verdicts.cases import Case
from laws.verdicts.changed import mixed, spelled, units
from laws.verdicts.corners import corners
from laws.verdicts.critical import critical
from laws.verdicts.drifting import drifting
from laws.verdicts.feedback import feedback
from laws.verdicts.holonomic import holonomic
from laws.verdicts.nonholonomic import nonholonomic
from laws.verdicts.servo import servo
from laws.verdicts.steady import steady
from laws.verdicts.timed import timed

KINDS: dict[str, Callable[[int], Case]] = {
    "holonomic": holonomic,
    "drifting": drifting,
    "feedback": feedback,
    "timed": timed,
    "steady": steady,
    "nonholonomic": nonholonomic,
    "corners": corners,
    "critical": critical,
    "mixed": mixed,
    "servo": servo,
    "units": units,
    "spelled": spelled,
}


def make(kind: str, seed: int) -> Case:
    """The case of a kind and a seed; one that cannot be decided by its own calculation is drawn again."""
    for again in range(50):
        try:
            return KINDS[kind](seed + 10_000 * again)
        except ValueError:
            continue
    raise ValueError(f"no case of kind {kind!r} with seed {seed}")
