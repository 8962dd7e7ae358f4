"""Direction cosines from the axes of neighboring hinges (Dolgii, Sesekin, Chupin, Lemma 1).

The matrix leads from a frame in which the next axis is e to one whose third axis it is; the angle α about that axis
is free. The paper's chart divides by 1 + e_3 and has no limit at e_3 = -1: near antiparallel axes a second chart,
turned half way round about the first axis, is used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vinculum.graph.vectors import Matrix, matrix_times


def direction_cosines(e: Sequence[Any], cos_alpha: Any = 1, sin_alpha: Any = 0) -> Matrix:
    """A with third row e, A e = (0, 0, 1); orthogonal with determinant one. ``e`` has unit length.

    >>> from fractions import Fraction
    >>> A = direction_cosines((Fraction(2, 3), Fraction(1, 3), Fraction(2, 3)))
    >>> [str(x) for x in A[2]]
    ['2/3', '1/3', '2/3']
    """
    x, y, z = e
    if float(z) < 0:
        turned = direction_cosines((x, -y, -z), cos_alpha, sin_alpha)
        return tuple((row[0], -row[1], -row[2]) for row in turned)
    first = ((1 - x * x / (1 + z), -x * y / (1 + z), -x), (-x * y / (1 + z), 1 - y * y / (1 + z), -y), (x, y, z))
    if cos_alpha == 1 and sin_alpha == 0:
        return first
    return matrix_times(((cos_alpha, sin_alpha, 0), (-sin_alpha, cos_alpha, 0), (0, 0, 1)), first)
