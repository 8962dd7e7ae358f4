"""A steady motion followed over one value: what it is, its roots, and the borders of its stability.

The values are those of the search for borders: dense where roots come near the imaginary axis or meet on it. From value
to value each root goes to the nearest one, so a column of the roots is a continuous curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.borders import Border, scanned
from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.linear_model import LinearModel
from vinculum.frozen import FrozenMapping
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows

_SAME = 1e-9  # relative difference of numbers that rounding may make


@dataclass(frozen=True, eq=False, repr=False)
class Continuation:
    """A steady motion or equilibrium over the value of ``over``.

    ``motion`` holds the coordinates, velocities and inputs that change with the value; ``roots`` are without the zeros
    of the family of steady motions.
    """

    over: sp.Expr
    values: np.ndarray  # (n), increasing
    motion: Mapping[sp.Expr, np.ndarray]  # (n) each
    roots: np.ndarray  # (n, k), a root in each column
    stable: np.ndarray  # (n): no root has a positive real part by more than its error
    borders: tuple[Border, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "motion", FrozenMapping(self.motion))

    @property
    def rightmost(self) -> np.ndarray:
        """max Re λ, (n)."""
        return self.roots.real.max(axis=1)

    def rows(self) -> dict[str, str]:
        """Labeled rows."""
        ends = f"{self.values[0]:.6g} to {self.values[-1]:.6g}, {len(self.values)} values"
        borders = "; ".join(map(str, self.borders)) or f"none: {'stable' if self.stable[0] else 'unstable'} everywhere"
        return {name_of(self.over): ends, "changes": ", ".join(map(name_of, self.motion)) or "-", "borders": borders}

    def __repr__(self) -> str:
        return labelled_rows("Continuation", self.rows())

    _repr_html_ = html


def continuation(
    equations: Analyzed,
    given: Mapping[sp.Expr, float],
    over: sp.Expr,
    between: tuple[float, float],
    *,
    near: Mapping[sp.Expr, float] | None = None,
    moving: Sequence[sp.Expr] | None = None,
    points: int = 25,
    named: LinearModel | None = None,
) -> Continuation:
    """The steady motion with its roots while a parameter or given quantity ``over`` changes between two numbers.

    The arguments are those of `stability_borders`, which gives the borders alone.
    """
    sweep, values, borders = scanned(equations, given, over, between, near, moving, points, named)
    x = np.unique([*values, *(border.value for border in borders)])
    at = [sweep.record(value) for value in x]
    motion = {key: np.array([one[key] for one in at]) for key in at[0] if key != over and key not in at[0].ignorable}
    changing = {key: y for key, y in motion.items() if np.ptp(y) > _SAME * max(1.0, float(np.abs(y).max()))}
    roots = _followed([sweep.at(value).roots.roots for value in x])
    stable = np.array([not sweep.at(value).roots.right.any() for value in x])
    return Continuation(sweep.over, x, changing, roots, stable, borders)


def _followed(sets: Sequence[np.ndarray]) -> np.ndarray:
    """The roots in the order of the first set: each continues as the nearest one of the next set."""
    found = [np.asarray(sets[0], dtype=complex)]
    for roots in sets[1:]:
        far = np.abs(found[-1][:, None] - np.asarray(roots)[None, :])
        found.append(np.asarray(roots, dtype=complex)[scipy.optimize.linear_sum_assignment(far)[1]])
    return np.array(found)
