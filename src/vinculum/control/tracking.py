"""Laws that hold servo constraints on a mechanism with other constraints: closed loops, mimic joints, rolling.

    M q̈ + h = Q + B u + Jᵀ λ,    J q̈ + γ = 0,    ë + 2ζω ė + ω² e = 0 for every residual e of a servo constraint

With as many torques u as servo constraints, and as many conditions as coordinates, the last two rows determine q̈, and
the first one then determines u together with the reactions λ of the other constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.lagrange import Mechanics, mechanics, product
from vinculum.derivation.mechanics.sample_states import Samples, generic_states, stacked
from vinculum.describe import Servo, System
from vinculum.errors import ConstraintError, Finding, SingularError, VinculumError, Word, call
from vinculum.graph import ZERO, GraphExpression, SingularMatrix, solve, symbol, vector
from vinculum.names import listed, name_of


def tracking_laws(
    system: System, servos: Sequence[Servo], frequency: float, damping: float, at: Mapping[sp.Expr, Any] | None
) -> dict[sp.Expr, sp.Expr]:
    """{torque: expression} with which the residual of every servo constraint decays.

    Pivots are chosen at the configuration ``at``, or at states on the path.
    """
    terms = mechanics(replace(system, constraints=[*system.constraints, *servos]))
    samples = [_configuration(terms, at)] if at is not None else _on_path(terms)
    decay = [2 * damping * frequency * rate + frequency**2 * e for e, rate in terms.chains[-len(servos) :]]
    pulls = vector([*[ZERO] * len(system.constraints), *decay])
    accelerations = _solved(terms, terms.J, -(terms.gamma + pulls), samples)
    acting = _solved(terms, terms.directions, product(terms.M, accelerations) + terms.h - terms.Q, samples)
    torques = terms.without_corrections(list(acting[-len(servos) :]))
    return {u: GraphExpression(tau) for u, tau in zip(terms.system.servo_inputs, torques, strict=True)}


def _configuration(terms: Mechanics, at: Mapping[sp.Expr, Any]) -> dict[Any, float]:
    nodes, system = terms.system.nodes, terms.system
    values = dict.fromkeys([*nodes.v, *nodes.inputs, nodes.time], 0.0)
    values |= dict(zip(nodes.parameters, map(float, system.parameters.values()), strict=True))
    named = {key if isinstance(key, str) else name_of(key): float(value) for key, value in at.items()}
    missing = [q for q in system.coordinates if name_of(q) not in named]
    if missing:
        raise VinculumError(f"at has no value of {listed(missing)}. Give one for every coordinate.")
    return values | {symbol(q): named[name_of(q)] for q in system.coordinates}


def _on_path(terms: Mechanics) -> Samples:
    found = generic_states(terms)
    if not found:
        names = listed([c.name for c in terms.system.constraints if isinstance(c, Servo)])
        advice = ("Check the path, or give a configuration near it: ", call("computed_torque", at=Word("{...}")), ".")
        raise ConstraintError(Finding(f"No state was found on the path ({names}).", advice))
    return found


def _solved(terms: Mechanics, A: np.ndarray, right: np.ndarray, samples: Samples) -> np.ndarray:
    try:
        return solve(A, right[:, None], stacked(A, samples)).solution[:, 0]
    except SingularMatrix as error:
        pose = ", ".join(f"{name_of(q)} = {samples[0][symbol(q)]:.6g}" for q in terms.system.coordinates)
        advice = (
            "Choose other joints, or another configuration: ",
            call("computed_torque", at={Word("coordinate"): Word("value")}),
            ".",
        )
        raise SingularError(Finding(f"Singular configuration: {pose}.", advice)) from error
