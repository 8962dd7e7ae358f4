"""Release from constraints: their reactions as inputs, normal λ and tangential μ (Khusanov 2020, after (6)).

    R_i = Σ_s λ_s ∂ψ_s/∂q̇_i + Σ_ν μ_ν Σ_j g_ij K_jν,     KᵀR = (A μ, λ + B μ),  A = K_tᵀ g K_t,  B = K_nᵀ g K_t

The metric g is a choice: "identity" as in the paper (it depends on the units of the coordinates), "kinetic" g = M, or
"decoupling" g = (∂e/∂q̇)ᵀ(∂e/∂q̇), for which A is the unit matrix and B = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, mechanics
from vinculum.derivation.mechanics.sample_states import generic_states
from vinculum.derivation.quasi.characteristics import branch_state, build_characteristics
from vinculum.derivation.quasi.chart import Chart, chart
from vinculum.describe import Constraint, Holonomic, Nonholonomic, Servo, System
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.graph import substitute, to_sympy, vector
from vinculum.names import name_of, suggestion
from vinculum.units.given import numbers_in_si

METRICS = ("identity", "kinetic", "decoupling")


def release(
    system: System,
    characteristics: Mapping[sp.Expr, sp.Expr],
    metric: str = "identity",
    *,
    exact: bool = False,
    at: Mapping[sp.Expr, float] | None = None,
) -> System:
    """The system with the reactions of its constraints as inputs: mu_<e> tangential, lambda_<constraint> normal.

    With ``exact`` the constraints stay, their normal reactions follow from them, and only the tangential ones are
    inputs. Otherwise the constraints are gone: the parameters of release ξ = ψ(q, q̇, t) move under λ and μ.
    """
    at = None if at is None else numbers_in_si(at, dimensions_of(system), "Invalid state at=")
    bare = without_actuators(system)
    terms = mechanics(bare)
    at_chart = chart_of(terms, characteristics, None, at)
    mu = [sp.Symbol(f"mu_{name_of(e)}") for e in characteristics]
    forces = dict(zip(mu, tangential(terms, at_chart, metric).T, strict=True))
    if not exact:
        forces |= dict(zip(map(normal_reaction, bare.constraints), terms.J, strict=True))
    return replace(
        bare,
        forces=with_inputs(bare, forces),
        inputs=(*bare.inputs, *forces),
        constraints=bare.constraints if exact else (),
        name=f"{system.name}, {'tangential reactions' if exact else 'released'}",
    )


def normal_reaction(constraint: Constraint) -> sp.Symbol:
    """The symbol of λ."""
    return sp.Symbol(f"lambda_{constraint.name}")


def without_actuators(system: System) -> System:
    """The system with ideal constraints in place of servos, without their inputs: the same motion, other reactions."""
    gone = dict.fromkeys(system.servo_inputs, sp.S.Zero)
    constraints = [
        (Nonholonomic if c.differentiations == 1 else Holonomic)(c.expression, c.name) if isinstance(c, Servo) else c
        for c in system.constraints
    ]
    return replace(
        system,
        constraints=constraints,
        inputs=system.free_inputs,
        forces={q: f.xreplace(gone) for q, f in system.forces.items()},
        dissipation=system.dissipation.xreplace(gone),
    )


def chart_of(
    terms: Mechanics,
    characteristics: Mapping[sp.Expr, sp.Expr],
    release: Mapping[str, sp.Expr] | None,
    at: Mapping[sp.Expr, float] | None,
) -> Chart:
    """The chart of the characteristics."""
    of = build_characteristics(terms, characteristics, release, None, at, generic_states(terms, wanted=1))
    return chart(of, [branch_state(of, at)])


def metric_matrix(terms: Mechanics, at: Chart, metric: str) -> np.ndarray | None:
    """g as a matrix of nodes of the chart; None is the unit matrix."""
    if metric not in METRICS:
        near = suggestion(metric, METRICS)
        raise ModelError("Unknown metric", [f"{metric!r}.{near} Use one of {', '.join(METRICS)}."])
    if metric == "identity":
        return None
    slopes = at.of.slopes
    return at.seen(terms.M if metric == "kinetic" else matrix_product(slopes.T, slopes))


def tangential(terms: Mechanics, at: Chart, metric: str) -> np.ndarray:
    """(n, k) directions g K_t of the tangential reactions, as nodes of (q, q̇, t)."""
    K_t = at.K[:, : at.of.free]
    if metric == "decoupling":
        return at.of.slopes[: at.of.free].T
    g = metric_matrix(terms, at, metric)
    directions = K_t if g is None else matrix_product(g, K_t)
    plain = substitute(list(directions.ravel()), dict(zip(at.of.e, at.of.functions, strict=True)))
    return vector(plain).reshape(directions.shape)


def with_inputs(system: System, directions: Mapping[sp.Symbol, Sequence]) -> dict[sp.Expr, sp.Expr]:
    """The forces of the system with those of the new inputs added."""
    return {
        q: system.forces.get(q, sp.S.Zero) + sum(u * to_sympy(b[i]) for u, b in directions.items())
        for i, q in enumerate(system.coordinates)
    }


def release_matrices(
    system: System,
    characteristics: Mapping[sp.Expr, sp.Expr],
    metric: str = "identity",
    *,
    release: Mapping[str, sp.Expr] | None = None,
    at: Mapping[sp.Expr, float] | None = None,
) -> tuple[sp.Matrix, sp.Matrix]:
    """A = K_tᵀ g K_t and B = K_nᵀ g K_t as SymPy matrices of (q, e, t)."""
    at = None if at is None else numbers_in_si(at, dimensions_of(system), "Invalid state at=")
    terms = mechanics(without_actuators(system))
    at_chart = chart_of(terms, characteristics, release, at)
    k = at_chart.of.free
    g = metric_matrix(terms, at_chart, metric)
    lowered = at_chart.K if g is None else matrix_product(g, at_chart.K)
    products = matrix_product(at_chart.K.T, lowered[:, :k])
    values = sp.Matrix(*products.shape, [sp.simplify(to_sympy(node)) for node in products.ravel()])
    return values[:k, :], values[k:, :]


__all__ = ["METRICS", "release", "release_matrices", "without_actuators"]
