"""The first approximation on the constraints, in a chart of the user's own coordinates and velocities.

At a point of ẋ = f(x, w, u), 0 = g(x, w, u) on the manifold z(x) = 0, with w_x = -g_w⁻¹ g_x,

    ξ̇ = A ξ + H u,    A = (F_x N)[rows ξ],    F_x = f_x + f_w w_x,    z_x N = 0,  N = 1 in the rows ξ.

ξ are independent coordinates and velocities. Each entry of A carries a bound of its rounding error, from the sizes of
the terms that are summed in it: an entry inside its bound may be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.analyze.descriptor import Descriptor
from vinculum.analyze.scaled_newton import equilibrate
from vinculum.derivation.mechanics.explicit import best_columns, independent_rows, unit_rows
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.graph import Node, jacobian, symbols
from vinculum.graph.evaluate import magnitudes

_EPS = 4 * np.finfo(float).eps  # error of an entry relative to its terms


_REGULAR = 1e12  # condition of the scaled matrix of accelerations and reactions


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers with bounds of their rounding errors."""

    value: np.ndarray
    error: np.ndarray


@dataclass(frozen=True, eq=False)
class Tangent:
    """The first approximation at a point: ξ̇ = A ξ + H u, x = N ξ, w = W ξ + W_u u."""

    chart: tuple[int, ...]  # ξ, indices of the states
    A: np.ndarray  # (n, n)
    H: np.ndarray  # (n, inputs)
    N: np.ndarray  # (states, n)
    W: np.ndarray  # (algebraic, n)
    W_u: np.ndarray  # (algebraic, inputs)
    errors: np.ndarray  # (n, n) of A
    F: np.ndarray  # (states, states) F_x
    F_u: np.ndarray  # (states, inputs)
    F_terms: np.ndarray  # (states) size of the terms that cancel in each rate
    Z: np.ndarray  # (residuals, states) z_x


def slopes(nodes: Sequence[Node], variables: Sequence[Node], values: Values) -> Measured:
    """∂nodes/∂variables at a point."""
    shape = (len(nodes), len(variables))
    if 0 in shape:
        return Measured(np.zeros(shape), np.zeros(shape))
    found = np.array(magnitudes(list(jacobian(nodes, variables).ravel()), values))
    return Measured(found[:, 0].reshape(shape), _EPS * found[:, 1].reshape(shape))


def tangent(
    form: Descriptor,
    values: Values,
    dependent: Sequence[int] | None = None,
    outside: Sequence[int] = (),
    chart: Sequence[int] | None = None,
) -> Tangent:
    """The first approximation at a point on the constraints.

    ``dependent`` are the dependent coordinates, if they are chosen already; states ``outside`` the closed set of a
    steady motion follow from the others where they can; or ``chart`` names all independent states.
    """
    x = form.states
    (f_x, f_w, f_u), (g_x, g_w, g_u), (Z, _, _) = _blocks(form, values)
    inverse = _inverse(form, g_w.value, values)
    w_x, w_u = -inverse @ g_x.value, -inverse @ g_u.value
    rounding = _EPS * np.abs(g_w.value) @ np.abs(w_x)
    w_error = np.abs(inverse) @ (g_x.error + g_w.error @ np.abs(w_x) + rounding)
    F, F_u = f_x.value + f_w.value @ w_x, f_u.value + f_w.value @ w_u
    F_error = f_x.error + f_w.error @ np.abs(w_x) + np.abs(f_w.value) @ w_error
    if chart is None:
        follow = dependent_states(form, Z.value, values, dependent, outside)
    else:
        follow = [i for i in range(len(x)) if i not in chart]
    rows = [i for i in range(len(x)) if i not in follow]
    N, N_error = _embedding(Z, rows, follow)
    A, error = (F @ N)[rows], (F_error @ np.abs(N) + np.abs(F) @ N_error)[rows]
    terms = rate_terms(form, values)
    return Tangent(tuple(rows), A, F_u[rows], N, w_x @ N, w_u, error, F, F_u, terms, Z.value)


def _blocks(form: Descriptor, values: Values) -> list[list[Measured]]:
    """The slopes of (f, g, z) by (x, w, u), all in one evaluation."""
    found = form.slopes_levels.magnitudes(values).reshape(*form.slopes.shape, 2)
    rows = np.cumsum([len(form.rates), len(form.balance)])
    columns = np.cumsum([len(form.states), len(form.algebraic)])
    return [
        [Measured(block[..., 0], _EPS * block[..., 1]) for block in np.split(part, columns, axis=1)]
        for part in np.split(found, rows, axis=0)
    ]


def rate_terms(form: Descriptor, values: Values) -> np.ndarray:
    """The sizes of the terms that cancel in each rate; of accelerations, largest force over √(M_ii M_jj)."""
    sizes, n, m = form.rows_levels.magnitudes(values)[:, 1], form.coordinates, len(form.rates)
    terms = sizes[:m]
    if n:
        root = column_sizes(form, values)[:n]
        terms[:n] = np.maximum(terms[:n], speeds(form, values)[n : 2 * n])
        terms[n : 2 * n] = (sizes[m : m + n] / root).max(initial=0.0) / root
    return terms


def speeds(form: Descriptor, values: Values) -> np.ndarray:
    """The largest speed in the metric of the kinetic energy, in the units of every velocity; zero for other states."""
    n, scale = form.coordinates, np.zeros(len(form.states))
    if n:
        root = column_sizes(form, values)[:n]
        fastest = max(abs(values[v]) * r for v, r in zip(form.velocities, root, strict=True))
        scale[n : 2 * n] = fastest / root
    return scale


