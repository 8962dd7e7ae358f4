"""Gain, phase and delay margins of a loop, from the curve L(iω) itself.

The frequencies with |L| = 1 and with real L are roots of matrices (`crossings`), so no crossing is missed between two
points of a grid. Around each of them, and on a grid, the crossing is bracketed and solved for (Brent): the roots alone
lose digits with fast electrical poles. Polynomials of a transfer function are not used: there they overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.analyze.unit_free import unit_free
from vinculum.control.crossings import at_distance, real_values, unit_gain
from vinculum.control.feedback import FeedbackLaw
from vinculum.control.frequency import OpenLoop, open_loop, undamped_frequencies, without_poles
from vinculum.control.loop_matrices import loop_matrices
from vinculum.control.observer import Estimator
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows

LEAST_GAIN, LEAST_PHASE = 2.0, np.radians(30)  # customary margins: 6 dB and 30°
ADVICE = "With an observer, a larger state_noise brings the margins nearer to those of the feedback without it."
_ROUNDS, _CLOSER = 30, 1e-9  # of the search for the smallest distance
_POINTS, _DECADES = 2000, 3  # of the grid, and how far it goes beyond the roots
_NEAR = np.concatenate([-np.geomspace(10, 1e-2, 12), [0.0], np.geomspace(1e-2, 10, 12)])  # in widths of a resonance

Curve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class Margin:
    """How much gain and phase the loop tolerates at one input of the plant.

    ``gain`` and ``gain_reduction`` are the factors by which the gain may grow or shrink before the loop reaches its
    stability limit; infinite and zero if there is none.
    """

    input: sp.Expr
    gain: float  # > 1
    gain_reduction: float  # < 1
    phase: float  # in radians
    delay: float  # that may be added to the loop
    distance: float  # smallest |1 + L|
    phase_crossovers: np.ndarray  # frequencies with arg L = -π
    gain_crossovers: np.ndarray  # frequencies with |L| = 1

    @property
    def doubts(self) -> str:
        """A sentence if a margin is below the customary 6 dB and 30°; empty otherwise."""
        small = []
        if self.gain < LEAST_GAIN:
            small.append(f"{self.gain:.3g} times the gain ({20 * np.log10(self.gain):.2g} dB)")
        if self.gain_reduction > 1 / LEAST_GAIN:
            small.append(f"{self.gain_reduction:.3g} times the gain ({20 * np.log10(self.gain_reduction):.2g} dB)")
        if self.phase < LEAST_PHASE:
            small.append(f"{np.degrees(self.phase):.3g}° of further phase")
        if not small:
            return ""
        return (
            f"The margins at {name_of(self.input)} are small: {' or '.join(small)} would make the loop unstable. "
            "Customary are at least 6 dB and 30°."
        )

    def __repr__(self) -> str:
        rows = {
            "gain margin": f"{self.gain_reduction:.4g} to {self.gain:.4g}",
            "phase margin": f"{np.degrees(self.phase):.4g} degrees",
            "delay margin": f"{self.delay:.4g}",
            "smallest |1 + L|": f"{self.distance:.4g}",
        }
        return labelled_rows(f"Margin at {name_of(self.input)}", rows)

    _repr_html_ = html


def small_margins(found: Mapping[sp.Expr, Margin], observed: bool) -> list[str]:
    """Sentences for the inputs with small margins, and what to change in a loop with an observer."""
    doubts = [margin.doubts for margin in found.values() if margin.doubts]
    return [*doubts, ADVICE] if doubts and observed else doubts


def margins(law: FeedbackLaw, estimator: Estimator | None = None) -> dict[sp.Expr, Margin]:
    """The margins at every input that the law uses, {input: margin}, with the other inputs closed."""
    used = np.any(loop_matrices(law, estimator).controls, axis=1)
    return {u: _margin(law, u, estimator) for u, moves in zip(law.linear.inputs, used, strict=True) if moves}


def _margin(law: FeedbackLaw, u: sp.Expr, estimator: Estimator | None) -> Margin:
    loop = open_loop(law, u, estimator)

    def L(omega: np.ndarray) -> np.ndarray:
        values = loop(np.atleast_1d(omega))
        return np.where(np.isfinite(values), values, complex(np.inf, np.inf))  # infinite at an undamped root

    matrices = _scaled(loop)
    omega = _with(_grid(loop), [*unit_gain(*matrices), *real_values(*matrices)], loop)
    values = L(omega)
    infinite = undamped_frequencies(loop.poles)
    gain_at = sign_changes(lambda w: np.log(np.abs(L(w))), omega, np.log(np.abs(values)), infinite)
    real_at = sign_changes(lambda w: L(w).imag, omega, values.imag, infinite)
    at_rest = _at_rest(loop)
    phase_at = np.array([w for w in real_at if L(w)[0].real < 0])
    factors = -1 / np.array([*(L(w)[0].real for w in phase_at), *at_rest])
    angles = np.angle(-L(gain_at)) if len(gain_at) else np.zeros(0)  # from arg L = -π
    return Margin(
        input=u,
        gain=float(factors[factors > 1].min(initial=np.inf)),
        gain_reduction=float(factors[factors < 1].max(initial=0.0)),
        phase=float(np.abs(angles).min(initial=np.inf)),
        delay=float(np.min(np.mod(angles, 2 * np.pi) / gain_at, initial=np.inf)),
        distance=_smallest_distance(L, omega, values, matrices),
        phase_crossovers=phase_at,
        gain_crossovers=gain_at,
    )


def _grid(loop: OpenLoop) -> np.ndarray:
    """Frequencies around all roots of the open and the closed loop, closer together at resonances."""
    roots = np.concatenate([loop.poles, np.linalg.eigvals(loop.A - loop.B @ loop.C)])
    sizes = np.abs(roots)[np.abs(roots) > 1e-12 * np.abs(roots).max(initial=0.0)]
    low, high = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    even = np.geomspace(low * 10.0**-_DECADES, high * 10.0**_DECADES, _POINTS)
    widths = np.maximum(np.abs(roots.real), 1e-6 * np.abs(roots))
    peaks = (np.abs(roots.imag)[:, None] + widths[:, None] * _NEAR).ravel()
    chosen = np.concatenate([even, peaks[peaks > even[0]]])
    return without_poles(np.unique(chosen), loop.poles)


def sign_changes(f: Curve, omega: np.ndarray, values: np.ndarray, infinite: np.ndarray) -> np.ndarray:
    """Where f is zero; a change of sign through a pole at an ``infinite`` frequency does not count."""
    from scipy.optimize import brentq

    found = []
    for i in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
        if np.any((omega[i] <= infinite) & (infinite <= omega[i + 1])):
            continue
        w = brentq(lambda x: float(f(np.array([x]))[0]), omega[i], omega[i + 1], xtol=1e-14 * omega[i], rtol=1e-14)
        if abs(f(np.array([w]))[0]) <= min(abs(values[i]), abs(values[i + 1])):
            found.append(w)
    return np.array(found)


def _at_rest(loop: OpenLoop) -> list[float]:
    """L(0), if it is finite and negative."""
    if np.linalg.cond(loop.A) > 1e14:
        return []
    value = float((-loop.C @ np.linalg.solve(loop.A, loop.B))[0, 0])
    return [value] if value < 0 else []


def _scaled(loop: OpenLoop) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, b, c in natural units, which L does not feel."""
    own = unit_free(loop.A, np.hstack([loop.B, np.zeros_like(loop.B)]))
    return loop.A * own.states / own.states[:, None], loop.B / own.states[:, None], loop.C * own.states


