"""Modes in the user's coordinates: which of them move, in what proportion and phase, and whether they oscillate.

A root with A x = λ x, y*A = λ y*, y*x = 1 belongs to the motions η = Re(c x exp λt). State k takes part with the share
|y_k x_k|, which no choice of units changes (participation factor: Pérez-Arriaga, Verghese, Schweppe 1982); a velocity
counts for its coordinate. Coordinates that follow without acting back, such as a cart that recoils, have no share;
they are listed by their amplitude |x_k|/D_k in natural units. Users may give names to modes, by numbers near the roots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.root_bounds import balance
from vinculum.analyze.unit_free import unit_free
from vinculum.errors import ModelError
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import number

if TYPE_CHECKING:
    from vinculum.analyze.linear_model import LinearModel

_NEAR_ZERO = 1e-6  # of the largest root: division by a smaller one would magnify rounding errors
_LISTED = 0.01  # coordinates with a smaller share and amplitude are not listed
_CLEAR = 3.0  # the next root must be this many times farther from the number that names a mode


@dataclass(frozen=True, eq=False)
class ModeShape:
    """A root, and the coordinates that move with it: complex proportions, the coordinate with the largest share 1."""

    root: complex  # Im >= 0: one of a pair
    shape: Mapping[sp.Expr, complex]
    shares: Mapping[sp.Expr, float]  # largest first, their sum 1
    bound: float = 0.0  # of the error of the root
    name: str = ""  # given by the user

    @property
    def oscillates(self) -> bool:
        """Whether the root is one of a complex pair."""
        return self.root.imag > 0

    @property
    def motion(self) -> str:
        """How the mode moves, in words."""
        trend = "" if abs(self.root.real) <= self.bound else "grows" if self.root.real > 0 else "decays"
        if self.oscillates:
            return f"oscillates at {number(self.root.imag)} rad/s{f' and {trend}' if trend else ''}"
        return f"{trend} without oscillating" if trend else "does not oscillate"

    @property
    def proportions(self) -> str:
        """The coordinates with their proportions, and their phases if the mode oscillates: ``x 1, y 0.5 at 30 deg``."""
        return ", ".join(f"{name_of(x)} {_proportion(c, self.oscillates)}" for x, c in self.shape.items())

    @property
    def label(self) -> str:
        """The name and the proportions."""
        return f"{self.name}: {self.proportions}".removeprefix(": ")

    def __str__(self) -> str:
        return f"{self.label}; {self.motion}"

    _repr_html_ = html


def _proportion(c: complex, phased: bool) -> str:
    if not phased:
        return f"{c.real:.3g}"
    degrees = f" at {np.degrees(np.angle(c)):.0f} deg"
    return f"{abs(c):.3g}{'' if degrees in (' at 0 deg', ' at -0 deg') else degrees}"


@dataclass(frozen=True, eq=False)
class Eigenvectors:
    """Roots with Im >= 0 and their left and right vectors in the states, y*x = 1."""

    roots: np.ndarray  # (k)
    left: np.ndarray  # (states, k)
    right: np.ndarray  # (states, k)

    def overlaps(self, other: Eigenvectors, units: np.ndarray) -> np.ndarray:
        """The share of mode i in the other mode j: |y_i* x_j| of these left and the other right vectors, in units."""
        share = np.abs(self.left.conj().T @ other.right) * np.linalg.norm(self.right / units[:, None], axis=0)[:, None]
        return share / np.maximum(share.sum(axis=0), 1e-300)


def eigenvectors(A: np.ndarray, U: np.ndarray, V: np.ndarray) -> Eigenvectors:
    """Those of A for the roots of V A U, where the structural zeros W of A are left out: V W = 0.

    y = Vᵀ υ. x = U ξ + W c with A W = W N, N² = 0, is A² U ξ/λ²: two steps give c, and the states in W move too.
    """
    if not U.shape[1]:
        none = np.zeros((len(U), 0), complex)
        return Eigenvectors(np.zeros(0, complex), none, none)
    B, d = balance(V @ A @ U)
    roots, left, right = scipy.linalg.eig(B, left=True)
    upper = roots.imag >= 0
    left, right = left[:, upper], right[:, upper]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = left / np.conj(np.sum(left.conj() * right, axis=0))
    roots, x = roots[upper], U @ (right * d[:, None]).astype(complex)
    safe = np.abs(roots) > _NEAR_ZERO * np.abs(roots).max(initial=0.0)
    x[:, safe] = A @ (A @ x[:, safe]) / roots[safe] ** 2
    return Eigenvectors(roots, V.T @ (left / d[:, None]), x)


def mode_shapes(linear: LinearModel) -> tuple[ModeShape, ...]:
    """The modes of all roots that are not structural zeros, rightmost first, with the names they were given."""
    found = linear.structure
    vectors = eigenvectors(linear.system_matrix, found.basis, found.rows)
    units, modes = natural_units(linear), list[ModeShape]()
    for i, root in enumerate(vectors.roots):
        k = int(np.argmin(np.abs(found.roots.roots - root)))
        shown = complex(found.roots.shown[k])
        shape = shape_of(linear.states, units, vectors, i)
        modes.append(replace(shape, root=complex(shown.real, abs(shown.imag)), bound=float(found.roots.bounds[k])))
    named = {_nearest(modes, root): name for name, root in linear.mode_names.items()} if modes else {}
    modes = [replace(mode, name=named.get(i, "")) for i, mode in enumerate(modes)]
    return tuple(sorted(modes, key=lambda mode: (-mode.root.real, -mode.root.imag)))


def natural_units(linear: LinearModel) -> np.ndarray:
    """The natural units D of the states."""
    A = linear.system_matrix
    rounding = np.zeros_like(A) if linear.errors is None else linear.errors
    return unit_free(np.where(np.abs(A) <= rounding, 0.0, A), linear.input_matrix).states


def shape_of(states: Sequence[sp.Expr], units: np.ndarray, vectors: Eigenvectors, i: int) -> ModeShape:
    """The shape of one mode; the leading coordinate is that with the largest share."""
    x, shares, amplitudes = vectors.right[:, i], dict[sp.Expr, float](), dict[sp.Expr, float]()
    parts = np.nan_to_num(np.abs(vectors.left[:, i] * x))
    for state, part, amplitude in zip(states, parts, np.abs(x) / units, strict=True):
        key = state.expr if isinstance(state, sp.Derivative) and state.expr in states else state
        shares[key] = shares.get(key, 0.0) + float(part)
        amplitudes[key] = max(amplitudes.get(key, 0.0), float(amplitude))
    total, largest = sum(shares.values()) or 1.0, max(amplitudes.values())
    order = sorted(shares, key=lambda key: -shares[key])
    listed = [key for key in order if shares[key] > _LISTED * total or amplitudes[key] > _LISTED * largest]
    moving = {key: complex(x[states.index(key)]) for key in listed}
    leading = next(iter(moving.values()), 1.0) or 1.0
    shape = {key: c / leading for key, c in moving.items()}
    return ModeShape(complex(vectors.roots[i]), shape, {key: shares[key] / total for key in order})


def named_roots(modes: Sequence[ModeShape], names: Mapping[str, complex]) -> dict[str, complex]:
    """The root that each name means: the nearest one to its number, which must be clearly nearer than the others."""
    found, problems = dict[str, complex](), list[str]()
    for name, given in names.items():
        wanted = complex(complex(given).real, abs(complex(given).imag))
        distances = sorted((abs(mode.root - wanted), i) for i, mode in enumerate(modes))
        shown = ", ".join(number(mode.root) for mode in modes)
        if not distances:
            problems.append(f"{name}: the model has no modes.")
            continue
        nearest = modes[distances[0][1]].root
        if len(distances) > 1 and distances[1][0] < _CLEAR * distances[0][0]:
            problems.append(f"{name} = {number(wanted)} is not clearly near one root. The roots are {shown}.")
        elif nearest in found.values():
            other = next(key for key, root in found.items() if root == nearest)
            problems.append(f"{name} and {other} are near the same root {number(nearest)}. The roots are {shown}.")
        found[name] = nearest
    if problems:
        raise ModelError("Invalid names of modes", problems)
    return found


def _nearest(modes: Sequence[ModeShape], root: complex) -> int:
    return int(np.argmin([abs(mode.root - root) for mode in modes]))
