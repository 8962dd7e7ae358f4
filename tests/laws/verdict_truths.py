"""Systems whose stability is known by construction or by an independent calculation, of twelve kinds, from a seed.

    make(kind, seed) -> Case(system, point, truth)

The truth comes from definiteness of matrices, from roots with 50 digits of equations derived by hand, or from a theorem
that fits the construction; never from the package. ``BORDER`` marks systems where a root is zero only to rounding:
"undecided" is the only honest answer. ``REFUSED`` marks questions that have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import mpmath
import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

ASYMPTOTIC, STABLE, UNSTABLE = "asymptotically stable", "stable", "unstable"
BORDER, REFUSED = "border", "refused"

t = dynamicsymbols._t
x, y, z, theta, phi, psi, alpha, beta = dynamicsymbols("x y z theta phi psi alpha beta")
a, b, c, d, g, k, l, m = sp.symbols("a b c d g k l m", positive=True)
I_, J_, L_, M_, P_, R_, W_ = sp.symbols("I J L M P R W", positive=True)


@dataclass(frozen=True)
class Case:
    """A system, the point or the search for it, and the true kind of stability of ``linear.states``."""

    what: str
    system: vn.System | vn.AffineSystem
    truth: str
    at: Mapping[sp.Expr, float] | None = None  # default: the origin
    given: Mapping[sp.Expr, float] | None = None  # of a steady motion
    near: Mapping[sp.Expr, float] = field(default_factory=dict)
    drop: tuple[sp.Expr, ...] = ()
    weaker: tuple[str, ...] = ()  # other answers that are true but say less

    @property
    def point(self) -> dict[sp.Expr, float]:
        """The point, the origin by default."""
        if self.at is not None:
            return dict(self.at)
        names = self.system.coordinates if isinstance(self.system, vn.System) else self.system.states
        return dict.fromkeys(names, 0.0)


def answer(case: Case, form: str = "multipliers") -> vn.linear.Verdict:
    """The verdict of the package. Errors of the package are refusals."""
    equations = vn.derive(case.system, form) if isinstance(case.system, vn.System) else case.system
    if case.given is not None:
        at: Mapping[sp.Expr, float] = vn.steady(equations, case.given, near=case.near, starts=0)
    else:
        at = case.point
    return vn.stability(vn.linearize(equations, at, drop=case.drop))


def judged(case: Case, form: str = "multipliers") -> tuple[str, str]:
    """("right" | "weaker" | "undecided" | "refused" | "wrong", the answer)."""
    try:
        found = answer(case, form)
    except vn.VinculumError as error:
        return ("right" if case.truth == REFUSED else "refused"), str(error)
    if found.kind == "undecided":
        return ("right" if case.truth == BORDER else "undecided"), str(found)
    if found.kind == case.truth:
        return "right", str(found)
    return ("weaker" if found.kind in case.weaker else "wrong"), str(found)


# -- truth ----------------------------------------------------------------------------------------------------------


def roots(A: np.ndarray | sp.Matrix) -> list[mpmath.mpc]:
    """Eigenvalues with 50 digits."""
    with mpmath.workdps(50):
        rows = np.array(sp.Matrix(A).tolist(), dtype=object)
        exact = mpmath.matrix([[mpmath.mpf(sp.Rational(e).p) / sp.Rational(e).q for e in row] for row in rows])
        return list(mpmath.eig(exact, left=False, right=False))


def by_roots(A: np.ndarray | sp.Matrix, on_axis: str | None = None) -> str:
    """The truth by Lyapunov's first method; ``on_axis`` where the first approximation does not decide."""
    found = roots(A)
    size = max(abs(r) for r in found)
    growth = max(r.real for r in found) / size
    if abs(growth) < 1e-15:
        if on_axis is None:
            raise ValueError("the roots do not decide")
        return on_axis
    if abs(growth) < 1e-9:
        raise ValueError("too close to the border for a test")
    return UNSTABLE if growth > 0 else ASYMPTOTIC


def companion(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> sp.Matrix:
    """The matrix of M ẍ + C ẋ + K x = 0."""
    M, C, K = (sp.Matrix(X).applyfunc(sp.Rational) for X in (M, C, K))
    n = M.shape[0]
    inverse = M.inv()
    return sp.Matrix(sp.BlockMatrix([[sp.zeros(n), sp.eye(n)], [-inverse * K, -inverse * C]]))


def worst(*truths: str) -> str:
    """The truth on systems side by side."""
    return next((kind for kind in (REFUSED, UNSTABLE, BORDER, STABLE) if kind in truths), ASYMPTOTIC)


# -- pieces ---------------------------------------------------------------------------------------------------------


class Draw:
    """Random numbers with two or three digits."""

    def __init__(self, seed: int, kind: str) -> None:
        self.random = np.random.default_rng([seed, sum(map(ord, kind))])

    def number(self, low: float = 0.3, high: float = 3.0) -> float:
        return round(float(self.random.uniform(low, high)), 2)

    def sign(self) -> float:
        return float(self.random.choice([-1.0, 1.0]))

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.random.random() < share)

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def positive(self, n: int) -> np.ndarray:
        """A positive definite matrix of quarters."""
        L = np.round(4 * self.random.normal(size=(n, n))) / 4
        return L @ L.T + np.eye(n) * self.number(0.25, 1)

    def indefinite(self, n: int) -> np.ndarray:
        """A symmetric matrix with a negative direction."""
        K = self.positive(n)
        v = self.random.integers(-2, 3, n).astype(float)
        v[self.whole(0, n - 1)] = 1.0
        return np.round(K - np.outer(v, v) * np.ceil(2 * (v @ K @ v) / (v @ v) ** 2), 6)

    def skew(self, n: int) -> np.ndarray:
        S = np.round(4 * self.random.normal(size=(n, n))) / 4
        return S - S.T


def coordinates(n: int, name: str = "q") -> list[sp.Expr]:
    return [dynamicsymbols(f"{name}{i + 1}") for i in range(n)]


def form_of(X: np.ndarray, v: list[sp.Expr]) -> sp.Expr:
    """vᵀXv/2 with exact entries."""
    column = sp.Matrix(v)
    return sp.expand((column.T * sp.Matrix(X).applyfunc(sp.Rational) * column)[0] / 2)


def linear_system(M, D, G, K, N, draw: Draw | None = None, name: str = "linear") -> vn.System:
    """M q̈ + (D + G) q̇ + (K + N) q = 0, with random terms of higher order if ``draw`` is given."""
    n = len(M)
    q = coordinates(n)
    v = [e.diff(t) for e in q]
    forces = -sp.Matrix(G).applyfunc(sp.Rational) * sp.Matrix(v) - sp.Matrix(N).applyfunc(sp.Rational) * sp.Matrix(q)
    T, V = form_of(M, v), form_of(K, q)
    if draw is not None:
        i, j = draw.whole(0, n - 1), draw.whole(0, n - 1)
        T += draw.number(0.1, 0.5) * q[i] ** 2 * v[j] ** 2 / 2
        V += draw.sign() * draw.number(0.1, 0.5) * q[j] ** 3 + draw.number(0.1, 0.5) * q[i] ** 2 * q[j] ** 2
    return vn.System(q, T, V, forces=dict(zip(q, forces, strict=True)), dissipation=form_of(D, v), name=name)


# -- 1 holonomic ----------------------------------------------------------------------------------------------------


def holonomic(seed: int) -> Case:
    draw = Draw(seed, "holonomic")
    return (_natural, _damped, _partial, _gyroscopic, _circulatory, _gyroscopic_border, _repeated)[seed % 7](draw)


def _natural(draw: Draw) -> Case:
    n = draw.whole(1, 3)
    good = draw.chance()
    K = draw.positive(n) if good else draw.indefinite(n)
    O = np.zeros((n, n))
    return Case("natural", linear_system(draw.positive(n), O, O, K, O, draw), STABLE if good else UNSTABLE)


def _damped(draw: Draw) -> Case:
    n = draw.whole(1, 3)
    good = draw.chance()
    K, D, O = draw.positive(n) if good else draw.indefinite(n), draw.positive(n) * 0.25, np.zeros((n, n))
    return Case("damped", linear_system(draw.positive(n), D, O, K, O, draw), ASYMPTOTIC if good else UNSTABLE)


