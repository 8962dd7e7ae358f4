"""Fewer samples than were computed, as many as an eye can tell apart."""

from __future__ import annotations

import numpy as np


def spread(count: int, most: int) -> np.ndarray:
    """Indices of at most ``most`` of ``count`` samples, equally far apart, the ends included.

    >>> spread(9, 3), spread(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))
