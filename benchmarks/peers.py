"""What a user does today with SymPy and SciPy alone, on the models of `benchmarks.models`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod

from .models import Model


def sympy_derivation(model: Model) -> LagrangesMethod:
    """Lagrange's equations with multipliers, as SymPy derives them."""
    method = LagrangesMethod(
        model.kinetic_energy - model.potential_energy,
        model.coordinates,
        hol_coneqs=list(model.holonomic.values()),
        nonhol_coneqs=list(model.nonholonomic.values()),
    )
    method.form_lagranges_equations()
    return method


def lambdified_accelerations(model: Model, method: LagrangesMethod) -> Callable:
    """The function (q, qdot) -> qddot: the bordered system in one `lambdify`, solved by NumPy.

    [M, -J^T; J, 0] (qddot, lambda) = right side, without the trivial rows qdot = qdot of SymPy's full matrix.
    """
    n = len(model.coordinates)
    matrix, forcing = method.mass_matrix_full[n:, n:], method.forcing_full[n:, :]
    symbols = (*model.coordinates, *model.velocities, *model.parameters)
    evaluate = sp.lambdify(symbols, (matrix, forcing), "numpy", cse=True)
    numbers = tuple(model.parameters.values())

    def accelerations(state: np.ndarray) -> np.ndarray:
        A, b = evaluate(*state, *numbers)
        return np.linalg.solve(A, b)[:n, 0]

    return accelerations


@dataclass(frozen=True)
class BorderedEquations:
    """The index-1 equations in plain symbols: matrix (qddot, lambda) = right_side."""

    q: sp.Matrix  # (n, 1)
    v: sp.Matrix  # (n, 1), qdot
    matrix: sp.Matrix  # (n + m, n + m)
    right_side: sp.Matrix  # (n + m, 1)
    energy: sp.Expr  # T + V
    residuals: list  # f, then phi, (m,)


def direct_derivation(model: Model, gain: float = 10.0) -> BorderedEquations:
    """M qddot + h = J^T lambda by hand, for the user who finds `LagrangesMethod` slow; k is the gain.

    holonomic     J qddot + gamma + 2 k f' + k^2 f = 0,
    nonholonomic  J qddot + gamma + k phi = 0.
    M may be singular, the bordered matrix [M, -J^T; J, 0] may not.
    """
    q, v, plain = _plain_symbols(model)
    T, V = plain(model.kinetic_energy), plain(model.potential_energy)
    f, phi = (_column(map(plain, part.values())) for part in (model.holonomic, model.nonholonomic))
    M, h = _lagrange(T, V, q, v)
    fdot = f.jacobian(q) * v
    rates = fdot.col_join(phi)
    J, gamma = rates.jacobian(v), rates.jacobian(q) * v
    feedback = (2 * gain * fdot + gain**2 * f).col_join(gain * phi)
    matrix = M.row_join(-J.T).col_join(J.row_join(sp.zeros(len(rates))))
    return BorderedEquations(q, v, matrix, (-h).col_join(-gamma - feedback), T + V, [*f, *phi])


@dataclass(frozen=True)
class BorderedSystem:
    """The same in numbers, as functions of the state (q, qdot)."""

    derivative: Callable  # t, state (2n,) -> (qdot, qddot)
    energy: Callable  # state (2n,) or (2n, samples) -> T + V
    residuals: Callable  # state (2n,) or (2n, samples) -> f, then phi
    names: tuple  # of the residuals


def bordered_system(model: Model, gain: float = 10.0) -> BorderedSystem:
    """Lambdify `direct_derivation`; each right side is one call and one `numpy.linalg.solve`."""
    n, equations = len(model.coordinates), direct_derivation(model, gain)
    system, energy, residuals = (
        _numeric(model, equations, part)
        for part in ((equations.matrix, equations.right_side), equations.energy, equations.residuals)
    )

    def derivative(t: float, state: np.ndarray) -> np.ndarray:
        A, b = system(state)
        return np.concatenate((state[n:], np.linalg.solve(A, b)[:n, 0]))

    return BorderedSystem(derivative, energy, residuals, (*model.holonomic, *model.nonholonomic))


@dataclass(frozen=True)
class WheelRun:
    """One integration, with the errors taken over all accepted steps."""

    setup_seconds: float  # deriving and lambdifying
    seconds: float  # integrating
    energy_error: float  # max |E - E0|
    residuals: dict  # name -> max |f|
    evaluations: int
    times: np.ndarray  # (samples,)
    states: np.ndarray  # (2n, samples)


def scipy_wheel(
    model: Model,
    times: tuple = (0.0, 200.0),
    rtol: float = 1e-12,
    atol: float = 1e-12,
    gain: float = 10.0,
    method: str = "DOP853",
) -> WheelRun:
    """The wheel (or any other model) through `bordered_system` and SciPy's `solve_ivp`.

    The wheel is chaotic: beyond t of about 25 runs of different tolerance are different motions, and
    their cost and energy error scatter with them. Compare over [0, 20], or the medians over
    `models.nearby` starts.
    """
    began = perf_counter()
    system = bordered_system(model, gain)
    built = perf_counter()
    solution = solve_ivp(system.derivative, times, model.start, method=method, rtol=rtol, atol=atol)
    ended = perf_counter()
    if not solution.success:
        raise RuntimeError(f"{method} stopped at t = {solution.t[-1]:.6g}: {solution.message}")
    energy = system.energy(solution.y)
    worst = [float(np.abs(values).max()) for values in system.residuals(solution.y)]
    return WheelRun(
        setup_seconds=built - began,
        seconds=ended - built,
        energy_error=float(np.abs(energy - energy[0]).max()),
        residuals=dict(zip(system.names, worst, strict=True)),
        evaluations=solution.nfev,
        times=solution.t,
        states=solution.y,
    )


def _lagrange(T: sp.Expr, V: sp.Expr, q: sp.Matrix, v: sp.Matrix) -> tuple:
    """M = d2T/dqdot2 and h = (d2T/dqdot dq) qdot - dT/dq + dV/dq: free motion is M qddot + h = 0."""
    momentum = sp.Matrix([T]).jacobian(v).T
    return momentum.jacobian(v), momentum.jacobian(q) * v - sp.Matrix([T - V]).jacobian(q).T


def _plain_symbols(model: Model) -> tuple:
    """Columns of symbols for q and qdot, and the function that writes an expression in them."""
    n = len(model.coordinates)
    q, v = sp.Matrix(sp.symbols(f"q:{n}")), sp.Matrix(sp.symbols(f"v:{n}"))
    rates = dict(zip(model.velocities, v, strict=True))
    places = dict(zip(model.coordinates, q, strict=True))
    return q, v, lambda expression: sp.sympify(expression).subs(rates).subs(places)


def _column(entries: Iterable) -> sp.Matrix:
    entries = list(entries)
    return sp.Matrix(len(entries), 1, entries)


def _numeric(model: Model, equations: BorderedEquations, expressions: object) -> Callable:
    """Lambdify with common subexpressions and the model's numbers: a function of the state alone."""
    symbols = (*equations.q, *equations.v, *model.parameters)
    evaluate = sp.lambdify(symbols, expressions, "numpy", cse=True)
    numbers = tuple(model.parameters.values())
    return lambda state: evaluate(*state, *numbers)
