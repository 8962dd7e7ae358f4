"""Three-vectors and 3×3 matrices of any scalars: nodes, SymPy expressions, elements of a polynomial ring, numbers.

Vectors are tuples, matrices tuples of rows. Sums skip the scalar zero, so sparse results stay sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Vector = Sequence[Any]
Matrix = Sequence[Sequence[Any]]

IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
NULL: Vector = (0, 0, 0)


def dot(a: Vector, b: Vector) -> Any:
    """(a, b)."""
    result: Any = 0
    for x, y in zip(a, b, strict=True):
        if not (_zero(x) or _zero(y)):
            result = x * y if _zero(result) else result + x * y
    return result


def _zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0


def cross(a: Vector, b: Vector) -> Vector:
    """[a, b]."""
    return tuple(dot((a[i], -b[i]), (b[j], a[j])) for i, j in ((1, 2), (2, 0), (0, 1)))


def plus(*vectors: Vector) -> Vector:
    """The sum of vectors."""
    return tuple(sum(parts[1:], start=parts[0]) for parts in zip(*vectors, strict=True))


def minus(a: Vector, b: Vector) -> Vector:
    """a - b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scaled(factor: Any, a: Vector) -> Vector:
    """A number times a vector."""
    return tuple(factor * x for x in a)


def times(A: Matrix, b: Vector) -> Vector:
    """A b."""
    return tuple(dot(row, b) for row in A)


def transposed(A: Matrix) -> Matrix:
    """Aᵀ."""
    return tuple(zip(*A, strict=True))


def matrix_times(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = transposed(B)
    return tuple(tuple(dot(row, column) for column in columns) for row in A)


def turn(axis: Vector, c: Any, s: Any) -> Matrix:
    """The rotation by an angle about a unit axis (Rodrigues): n nᵀ + c (1 - n nᵀ) + s [n]×."""
    x, y, z = axis
    skew = ((0, -z, y), (z, 0, -x), (-y, x, 0))
    return tuple(tuple(_entry(axis[i] * axis[j], int(i == j), skew[i][j], c, s) for j in range(3)) for i in range(3))


def _entry(nn: Any, same: int, skew: Any, c: Any, s: Any) -> Any:
    parts = [nn] if not _zero(nn) else []
    if not _zero(same - nn):
        parts.append((same - nn) * c)
    if not _zero(skew):
        parts.append(skew * s)
    return sum(parts[1:], start=parts[0]) if parts else 0