def _partial(draw: Draw) -> Case:
    """Two equal oscillators, coupled: a damper between them leaves the common mode alone, one on the first does not."""
    k1, k2, between = draw.number(), draw.number(), draw.chance()
    K = np.array([[k1 + k2, -k2], [-k2, k1 + k2]])
    D = np.array([[1.0, -1.0], [-1.0, 1.0]]) if between else np.diag([1.0, 0.0])
    O, M = np.zeros((2, 2)), draw.number() * np.eye(2)
    return Case("partly damped", linear_system(M, D * draw.number(0.1, 1), O, K, O), STABLE if between else ASYMPTOTIC)


def _gyroscopic(draw: Draw) -> Case:
    n = draw.whole(2, 4)
    K, G, M, O = draw.positive(n), draw.skew(n), draw.positive(n), np.zeros((n, n))
    return Case("gyroscopic", linear_system(M, O, G, K, O, draw), STABLE)


def _gyroscopic_border(draw: Draw) -> Case:
    """K = -κ, G = γ: the roots leave the axis below γ² = 4κ; damping always destabilizes."""
    kappa, damped = draw.number(), draw.chance()
    gamma = 2 * kappa**0.5 * (0.7 if draw.chance() else 1.4)
    G, O = round(gamma, 2) * np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros((2, 2))
    D = draw.number(0.05, 0.5) * np.eye(2) if damped else O
    system = linear_system(np.eye(2), D, G, -kappa * np.eye(2), O)
    return Case("gyroscopic stabilization", system, by_roots(companion(np.eye(2), D + G, -kappa * np.eye(2)), STABLE))


def _circulatory(draw: Draw) -> Case:
    n = draw.whole(2, 3)
    M, K, N, D, O = draw.positive(n), draw.positive(n), draw.skew(n), 0.2 * draw.positive(n), np.zeros((n, n))
    return Case("circulatory", linear_system(M, D, O, K, N, draw), by_roots(companion(M, D, K + N)))


def _repeated(draw: Draw) -> Case:
    """Equal frequencies in mixed coordinates, a conservative force written as a force."""
    n = draw.whole(2, 3)
    M = draw.positive(n)
    K, O = draw.number() * M, np.zeros((n, n))
    return Case("equal frequencies", linear_system(M, O, O, O, K), STABLE)


# -- 2 drifting -----------------------------------------------------------------------------------------------------


def drifting(seed: int) -> Case:
    draw = Draw(seed, "drifting")
    makers = (
        _chain,
        _free_mass,
        _cart_pole,
        _rotors,
        _magnetic,
        _ring,
        _valley,
        _mixed_drift,
        _one_way,
        _thrust,
        _crossing,
    )
    return makers[seed % len(makers)](draw)


def _chain(draw: Draw) -> Case:
    """Masses with springs and perhaps dampers between them; dampers to the ground stop the drift."""
    n, dampers, ground = draw.whole(2, 4), draw.chance(), draw.chance()
    q = coordinates(n)
    pairs = list(pairwise(q))
    T = sum(draw.number() * e.diff(t) ** 2 for e in q) / 2
    V = sum(draw.number() * (e - f) ** 2 for e, f in pairs) / 2
    D = sum(draw.number() * (e - f).diff(t) ** 2 for e, f in pairs) / 2 if dampers else 0
    D += draw.number() * q[0].diff(t) ** 2 / 2 if ground else 0
    return Case("unanchored chain", vn.System(q, T, V, dissipation=D), STABLE if ground else UNSTABLE)


def _free_mass(draw: Draw) -> Case:
    damped, hanging = draw.chance(), draw.chance()
    T, V = m * x.diff(t) ** 2 / 2, sp.S.Zero
    q = [x]
    if hanging:
        q, T, V = [x, y], T + m * y.diff(t) ** 2 / 2, k * y**2 / 2
    D = c * x.diff(t) ** 2 / 2 if damped else 0
    values = {m: draw.number(), c: draw.number(), k: draw.number()}
    used = {p: values[p] for p in values if sp.sympify(T + V + D).has(p)}
    return Case("free mass", vn.System(q, T, V, dissipation=D, parameters=used), STABLE if damped else UNSTABLE)


