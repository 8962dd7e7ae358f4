"""Stability by the energy: Lagrange-Dirichlet at rest, Routh-Salvadori in a steady motion.

With an energy E that is conserved or only decreases, and conserved momenta I, look for multipliers μ, ν with

    E_x = μ·I_x + ν·z_x    at the point, and    (E - μ·I - ν·z)_xx positive definite on  ker(I_x, z_x)

(modulo the directions of ignorable coordinates). Then the motion is stable, also for perturbed momenta. The terms
ν·z_xx are the curvature of the constraints. At rest with nonholonomic constraints the condition on E_x demands that
their reactions vanish. Forces that do not depend on velocities count as potential forces if their curl vanishes
identically.

Hypotheses checked: no explicit time; forces = potential + no power + power ≤ 0; reactions without power.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported at their first use

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import Point
from vinculum.analyze.power import Signs
from vinculum.analyze.tangent import slopes
from vinculum.derivation.mechanics.lagrange import Mechanics, total
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.graph import ZERO, Node, constant, gradient, jacobian, substitute, symbols
from vinculum.graph.exact import vanishing


@dataclass(frozen=True, eq=False)
class EnergyTest:
    """What the energy shows: stable or not decided, and the hypotheses."""

    stable: bool
    reason: str  # what was found, or which hypothesis fails
    conserved: bool = False
    momenta: int = 0
    degenerate: bool = False  # all hypotheses hold, and the second variation is positive but for one direction
    smallest: float = 0.0  # eigenvalue of the second variation, relative to the largest
    flat: int = 0  # directions in which the second variation vanishes, where it is negative in none
    negative: bool = False  # all hypotheses hold, and the second variation is negative in a direction
    holds: bool = False  # whether integrals keep the positions along the symmetries near their values


def energy_test(linear: LinearModel, where: Point, symmetry: np.ndarray) -> EnergyTest:
    """Apply the theorem at the point of a linear model.

    ``symmetry`` are directions η along which nothing changes.
    """
    form, mechanics = where.form, where.form.mechanics
    if mechanics is None:
        return EnergyTest(False, "the equations have no energy")
    if linear.closed or form.laws or len(form.states) != 2 * form.coordinates:
        return EnergyTest(False, "the feedback has no energy")
    if mechanics.actuators is not None:
        return EnergyTest(False, "servo constraints do work")
    if form.turned:
        return EnergyTest(False, "the energy is not tested in a turning frame")
    if mechanics.approach:
        return EnergyTest(False, "constraints that are approached do work")
    return _Variation(linear, where, mechanics, symmetry).run()


class _Variation:
    """The energy and the momenta around one point, in the variables (q, v) that are not prescribed."""

    def __init__(self, linear: LinearModel, where: Point, mechanics: Mechanics, symmetry: np.ndarray) -> None:
        self.linear, self.where, self.mechanics = linear, where, mechanics
        form, n = where.form, where.form.coordinates
        self.values = where.values
        self.driven = self._driven()
        self.kept = [i for i in range(n) if i not in self.driven]
        self.q = [form.states[i] for i in self.kept]
        self.v = [form.states[n + i] for i in self.kept]
        held = [*(form.states[n + i] for i in self.driven), *form.inputs]
        self.fixed = {x: constant(self.values[x]) for x in held}
        nodes = mechanics.system.nodes
        self.T, self.V = substitute([nodes.kinetic, nodes.potential], self.fixed)
        self.applied = substitute([mechanics.applied[i] for i in self.kept], self.fixed)
        self.residuals = [z for z in substitute(list(form.residuals), self.fixed) if symbols([z]) & {*self.q, *self.v}]
        self.momenta = gradient(self.T, self.v)
        self.directions = self._symmetries(symmetry)

    def _driven(self) -> list[int]:
        """Ignorable coordinates whose velocities are prescribed as constants by moving constraints."""
        where, n = self.where, self.where.form.coordinates
        if where.closed is None:
            return []
        return [
            i
            for i in range(n)
            if where.form.states[i] not in where.closed.states
            and not symbols([where.closed.rates[where.form.states[i]]]) - set(where.form.parameters)
            and where.closed.rates[where.form.states[i]] is not ZERO
        ]

    def _symmetries(self, symmetry: np.ndarray) -> list[np.ndarray]:
        """Constant directions of q along which nothing changes: ignorable coordinates, and those of the structure."""
        form, found = self.where.form, []
        if self.where.closed is not None:
            outside = [i for i in self.kept if form.states[i] not in self.where.closed.states]
            found += [np.array([float(i == j) for j in self.kept]) for i in outside]
        columns = [self.where.tangent.chart.index(form.states.index(x)) for x in self._state_nodes()]
        self.free = [(self.where.tangent.N[:, columns] @ direction)[self.kept] for direction in symmetry.T]
        found += self.free
        left_out = [i for i in self.kept if form.states[i].value in self.linear.dropped]
        found += [np.array([float(i == j) for j in self.kept]) for i in left_out]
        return [x for x in found if np.any(x)]

    def _state_nodes(self) -> list[Node]:
        named = {x.value: x for x in self.where.form.states}
        return [named[s] for s in self.linear.states]

    # -- hypotheses ---------------------------------------------------------------------------------------------

    def run(self) -> EnergyTest:
        """Check the hypotheses, then the second variation."""
        time = self.where.form.time
        if time in symbols([self.T, self.V, *self.applied, *self.residuals]) and not self._timeless():
            return EnergyTest(False, "the energy depends on time explicitly")
        rates = [r for i, r in enumerate(self.mechanics.virtual_rates) if not self._drives(i)]
        if any(rate is not ZERO for rate in rates):
            return EnergyTest(False, "reactions of constraints that move do work")
        still = dict.fromkeys(self.v, ZERO)
        position = substitute(self.applied, still)
        if not self._curl_free(position):
            return EnergyTest(False, "the forces have no potential")
        power = total([(a - p) * v for a, p, v in zip(self.applied, position, self.v, strict=True)])
        conserved = power is ZERO or vanishing([power], self.values)[0]
        if not conserved and not self._dissipative(position):
            return EnergyTest(False, "the forces have no potential, and may do positive work")
        return self._second_variation(position, conserved)

    def _timeless(self) -> bool:
        """Whether the time cancels in T - V."""
        rate = gradient(self.T - self.V, [self.where.form.time])
        inside = [z for z in self.residuals if self.where.form.time in symbols([z])]
        return not inside and all(vanishing([*rate], self.values))

    def _drives(self, i: int) -> bool:
        """Whether a constraint only prescribes driven coordinates."""
        form = self.where.form
        of_it = symbols([self.mechanics.velocity[i]])
        return bool(self.driven) and not of_it & {*self.q, *self.v, *self.mechanics.multipliers} - {form.time}

    def _curl_free(self, position: Sequence[Node]) -> bool:
        """∂Q_i/∂q_j = ∂Q_j/∂q_i identically."""
        Q_q = jacobian(list(position), self.q)
        n = len(self.q)
        pairs = [Q_q[i, j] - Q_q[j, i] for i in range(n) for j in range(i)]
        pairs = [pair for pair in pairs if pair is not ZERO]
        return not pairs or all(vanishing(pairs, self.values))

    def _dissipative(self, position: Sequence[Node]) -> bool:
        """Whether the power of the forces that depend on velocities is never positive near the point, by proof.

        Rayleigh's function is judged by itself where it is homogeneous. Complete dissipation at the point is complete
        nearby.
        """
        nodes = self.mechanics.system.nodes
        signs = Signs(self.values, self.where.form.parameters)
        power = total([(a - p) * v for a, p, v in zip(self.applied, position, self.v, strict=True)])
        if signs.never_positive(power, self.v) or self._complete(power):
            return True
        (D,) = substitute([nodes.dissipation], self.fixed)
        forces = substitute([nodes.forces[i] for i in self.kept], self.fixed)
        rest = total([(f - p) * v for f, p, v in zip(forces, position, self.v, strict=True)])
        return D is not ZERO and signs.dissipates(D, self.v) and signs.never_positive(rest, self.v)

    def _complete(self, power: Node) -> bool:
        """Whether the power at rest is a negative definite form of the velocities, beyond rounding."""
        if any(self.values[v] for v in self.v):
            return False
        found = slopes(gradient(power, self.v), self.v, self.values)
        C, error = -found.value / 2, found.error
        d = np.sqrt(np.maximum(np.diagonal(C), 0.0))
        if not np.all(d > 0):
            return False
        scaled = (C + C.T) / 2 / np.outer(d, d)
        bound = 1e-9 + float((error / np.outer(d, d)).sum())
        return bool(np.linalg.eigvalsh(scaled).min() > bound)

    # -- the theorem --------------------------------------------------------------------------------------------

    def _integrals(self) -> list[Node]:
        """Momenta X·p that are conserved: no force along X, and X compatible with all constraints."""
        found = []
        for X in self.directions:
            weights = [constant(float(c)) for c in X]
            force = total([c * f for c, f in zip(weights, self.applied, strict=True) if c is not ZERO])
            slope = gradient(self.T - self.V, self.q)
            along = total([c * s for c, s in zip(weights, slope, strict=True) if c is not ZERO])
            rows = [z for z in self.residuals if symbols([z]) & set(self.v)]
            J = jacobian(rows, self.v) if rows else np.zeros((0, len(self.v)), dtype=object)
            across = [total([c * e for c, e in zip(weights, row, strict=True) if c is not ZERO]) for row in J]
            conditions = [node for node in (force, along, *across) if node is not ZERO]
            if not conditions or all(vanishing(conditions, self.values)):
                found.append(total([c * p for c, p in zip(weights, self.momenta, strict=True) if c is not ZERO]))
        return found

    def _second_variation(self, position: Sequence[Node], conserved: bool) -> EnergyTest:
        x = [*self.q, *self.v]
        E = total([p * v for p, v in zip(self.momenta, self.v, strict=True)]) - self.T + self.V
        E_x = gradient(E, x)
        E_x = [e - p for e, p in zip(E_x, [*position, *[ZERO] * len(self.v)], strict=True)]
        conditions = [*self._integrals(), *self.residuals]
        C_x = [gradient(c, x) for c in conditions]
        slope, rows = numbers(E_x, self.values), numbers(np.array(C_x, dtype=object).reshape(-1, len(x)), self.values)
        multipliers = np.linalg.lstsq(rows.T, slope, rcond=1e-12)[0] if len(rows) else np.zeros(0)
        left = np.abs(slope - rows.T @ multipliers)
        terms = slopes([E], x, self.values).error[0] / (4 * np.finfo(float).eps) + np.abs(rows.T) @ np.abs(multipliers)
        if np.any(left > 1e-9 * np.maximum(terms, np.abs(slope)) + 1e-14 * np.abs(slope).max(initial=0.0)):
            return EnergyTest(False, "the energy is not stationary on the constraints and momenta")
        combined = [
            total([e, *(constant(-float(m)) * c[i] for m, c in zip(multipliers, C_x, strict=True))])
            for i, e in enumerate(E_x)
        ]
        hessian = slopes(combined, x, self.values)
        return self._definite(hessian.value, hessian.error, rows, conserved)

    def _definite(self, H: np.ndarray, error: np.ndarray, rows: np.ndarray, conserved: bool) -> EnergyTest:
        """Whether the second variation is positive definite beyond its error, in units of the diagonal."""
        n = len(self.q)
        d = 1.0 / np.sqrt(self._sizes(np.abs(np.diagonal(H)), np.diagonal(error)))
        idle = [np.concatenate([X, np.zeros(n)]) / d for X in self.directions]
        scaled = [r * d / max(np.abs(r * d).max(), 1e-300) for r in rows]
        B = scipy.linalg.null_space(np.array([*scaled, *idle]).reshape(-1, 2 * n), rcond=1e-11)
        S = B.T @ (d[:, None] * (H + H.T) / 2 * d) @ B
        bound = float(np.abs(d[:, None] * error * d).sum()) + 1e-12 * max(float(np.abs(S).max(initial=0.0)), 1e-300)
        values = np.linalg.eigvalsh(S) if S.size else np.ones(1)
        relative = float(values.min() / max(np.abs(values).max(), 1e-300))
        momenta = len(rows) - len(self.residuals)
        if values.min() > bound:
            reason = "the second variation is positive definite"
            return EnergyTest(True, reason, conserved, momenta, False, relative, holds=self._positions_hold())
        negative = values.min() < -bound
        word = "has a negative direction" if negative else "is zero in a direction, within rounding"
        degenerate = not negative and bool(np.sum(values <= bound) == 1)
        reason = f"the second variation of the energy {word}"
        flat = 0 if negative else int(np.sum(values <= bound))
        return EnergyTest(False, reason, conserved, momenta, degenerate, relative, flat, bool(negative))

    def _sizes(self, diagonal: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Natural sizes of the second variation: its diagonal, and where this is zero, inertia times largest ω²."""
        n = len(self.q)
        inertia = np.where(diagonal[n:] > 0, diagonal[n:], 1.0)
        clear = diagonal[:n] > 1e3 * error[:n]
        fastest = (diagonal[:n] / inertia)[clear].max(initial=0.0) or 1.0
        return np.concatenate([np.where(clear, diagonal[:n], fastest * inertia), inertia])

    def _positions_hold(self) -> bool:
        """Whether the positions along the symmetries X stay near their values at rest.

        If d(X·p)/dt = c·q̇ with constant c (linear damping, a magnetic field), X·p - c·q is an integral; the energy
        keeps p and the other coordinates small, so the positions follow where the matrix c X of all X is regular.
        """
        if not self.free or any(self.values[v] for v in self.v):
            return False
        rows = [z for z in self.residuals if symbols([z]) & set(self.v)]
        J = jacobian(rows, self.v) if rows else np.zeros((0, len(self.v)), dtype=object)
        slope = gradient(self.T - self.V, self.q)
        coefficients = []
        for X in self.free:
            force = _along(X, [s + f for s, f in zip(slope, self.applied, strict=True)])
            c = gradient(force, self.v)
            rest = force - total([a * v for a, v in zip(c, self.v, strict=True)])
            varying = [e for e in jacobian(c, [*self.q, *self.v]).ravel() if e is not ZERO]
            conditions = [e for e in (rest, *varying, *(_along(X, row) for row in J)) if e is not ZERO]
            if conditions and not all(vanishing(conditions, self.values)):
                return False
            coefficients.append(numbers(c, self.values))
        C = np.array(coefficients) @ np.array(self.free).T
        size = np.sqrt(np.abs(C).max(axis=1, keepdims=True) * np.abs(C).max(axis=0, keepdims=True))
        singular = np.linalg.svd(C / np.where(size > 0, size, 1.0), compute_uv=False)
        return bool(singular[-1] > 1e-9)


def _along(X: np.ndarray, nodes: Sequence[Node]) -> Node:
    """Σ X_i f_i."""
    return total([constant(float(c)) * node for c, node in zip(X, nodes, strict=True) if c])
