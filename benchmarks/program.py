"""The wheel of paper 003 with fixed steps: Vinculum's loops beside the same loops written by hand in Numba.

    python -m benchmarks.program            the ratio, repeated, best of each
    python -m benchmarks.program paper      the run of the paper: [0, 200], step 1e-5, rate 1500

By hand: the reduced formulas of Pesterev, Matrosov and Morozov (corrected), U from its own row, a 2x2 solve for the
reaction, residuals and energy taken at every step, all sizes known to the compiler.
"""

import sys
from math import cos, sin
from time import perf_counter

import numpy as np
from numba import njit

import vinculum as vn
from benchmarks.measure import markdown_table
from examples.wheel_with_reactions import STATES, program, start

RATE, STEP = 1500.0, 1e-5


@njit(cache=True)
def right_side(X, lam, out, watch):
    """Rates of (x, x', z, z', th, th', ph, ph', al), residuals and energy, for M = 1, m = 0.5, r = 7/40, l = 7/50."""
    M, m, r, l, g = 1.0, 0.5, 7 / 40, 7 / 50, 9.81
    x, xd, z, zd, thd, ph, phd, al = X[0], X[1], X[2], X[3], X[5], X[6], X[7], X[8]
    ca, sa, cp, sp = cos(al), sin(al), cos(ph), sin(ph)
    xa = x + r * ca
    p = (((xa + 0.13) * xa - 0.5) * xa - 0.13) * xa - 0.5
    hx, p2 = -(((4 * xa + 0.39) * xa - 1.0) * xa - 0.13), (12 * xa + 0.78) * xa - 1.0
    f1, y1 = z + r * sa - p, hx * xd + zd
    f2, f3 = -xd * sa + zd * ca + r * thd, hx * sa - ca
    vH, d = p2 * xd * sa, (hx * ca + sa) + r * p2 * sa * sa
    U = (vH - lam * f3) / d
    q = m / M
    a, b, c, k = 1 + q * cp * cp, q * cp * sp, 1 + q * sp * sp, m * l * phd * phd / (M + m)
    A11, A12 = (a * hx + b) / (M + m), (b * hx + c) / (M + m)
    A21, A22 = (b * ca - a * sa) / (M + m) - sa / M, (c * ca - b * sa) / (M + m) + ca / M
    wx, wz = k * sp, -k * cp
    along = q * (wx * cp + wz * sp)
    ph1 = r * vH * U - g - p2 * xd * xd + hx * (wx + along * cp) + wz + along * sp + 2 * lam * y1 + lam * lam * f1
    ph2 = -sa * (wx + along * cp) + ca * (wz + along * sp) - g * ca - U * (xd * ca + zd * sa) + lam * f2
    D = A11 * A22 - A12 * A21
    Rx, Rz = -(A22 * ph1 - A12 * ph2) / D, -(A11 * ph2 - A21 * ph1) / D
    wx, wz = wx + Rx / (M + m), wz + Rz / (M + m)
    along = q * (wx * cp + wz * sp)
    ax, az = wx + along * cp, wz + along * sp
    out[0], out[1], out[2], out[3], out[4] = xd, ax, zd, az - g, thd
    out[5], out[6], out[7], out[8] = (-sa * Rx + ca * Rz) / (M * r), phd, -(ax * cp + az * sp) / l, U
    bx, bz = xd + l * phd * cp, zd + l * phd * sp
    watch[0], watch[1], watch[2], watch[3] = f1, y1, f2, f3
    kinetic = 0.5 * M * (xd * xd + zd * zd + r * r * thd * thd) + 0.5 * m * (bx * bx + bz * bz)
    watch[4] = kinetic + M * g * z + m * g * (z - l * cp)


@njit(cache=True)
def observed(X, f, watch, maxima, energy):
    """False when a number is not finite; otherwise the maxima are brought up to date."""
    for j in range(9):
        if not (np.isfinite(X[j]) and np.isfinite(f[j])):
            return False
    for j in range(4):
        maxima[j] = max(maxima[j], abs(watch[j]))
    maxima[4] = max(maxima[4], abs(watch[4] - energy))
    return True


@njit(cache=True)
def adams_bashforth(X, lam, h, steps, samples):
    """AB2, the first step by Euler; states kept at equal intervals."""
    f, last, watch, maxima = np.empty(9), np.empty(9), np.empty(5), np.zeros(5)
    every, row = max(1, steps // len(samples)), 0
    right_side(X, lam, f, watch)
    energy = watch[4]
    last[:] = f
    for i in range(steps):
        right_side(X, lam, f, watch)
        if not observed(X, f, watch, maxima, energy):
            return maxima
        if i % every == 0 and row < len(samples):
            samples[row] = X
            row += 1
        for j in range(9):
            X[j] += h * (1.5 * f[j] - 0.5 * last[j])
            last[j] = f[j]
    return maxima


def by_hand(duration, step):
    X = np.array([start(program(RATE))[key] for key in STATES], dtype=float)
    began = perf_counter()
    adams_bashforth(X, RATE, step, round(duration / step), np.empty((1000, 9)))
    return perf_counter() - began, X


def ours(duration, step, method="ab2"):
    equations = program(RATE)
    motion = vn.simulate(equations, start(equations), (0, duration), method, step=step, progress=False)
    return motion.seconds["run"], motion


def compare(duration=5.0, repeats=7):
    """Alternately, so that whatever else the machine does falls on both; the best of each."""
    by_hand(10 * STEP, STEP), ours(10 * STEP, STEP)
    pairs = [(by_hand(duration, STEP)[0], ours(duration, STEP)[0]) for _ in range(repeats)]
    hand, own = (min(column) for column in zip(*pairs, strict=True))
    steps = duration / STEP
    return {
        "steps": int(steps),
        "by hand [ns]": 1e9 * hand / steps,
        "Vinculum [ns]": 1e9 * own / steps,
        "ratio": own / hand,
    }


def paper():
    """Beside what the paper reports: residuals below 5e-10, energy error below 2e-8."""
    rows = [{"run": "paper 003", "wall s": "-", "largest f": 5e-10, "energy error": 2e-8}]
    for method, step in (("ab2", 1e-5), ("abm2", 1e-5), ("ab3", 1e-5), ("ab4", 1e-5)):
        seconds, motion = ours(200.0, step, method)
        rows.append(_row(f"{method}, step {step:g}", seconds, motion))
    for step in (1e-4, 1e-3):
        equations = program(None)
        motion = vn.simulate(
            equations, start(equations), (0, 200), "rk4", step=step, stabilization=vn.Sampled(), progress=False
        )
        rows.append(_row(f"rk4 sampled, step {step:g}", motion.seconds["run"], motion))
    return rows


def _row(name, seconds, motion):
    positions = [value for (_, level), value in motion.largest_residuals.items() if level == "position"]
    return {"run": name, "wall s": seconds, "largest f": max(positions), "energy error": motion.energy_error}


if __name__ == "__main__":
    print(markdown_table(paper() if "paper" in sys.argv[1:] else [compare()]))