def _cart_pole(draw: Draw) -> Case:
    upright, cart, joint = draw.chance(0.3), draw.chance(), draw.chance()
    X = x + l * sp.sin(theta)
    Y = -l * sp.cos(theta)
    T = M_ * x.diff(t) ** 2 / 2 + m * (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2
    D = (c * x.diff(t) ** 2 / 2 if cart else 0) + (b * theta.diff(t) ** 2 / 2 if joint else 0)
    values = {M_: draw.number(), m: draw.number(), l: draw.number(), g: 9.81, c: draw.number(), b: draw.number()}
    V = m * g * Y
    used = {p: v for p, v in values.items() if (T + V + D).has(p)}
    truth = UNSTABLE if upright or not cart else STABLE
    system = vn.System([x, theta], sp.trigsimp(T) if draw.chance() else T, V, dissipation=D, parameters=used)
    return Case("cart and pendulum", system, truth, {x: draw.number(), theta: np.pi if upright else 0.0})


def _rotors(draw: Draw) -> Case:
    """Two flywheels on an elastic shaft with a gear ratio; a brake on one of them stops the drift."""
    ratio, brake = draw.whole(2, 7) / draw.whole(1, 5), draw.chance()
    q = coordinates(2)
    v = [e.diff(t) for e in q]
    T, V = (draw.number() * v[0] ** 2 + draw.number() * v[1] ** 2) / 2, draw.number() * (ratio * q[0] - q[1]) ** 2 / 2
    D = draw.number() * v[draw.whole(0, 1)] ** 2 / 2 if brake else 0
    return Case("geared flywheels", vn.System(q, T, V, dissipation=D), STABLE if brake else UNSTABLE)


def _magnetic(draw: Draw) -> Case:
    """A free charge in a magnetic field runs on small circles; an electric field is not an equilibrium."""
    B, form = draw.number(), draw.chance()
    v = [e.diff(t) for e in (x, y)]
    T = sum(e**2 for e in v) / 2 + (B * (x * v[1] - y * v[0]) / 2 if form else 0)
    forces = {} if form else {x: B * v[1], y: -B * v[0]}
    return Case("charge in a magnetic field", vn.System([x, y], T, forces=forces), STABLE)


def _ring(draw: Draw) -> Case:
    """A circle of equilibria: the point runs around; with damping it stays near."""
    R, damped = draw.number(), draw.chance()
    T = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    D = draw.number() * T if damped else 0
    V = draw.number() * (x**2 + y**2 - sp.Rational(str(R)) ** 2) ** 2 / 4
    return Case("ring", vn.System([x, y], T, V, dissipation=D), STABLE if damped else UNSTABLE, {x: R, y: 0.0})


def _valley(draw: Draw) -> Case:
    """A curved valley of equilibria y = κx²."""
    kappa, damped = draw.number(), draw.chance()
    T = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    D = draw.number() * T if damped else 0
    V = draw.number() * (y - kappa * x**2) ** 2 / 2
    return Case("valley", vn.System([x, y], T, V, dissipation=D), STABLE if damped else UNSTABLE)


def _mixed_drift(draw: Draw) -> Case:
    """Springs that leave an integer direction free, with or without a damper across it."""
    n = draw.whole(2, 4)
    free = draw.random.integers(-3, 4, n).astype(float)
    free[0] = 1.0
    q = coordinates(n)
    V = sum(draw.number() * (e - int(f) * q[0]) ** 2 for e, f in zip(q[1:], free[1:], strict=True)) / 2
    D = draw.number() * q[0].diff(t) ** 2 / 2 if draw.chance() else 0
    system = vn.System(q, form_of(draw.positive(n), [e.diff(t) for e in q]), V, dissipation=D)
    return Case("free direction", system, STABLE if D else UNSTABLE)


def _thrust(draw: Draw) -> Case:
    """A damped mass pushed by the square of a conserved spin: it runs away slowly, of second order."""
    held = draw.chance()
    T = (draw.number() * x.diff(t) ** 2 + draw.number() * phi.diff(t) ** 2) / 2
    force = -draw.number() * x.diff(t) + draw.number() * phi.diff(t) ** 2 - (x if held else 0)
    return Case("thrust", vn.System([x, phi], T, forces={x: force}), STABLE if held else UNSTABLE, drop=(phi,))


def _crossing(draw: Draw) -> Case:
    """Lines of equilibria that cross, x y = 0: no smooth family, and motions run away along the diagonal."""
    e = draw.number()
    choices = [
        ([e * x * y, e * x * y], UNSTABLE),
        ([e * x * y, e * x * y, -z], UNSTABLE),
        ([e * x * z, -y, sp.S.Zero], UNSTABLE),
        ([x * y, -e * y, sp.S.Zero], STABLE),
        ([x**2 * y, -e * y], STABLE),
        ([z**2 - e * x, -y, sp.S.Zero], STABLE),
    ]
    F, truth = choices[draw.whole(0, len(choices) - 1)]
    return Case("lines of equilibria", vn.AffineSystem([x, y, z][: len(F)], sp.Matrix(F)), truth)


def _one_way(draw: Draw) -> Case:
    """A position driven by a shape that turns: ẋ = shape squared adds up, ẋ = shape does not."""
    quadratic = draw.chance()
    F = sp.Matrix([theta**2 if quadratic else theta, psi, -draw.number() * theta])
    system = vn.AffineSystem([x, theta, psi], F, name="one way")
    return Case("driven position", system, UNSTABLE if quadratic else STABLE)


# -- 3 positioned by feedback ---------------------------------------------------------------------------------------


def feedback(seed: int) -> Case:
    draw = Draw(seed, "feedback")
    return (_pd, _motor, _pid, _cart_pole_held, _motor_speed)[seed % 5](draw)


def _pd(draw: Draw) -> Case:
    """An inverted pendulum held by a torque -Kp θ - Kd θ̇."""
    kp, kd = draw.number(0.5, 1.6), draw.number(-0.5, 1.0)
    if abs(kp - 1) < 0.05 or abs(kd) < 0.05:
        kp, kd = 1.3, 0.4
    weight = draw.number()
    system = vn.System(
        [theta],
        draw.number() * theta.diff(t) ** 2 / 2,
        weight * sp.cos(theta),
        forces={theta: -kp * weight * theta - kd * theta.diff(t)},
    )
    return Case("inverted pendulum with PD", system, ASYMPTOTIC if kp > 1 and kd > 0 else UNSTABLE)


def _motor(draw: Draw) -> Case:
    """L J s³ + R J s² + (K² + K Kd) s + K Kp, by Hurwitz."""
    values = {J_: draw.number(), L_: draw.number(), R_: draw.number(), k: draw.number()}
    kp, kd = draw.number(0.1, 6), draw.number(0, 2)
    q = dynamicsymbols("charge")
    system = vn.System(
        [theta, q],
        J_ * theta.diff(t) ** 2 / 2 + L_ * q.diff(t) ** 2 / 2,
        forces={
            theta: k * q.diff(t),
            q: -R_ * q.diff(t) - k * theta.diff(t) - kp * theta - kd * theta.diff(t),
        },
        parameters=values,
        ignored=[q],
    )
    J, L, R, K = values.values()
    A = sp.Matrix([[0, 1, 0], [0, 0, K / J], [-kp / L, -(K + kd) / L, -R / L]])
    return Case("motor with position control", system, by_roots(A))


def _motor_speed(draw: Draw) -> Case:
    """Without position control the angle stays where it is: stable, not asymptotically."""
    q = dynamicsymbols("charge")
    J, L, R, K = (draw.number() for _ in range(4))
    system = vn.System(
        [theta, q],
        J * theta.diff(t) ** 2 / 2 + L * q.diff(t) ** 2 / 2,
        forces={theta: K * q.diff(t), q: -R * q.diff(t) - K * theta.diff(t)},
        ignored=[q],
    )
    return Case("short-circuited motor", system, STABLE)


def _pid(draw: Draw) -> Case:
    """m s³ + Kd s² + Kp s + Ki."""
    mass, kd, kp, ki = draw.number(), draw.number(), draw.number(), draw.number(0.05, 6)
    s, v = dynamicsymbols("s v")
    system = vn.AffineSystem([x, v, s], sp.Matrix([v, (-kd * v - kp * x - ki * s) / mass, x]), name="PID")
    if abs(kd * kp / (mass * ki) - 1) < 0.01:
        return _pid(draw)
    return Case("mass with PID", system, ASYMPTOTIC if kd * kp > mass * ki else UNSTABLE)


def _cart_pole_held(draw: Draw) -> Case:
    """The inverted pendulum on a cart under a random state feedback."""
    gains = [draw.number(-20, 60) * s for s in (0.3, 2.0, 0.4, 0.5)]
    mass, load, length = draw.number(), draw.number(), draw.number()
    force = gains[0] * x + gains[1] * theta + gains[2] * x.diff(t) + gains[3] * theta.diff(t)
    T = (mass + load) * x.diff(t) ** 2 / 2 + load * length * sp.cos(theta) * x.diff(t) * theta.diff(t)
    T += load * length**2 * theta.diff(t) ** 2 / 2
    system = vn.System([x, theta], T, load * 9.81 * length * sp.cos(theta), forces={x: force})
    Mass = np.array([[mass + load, load * length], [load * length, load * length**2]])
    C = np.array([[-gains[2], -gains[3]], [0.0, 0.0]])
    K = np.array([[-gains[0], -gains[1]], [0.0, -load * 9.81 * length]])
    return Case("cart and pendulum under feedback", system, by_roots(companion(Mass, C, K)))


# -- 4 driven in time -----------------------------------------------------------------------------------------------


def timed(seed: int) -> Case:
    draw = Draw(seed, "timed")
    return (_hoop, _hoop_constraint, _accelerated, _rotating_plane, _refused, _galilean)[seed % 6](draw)


def _hoop(draw: Draw) -> Case:
    """A pendulum in a plane turned at W, from Cartesian coordinates with cos Wt: stable iff W² < g/l; damping."""
    length, damped, fast = draw.number(), draw.chance(), draw.chance()
    W = round((9.81 / length) ** 0.5 * (1.3 if fast else 0.6), 2)
    X = l * sp.sin(theta) * sp.cos(W_ * t), l * sp.sin(theta) * sp.sin(W_ * t), -l * sp.cos(theta)
    T = sum(e.diff(t) ** 2 for e in X) / 2
    T = sp.expand(T) if draw.chance() else T
    D = 0.3 * theta.diff(t) ** 2 if damped else 0
    system = vn.System([theta], T, 9.81 * X[2], dissipation=D, parameters={W_: W, l: length})
    return Case("hoop", system, UNSTABLE if fast else ASYMPTOTIC if damped else STABLE)


def _hoop_constraint(draw: Draw) -> Case:
    """The same with the turning angle as a coordinate and the drive as a constraint, at the bent rest cos θ = g/lW²."""
    length, damped = draw.number(), draw.chance()
    W = round((9.81 / length) ** 0.5 * 1.4, 2)
    T = length**2 * (theta.diff(t) ** 2 + sp.sin(theta) ** 2 * phi.diff(t) ** 2) / 2
    drive = vn.Holonomic(phi - W_ * t, name="drive")
    D = 0.3 * theta.diff(t) ** 2 if damped else 0
    system = vn.System(
        [theta, phi], T, -9.81 * length * sp.cos(theta), dissipation=D, constraints=[drive], parameters={W_: W}
    )
    bent = float(np.arccos(9.81 / (length * W**2)))
    if draw.chance():
        return Case("driven hoop, low", system, UNSTABLE, {theta: 0.0, phi: 0.0, phi.diff(t): W})
    truth = ASYMPTOTIC if damped else STABLE
    return Case("driven hoop, bent", system, truth, {theta: bent, phi: 0.0, phi.diff(t): W})


def _accelerated(draw: Draw) -> Case:
    """A pendulum on a support with constant acceleration: t cancels in the equations."""
    length, acceleration, damped, up = draw.number(), draw.number(), draw.chance(), draw.chance(0.3)
    X, Y = acceleration * t**2 / 2 + length * sp.sin(theta), -length * sp.cos(theta)
    T = sp.expand((X.diff(t) ** 2 + Y.diff(t) ** 2) / 2)
    D = 0.3 * theta.diff(t) ** 2 if damped else 0
    rest = -float(np.arctan(acceleration / 9.81)) + (np.pi if up else 0.0)
    truth = UNSTABLE if up else ASYMPTOTIC if damped else STABLE
    return Case("accelerated support", vn.System([theta], T, 9.81 * Y, dissipation=D), truth, {theta: rest})


def _galilean(draw: Draw) -> Case:
    """A support with constant speed."""
    length, speed, up = draw.number(), draw.number(), draw.chance(0.3)
    X, Y = speed * t + length * sp.sin(theta), -length * sp.cos(theta)
    T = (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2
    system = vn.System([theta], T, 9.81 * Y)
    return Case("moving support", system, UNSTABLE if up else STABLE, {theta: np.pi if up else 0.0})


def _rotating_plane(draw: Draw) -> Case:
    """Springs k₁, k₂ in a turning plane: stable iff W² is below both; between: unstable; above: gyroscopic."""
    k1, k2 = 1.0, draw.number(2, 3)
    W = [0.6, 1.2, 3.0][draw.whole(0, 2)]
    damped = draw.chance()
    cos, sin = sp.cos(W_ * t), sp.sin(W_ * t)
    X, Y = x * cos - y * sin, x * sin + y * cos
    T = (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2
    D = 0.2 * (x.diff(t) ** 2 + y.diff(t) ** 2) if damped else 0
    system = vn.System([x, y], T, (k1 * x**2 + k2 * y**2) / 2, dissipation=D, parameters={W_: W})
    G, O = 2 * W * np.array([[0.0, -1.0], [1.0, 0.0]]), np.zeros((2, 2))
    C = G + (0.4 * np.eye(2) if damped else O)
    return Case(
        "turning plane", system, by_roots(companion(np.eye(2), C, np.diag([k1, k2]) - W**2 * np.eye(2)), STABLE)
    )


def _refused(draw: Draw) -> Case:
    """The time does not cancel."""
    T, V = x.diff(t) ** 2 / 2, x**2 / 2
    shaken = ((sp.sin(theta) + sp.cos(2 * t) / 5).diff(t) ** 2 + sp.cos(theta).diff(t) ** 2) / 2
    choices = [
        vn.System([x], T, V * (1 + sp.cos(2 * t) / 2)),
        vn.System([x], T, V, forces={x: sp.cos(t)}),
        vn.System([x], T, V, forces={x: -x.diff(t) * sp.exp(-t)}),
        vn.System([x], T * (1 + t), V),
        vn.System([x], T, V, forces={x: -t * x**3}),
        vn.System([theta], shaken, -9.81 * sp.cos(theta)),
        vn.System([x, y], T + y.diff(t) ** 2 / 2, V, constraints=[vn.Holonomic(y - x * sp.sin(t), name="guide")]),
        vn.System([x], T, V, dissipation=sp.sin(t) ** 2 * x.diff(t) ** 2),
    ]
    return Case("explicit time", choices[draw.whole(0, len(choices) - 1)], REFUSED)


# -- 5 steady -------------------------------------------------------------------------------------------------------


def steady(seed: int) -> Case:
    draw = Draw(seed, "steady")
    return (_routh, _conical, _sleeping, _precession, _governor, _routh_two, _gyrostat)[seed % 7](draw)


def _routh(draw: Draw) -> Case:
    """One shape variable: the sign of W_R'' of W_R = V + p²/2I, for I = I₀ + I₁r + I₂r², V = V₁r + V₂r²/2 + V₃r³/6."""
    I0, I1, I2 = 2 + draw.number(), draw.number(-1, 1), draw.number(0.1, 1)
    V2, V3, W, damped = draw.number(-3, 3), draw.number(-1, 1), draw.number(0.5, 2), draw.chance()
    V1 = I1 * W**2 / 2  # steady at r = 0
    p = I0 * W
    r = sp.Symbol("r")
    inertia = I0 + I1 * r + I2 * r**2
    reduced = sp.Rational(str(V1)) * r + V2 * r**2 / 2 + V3 * r**3 / 6 + p**2 / (2 * inertia)
    curvature = float(sp.diff(reduced, r, 2).subs(r, 0))
    if abs(curvature) < 0.05:
        return _routh(draw)
    coupling = draw.number(-0.5, 0.5) * x
    T = (x.diff(t) ** 2 + inertia.subs(r, x) * phi.diff(t) ** 2) / 2 + coupling * x.diff(t) * phi.diff(t) / 2
    V = V1 * x + V2 * x**2 / 2 + V3 * x**3 / 6
    D = draw.number() * x.diff(t) ** 2 / 2 if damped else 0
    at = {x: 0.0, phi: 0.0, phi.diff(t): W}
    return Case("Routh", vn.System([x, phi], T, V, dissipation=D), STABLE if curvature > 0 else UNSTABLE, at)


def _routh_two(draw: Draw) -> Case:
    """Two shape variables without first-order terms: W_R'' > 0 stable, one negative direction unstable."""
    I0, W = 2 + draw.number(), draw.number(0.5, 2)
    bend, K = draw.positive(2) * draw.sign() * 0.5, draw.positive(2)
    q = coordinates(2)
    T = (q[0].diff(t) ** 2 + q[1].diff(t) ** 2 + (I0 + 2 * form_of(bend, q)) * phi.diff(t) ** 2) / 2
    T += draw.number(-0.5, 0.5) * q[0] * q[1].diff(t) * phi.diff(t)
    hessian = np.linalg.eigvalsh(K - W**2 * bend)
    if np.abs(hessian).min() < 0.05 or (hessian < 0).all():
        return _routh_two(draw)
    truth = STABLE if hessian.min() > 0 else UNSTABLE
    at = {q[0]: 0.0, q[1]: 0.0, phi: 0.0, phi.diff(t): W}
    return Case("Routh with two shape variables", vn.System([*q, phi], T, form_of(K, q)), truth, at)


def _conical(draw: Draw) -> Case:
    """The conical pendulum is stable at every angle."""
    angle, length, weight = draw.number(0.2, 1.4), draw.number(), draw.number()
    T = m * l**2 * (theta.diff(t) ** 2 + sp.sin(theta) ** 2 * phi.diff(t) ** 2) / 2
    system = vn.System([theta, phi], T, -m * g * l * sp.cos(theta), parameters={m: weight, l: length, g: 9.81})
    W = float(np.sqrt(9.81 / (length * np.cos(angle))))
    if draw.chance():
        return Case("conical pendulum", system, STABLE, given={theta: angle}, near={phi.diff(t): W * 1.1})
    return Case("conical pendulum", system, STABLE, {theta: angle, phi: 0.3, phi.diff(t): W})


def _top(values: Mapping[sp.Symbol, float]) -> vn.System:
    """The symmetric top in Cardan angles, which are regular at the vertical."""
    T = I_ * (alpha.diff(t) ** 2 * sp.cos(beta) ** 2 + beta.diff(t) ** 2) / 2
    T += J_ * (phi.diff(t) + alpha.diff(t) * sp.sin(beta)) ** 2 / 2
    return vn.System([alpha, beta, phi], T, P_ * sp.cos(alpha) * sp.cos(beta), parameters=values)


def _sleeping(draw: Draw) -> Case:
    """Stable iff (C w)² > 4 A m g l (Lagrange)."""
    A, C, weight = draw.number(), draw.number(), draw.number()
    critical = 2 * (A * weight) ** 0.5 / C
    factor = [0.6, 0.95, 1.05, 2.0, 1.0][draw.whole(0, 4)]
    truth = BORDER if factor == 1.0 else STABLE if factor > 1 else UNSTABLE
    at = {alpha: 0.0, beta: 0.0, phi: 0.0, phi.diff(t): critical * factor}
    return Case(f"sleeping top at {factor} of the critical spin", _top({I_: A, J_: C, P_: weight}), truth, at)


def _precession(draw: Draw) -> Case:
    """Regular precession of Lagrange's top in Euler's angles: always stable in (θ, θ̇, ψ̇, φ̇)."""
    A, C, weight, angle, turning = (
        draw.number(),
        draw.number(),
        draw.number(),
        draw.number(0.3, 1.3),
        draw.number(0.5, 3),
    )
    T = I_ * (theta.diff(t) ** 2 + psi.diff(t) ** 2 * sp.sin(theta) ** 2) / 2
    T += J_ * (phi.diff(t) + psi.diff(t) * sp.cos(theta)) ** 2 / 2
    system = vn.System([theta, psi, phi], T, P_ * sp.cos(theta), parameters={I_: A, J_: C, P_: weight})
    # A ψ̇² cos θ - C n ψ̇ + P = 0 with n = φ̇ + ψ̇ cos θ
    n = (A * turning**2 * np.cos(angle) + weight) / (C * turning)
    at = {theta: angle, psi: 0.0, phi: 0.0, psi.diff(t): turning, phi.diff(t): n - turning * np.cos(angle)}
    return Case("regular precession", system, STABLE, at)


def _governor(draw: Draw) -> Case:
    """Vyshnegradsky-Pontryagin: x' = v, v' = w² sin x cos x - sin x - e v, w' = a (cos x - b): e b^(-3/2) > 2a."""
    drive, cosine = draw.number(0.3, 1.5), draw.number(0.4, 0.9)
    critical = 2 * drive * cosine**1.5
    loss = round(critical * draw.number(0.5, 1.6), 3)
    if abs(loss / critical - 1) < 0.02:
        return _governor(draw)
    angle, v, w = dynamicsymbols("angle v w")
    F = sp.Matrix(
        [v, w**2 * sp.sin(angle) * sp.cos(angle) - sp.sin(angle) - loss * v, drive * (sp.cos(angle) - cosine)]
    )
    at = {angle: float(np.arccos(cosine)), v: 0.0, w: cosine**-0.5}
    truth = ASYMPTOTIC if loss > critical else UNSTABLE
    return Case("governor with engine", vn.AffineSystem([angle, v, w], F), truth, at)


def _gyrostat(draw: Draw) -> Case:
    """Euler's equations: the middle axis is unstable, the others are stable."""
    inertia = sorted([draw.number(0.5, 1), draw.number(1.2, 2), draw.number(2.2, 3)])
    axis = draw.whole(0, 2)
    w = coordinates(3, "w")
    F = sp.Matrix([(inertia[i - 2] - inertia[i - 1]) / inertia[i] * w[i - 2] * w[i - 1] for i in range(3)])
    at = {e: (draw.number() if i == axis else 0.0) for i, e in enumerate(w)}
    return Case("free rotation", vn.AffineSystem(w, F), UNSTABLE if axis == 1 else STABLE, at)


# -- 6 nonholonomic -------------------------------------------------------------------------------------------------


def nonholonomic(seed: int) -> Case:
    draw = Draw(seed, "nonholonomic")
    makers = (_sleigh, _skate, _skate_damped, _disc_upright, _skate_drift, _bracket, _disc_spinning, _disc_circle)
    return makers[seed % len(makers)](draw)


def _knife() -> vn.Nonholonomic:
    return vn.Nonholonomic(y.diff(t) * sp.cos(theta) - x.diff(t) * sp.sin(theta), name="knife")


def _sleigh(draw: Draw) -> Case:
    """Chaplygin's sleigh: the root is -m a v/(I + m a²); forward stable, backward unstable."""
    mass, inertia, arm, forward = draw.number(), draw.number(), draw.number(), draw.chance()
    X, Y = x + arm * sp.cos(theta), y + arm * sp.sin(theta)
    T = mass * (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2 + inertia * theta.diff(t) ** 2 / 2
    system = vn.System([x, y, theta], T, constraints=[_knife()])
    speed = draw.number() * (1 if forward else -1)
    at = {x: 0.0, y: 0.0, theta: 0.0, x.diff(t): speed, y.diff(t): 0.0, theta.diff(t): 0.0}
    return Case("sleigh", system, STABLE if forward else UNSTABLE, at)


def _springs(stiffness, side, twist, mixed, damping=0.0) -> vn.System:
    T = (x.diff(t) ** 2 + y.diff(t) ** 2 + theta.diff(t) ** 2) / 2
    V = stiffness * x**2 / 2 - side * y + twist * theta**2 / 2 + mixed * x * theta
    return vn.System([x, y, theta], T, V, dissipation=damping * T, constraints=[_knife()])


def _skate(draw: Draw) -> Case:
    """K = [[k, d - F], [d, c]]: flutter or divergence from potential forces."""
    stiffness, twist, mixed = draw.number(), draw.number(), draw.number(-1, 1)
    side = draw.number(1, 5) * np.sign(mixed or 1) + mixed
    K = np.array([[stiffness, mixed - side], [mixed, twist]])
    found = np.linalg.eigvals(K)
    if np.abs(found.imag).max() < 0.05 and found.real.min() > -0.05:
        return _skate(draw)
    return Case("skate with side load", _springs(stiffness, side, twist, mixed), UNSTABLE)


def _skate_damped(draw: Draw) -> Case:
    """All three damped: the roots of λ² + dλ + K, and a line of rests."""
    stiffness, twist, mixed, side = draw.number(1, 4), draw.number(1, 4), draw.number(-1, 1), draw.number(-4, 4)
    damping = draw.number(0.2, 2)
    K = np.array([[stiffness, mixed - side], [mixed, twist]])
    truth = by_roots(companion(np.eye(2), damping * np.eye(2), K))
    truth = STABLE if truth == ASYMPTOTIC else truth
    return Case("damped skate with side load", _springs(stiffness, side, twist, mixed, damping), truth)


def _skate_drift(draw: Draw) -> Case:
    """Equal frequencies: ẏ = ẋ tan θ has a mean of the order of the amplitude squared, and y runs away."""
    stiffness = draw.number()
    if draw.chance():
        return Case("skate in resonance", _springs(stiffness, 0.0, stiffness, 0.0), UNSTABLE)
    dropped = Case("skate in resonance without y", _springs(stiffness, 0.0, stiffness, 0.0), STABLE)
    return replace(dropped, drop=(y,))


def _bracket(draw: Draw) -> Case:
    """ẏ = s₁ṡ₂ - s₂ṡ₁, V = k s²/2 - F y: K_P = [[k, F], [-F, k]], flutter; F = 0 in resonance: y runs away."""
    stiffness, side, damping = draw.number(1, 4), draw.number(0.3, 2), draw.number(0.1, 1.5)
    s = coordinates(2, "s")
    tie = vn.Nonholonomic(y.diff(t) - s[0] * s[1].diff(t) + s[1] * s[0].diff(t), name="area")
    T = (s[0].diff(t) ** 2 + s[1].diff(t) ** 2 + y.diff(t) ** 2) / 2
    V = stiffness * (s[0] ** 2 + s[1] ** 2) / 2 - side * y
    damped = draw.chance(0.7)
    D = damping * (s[0].diff(t) ** 2 + s[1].diff(t) ** 2) / 2 if damped else 0
    K = np.array([[stiffness, side], [-side, stiffness]])
    truth = by_roots(companion(np.eye(2), (damping if damped else 0) * np.eye(2), K))
    truth = STABLE if truth == ASYMPTOTIC else truth
    return Case("load on an area constraint", vn.System([*s, y], T, V, dissipation=D, constraints=[tie]), truth)


def disc(mass: float, radius: float, A: float, C: float) -> vn.System:
    """The rolling disc: place of its center, heading ψ, lean θ (π/2 upright), rolling φ; spin w = φ̇ - ψ̇ cos θ."""
    spin = phi.diff(t) - psi.diff(t) * sp.cos(theta)
    T = mass * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2 + C * spin**2 / 2
    T += A * (theta.diff(t) ** 2 + psi.diff(t) ** 2 * sp.sin(theta) ** 2) / 2
    aside = radius * sp.sin(theta) * theta.diff(t)
    rolls = [
        vn.Holonomic(z - radius * sp.sin(theta), name="floor"),
        vn.Nonholonomic(x.diff(t) * sp.cos(psi) + y.diff(t) * sp.sin(psi) - radius * spin, name="ahead"),
        vn.Nonholonomic(x.diff(t) * sp.sin(psi) - y.diff(t) * sp.cos(psi) - aside, name="aside"),
    ]
    return vn.System([x, y, z, psi, theta, phi], T, mass * 9.81 * z, constraints=rolls)


def _disc_at(radius: float, lean: float, turning: float, spin: float) -> dict[sp.Expr, float]:
    """The steady motion with heading along x."""
    rates = {psi.diff(t): turning, phi.diff(t): spin + turning * float(np.cos(lean)), x.diff(t): radius * spin}
    return dict.fromkeys((psi, phi, x, y), 0.0) | {theta: lean, z: radius * float(np.sin(lean))} | rates


def _disc_numbers(draw: Draw) -> tuple[float, float, float, float]:
    mass, radius = draw.number(), draw.number(0.1, 0.5)
    return mass, radius, mass * radius**2 / 4, mass * radius**2 / 2


def _disc_upright(draw: Draw) -> Case:
    """Rolling upright: stable iff w² > A m g r/(C (C + m r²))."""
    mass, radius, A, C = _disc_numbers(draw)
    critical = (A * mass * 9.81 * radius / (C * (C + mass * radius**2))) ** 0.5
    fast = draw.chance()
    w = critical * (1.3 if fast else 0.7)
    at = _disc_at(radius, np.pi / 2, 0.0, w)
    return Case("disc rolling upright", disc(mass, radius, A, C), STABLE if fast else UNSTABLE, at)


def _disc_spinning(draw: Draw) -> Case:
    """Spinning about a diameter: stable iff ψ̇² > m g r/(A + m r²)."""
    mass, radius, A, C = _disc_numbers(draw)
    critical = (mass * 9.81 * radius / (A + mass * radius**2)) ** 0.5
    fast = draw.chance()
    at = _disc_at(radius, np.pi / 2, critical * (1.3 if fast else 0.7), 0.0)
    return Case("disc spinning upright", disc(mass, radius, A, C), STABLE if fast else UNSTABLE, at)


def _disc_circle(draw: Draw) -> Case:
    """Circling with lean: λ² = F_θ + F_e·a from the equations of the disc by hand."""
    mass, radius, A, C = _disc_numbers(draw)
    lean, turning = draw.number(0.8, 1.5), draw.number(1, 4)
    th, p, w = sp.symbols("th p w")
    s, co, N = sp.sin(th), sp.cos(th), mass * radius**2
    F = (A * p**2 * s * co + (C + N) * p * w * s - mass * 9.81 * radius * co) / (A + N)
    pd, wd = -(2 * A * p * co + C * w) / (A * s), -N * p * s / (C + N)  # divided by the rate of θ
    W = float((mass * 9.81 * radius * np.cos(lean) - A * turning**2 * np.sin(lean) * np.cos(lean))
              / ((C + N) * turning * np.sin(lean)))  # fmt: skip
    square = float((F.diff(th) + F.diff(p) * pd + F.diff(w) * wd).subs({th: lean, p: turning, w: W}))
    if abs(square) < 0.5:
        return _disc_circle(draw)
    at = _disc_at(radius, lean, turning, W)
    return Case("disc circling", disc(mass, radius, A, C), STABLE if square < 0 else UNSTABLE, at)


# -- 7 corners ------------------------------------------------------------------------------------------------------


def corners(seed: int) -> Case:
    draw = Draw(seed, "corners")
    T, V, D = x.diff(t) ** 2 / 2, x**2 / 2, draw.number() * x.diff(t) ** 2 / 2
    s = draw.number()
    shifted = {x: s}
    choices = [
        Case("one-sided spring", vn.System([x], T, sp.Max(0, x) ** 2), REFUSED),
        Case("one-sided springs", vn.System([x], T, V + sp.Max(0, x) ** 2, dissipation=D), REFUSED),
        Case("|x|", vn.System([x], T, sp.Abs(x)), REFUSED),
        Case("cases", vn.System([x], T, sp.Piecewise((x**2, x > 0), (2 * x**2, True))), REFUSED),
        Case("|x| beside a spring", vn.System([x], T, V, forces={x: -sp.Abs(x) * x.diff(t)}), REFUSED),
        Case("quadratic drag", vn.System([x], T, V, forces={x: -sp.Abs(x.diff(t)) * x.diff(t)}), REFUSED),
        Case("off the corner", vn.System([x], T, sp.Max(0, x) ** 2 - 2 * s * x, dissipation=D), ASYMPTOTIC, shifted),
        Case("off the corner of |x|", vn.System([x], T, sp.Abs(x) ** 3 / 3 - s**2 * x), STABLE, shifted),
        Case("hilltop off the corner", vn.System([x], T, -(sp.Abs(x) ** 3) / 3 + s**2 * x), UNSTABLE, shifted),
        Case("sqrt of a square", vn.System([x], T, V + sp.sqrt(x**2)), REFUSED),
        Case("minimum of two wells", vn.System([x], T, -sp.Min(x, 2 * x) + V), REFUSED),
    ]
    return choices[seed % len(choices)]


def dry_friction() -> list[Case]:
    """Cases with slips at rest and their truth, for a theorem on dry friction (sections 5, D1 and D2)."""
    T, v = x.diff(t) ** 2 / 2, x.diff(t)
    rubbed = {x: -sp.sign(v)}
    both = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    return [
        Case("mass and spring, inside", vn.System([x], T, x**2 / 2, forces=rubbed), STABLE, {x: 0.3}),
        Case("mass and spring, at the border", vn.System([x], T, x**2 / 2, forces=rubbed), STABLE, {x: 1.0}),
        Case("hill held by friction", vn.System([x], T, -(x**2) / 2, forces=rubbed), STABLE, {x: 0.3}),
        Case("hill at the border", vn.System([x], T, -(x**2) / 2, forces=rubbed), UNSTABLE, {x: 1.0}),
        Case("one of two", vn.System([x, y], both, (x**2 + (x - y) ** 2) / 2, forces=rubbed), STABLE),
        Case("the other on a hill", vn.System([x, y], both, x**2 - y**2, forces=rubbed), UNSTABLE),
        Case("free on a rough table", vn.System([x], T, forces=rubbed), STABLE),
    ]


# -- 8 critical -----------------------------------------------------------------------------------------------------


def critical(seed: int) -> Case:
    draw = Draw(seed, "critical")
    p, q, e = (draw.number() for _ in range(3))
    v, T = x.diff(t), x.diff(t) ** 2 / 2
    D = p * v**2 / 2
    both = T + y.diff(t) ** 2 / 2
    u = y.diff(t)
    sums = {a: 0.1 * seed, b: 0.2, c: 0.1 * seed + 0.2}
    cancel = a + b - c
    choices = [
        Case("cubic spring, damped", vn.System([x], T, q * x**4, dissipation=D), ASYMPTOTIC, weaker=(STABLE,)),
        Case("cubic repulsion, damped", vn.System([x], T, -q * x**4, dissipation=D), UNSTABLE),
        Case("x³, damped", vn.System([x], T, q * x**3, dissipation=D), UNSTABLE),
        Case("x³, undamped", vn.System([x], T, q * x**3), UNSTABLE),
        Case("x⁴, undamped", vn.System([x], T, q * x**4), STABLE),
        Case("-x⁴, undamped", vn.System([x], T, -q * x**4), UNSTABLE),
        Case("cubic damping", vn.System([x], T, e * x**2, forces={x: -q * v**3}), ASYMPTOTIC, weaker=(STABLE,)),
        Case("cubic driving", vn.System([x], T, e * x**2, forces={x: q * v**3}), UNSTABLE),
        Case("van der Pol at its border", vn.System([x], T, e * x**2, forces={x: -q * x**2 * v}), ASYMPTOTIC,
             weaker=(STABLE,)),
        Case("x²v driving", vn.System([x], T, e * x**2, forces={x: q * x**2 * v}), UNSTABLE),
        Case("x⁶, damped", vn.System([x], T, q * x**6, dissipation=D), ASYMPTOTIC, weaker=(STABLE,)),
        Case("fifth-order damping", vn.System([x], T, e * x**2, forces={x: -q * v**5}), ASYMPTOTIC, weaker=(STABLE,)),
        Case("thin cone of power", vn.System([x, y], both, (x**2 + y**2) / 2,
             forces={x: -v - (1 + x**2) * u, y: -u - (1 + x**2) * v}), UNSTABLE),
        Case("quadratic and cubic", vn.System([x, y], both, x**4 + x**2 * y * q + y**2 * e, dissipation=both * p),
             # on the center manifold y = -q x²/2e: x⁴(1 - q²/4e)
             ASYMPTOTIC if q**2 < 4 * e else UNSTABLE, weaker=(STABLE,) if q**2 < 4 * e else ()),
        Case("cancels to rounding, x³", vn.System([x], T, cancel * x**2 + q * x**3, dissipation=D, parameters=sums),
             BORDER),
        Case("cancels to rounding, x⁴", vn.System([x], T, cancel * x**2 + q * x**4, dissipation=D, parameters=sums),
             BORDER, weaker=(STABLE,)),
        Case("damping cancels to rounding", vn.System([x], T, e * x**2, forces={x: -cancel * v - q * v**3},
             parameters=sums), BORDER),
        Case("rod at its critical load", vn.System([theta], q * theta.diff(t) ** 2, e * theta**2 / 2 * l * l +
             e * l * l * sp.cos(theta), dissipation=theta.diff(t) ** 2, parameters={l: p}), ASYMPTOTIC,
             weaker=(STABLE,)),
        _critical_hoop(draw, p),
        Case("negative cubic beside damping", vn.System([x], T, e * x**2, forces={x: -p * v + q * v**3}), ASYMPTOTIC),
        Case("linear conservative, damped elsewhere", vn.System([x, y], both, x**2 + y**2, forces={y: -u}), STABLE),
        Case("energy sink by a cubic coupling", vn.System([x, y], both, x**2 + y**2, forces={x: -q * y**2 * v,
             y: -p * u}), STABLE),
    ]  # fmt: skip
    found = choices[seed % len(choices)]
    if found.truth == BORDER and found.what.startswith(("cancels", "damping cancels")):
        exact = sp.Rational(sums[a]) + sp.Rational(sums[b]) - sp.Rational(sums[c])
        if not exact:
            return critical(seed + len(choices))
        # for the floats as they are, the sum has a sign: an answer by exact arithmetic is true as well
        return replace(found, weaker=(*found.weaker, *((STABLE, ASYMPTOTIC) if exact > 0 else (UNSTABLE,))))
    return found


def _critical_hoop(draw: Draw, damping: float) -> Case:
    """A pendulum in a hoop turned at W = √(g/l), to rounding."""
    length = draw.number()
    T = length**2 * (theta.diff(t) ** 2 + sp.sin(theta) ** 2 * W_**2) / 2
    system = vn.System(
        [theta], T, -9.81 * length * sp.cos(theta), dissipation=damping * theta.diff(t) ** 2,
        parameters={W_: (9.81 / length) ** 0.5},
    )  # fmt: skip
    return Case("hoop at its critical speed", system, BORDER)


# -- 9 mixed --------------------------------------------------------------------------------------------------------

MIXABLE: dict[str, Callable[[int], Case]] = {}


def mixed(seed: int) -> Case:
    draw = Draw(seed, "mixed")
    if seed % 4 == 3:
        return _redundant(draw)
    names = sorted(MIXABLE)
    parts = [MIXABLE[names[draw.whole(0, len(names) - 1)]](draw.whole(0, 500)) for _ in range(2)]
    if not all(_plain(part) for part in parts):
        return mixed(seed + 1000)
    joined = side_by_side(*parts)
    return mixed_coordinates(joined, draw) if seed % 2 else joined


def _plain(case: Case) -> bool:
    """Whether a case is a mechanical system at rest that can be joined with another."""
    system = case.system
    return (
        isinstance(system, vn.System)
        and not system.ignored
        and not case.drop
        and case.given is None
        and case.truth != BORDER
        and not case.weaker
        and len(system.coordinates) <= 3
        and not any(isinstance(key, sp.Derivative) and value for key, value in case.point.items())
    )


def side_by_side(one: Case, two: Case) -> Case:
    """Two systems without any connection."""
    first, second = renamed(one, "_1"), renamed(two, "_2")
    A, B = first.system, second.system
    system = vn.System(
        [*A.coordinates, *B.coordinates],
        A.kinetic_energy + B.kinetic_energy,
        A.potential_energy + B.potential_energy,
        forces={**A.forces, **B.forces},
        dissipation=A.dissipation + B.dissipation,
        constraints=[*A.constraints, *B.constraints],
        parameters={**A.parameters, **B.parameters},
    )
    truth = worst(one.truth, two.truth)
    return Case(f"{one.what} beside {two.what}", system, truth, {**first.point, **second.point})


def renamed(case: Case, suffix: str) -> Case:
    """The same system with other names."""
    system = case.system
    names = {q: sp.Function(q.func.__name__ + suffix)(t) for q in system.coordinates}
    letters = {p: sp.Symbol(p.name + suffix, positive=True) for p in system.parameters}
    return substituted(case, names, letters)


def substituted(case: Case, names: Mapping, letters: Mapping) -> Case:
    system = case.system

    def new(expression):
        return sp.sympify(expression).subs(names).doit().subs(letters)

    constraints = [
        replace(h, expression=new(h.expression), name=h.name + str(next(iter(names.values()))))
        for h in system.constraints
    ]
    other = vn.System(
        [names[q] for q in system.coordinates],
        new(system.kinetic_energy),
        new(system.potential_energy),
        forces={names[q]: new(f) for q, f in system.forces.items()},
        dissipation=new(system.dissipation),
        constraints=constraints,
        parameters={letters[p]: value for p, value in system.parameters.items()},
    )
    return replace(case, system=other, at={new(key): value for key, value in case.point.items()})


def mixed_coordinates(case: Case, draw: Draw) -> Case:
    """The same system in coordinates q = S y with a unimodular integer matrix S (all coordinates are states)."""
    system = case.system
    n = len(system.coordinates)
    S = sp.eye(n)
    for _ in range(n):
        i, j = draw.random.choice(n, 2, replace=False) if n > 1 else (0, 0)
        if i != j:
            S[int(i), :] = S[int(i), :] + draw.whole(-1, 1) * S[int(j), :]
    y = coordinates(n, "mixed")
    names = dict(zip(system.coordinates, S * sp.Matrix(y), strict=True))

    def new(expression):
        return sp.sympify(expression).subs(names).doit()

    old_forces = sp.Matrix([system.forces.get(q, 0) for q in system.coordinates])
    forces = S.T * old_forces.applyfunc(new)
    values = S.inv() * sp.Matrix([case.point[q] for q in system.coordinates])
    other = vn.System(
        y,
        new(system.kinetic_energy),
        new(system.potential_energy),
        forces=dict(zip(y, forces, strict=True)),
        dissipation=new(system.dissipation),
        constraints=[replace(h, expression=new(h.expression)) for h in system.constraints],
        parameters=system.parameters,
    )
    return replace(case, what=f"{case.what}, mixed", system=other, at=dict(zip(y, map(float, values), strict=True)))


def _redundant(draw: Draw) -> Case:
    """A pendulum in Cartesian coordinates with a rod, and a spring to a second mass."""
    length, mass, load, stiffness = (draw.number() for _ in range(4))
    up, damped, tied = draw.chance(0.3), draw.chance(), draw.chance()
    rod = vn.Holonomic((x**2 + y**2 - length**2) / 2, name="rod")
    T = mass * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + load * z.diff(t) ** 2 / 2
    V = mass * 9.81 * y + stiffness * (z - x) ** 2 / 2 + (stiffness * z**2 / 2 if tied else 0)
    D = 0.4 * (z - x).diff(t) ** 2 / 2 if damped else 0
    # up: hanging upside down the spring may hold it: m g/l against the stiffness
    at = {x: 0.0, y: length if up else -length, z: 0.0}
    side = -1 if up else 1
    K = np.array([[side * mass * 9.81 / length + stiffness, -stiffness], [-stiffness, (2 if tied else 1) * stiffness]])
    C = (0.4 if damped else 0.0) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    truth = by_roots(companion(np.diag([mass, load]), C, K), STABLE if np.linalg.eigvalsh(K).min() > 0.01 else UNSTABLE)
    return Case(
        "pendulum with a rod and a spring", vn.System([x, y, z], T, V, dissipation=D, constraints=[rod]), truth, at
    )


# -- 10 servo -------------------------------------------------------------------------------------------------------


def servo(seed: int) -> Case:
    draw = Draw(seed, "servo")
    return (_held_cart, _held_masses)[seed % 2](draw)


def _held_cart(draw: Draw) -> Case:
    """Cart and inverted pendulum with x + c θ = 0: (l - c) s² + (b/ml) s - g = 0 on the constraint."""
    length, load, arm, joint = draw.number(), draw.number(), draw.number(0, 4), draw.number(0.02, 0.5)
    if abs(arm - length) < 0.1:
        arm = length + 0.3
    u = sp.Symbol("u")
    hanging = draw.chance()
    side = -1 if hanging else 1
    T = (2.0 + load) * x.diff(t) ** 2 / 2 + side * load * length * sp.cos(theta) * x.diff(t) * theta.diff(t)
    T += load * length**2 * theta.diff(t) ** 2 / 2
    system = vn.System(
        [x, theta], T, side * load * 9.81 * length * sp.cos(theta), forces={x: u}, inputs=[u],
        dissipation=joint * theta.diff(t) ** 2 / 2,
        constraints=[vn.Servo(x + side * arm * theta, through=[u], name="servo")],
    )  # fmt: skip
    # upright: m l ẍ + m l² θ̈ + b θ̇ - m g l θ = 0 with ẍ = -c θ̈
    A = sp.Matrix([[0, 1], [side * 9.81 / (length - arm), -joint / (load * length * (length - arm))]])
    return Case("cart held by a servo", system, by_roots(A))


def _held_masses(draw: Draw) -> Case:
    """Two masses, spring and damper between, the second to a wall; the first held at c times the second."""
    k1, k2, c1, ratio = draw.number(), draw.number(), draw.number(0.1, 1), draw.number(-1, 4)
    u = sp.Symbol("u")
    T = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    system = vn.System(
        [x, y], T, (k1 * (x - y) ** 2 + k2 * y**2) / 2, forces={x: u}, inputs=[u],
        dissipation=c1 * (x - y).diff(t) ** 2 / 2,
        constraints=[vn.Servo(x - ratio * y, through=[u], name="servo")],
    )  # fmt: skip
    A = sp.Matrix([[0, 1], [-(k2 + k1 * (1 - ratio)), -c1 * (1 - ratio)]])
    return Case("masses held by a servo", system, by_roots(A))


# -- 12 other units and other spellings -----------------------------------------------------------------------------


def units(seed: int) -> Case:
    """Any of the cases at rest, in other units of length (each coordinate), time and mass."""
    draw = Draw(seed, "units")
    names = sorted(MIXABLE)
    case = MIXABLE[names[seed % len(names)]](draw.whole(0, 500))
    if not isinstance(case.system, vn.System) or case.drop or case.system.ignored or case.given is not None:
        return units(seed + 1000)
    if any(sp.sympify(e).has(t) and sp.sympify(e).subs(dict.fromkeys(case.system.coordinates, 1)).doit().has(t)
           for e in (case.system.kinetic_energy, *case.system.forces.values(), case.system.potential_energy,
                     *(h.expression for h in case.system.constraints))):  # fmt: skip
        return units(seed + 1000)
    exact = draw.chance()  # powers of two change no digit

    def unit() -> float:
        return float(
            2.0 ** draw.random.choice([-30, -10, 0, 10, 30]) if exact else 10.0 ** draw.random.choice([-9, -3, 3, 9])
        )

    energy, time, length = unit(), unit(), unit()
    angles = [q for q in case.system.coordinates if _angle(q, case.system)]
    lengths = {q: length if angles else unit() for q in case.system.coordinates}
    lengths |= dict.fromkeys(angles, 1.0)
    return rescaled(case, lengths, float(time), float(energy))


def _angle(q: sp.Expr, system: vn.System) -> bool:
    """Whether a coordinate stands in a sine or cosine: radians have no other unit."""
    parts = (system.kinetic_energy, system.potential_energy, *(h.expression for h in system.constraints))
    return any(f.has(q) for e in parts for f in sp.sympify(e).atoms(sp.sin, sp.cos))


def rescaled(case: Case, lengths: Mapping[sp.Expr, float], time: float, energy: float) -> Case:
    """q = L q̃, t = τ t̃, energies times ε: T̃ = ε T(L q̃, (L/τ) q̃'), Ṽ = ε V, D̃ = ε D/τ · τ, Q̃ = ε L Q."""
    system = case.system
    marks = {q: sp.Symbol(f"mark_{i}") for i, q in enumerate(system.coordinates)}
    speeds = {q.diff(t): sp.Symbol(f"speed_{i}") for i, q in enumerate(system.coordinates)}
    back = {marks[q]: sp.Float(lengths[q]) * q for q in marks}
    back |= {speeds[q.diff(t)]: sp.Float(lengths[q] / time) * q.diff(t) for q in marks}

    def new(expression, factor=1.0):
        return sp.Float(factor) * sp.sympify(expression).doit().subs(speeds).subs(marks).subs(back)

    other = vn.System(
        system.coordinates,
        new(system.kinetic_energy, energy),
        new(system.potential_energy, energy),
        forces={q: new(f, energy * lengths[q]) for q, f in system.forces.items()},
        dissipation=new(system.dissipation, energy * time),
        constraints=[replace(h, expression=new(h.expression)) for h in system.constraints],
        parameters=system.parameters,
        inputs=system.inputs,
        name="in other units",
    )
    at = {key: _rescaled_value(key, value, lengths, time) for key, value in case.point.items()}
    return replace(case, what=f"{case.what}, other units", system=other, at=at)


def _rescaled_value(key: sp.Expr, value: float, lengths: Mapping[sp.Expr, float], time: float) -> float:
    if isinstance(key, sp.Derivative):
        return value / lengths[key.args[0]] * time
    return value / lengths.get(key, 1.0)


def spelled(seed: int) -> Case:
    """Any of the cases with energies expanded or in half angles, or in mixed coordinates."""
    draw = Draw(seed, "spelled")
    names = sorted(MIXABLE)
    case = MIXABLE[names[seed % len(names)]](draw.whole(0, 500))
    if not isinstance(case.system, vn.System) or len(case.system.coordinates) > 3:
        return spelled(seed + 1000)
    way = draw.whole(0, 2)
    if way == 2 and _plain(case) and case.truth != REFUSED:
        return mixed_coordinates(case, draw)
    change = (sp.expand, lambda e: sp.expand(sp.expand_trig(e)))[way % 2]
    system = replace(
        case.system,
        kinetic_energy=change(case.system.kinetic_energy.doit()),
        potential_energy=change(case.system.potential_energy),
    )
    return replace(case, what=f"{case.what}, spelled otherwise", system=system)


MIXABLE |= {
    "holonomic": holonomic,
    "drifting": drifting,
    "feedback": feedback,
    "steady": steady,
    "nonholonomic": nonholonomic,
    "critical": critical,
    "servo": servo,
    "timed": timed,
}

KINDS: dict[str, Callable[[int], Case]] = {
    "holonomic": holonomic,
    "drifting": drifting,
    "feedback": feedback,
    "timed": timed,
    "steady": steady,
    "nonholonomic": nonholonomic,
    "corners": corners,
    "critical": critical,
    "mixed": mixed,
    "servo": servo,
    "units": units,
    "spelled": spelled,
}


def make(kind: str, seed: int) -> Case:
    """The case of a kind and a seed; one that cannot be decided by its own calculation is drawn again."""
    for again in range(50):
        try:
            return KINDS[kind](seed + 10_000 * again)
        except ValueError:
            continue
    raise ValueError(f"no case of kind {kind!r} with seed {seed}")
