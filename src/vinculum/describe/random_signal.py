"""Random forces with a given spectrum, by the spectral representation (Shinozuka, Deodatis 1991).

    u(t) = Σ_k √(2 S(ω_k) Δω) cos(ω_k t + φ_k),   ω_k = (k - 1/2) Δω,   k = 1 ... N,

with independent phases φ_k, uniform in [0, 2π). S is the one-sided density: the variance of u is ∫₀^∞ S(ω) dω.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import sympy as sp

from vinculum.describe.signal import signal
from vinculum.errors import ModelError
from vinculum.units.dimensions import RATE, TIME
from vinculum.units.given import number_in_si

_PER_PERIOD = 16  # points in a period of the highest frequency; the cubics between them err by 2e-4 of it
_LARGEST = 200_000  # points


def random_signal(
    density: Callable[[np.ndarray], np.ndarray] | sp.Expr, times: Sequence[float], highest: float, *, seed: int,
    beyond: str = "refuse", name: str = "random",
) -> sp.Expr:  # fmt: skip
    """A random function of time with the one-sided spectral density S(ω), for ``inputs`` and disturbances.

    ``density`` is a function of ω, or an expression of one symbol, in (unit of u)²/(rad/s); it is cut off above
    ``highest``, in rad/s. ``times`` is (start, end); ``beyond`` them as in `signal`. The same ``seed`` gives the same
    force. Its spectrum is the given one exactly, and its values are normal by the central limit theorem.
    """
    times = number_in_si(times, TIME, "times", "Invalid random signal")
    highest = number_in_si(highest, RATE, "highest", "Invalid random signal")
    begin, end = float(times[0]), float(times[-1])
    _refuse(begin, end, highest, seed)
    step = 2 * math.pi / highest / _PER_PERIOD
    count = math.ceil((end - begin) / step) + 1
    length = 1 << (count - 1).bit_length()  # of the series that the transform sums; its period is longer than the run
    width = 2 * math.pi / (length * step)
    omega = (np.arange(length // _PER_PERIOD) + 0.5) * width
    amplitude = np.sqrt(2 * _values(density, omega) * width)
    phase = np.random.default_rng(seed).uniform(0, 2 * math.pi, len(omega))
    series = np.zeros(length, dtype=complex)
    series[: len(omega)] = amplitude * np.exp(1j * phase)
    t = step * np.arange(count)
    u = (length * np.fft.ifft(series)[:count] * np.exp(0.5j * width * t)).real
    return signal(begin + t, u, between="spline", beyond=beyond, name=name)


def _values(density: Callable[[np.ndarray], np.ndarray] | sp.Expr, omega: np.ndarray) -> np.ndarray:
    """S at every frequency, checked."""
    if isinstance(density, sp.Basic):
        symbols = sorted(density.free_symbols, key=str)
        if len(symbols) > 1:
            raise ModelError("Invalid spectral density", [f"{density} has several symbols; only ω may be left."])
        density = sp.lambdify(symbols or [sp.Dummy()], density)
    found = np.broadcast_to(np.asarray(density(omega), dtype=float), omega.shape)
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        where = f"it is {found[bad[0]]:.6g} at {omega[bad[0]]:.6g} rad/s"
        raise ModelError("Invalid spectral density", [f"{where}; a density is finite and not negative."])
    return found


def _refuse(begin: float, end: float, highest: float, seed: int) -> None:
    problems = []
    if not (math.isfinite(begin) and math.isfinite(end) and begin < end):
        problems.append(f"times are {begin:.6g} to {end:.6g}; give (start, end) with start before end.")
    if not (math.isfinite(highest) and highest > 0):
        problems.append(f"highest is {highest}; it must be a positive frequency in rad/s.")
    elif not problems and (points := (end - begin) * highest * _PER_PERIOD / (2 * math.pi)) > _LARGEST:
        problems.append(f"{points:.0f} points are needed; at most {_LARGEST} are allowed. Lower highest.")
    if isinstance(seed, bool) or not isinstance(seed, int):
        problems.append(f"seed is {seed!r}; it must be a whole number.")
    if problems:
        raise ModelError("Invalid random signal", problems)
