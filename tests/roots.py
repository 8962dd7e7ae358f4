"""Sets of roots compared."""

from __future__ import annotations

import numpy as np


def assert_roots(found, expected, digits=6):
    """The same roots in any order, to a unit of the last digit given."""
    found, left = np.asarray(found), list(np.asarray(expected, dtype=complex))
    assert len(found) == len(left)
    for root in found:
        nearest = min(left, key=lambda other: abs(other - root))
        assert abs(nearest - root) < 1.01 * 10**-digits, f"{root} is not among {expected}"
        left.remove(nearest)
