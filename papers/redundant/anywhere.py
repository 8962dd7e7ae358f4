"""A motion from a start off the constraints, which `simulate` would refuse: the equations alone, nothing stabilized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from vinculum.simulation.problem.problem import build_problem


def motion_anywhere(equations: Any, start: Mapping[sp.Expr, float], end: float, method: str) -> tuple[dict, float]:
    """The state at the end, and the greatest change of a constraint on the way: F is an integral."""
    problem, x = build_problem(equations, dict(start), 0.0, equations.laws, dict(equations.system.parameters), [])
    rates, slopes = problem.compiled(problem.nodes.rates), problem.compiled(tuple(problem.nodes.jacobian().ravel()))
    jacobian = {"jac": lambda t, x: slopes(t, x, problem.values).reshape(len(x), len(x))} if method == "Radau" else {}
    run = solve_ivp(
        lambda t, x: rates(t, x, problem.values), (0, end), x, method=method, rtol=1e-9, atol=1e-11, **jacobian
    )
    residual = problem.compiled(problem.nodes.residuals[: len(equations.system.constraints)])
    kept = np.array([residual(0.0, state, problem.values) for state in run.y.T])
    return dict(zip(equations.states, run.y[:, -1], strict=False)), float(np.abs(kept - kept[0]).max())