def _with(omega: np.ndarray, places: Sequence[float], loop: OpenLoop) -> np.ndarray:
    """The grid with points on both sides of each place, and between neighboring places."""
    found = np.sort([w for w in places if w > 0])
    sides = [w * (1 + side * step) for w in found for side in (-1, 1) for step in (1e-9, 1e-6, 1e-3)]
    between = (found[:-1] + found[1:]) / 2
    return without_poles(np.unique([*omega, *sides, *between]), loop.poles)


def _smallest_distance(
    L: Curve, omega: np.ndarray, values: np.ndarray, matrices: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> float:
    """The least |1 + L|; 1 at infinite frequency.

    From the best point of the grid, the frequencies with a distance a little below it enclose what is closer (Bruinsma,
    Steinbuch 1990); the midpoints are the next points, until there are none.
    """
    from scipy.optimize import minimize_scalar

    distances = np.abs(1 + values)
    i = int(np.argmin(distances))
    around = np.log(omega[[max(i - 1, 0), min(i + 1, len(omega) - 1)]])
    best = minimize_scalar(lambda x: float(np.abs(1 + L(np.exp([x])))[0]), bounds=around, method="bounded")
    least = float(min(distances[i], best.fun, 1.0))
    for _ in range(_ROUNDS):
        places = at_distance(*matrices, least * (1 - _CLOSER))
        inside = np.abs(1 + L((places[:-1] + places[1:]) / 2)) if len(places) > 1 else np.zeros(0)
        if not len(inside) or inside.min() >= least * (1 - _CLOSER):
            return least
        least = float(inside.min())
    return least
