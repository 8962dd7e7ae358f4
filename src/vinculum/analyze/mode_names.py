"""Names of modes along a sweep: each stays with its eigenvector from one value to the next.

With the left vectors y_i of one value and the right vectors x_j of the next, the share of mode i in mode j is
|y_i* x_j|; two modes belong together where it is almost all of column j. If this is not clear the step is halved. Where
two real roots become one pair, or one pair becomes two, no step is small enough, and the names end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.mode_shapes import Eigenvectors, natural_units
from vinculum.errors import ModelError
from vinculum.names import name_of

_CLEAR = 0.8  # share of a mode that makes it the same one
_SMALLEST = 2.0**-12  # step, relative to the distance to go


class ModeNames:
    """Names of the modes at any value, from those of a linear model."""

    def __init__(self, vectors: Callable[[float], Eigenvectors], named: LinearModel, over: sp.Expr) -> None:
        value = {**named.at.parameters, **named.at}.get(over)
        if value is None:
            raise ModelError("Invalid named", [f"The linear model has no value of {name_of(over)}."])
        self.vectors, self.units = vectors, natural_units(named)
        roots = vectors(float(value)).roots
        first = {int(np.argmin(np.abs(roots - root))): name for name, root in named.mode_names.items()}
        self.known: dict[float, Mapping[int, str]] = {float(value): first}

    def at(self, value: float) -> Mapping[int, str]:
        """{number of the mode: name} at a value, found from the nearest one that is known."""
        if value in self.known:
            return self.known[value]
        most = max(map(len, self.known.values()))  # not from where names have ended
        here = min((v for v, names in self.known.items() if len(names) == most), key=lambda v: abs(v - value))
        distance = value - here
        step = distance
        while here != value:
            names = self._followed(here, here + step)
            if len(names) < len(self.known[here]) and abs(step) > _SMALLEST * abs(distance):
                step /= 2
                continue
            here = value if abs(value - here - step) <= 1e-15 * abs(value) else here + step
            self.known[here] = names
            step = value - here if abs(value - here) < 2 * abs(step) else 2 * step
        return self.known[value]

    def _followed(self, a: float, b: float) -> dict[int, str]:
        """The names at b of those modes that are clearly the same as at a."""
        old, new = self.vectors(a), self.vectors(b)
        share, found = old.overlaps(new, self.units), dict[int, str]()
        for i, name in self.known[a].items():
            same = np.flatnonzero(share[i] >= _CLEAR)
            if len(same) == 1:  # a pair that becomes two real roots has two
                found[int(same[0])] = name
        return found