def term_sizes(rows: Sequence[Node], values: Values) -> np.ndarray:
    """The largest term that is summed in each row."""
    return np.array([size for _, size in magnitudes(list(rows), values)]) if rows else np.zeros(0)


def _inverse(form: Descriptor, g_w: np.ndarray, values: Values) -> np.ndarray:
    """g_w⁻¹; for redundant constraints the pseudoinverse, whose accelerations are the same."""
    if not g_w.size:
        return np.zeros(g_w.shape[::-1])
    R, C = algebraic_scales(form, g_w, values)
    S = R[:, None] * g_w * C
    regular = len(S) == len(S.T) and np.linalg.cond(S) < _REGULAR  # elimination keeps the zeros of separate parts
    return C[:, None] * (np.linalg.inv(S) if regular else np.linalg.pinv(S, rcond=1 / _REGULAR)) * R


def algebraic_scales(form: Descriptor, g_w: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
    """R and C for which R g_w C has no units: accelerations in the metric of the kinetic energy, then unit vectors."""
    n = form.coordinates
    if not n:
        return equilibrate(g_w)
    R, C = np.ones(len(g_w)), np.ones(g_w.shape[1])
    R[:n] = C[:n] = 1.0 / column_sizes(form, values)[:n]
    rows, columns = np.abs(g_w[n:, :n] * C[:n]).max(axis=1), np.abs(R[:n, None] * g_w[:n, n:]).max(axis=0)
    R[n:], C[n:] = 1.0 / np.where(rows > 0, rows, 1.0), 1.0 / np.where(columns > 0, columns, 1.0)
    return R, C


def _embedding(Z: Measured, free: list[int], follow: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """N = ∂x/∂ξ and its error: the identity in the rows ξ, -z_D⁻¹ z_ξ in the others."""
    size = len(free) + len(follow)
    N, error = np.zeros((size, len(free))), np.zeros((size, len(free)))
    N[free] = np.eye(len(free))
    if follow:
        inverse = np.linalg.pinv(Z.value[:, follow])
        N[follow] = -inverse @ Z.value[:, free]
        terms = np.finfo(float).eps * (np.abs(inverse) @ np.abs(Z.value[:, free]))
        error[follow] = terms + np.abs(inverse) @ (Z.error[:, free] + Z.error[:, follow] @ np.abs(N[follow]))
    return np.where(np.abs(N) <= error, 0.0, N), error


def dependent_states(
    form: Descriptor,
    Z: np.ndarray,
    values: Values,
    dependent: Sequence[int] | None = None,
    outside: Sequence[int] = (),
) -> list[int]:
    """Indices of the states that follow from the others: coordinates from positions, velocities from velocities."""
    if not len(Z):
        return []
    n = form.coordinates
    scaled = unit_rows(Z / column_sizes(form, values))
    if n == 0 or np.any(Z[:, 2 * n :]) or (form.mechanics is not None and form.mechanics.hidden):
        return _pivots(scaled, _pivots(scaled, [], outside))
    moving = form.remembered(
        ("moving rows",), lambda: np.array([bool(symbols([z]) & set(form.velocities)) for z in form.residuals])
    )
    position, velocity = unit_rows(scaled[~moving, :n]), unit_rows(scaled[moving, n : 2 * n])
    s = list(dependent) if dependent is not None else _dependent_coordinates(position, outside)
    first = s if dependent is not None or not outside else _pivots(velocity, [], [i - n for i in outside if i >= n])
    return [*s, *(n + i for i in _pivots(velocity, first))]


def _dependent_coordinates(position: np.ndarray, outside: Sequence[int]) -> list[int]:
    kept = independent_rows([unit_rows(position)]) if len(position) else []
    if not kept:
        return []
    rows = position[kept]
    if outside:
        return _pivots(rows, _pivots(rows, [], [i for i in outside if i < rows.shape[1]]))
    return list(best_columns(rows))


def column_sizes(form: Descriptor, values: Values) -> np.ndarray:
    """√M_ii of every coordinate and velocity: in the metric of the kinetic energy no unit is left."""
    sizes = np.ones(len(form.states))
    if form.mechanics is not None:
        inertia = np.abs(form.inertia_levels.numbers(values))
        least = inertia[inertia > 0].min(initial=1.0)
        root = np.sqrt(np.where(inertia > 0, inertia, 1e-6 * least))
        sizes[: form.coordinates] = sizes[form.coordinates : 2 * form.coordinates] = root
    return sizes


def _pivots(rows: np.ndarray, first: Sequence[int], among: Sequence[int] | None = None) -> list[int]:
    """Columns that determine the others: those named first, then the best ones ``among`` the rest."""
    import scipy.linalg

    if not rows.size or (among is not None and not len(among)):
        return list(first)
    rest = rows.copy()
    if first:
        Q = np.linalg.qr(rows[:, list(first)])[0]
        rest = rows - Q @ (Q.T @ rows)
        rest[:, list(first)] = 0.0
    if among is not None:
        rest[:, [i for i in range(rows.shape[1]) if i not in among]] = 0.0
    R, order = scipy.linalg.qr(rest, mode="r", pivoting=True)
    rank = int(np.sum(np.abs(np.diagonal(R)) > 1e-10 * max(1.0, np.abs(rows).max())))
    return [*first, *map(int, order[:rank])]
