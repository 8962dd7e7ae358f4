"""What the loops over many runs share: the event that ends a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.compile.pointer import part


@part
def take_first_event(hits: Any, at: Any, direction: Any, x: Any, instants: Any, samples: Any, written: Any) -> Any:
    """The first of the times in ``hits``; the state there goes to x, and samples beyond it are erased."""
    first = -1
    for j in range(hits.size):
        if np.isfinite(hits[j]) and (first < 0 or (hits[j] - hits[first]) * direction < 0):
            first = j
    for j in range(x.size):
        x[j] = at[first, j]
    for k in range(written):
        if (instants[k] - hits[first]) * direction > 0:
            samples[k] = np.nan
    return hits[first]
