"""Reactions and controls that hold constraints and make their perturbations decay (form "program").

For ẋ = F + B N and constraints of vector relative degree {r_i} (see `program_degrees`),

    ẏ_{i, r_i - 1} = a_i + p_i N = -c_i          =>          P N = h,    h = -a - c.

With as many inputs as constraints, N = P⁻¹ h. With more inputs, the solution closest to a preferred N₀ in the norm
Σ w_k (N_k - N₀_k)² is chosen, W = diag(1/w):

    N = N₀ + W Pᵀ (P W Pᵀ)⁻¹ (h - P N₀),

which for N₀ arbitrary is the general solution (15) of Mukharlyamov and Kirgizbaev. The corrections c come from the
perturbation equations prescribed in `derive` or from the stabilization chosen in `simulate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.forms.form import Form, register
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.derivation.program.affine_form import to_affine
from vinculum.derivation.program.dynamic_extension import regularize
from vinculum.derivation.program.perturbation import Prescription, Rates, prescribe
from vinculum.derivation.program.program_equations import ProgramEquations
from vinculum.describe import System
from vinculum.describe.affine import AffineSystem
from vinculum.errors import DomainError, ModelError
from vinculum.graph import ONE, ZERO, Converter, Node, constant, symbol, symbols
from vinculum.graph.place import in_order
from vinculum.names import listed, name_of, suggestion
from vinculum.options import option


@register
@dataclass(frozen=True)
class Program(Form[ProgramEquations]):
    """The inputs of an `AffineSystem` that hold its constraints and make their perturbations decay with ``rates``.

    ``rates`` is one rate, one for each constraint, or a `Binomial`, `LinearPerturbation`, `Perturbation`. Where inputs
    outnumber constraints, ``free`` {input: expression} is approached as nearly as the constraints allow, in the norm
    given by ``weights`` {input: number}. The reactions of a `System` become its inputs.
    """

    name = "program"
    summary = "ẋ = F + B N with the unknown inputs N that hold the constraints."

    rates: Rates | Prescription | None = option(  # noqa: RUF009  # a field
        "prescription", "Decay of deviations from the constraints: one rate, or one for each constraint."
    )
    free: Mapping[sp.Expr, sp.Expr] | None = option(
        "input laws", "What inputs should approach where the constraints leave a choice."
    )
    weights: Mapping[sp.Expr, float] | None = option("input weights", "Weights of the inputs in that choice.")
    at: Mapping[sp.Expr, float] | None = option("state", "A state near which relative degrees are determined.")

    def derive(self, system: AffineSystem | System) -> ProgramEquations:
        """Relative degrees, decoupling matrix P (with integrators where it is singular), perturbations, free part."""
        stated = to_affine(system) if isinstance(system, System) else system
        around = None if self.at is None else _numbers(stated, self.at)
        found, chains, points, extension = regularize(stated, around)
        nodes = found.nodes
        known = [*nodes.x, *nodes.parameters, nodes.time]
        equations = ProgramEquations(
            form=self,
            system=found,
            chains_found=tuple(chains),
            prescribed=prescribe(self.rates, chains, known, points, [*nodes.x, nodes.time]),
            preferred=_preferred(found, self.free or {}, known),
            weights=_weights(found, self.weights or {}),
            points=tuple(points),
            extension=extension,
        )
        return equations.at_reference()


def _numbers(system: AffineSystem, at: Mapping[sp.Expr, float]) -> dict[Node, float]:
    known = {*system.states, system.time}
    problems = [
        f"{name_of(key)} is not a state.{suggestion(name_of(key), map(name_of, known))}"
        for key in at
        if key not in known
    ]
    if problems:
        raise ModelError("Invalid point `at`", problems)
    return {symbol(key): float(value) for key, value in at.items()}


def _preferred(system: AffineSystem, free: Mapping[sp.Expr, sp.Expr], known: list[Node]) -> tuple[Node, ...]:
    """N₀: zero for inputs that the user did not mention."""
    problems = _strange_inputs(system, free)
    if free and len(system.inputs) <= len(system.constraints):
        problems.append("there are as many inputs as constraints, so none is free. Leave out free, or add inputs.")
    nodes = {u: Converter()(law) for u, law in free.items()}
    unknown = [s.value for s in in_order(symbols(nodes.values()) - set(known))]
    if unknown:
        problems.append(f"{listed(unknown)} is unknown. Free inputs may contain states, time and parameters.")
    if problems:
        raise ModelError("Invalid free part of the inputs", problems)
    return tuple(nodes.get(u, ZERO) for u in system.inputs)


def _strange_inputs(system: AffineSystem, given: Mapping[sp.Expr, Any]) -> list[str]:
    """What is wrong with names that are not inputs; an input may have become a state."""
    states, problems = set(map(name_of, system.states)), []
    for u in (u for u in given if u not in system.inputs):
        known = ", ".join(map(name_of, system.inputs))
        moved = f" A dynamic extension made it a state; the inputs are {known}." if name_of(u) in states else ""
        near = suggestion(name_of(u), map(name_of, system.inputs))
        problems.append(f"{name_of(u)} is not an input.{moved or near}")
    return problems


def _weights(system: AffineSystem, weights: Mapping[sp.Expr, float]) -> tuple[Node, ...]:
    """1/w of every input."""
    problems = _strange_inputs(system, weights)
    problems += [f"the weight of {name_of(u)} is {w}; it must be positive." for u, w in weights.items() if not w > 0]
    if problems:
        raise ModelError("Invalid weights of the inputs", problems)
    return tuple(ONE / constant(float(weights[u])) if u in weights else ONE for u in system.inputs)


def decoupling(equations: ProgramEquations, values: Values) -> dict[str, Any]:
    """P and h of P N = h and a basis of the free directions ker P at a state, as numbers."""
    right = [-chain.a - c for chain, c in zip(equations.chains_found, equations.law, strict=True)]
    try:
        matrix, h = numbers(equations.P, values), numbers(right, values)
    except DomainError as error:
        raise ModelError("Invalid state", [str(error)]) from error
    _, singular, vectors = np.linalg.svd(matrix)
    return {"P": matrix, "h": h, "free directions": vectors[int(np.sum(singular > 1e-12 * singular[0])) :].T}
