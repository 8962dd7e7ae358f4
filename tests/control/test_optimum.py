"""The law is the optimum, found here by minimizing the cost, also where a decaying mode is out of reach."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn


def random_plant(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """F = [[A₁, C], [0, A₂]] with A₂ decaying and H = (b, 0), in mixed coordinates; and the number of lost modes."""
    random = np.random.default_rng(seed)
    up, down = 1 + seed % 2, 2
    F, H = random.normal(size=(up + down, up + down)), np.zeros((up + down, 1))
    F[down:, :down] = 0.0
    F[down:, down:] = -np.diag(random.uniform(0.2, 1.0, up))
    H[:down, 0] = random.normal(size=down)
    S = random.normal(size=F.shape) + 2 * np.eye(len(F))
    return S @ F @ np.linalg.inv(S), S @ H, up


def cost(F: np.ndarray, H: np.ndarray, Q: np.ndarray, R: np.ndarray, K: np.ndarray) -> float:
    """Σ over unit starts of ∫(ηᵀQη + uᵀRu) dt with u = K η; infinite if the loop does not decay."""
    A = F + H @ K
    if np.linalg.eigvals(A).real.max() >= 0:
        return np.inf
    return float(np.trace(scipy.linalg.solve_continuous_lyapunov(A.T, -(Q + K.T @ R @ K))))


@pytest.mark.parametrize("seed", range(6))
def test_no_gain_costs_less(seed):
    F, H, lost = random_plant(seed)
    n = len(F)
    Q, R = np.diag(np.random.default_rng(seed).uniform(0.5, 2.0, n)), np.array([[0.7]])
    law = vn.stabilize(vn.linear.model(F, H), Q, R)
    assert sum(mode.lost for mode in law.modes) == lost
    start = law.gain * 1.3 + 0.1 * np.abs(law.gain).max()
    start = start if np.isfinite(cost(F, H, Q, R, start)) else law.gain * 1.05
    best = scipy.optimize.minimize(
        lambda k: cost(F, H, Q, R, k.reshape(1, n)), start.ravel(), method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000, "adaptive": True},
    )  # fmt: skip
    own = cost(F, H, Q, R, law.gain)
    assert own <= best.fun * (1 + 1e-9)
    assert best.fun == pytest.approx(own, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_law_for_the_reachable_part_alone_costs_more(seed):
    """The mode out of reach drives the others: a law that does not look at it is not the optimum."""
    F, H, lost = random_plant(seed)
    n, R = len(F), np.array([[0.7]])
    law = vn.stabilize(vn.linear.model(F, H), np.eye(n), R)
    T = np.linalg.svd(np.hstack([np.linalg.matrix_power(F, k) @ H for k in range(n)]))[0]  # reachable states first
    F_t, H_t = T.T @ F @ T, T.T @ H
    m = n - lost
    X = scipy.linalg.solve_continuous_are(F_t[:m, :m], H_t[:m], np.eye(m), R)
    part = -np.linalg.solve(R, H_t[:m].T @ X) @ T.T[:m]
    assert cost(F, H, np.eye(n), R, law.gain) < cost(F, H, np.eye(n), R, part) * (1 - 1e-6)


# -- a momentum that no input changes --------------------------------------------------------------------------------


def carts(seed: int, grounded: bool) -> vn.System:
    """Carts in mixed coordinates with springs between them, a drive between two carts or against the ground.

    The servo asks for a given speed of the center of mass. Between two carts the drive cannot change the momentum
    p = Σ m v: dp/dt = 0 exactly, but Σ m_i (1/m_i) - Σ m_j (1/m_j) is zero only to rounding.
    """
    random = np.random.default_rng([seed, grounded])
    n = 2 + seed % 3
    q, u = [dynamicsymbols(f"q{i}") for i in range(n)], sp.Symbol("u")
    S = sp.Matrix(n, n, lambda i, j: 1 if i == j else int(random.integers(-1, 2)) if i > j else 0)
    X = list(S * sp.Matrix(q))
    masses = [round(float(m), 3) for m in random.uniform(0.1, 9.0, n)]
    T = sum(m * e.diff() ** 2 for m, e in zip(masses, X, strict=True)) / 2
    V = sum(float(k) * (a - b) ** 2 for k, a, b in zip(random.uniform(0.5, 3, n - 1), X[1:], X[:-1], strict=True)) / 2
    work = u * (X[0] - (0 if grounded else X[-1]))
    total = sum(m * e.diff() for m, e in zip(masses, X, strict=True))
    servo = vn.Servo(total - round(float(random.uniform(0.5, 2)), 2), through=[u], name="momentum")
    return vn.System(q, T, V, forces={e: sp.diff(work, e) for e in q}, inputs=[u], constraints=[servo])


@pytest.mark.parametrize("seed", range(12))
def test_a_momentum_is_not_held_by_an_inner_drive(seed):
    inner, system = carts(seed, grounded=False), carts(seed, grounded=True)
    with pytest.raises(vn.VinculumError, match="servo constraint `momentum` cannot be held through u"):
        vn.derive(inner)
    equations = vn.derive(system)
    start = dict.fromkeys(system.coordinates, 0.0)
    motion = vn.simulate(equations, start, (0, 1))
    assert motion.outcome
    held = system.constraints[0].expression
    assert np.abs(motion[held]).max() < 1e-9
