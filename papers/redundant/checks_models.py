"""What shows the errata of the models, (5) to (15) and (27): accelerations against the form with multipliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import sympy as sp

import vinculum as vn
from papers.record import Evidence, evidence
from papers.redundant import ball_and_beam as bb
from papers.redundant import linkages
from papers.redundant.scalar import Scalar, states
from papers.truth import numbers, relative


def trials(freedom: int = 1) -> Iterator[Scalar]:
    """Random states of a four-bar linkage and of a five-bar robot on a turntable, or of the robot alone."""
    start = {linkages.crank: 0.5, linkages.coupler: 1.0, linkages.rocker: 1.5}
    if freedom == 1:
        yield from states(linkages.four_bar(), [linkages.coupler, linkages.rocker], start)
    yield from states(linkages.five_bar(), linkages.phi, linkages.SHAPE)


def compared(
    measure: str,
    printed: Callable[[Scalar], np.ndarray],
    corrected: Callable[[Scalar], np.ndarray],
    truth: Callable[[Scalar], np.ndarray],
    freedom: int = 1,
) -> Evidence:
    """The least error of the printed form and the greatest of the corrected one over all states."""
    wrong = [relative(printed(state), truth(state)) for state in trials(freedom)]
    right = [relative(corrected(state), truth(state)) for state in trials(freedom)]
    where = "four-bar and five-bar" if freedom == 1 else "five-bar on a turntable"
    return Evidence(f"{measure}; {where}, {len(wrong)} random states", min(wrong), max(right))


def accelerations(state: Scalar) -> np.ndarray:
    """r̈ with multipliers."""
    return state.truth()[0][state.r]


# -- (5), (7), (10) to (13) ------------------------------------------------------------------------------------------


def solvable_for_accelerations() -> Evidence:
    """(6) is finite: no acceleration can be expressed from it; (5) gives all three."""
    system = bb.system()
    second = [q.diff().diff() for q in system.coordinates]
    lever = sp.Matrix([system.constraints[0].expression]).jacobian(second)
    mass = sp.hessian(system.kinetic_energy, system.velocities)
    missing = [len(second) - x.rank() for x in (lever, mass)]
    return evidence("accelerations of the ball and beam that cannot be expressed", missing, exact=True)


def distance_of_the_pins() -> Evidence:
    """A and B of the lever at consistent positions: their distance against l."""
    errors = []
    (x_A, y_A), (x_B, y_B) = bb.PINS
    for angle in (-0.6, 0.3, 0.9):
        start = vn.consistent_state(bb.with_torque(), {bb.r: 0.2, bb.theta: angle}, guess={bb.alpha: 0.08 * angle})
        known = bb.DATA | {q: start[q] for q in (bb.r, bb.theta, bb.alpha)}
        pins = [sp.sqrt((x_A - x_B) ** 2 + (y - y_B) ** 2) for y in (x_B, y_A)]
        errors.append(np.abs(numbers(pins, known) / bb.DATA[bb.l] - 1))
    return Evidence(
        "distance AB against l, three positions", float(np.min(errors, axis=0)[0]), float(np.max(errors, axis=0)[1])
    )


def variations() -> Evidence:
    """Σ b δq over the printed and the right range of μ, for δq that the constraints allow; n = 2, m = 1."""
    start = {bb.r: 0.2, bb.theta: 0.3, bb.alpha: 0.05}
    wrong, right = [], []
    for state in states(bb.system(), [bb.alpha], start):
        b, allowed, n, m = state.F[0], state.P @ state.rates, 2, 1
        independent = b[:n] @ allowed[:n]
        sums = [independent + b[first - 1 : n + m] @ allowed[first - 1 : n + m] for first in (n - m + 1, n + 1)]
        wrong.append(abs(sums[0] / independent))
        right.append(abs(sums[1] / independent))
    return Evidence(
        "b δq for allowed variations of the ball and beam, relative to its first part", min(wrong), max(right)
    )


def inertia_forces(state: Scalar) -> np.ndarray:
    """E = d/dt T_q̇ - T_q - Q with the accelerations of the form with multipliers: it is Fᵀλ."""
    return state.F.T @ state.truth()[1]


def multipliers_by_range() -> Evidence:
    return compared(
        "E_σ over the printed and the right range of σ against F_sᵀλ of (5)",
        lambda state: inertia_forces(state)[: len(state.s)],
        lambda state: inertia_forces(state)[state.s],
        lambda state: state.F[:, state.s].T @ state.truth()[1],
    )


def multipliers_of_10() -> Evidence:
    return compared(
        "λ of (10), which is E_s, against the multipliers of (5)",
        lambda state: state.truth()[1],
        lambda state: state.F[:, state.s].T @ state.truth()[1],
        lambda state: inertia_forces(state)[state.s],
    )


def following_velocities() -> Evidence:
    """B ṙ against the velocities with the numbers σ = 1 ... m, as printed, and n + 1 ... n + m."""

    def all_velocities(state: Scalar) -> np.ndarray:
        return numbers(state.system.velocities, state.state)

    return compared(
        "the velocities that B ṙ gives",
        lambda state: all_velocities(state)[: len(state.s)],
        lambda state: all_velocities(state)[state.s],
        lambda state: state.B @ state.rates,
    )


def reduced_energy() -> Evidence:
    """T* of (13) with both forms of a* against T(q, ṙ, B ṙ)."""

    def literal(state: Scalar) -> np.ndarray:
        r, s, B, a = state.r, state.s, state.B, state.a
        mixed = a[np.ix_(r, s)] @ B
        quadratic = np.einsum("mg,mg,mr->gr", a[np.ix_(s, r)], B, B)  # a_μγ B_μγ B_μρ
        return a[np.ix_(r, r)] + quadratic + mixed.T + B.T @ a[np.ix_(s, s)] @ B

    def energy(state: Scalar, a: np.ndarray) -> np.ndarray:
        still = dict.fromkeys(state.system.velocities, 0.0)
        T0 = numbers([state.system.kinetic_energy], dict(state.state) | still)
        return state.rates @ a @ state.rates / 2 + state.reduced()[1] @ state.rates + T0

    return compared(
        "T* against T(q, ṙ, Bṙ)",
        lambda state: energy(state, literal(state)),
        lambda state: energy(state, state.reduced()[0]),
        lambda state: numbers([state.system.kinetic_energy], state.state),
    )


# -- (15), (27) ------------------------------------------------------------------------------------------------------


def corrected_15(state: Scalar) -> np.ndarray:
    """r̈ from the scalar form, corrected."""
    A, _ = state.reduced()
    dA, da1 = state.slopes()
    r, s, B, v = state.r, state.s, state.B, state.rates
    along = dA[:, :, r] + np.einsum("lrm,mj->lrj", dA[:, :, s], B)
    free = dA[:, :, r] + np.einsum("rjm,ml->rjl", dA[:, :, s], B)
    gyroscopic = da1[:, r] - da1[:, r].T + da1[:, s] @ B - (da1[:, s] @ B).T
    quadratic = np.einsum("lrj,r,j->l", along, v, v) - np.einsum("rjl,r,j->l", free, v, v) / 2
    force = state.Q - state.W
    return np.linalg.solve(A, force[r] + B.T @ force[s] - quadratic - gyroscopic @ v)


def literal_15(state: Scalar) -> np.ndarray:
    """The same as printed, with its free index i read as l."""
    A, _ = state.reduced()
    dA, da1 = state.slopes()
    r, s, B, v = state.r, state.s, state.B, state.rates
    quadratic = np.einsum("lrj,r,j->l", dA[:, :, r], v, v) + np.einsum("lrm,mj,l,j->l", dA[:, :, s], B, v, v)
    for l in range(len(r)):
        shared = dA[l, :, r[l]] + dA[l][:, s] @ B[:, l]  # of a*_lj, summed with q̇_r q̇_j
        quadratic[l] -= v.sum() * (shared @ v) / 2
    gyroscopic = da1[:, r] - da1[:, r].T + B.sum(axis=0)[:, None] * da1[:, r] - (da1[:, s] @ B).T
    force = state.Q - state.W
    return np.linalg.solve(A, force[r] + B.T @ force[s] - quadratic - gyroscopic @ v)


def scalar_form() -> Evidence:
    """Two degrees of freedom: with one, the exchanged indices are the same."""
    return compared("accelerations of (15) against multipliers", literal_15, corrected_15, accelerations, freedom=2)


def shulgin(state: Scalar, sign: float) -> np.ndarray:
    """d/dt T*_ṙ - T*_r = Q_r + Bᵀ(± T*_s + Q_s), the force of W in Q."""
    A, _ = state.reduced()
    dA, da1 = state.slopes()
    v = state.rates
    T_q = np.einsum("rjk,r,j->k", dA, v, v) / 2 + v @ da1  # of the parts of T* with ṙ
    force = state.Q - state.W
    moving = (np.einsum("lrk,r->lk", dA, v) + da1)[:, state.order] @ state.P @ v
    right = force[state.r] + T_q[state.r] + state.B.T @ (sign * T_q[state.s] + force[state.s])
    return np.linalg.solve(A, right - moving)


def vector_form() -> Evidence:
    return compared(
        "accelerations of (27) against multipliers",
        lambda state: shulgin(state, -1.0),
        lambda state: shulgin(state, 1.0),
        accelerations,
    )


def as_printed_14() -> tuple[str, float]:
    errors = [relative(shulgin(state, 1.0), accelerations(state)) for state in trials()]
    return "accelerations of (14) against multipliers", max(errors)


def dimensions() -> Evidence:
    """By how much the model is smaller than (1), (5), for m = 2: counted on the derived equations."""
    full, short = (vn.derive(linkages.four_bar(), form).dimension for form in ("multipliers", "shulgin"))
    m = len(linkages.four_bar().constraints)
    errors = [float(abs(full - short - saved)) for saved in (m, 2 * m)]
    return evidence("equations saved in the four-bar linkage, against the count of both models", errors, exact=True)
