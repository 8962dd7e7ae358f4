"""Derivatives of motions on another road: Lagrange's equations in SymPy, complex steps, an explicit Runge-Kutta method.

With a parameter or start θ + iε, ε = 1e-30, every function of the run is x + iε dx/dθ to rounding: no difference is
taken. The start is solved from the constraints with complex numbers too, and nothing holds the constraints later.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from laws import lagrange
from laws.random_systems import residuals
from vinculum import System

EPSILON, TOLERANCE, NUDGE = 1e-30, 1e-13, 1e-5
_CALLS = 12  # of the rates, for a step of DOP853


class ComplexRuns:
    """Motions of a system with a small imaginary change, one for each of ``by``, all of them at once."""

    def __init__(self, system: System, by, laws=None) -> None:
        self.system, self.by, self.n = system, tuple(by), len(system.coordinates)
        self.keys = (*system.coordinates, *system.velocities)
        self.arguments = (system.time, *self.keys, *system.parameters)
        self.laws = dict(laws or {})
        still = dict.fromkeys(self._accelerations(), 0)
        forces = [-e.subs(self.laws).xreplace(still) for e in lagrange.equations(system)]
        turned = [-e.xreplace(still) for e in lagrange.constraint_accelerations(system)]
        self.mass, self.jacobian = (
            self._compiled(lagrange.mass_matrix(system)),
            self._compiled(lagrange.jacobian(system)),
        )
        self.right = self._compiled([*forces, *turned])
        self.levels = [(conditions, self._compiled(conditions)) for conditions in residuals(system)]

    def _accelerations(self):
        return [q.diff(self.system.time, 2) for q in self.system.coordinates]

    def _compiled(self, expressions):
        """Expressions, one after the other, at columns of arguments, (expressions, columns)."""
        f = sp.lambdify(self.arguments, list(expressions), "numpy", cse=True)
        return lambda t, x, p: np.array([np.broadcast_to(row, x.shape[1:]) for row in f(t, *x, *p)]).reshape(
            -1, x.shape[1]
        )

    def run(self, initial, guess, times):
        """x, v, accelerations and multipliers and their derivatives, each (quantities, by, instants)."""
        p, x = self._parameters(), self._start(initial, guess, times[0])
        k = len(self.by)

        def rate(t, flat):
            now = flat.reshape(2 * self.n, k)
            return np.concatenate([now[self.n :], self._solved(t, now, p)[: self.n]]).ravel()

        found = solve_ivp(rate, (times[0], times[-1]), x.ravel(), "DOP853", times, rtol=TOLERANCE, atol=1e-14)
        self.steps = found.nfev // _CALLS
        states = found.y.reshape(2 * self.n, k, len(times))
        solved = np.stack([self._solved(t, states[:, :, i], p) for i, t in enumerate(times)], axis=2)
        everything = np.concatenate([states, solved])
        return everything.real, everything.imag / EPSILON

    def expected_error(self, initial, guess, times, slopes, scale):
        """The error of the derivatives S, relative to their scale, from tolerance ε, steps N and growth of the motion.

        Every step changes the state by ε at most, and what it changes grows along the motion: N ε Σ |∂S/∂x₀|, with the
        derivatives of S by all free starts from differences.
        """
        steps, growth = self.steps, 0.0
        for key, value in initial.items():
            _, other = self.run({**initial, key: value + NUDGE}, guess, times)
            growth += np.abs((other - slopes) / scale).max() / NUDGE
        return steps * TOLERANCE * growth

    def _solved(self, t, x, p):
        """Accelerations and multipliers: M a - Jᵀ λ = Q, J a = γ."""
        n, m, k = self.n, len(self.system.constraints), len(self.by)
        A = np.zeros((k, n + m, n + m), dtype=complex)
        A[:, :n, :n] = self.mass(t, x, p).T.reshape(k, n, n)
        if m:
            J = self.jacobian(t, x, p).T.reshape(k, m, n)
            A[:, n:, :n], A[:, :n, n:] = J, -J.transpose(0, 2, 1)
        return np.linalg.solve(A, self.right(t, x, p).T[:, :, None])[:, :, 0].T

    def _parameters(self):
        values = np.array([[float(v)] * len(self.by) for v in self.system.parameters.values()], dtype=complex)
        for k, key in enumerate(self.by):
            if key in self.system.parameters:
                values[list(self.system.parameters).index(key), k] += 1j * EPSILON
        return values

    def _start(self, initial, guess, t):
        """Newton's method on the constraints, with the given values held."""
        x = np.array([[float({**guess, **initial}.get(key, 0.0))] * len(self.by) for key in self.keys], dtype=complex)
        for k, key in enumerate(self.by):
            if key in self.keys:
                x[self.keys.index(key), k] += 1j * EPSILON
        p = self._parameters()
        for (conditions, f), movable in zip(self.levels, (self.keys[: self.n], self.keys[self.n :]), strict=True):
            free = [key for key in movable if key not in initial]
            assert len(free) == len(conditions), "the start must be determined by the constraints alone"
            if not free:
                continue
            slopes = self._compiled(list(sp.Matrix(conditions).jacobian(free)))
            for _ in range(40):
                J = slopes(t, x, p).T.reshape(len(self.by), len(free), len(free))
                x[[self.keys.index(key) for key in free]] -= np.linalg.solve(J, f(t, x, p).T[:, :, None])[:, :, 0].T
        return x
