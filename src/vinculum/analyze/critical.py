"""One critical root: Lyapunov's coefficients on the center manifold.

In a chart, ξ̇ = g(ξ) = A ξ + B(ξ, ξ)/2 + C(ξ, ξ, ξ)/6 + ...

zero root, A q = 0, p A = 0, p q = 1:   g₂ = p B(q, q)/2 ≠ 0: unstable. If g₂ vanishes by a mirror symmetry,
    A h = -B(q, q), p h = 0:   g₃ = p [C(q, q, q) + 3 B(q, h)]/6 < 0 asymptotically stable, > 0 unstable.
pair ±iω, A q = iω q, p* A = iω p*, p* q = 1:   c₁ = p* [C(q, q, q̄) + 2 B(q, h₁₁) + B(q̄, h₂₀)]/2,
    h₁₁ = -A⁻¹ B(q, q̄), h₂₀ = (2iω - A)⁻¹ B(q, q):   Re c₁ < 0 asymptotically stable, > 0 unstable.

Derivatives in the chart follow x(s) = x₀ + s N u + s² x₂/2 + s³ x₃/6 on the constraints: z_x x₂ = -z_xx(Nu, Nu),
z_x x₃ = -z_xxx(Nu, Nu, Nu) - 3 z_xx(Nu, x₂). Without x₂ and x₃ they are wrong (Lyapunov 1892; Kuznetsov, chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vinculum.analyze.decision import ASYMPTOTIC, BORDER, STABLE, UNDECIDED, UNSTABLE, Decision
from vinculum.analyze.exactly_critical import exactly_critical
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import Point
from vinculum.analyze.reduction import chart_at, position_rows, reduced_rates
from vinculum.analyze.root_bounds import balance
from vinculum.analyze.structure import Structure
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import DomainError
from vinculum.graph import ONE, ZERO, Node, along, constant, jacobian, operations, substitute, symbol
from vinculum.graph.evaluate import magnitudes
from vinculum.graph.exact import vanishing
from vinculum.text_printer import number

_LARGEST = 20_000  # operations of the rates beyond which the third derivatives are not formed
_HIGHEST = 12  # order of the derivatives of a force that are tried
_NO_MINIMUM = "the potential has no minimum"
_NOTHING = 1e-8  # a coefficient below this share of its terms is not told from zero


def critical_case(linear: LinearModel, where: Point, found: Structure) -> Decision | None:
    """The verdict by the coefficients, or None where they do not decide."""
    if found.family.shape[1] or found.unexplained > 1:
        return None
    on_axis = found.roots.roots[found.roots.on_axis]
    zero = len(on_axis) == 1 or (found.unexplained == 1 and len(on_axis) == 1)
    pair = len(on_axis) == 2 and abs(on_axis[0] - on_axis[1].conj()) <= 1e-6 * abs(on_axis[0])
    if not zero and not (pair and not found.unexplained):
        return None
    jets = _jets(linear, where)
    if jets is None:
        return None
    try:
        errors = np.zeros_like(_errors(linear)) if jets.critical(pair) else _errors(linear)
        if zero:
            return _zero_root(linear.system_matrix, errors, jets, lambda q: _mirrored(linear, where, q))
        return _imaginary_pair(linear.system_matrix, errors, jets, abs(on_axis[0].imag))
    except (DomainError, np.linalg.LinAlgError):
        return None


def degenerate_potential(linear: LinearModel, where: Point, conserved: bool) -> Decision | None:
    """The verdict where the second variation of the energy vanishes in one direction.

    ξ̇ = A⁻¹(forces at rest) is a gradient system of the reduced potential. Its coefficients tell whether the potential
    has a strict minimum (g₃ < 0: stable) or none (g₂ ≠ 0 or g₃ > 0: unstable, if no gyroscopic forces act; Kozlov).
    """
    jets = _jets(linear, where, at_rest=True)
    if jets is None or not (len(jets.x) == 1 or natural(linear, where)):
        return None
    n = len(jets.chart)
    A = numbers(jacobian(jets.rates, jets.x), where.values) @ jets.N
    exact = linear.errors is None or jets.critical(pair=False)
    errors = np.zeros_like(A) if exact else _errors(linear)[-n:, :n]
    found = _zero_root(A, errors, jets, lambda q: _mirrored(linear, where, q))
    if found is None and len(jets.x) == 1 and exact:
        return _one_coordinate(linear, jets, conserved)
    if found is None or found.kind == UNDECIDED:
        return found
    if found.kind == ASYMPTOTIC:
        explanation = f"the potential has a strict minimum of higher order: {found.explanation}"
        return replace(found, kind=STABLE, theorem="the Lagrange-Dirichlet theorem", explanation=explanation)
    if not conserved:
        return None
    explanation = f"{_NO_MINIMUM}: {found.explanation}"
    return replace(found, theorem="Kozlov's converse of the Lagrange-Dirichlet theorem", explanation=explanation)


def _one_coordinate(linear: LinearModel, jets: Jets, conserved: bool) -> Decision | None:
    """The verdict by the first derivative of the force that is not zero; all lower ones must be zero exactly.

    With one coordinate q̈ = F(q) + c(q, q̇) q̇. If F has the sign of -q the potential has a strict minimum; with c < 0
    the energy then falls until the motion stops, and there is no other rest nearby (LaSalle).
    """
    nodes, step = jets.rates, {jets.x[0]: ONE}
    for order in range(1, _HIGHEST):
        nodes = along(nodes, step)
        ((value, size),) = magnitudes(list(nodes), jets.values)
        if size == 0:
            continue
        if abs(value) <= _NOTHING * size:
            return None
        what = f"the first derivative of the force that is not zero is of order {order}, and it is {number(value)}"
        if order % 2 and value < 0:
            return _minimum(linear, what)
        if not conserved:
            return None
        return Decision(UNSTABLE, "Kozlov's converse of the Lagrange-Dirichlet theorem", f"{_NO_MINIMUM}: {what}")
    return None


def _minimum(linear: LinearModel, what: str) -> Decision:
    damping, error = linear.system_matrix[1, 1], _errors(linear)[1, 1]
    why = f"the potential has a strict minimum of higher order: {what}"
    if damping < -error:
        return Decision(ASYMPTOTIC, "LaSalle's theorem", f"{why}; the damping takes energy from every motion")
    return Decision(STABLE, "the Lagrange-Dirichlet theorem", why)


def natural(linear: LinearModel, where: Point) -> bool:
    """Whether the point is a rest and the accelerations are even in the velocities, exactly: no gyroscopic forces."""
    rates = _rates(where)
    v = [x for x in rates or {} if x in where.form.velocities]
    if rates is None or any(where.values[x] for x in v):
        return False
    nodes = [rates[x] for x in v]
    turned = substitute(nodes, {x: -x for x in v})
    return all(vanishing([a - b for a, b in zip(nodes, turned, strict=True)], where.values))


class Jets:
    """Second and third derivatives of the rates in a chart."""

    def __init__(
        self, rates: list[Node], z: list[Node], x: list[Node], chart: list[int], N: np.ndarray, values: Values
    ) -> None:
        self.rates, self.z, self.x, self.chart, self.N, self.values = rates, z, x, chart, N, values
        self.f_x = numbers(jacobian(rates, x), values)
        self.follow = [i for i in range(len(x)) if i not in chart]
        Z = numbers(jacobian(z, x), values) if z else np.zeros((0, len(x)))
        self.inverse = np.linalg.pinv(Z[:, self.follow]) if z else np.zeros((len(self.follow), 0))
        self.sizes: list[float] = []  # of the terms that were summed

    def critical(self, pair: bool) -> bool:
        """Whether a zero root, or a pair, is critical exactly and not only within rounding."""
        return not self.z and exactly_critical(self.rates, [self.x[i] for i in self.chart], self.values, pair)

    def second(self, u: np.ndarray) -> np.ndarray:
        """B(u, u)."""
        Nu = self.N @ u
        return self._along(self.rates, Nu, Nu) + self.f_x @ self._bend(Nu)

    def third(self, u: np.ndarray) -> np.ndarray:
        """C(u, u, u) = f_xxx(Nu, Nu, Nu) + 3 f_xx(Nu, x₂) + f_x x₃."""
        Nu = self.N @ u
        x2 = self._bend(Nu)
        x3 = np.zeros(len(self.x))
        if self.z:
            twist = self._along(self.z, Nu, Nu, Nu) + 3 * self._along(self.z, Nu, x2)
            x3[self.follow] = -self.inverse @ twist
        return self._along(self.rates, Nu, Nu, Nu) + 3 * self._along(self.rates, Nu, x2) + self.f_x @ x3

    def mixed(self, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        """B(u, w), also for complex u and w."""
        parts = [(1, u.real, w.real), (-1, u.imag, w.imag), (1j, u.real, w.imag), (1j, u.imag, w.real)]
        return sum((c * self._polar(a, b) for c, a, b in parts if np.any(a) and np.any(b)), np.zeros(len(self.rates)))

    def cubic(self, q: np.ndarray) -> np.ndarray:
        """C(q, q, q̄) of a complex q = a + ib."""
        a, b = q.real, q.imag
        C_a, C_b, plus, minus = self.third(a), self.third(b), self.third(a + b), self.third(a - b)
        abb, aab = (plus + minus - 2 * C_a) / 6, (plus - minus - 2 * C_b) / 6
        return C_a + abb + 1j * (aab + C_b)

    def _polar(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (self.second(a + b) - self.second(a - b)) / 4

    def _bend(self, Nu: np.ndarray) -> np.ndarray:
        x2 = np.zeros(len(self.x))
        if self.z:
            x2[self.follow] = -self.inverse @ self._along(self.z, Nu, Nu)
        return x2

    def _along(self, nodes: list[Node], *directions: np.ndarray) -> np.ndarray:
        """The derivative along several directions."""
        for direction in directions:
            nodes = along(nodes, {x: constant(float(d)) for x, d in zip(self.x, direction, strict=True) if d})
        found = magnitudes(list(nodes), self.values)
        self.sizes.append(max((size for _, size in found), default=0.0))
        return np.array([value for value, _ in found])


def _rates(where: Point) -> Mapping[Node, Node] | None:
    """Rates on the velocity constraints."""
    if where.closed is not None:
        return where.closed.rates
    return reduced_rates(where.form, where.values, chart_at(where.form, where.values))


def _jets(linear: LinearModel, where: Point, at_rest: bool = False) -> Jets | None:
    """Derivatives of the rates of the states; ``at_rest``, of the accelerations as functions of the coordinates."""
    form, n = where.form, where.form.coordinates
    rates, states = _rates(where), [symbol(s) for s in linear.states]
    if rates is None or any(s not in rates for s in states):
        return None
    nodes = [rates[s] for s in states]
    if at_rest:
        positions = [s for s in states if s in form.states[:n]]
        velocities = [form.states[n + form.states.index(s)] for s in positions]
        nodes = substitute([rates[v] for v in velocities if v in rates], dict.fromkeys(form.velocities, ZERO))
        if len(nodes) != len(positions):
            return None
        states = positions
    if operations(nodes).total() > _LARGEST:
        return None
    x = [s for s in rates if s in form.states[:n] or s in states] if n else list(form.states)
    z = position_rows(form)
    columns = [where.tangent.chart.index(form.states.index(s)) for s in states]
    N = where.tangent.N[[form.states.index(s) for s in x]][:, columns]
    return Jets(nodes, z, x, [x.index(s) for s in states], N, where.values)


def _zero_root(
    A: np.ndarray, errors: np.ndarray, jets: Jets, mirrored: Callable[[np.ndarray], bool]
) -> Decision | None:
    balanced, d = balance(A)  # in the units d of the states
    left, singular, right = np.linalg.svd(balanced)
    q, p = d * right[-1], left[:, -1] / d
    p = p / (p @ q)
    border = np.any(np.abs(p) @ errors @ np.abs(q))
    B = jets.second(q)
    g2, size = p @ B / 2, np.abs(p) @ np.abs(B) / 2 + max(jets.sizes) * np.abs(p).max()
    if abs(g2) > _NOTHING * size:
        return _decision(UNSTABLE, "zero root", f"one root is zero and g₂ = {number(g2)} is not", bool(border))
    if not mirrored(q):
        return None
    size = float(singular[0]) or 1.0
    h = d * np.linalg.lstsq(np.vstack([balanced / size, left[:, -1]]), np.append(-B / d / size, 0.0), rcond=None)[0]
    parts = [p @ jets.third(q) / 6, p @ jets.mixed(q, h) / 2]
    g3 = sum(parts)
    if abs(g3) <= _NOTHING * max(sum(map(abs, parts)), max(jets.sizes) * np.abs(p).max() * 1e-3):
        return None
    kind, sign = (ASYMPTOTIC, "negative") if g3 < 0 else (UNSTABLE, "positive")
    found = f"one root is zero, g₂ = 0 by symmetry, and g₃ = {number(g3)} is {sign}"
    return _decision(kind, "zero root", found, bool(border))


def _errors(linear: LinearModel) -> np.ndarray:
    return np.zeros_like(linear.system_matrix) if linear.errors is None else linear.errors


def _decision(kind: str, which: str, found: str, border: bool) -> Decision:
    """The verdict; undecided where the root is critical only within the rounding errors of the model."""
    theorem = f"Lyapunov's theorem on one {which}"
    if not border:
        return Decision(kind, theorem, found)
    return Decision(
        UNDECIDED,
        BORDER,
        f"a real part is zero only within rounding, so it may have either sign; if it were exactly zero, the motion "
        f"would be {kind} by {theorem}: {found}",
    )


def _mirrored(linear: LinearModel, where: Point, q: np.ndarray) -> bool:
    """Whether a reflection that turns the critical direction around leaves the equations unchanged, exactly.

    Tried are the reflection of the states in q with their velocities, and that of all states: f(R y) = R f(y).
    """
    rates = _rates(where)
    if rates is None:
        return False
    form, n = where.form, where.form.coordinates
    states = [symbol(x) for x in linear.states]
    support = {x for x, c in zip(states, q, strict=False) if abs(c) > 1e-9 * np.abs(q).max()}
    moving = {v for x, v in zip(form.states[:n], form.velocities, strict=True) if x in support}
    every = {x for x in rates if x in form.states[:n] or x in states}
    return any(_reflects(where, rates, states, flipped) for flipped in (support | moving, every))


def _reflects(where: Point, rates: Mapping[Node, Node], states: Sequence[Node], flipped: set[Node]) -> bool:
    values = where.values
    moved = {x: constant(2 * values[x]) - x for x in flipped}
    nodes = [rates[x] for x in states]
    images = substitute(nodes, moved)
    tests = [b + a if x in flipped else b - a for x, a, b in zip(states, nodes, images, strict=True)]
    z = position_rows(where.form)
    turned = substitute(z, moved)
    even, odd = ([b - sign * a for a, b in zip(z, turned, strict=True)] for sign in (1, -1))
    held = [a or b for a, b in zip(vanishing(even, values), vanishing(odd, values), strict=True)] if z else []
    return all(held) and all(vanishing(tests, values))


def _imaginary_pair(A: np.ndarray, errors: np.ndarray, jets: Jets, omega: float) -> Decision | None:
    import scipy.linalg

    roots, left, right = scipy.linalg.eig(A, left=True)
    k = int(np.argmin(np.abs(roots - 1j * omega)))
    q = right[:, k]
    p = left[:, k] / np.conj(left[:, k].conj() @ q)
    h11 = -np.linalg.solve(A, jets.mixed(q, q.conj()))
    h20 = np.linalg.solve(2j * omega * np.eye(len(A)) - A, jets.mixed(q, q))
    parts = [p.conj() @ part / 2 for part in (jets.cubic(q), 2 * jets.mixed(q, h11), jets.mixed(q.conj(), h20))]
    c1 = sum(parts)
    if abs(c1.real) <= _NOTHING * sum(map(abs, parts)) or not abs(c1):
        return None
    kind, sign = (ASYMPTOTIC, "negative") if c1.real < 0 else (UNSTABLE, "positive")
    felt = np.outer(p.conj(), q)
    border = np.sum(errors * np.abs(felt.real)) > 1e-6 * np.sum(errors * np.abs(felt))
    coefficient = f"Re c₁/ω = {number(c1.real / omega)}"
    found = f"one pair ±{number(omega)}i is imaginary, and Lyapunov's coefficient {coefficient} is {sign}"
    return _decision(kind, "imaginary pair", found, bool(border))
