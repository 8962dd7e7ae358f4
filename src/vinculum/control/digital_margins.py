"""Gain, phase and delay margins of a sampled loop.

    L(z) = -c (z - A)⁻¹ b on the unit circle, z = exp(iωT), 0 < ω ≤ π/T

is the loop of the exact discrete model and the digital law, open at one input of the plant with the others closed. The
delay margin is exact too: the smallest further delay, of any length, at which a root of the loop reaches the unit
circle; beyond thirty periods it is phase/ω, from which it no longer differs.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import sympy as sp

from vinculum.analyze.discrete_model import DiscreteModel
from vinculum.analyze.linear_model import LinearModel
from vinculum.control.digital_law import DigitalLaw
from vinculum.control.discrete_design import sampled_loop
from vinculum.control.margins import Margin, sign_changes
from vinculum.errors import VinculumError
from vinculum.names import listed
from vinculum.units.given import duration

_POINTS = 4000  # of the grid of angles
_SMALLEST = 1e-7  # angle of the grid
_NEAR = np.concatenate([-np.geomspace(10, 1e-2, 12), [0.0], np.geomspace(1e-2, 10, 12)])  # in widths of a resonance
_LONG = 30  # periods
_DELAYS = 400  # tried on the way to the delay margin


def digital_margins(linear: LinearModel, law: DigitalLaw, delay: float = 0.0) -> dict[sp.Expr, Margin]:
    """The margins of a digital law on a linear plant with a delay, {input: margin}, at every input that it uses.

    Frequencies are in rad/s, up to π/period. Phase and gain belong to the samples.
    """
    delay = duration(delay, "delay")
    strange = [y for y in law.outputs if y not in linear.measured] or [u for u in law.inputs if u not in linear.inputs]
    if strange:
        raise VinculumError(f"{listed(strange)} of the law is not known to the linear model.")
    model = linear.discrete(law.period, delay)
    loop = np.abs(np.linalg.eigvals(sampled_loop(model, law))).max(initial=0.0)
    if loop >= 1:
        raise VinculumError(f"The sampled loop is not stable: its largest root is {loop:.6g}. It has no margins.")
    used = [i for i in range(len(law.inputs)) if law.C[i].any() or law.D[i].any()]
    return {law.inputs[i]: _margin(model, law, i) for i in used}


def _margin(model: DiscreteModel, law: DigitalLaw, i: int) -> Margin:
    A, b, c = _open_loop(model, law, i)
    triangular, basis = scipy.linalg.schur(A, output="complex")
    left, right = c @ basis, basis.conj().T @ b

    def L(theta: np.ndarray) -> np.ndarray:
        identity = np.eye(len(A))
        points = np.exp(1j * np.atleast_1d(theta))
        return np.array([-left @ scipy.linalg.solve_triangular(z * identity - triangular, right) for z in points])

    theta = _grid(A, A - np.outer(b, -c))
    values, none = L(theta), np.zeros(0)
    gain_at = sign_changes(lambda a: np.log(np.abs(L(a))), theta, np.log(np.abs(values)), none)
    real_at = [*sign_changes(lambda a: L(a).imag, theta, values.imag, none), np.pi]
    phase_at = np.array([a for a in real_at if L(np.array([a]))[0].real < 0])
    factors = -1 / L(phase_at).real if len(phase_at) else np.zeros(0)
    at_rest = _at_rest(A, b, c)
    factors = np.append(factors, [-1 / value for value in at_rest])
    angles = np.angle(-L(gain_at)) if len(gain_at) else np.zeros(0)
    return Margin(
        input=law.inputs[i],
        gain=float(factors[factors > 1].min(initial=np.inf)),
        gain_reduction=float(factors[factors < 1].max(initial=0.0)),
        phase=float(np.abs(angles).min(initial=np.inf)),
        delay=_delay(model, law, i, np.mod(angles, 2 * np.pi) / gain_at * law.period),
        distance=float(np.abs(1 + values).min(initial=1.0)),
        phase_crossovers=phase_at / law.period,
        gain_crossovers=gain_at / law.period,
    )


def _open_loop(model: DiscreteModel, law: DigitalLaw, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, b, c from input i of the plant to what the law sends there; it is closed at the other inputs."""
    C = model.measures(np.array([model.linear.measured[y] for y in law.outputs]).reshape(len(law.outputs), -1))
    places = [model.inputs.index(u) for u in law.inputs]
    B, own = model.B[:, places], np.hstack([law.D @ C, law.C])
    others = np.array([float(j != i) for j in range(len(law.inputs))])
    upper = np.hstack([model.A, np.zeros((len(model.A), len(law.A)))]) + (B * others) @ own
    lower = np.hstack([law.B @ C, law.A]) + law.E @ own
    return np.vstack([upper, lower]), np.append(B[:, i], np.zeros(len(law.A))), own[i]


def _grid(A: np.ndarray, closed: np.ndarray) -> np.ndarray:
    """Angles, closer together at the roots of the open and the closed loop."""
    roots = np.concatenate([np.linalg.eigvals(A), np.linalg.eigvals(closed)])
    roots = roots[np.abs(roots) > 0]
    widths = np.maximum(np.abs(np.log(np.abs(roots))), 1e-6)
    peaks = (np.abs(np.angle(roots))[:, None] + widths[:, None] * _NEAR).ravel()
    even = np.concatenate([np.geomspace(_SMALLEST, np.pi, _POINTS), np.linspace(1e-3, np.pi, _POINTS)])
    found = np.unique(np.concatenate([even, peaks[(peaks > _SMALLEST) & (peaks < np.pi)]]))
    on = np.abs(np.exp(1j * found)[:, None] - np.linalg.eigvals(A)[None, :]).min(axis=1, initial=np.inf)
    return found[on > 1e-12]


def _at_rest(A: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[float]:
    """L(1), if it is finite and negative."""
    whole = np.eye(len(A)) - A
    if np.linalg.cond(whole) > 1e12:
        return []
    value = float(-c @ np.linalg.solve(whole, b))
    return [value] if value < 0 else []


def _delay(model: DiscreteModel, law: DigitalLaw, i: int, guesses: np.ndarray) -> float:
    """The smallest further delay at which the loop loses its stability; infinite without a gain crossover."""
    if not len(guesses) or guesses.min() > _LONG * law.period:
        return float(guesses.min(initial=np.inf))
    most = 2 * float(guesses.min()) + 2 * law.period

    def margin(more: float) -> float:
        late = model.linear.discrete(law.period, model.delay + more)
        return 1 - float(np.abs(np.linalg.eigvals(sampled_loop(late, law))).max())

    low = 0.0
    for high in np.linspace(0, most, _DELAYS + 1)[1:]:
        if margin(float(high)) < 0:
            from scipy.optimize import brentq

            return float(brentq(margin, low, float(high), xtol=1e-12 * most))
        low = float(high)
    return float("inf")
