"""The full nonlinear system with its feedback law, and with an observer in the loop if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import linearize
from vinculum.control.feedback import FeedbackLaw, controller_state, deviations, inputs_of, value_at
from vinculum.control.loop_matrices import loop_matrices
from vinculum.control.observer import Estimator
from vinculum.derivation import EquationsOfMotion, derive
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.names import gain_symbol, listed, name_of
from vinculum.units.given import numbers_in_si


def close_loop(
    equations: EquationsOfMotion,
    law: FeedbackLaw,
    estimator: Estimator | None = None,
    limits: Mapping[sp.Expr, float] | None = None,
    *,
    symbolic_gains: bool = False,
    anti_windup: bool = True,
) -> EquationsOfMotion:
    """The equations of motion with the inputs given by the law, which acts on the estimate if there is an estimator.

    ``limits`` {u: largest |u|}, numbers or "0.3 N*m", saturate the inputs. The plant is the full nonlinear
    system; only the law is linear. If the law was designed at other parameters, the loop has these parameters too,
    unless ``equations`` changes them.

    Integrators of the law do not wind up while a limit holds (``anti_windup``): what the limit takes from the input is
    fed back to them, so it decays at the rate ρ, the geometric mean of the closed loop's roots (back-calculation:
    Åström, Hägglund, Advanced PID Control, section 3.5),

        ż = B (y - y₀) + ρ Cᵀ (u - u_wanted)/|C|².

    With ``symbolic_gains`` the entries of K are parameters of the loop, with the values of the law: `gain_symbol` of an
    input and a state. A study varies them, `optimize` chooses them.
    """
    limits = numbers_in_si(limits or {}, dimensions_of(equations), "Invalid limits")
    _refuse_limits(law, limits)
    _refuse_unmeasured(law, estimator)
    gains = _gain_symbols(law) if symbolic_gains else None
    found = _laws(law, estimator, gains)
    laws = {u: _limited(expression, limits.get(u)) for u, expression in found.items()}
    over = {u: laws[u] - found[u] for u in limits} if anti_windup else {}
    extra = {} if estimator is None else _estimator_rates(estimator, laws)
    plant = _with_gains(_at_the_same_parameters(equations, law), law, gains)
    return replace(plant, laws=laws, extra=extra | _compensator_rates(law, over))


def _gain_symbols(law: FeedbackLaw) -> np.ndarray:
    """(inputs, states), zero where the law has no gain."""
    found = np.zeros(law.gain.shape, dtype=object)
    for place in np.argwhere(law.gain):
        i, k = map(int, place)
        found[i, k] = gain_symbol(law.linear.inputs[i], law.linear.states[k])
    return found


def _with_gains(equations: EquationsOfMotion, law: FeedbackLaw, gains: np.ndarray | None) -> EquationsOfMotion:
    """The equations with the gains among the parameters."""
    if gains is None:
        return equations
    values = {gains[i, k]: float(law.gain[i, k]) for i, k in np.argwhere(law.gain)}
    taken = [name_of(key) for key in values if key in equations.parameters]
    if taken:
        raise ModelError("Invalid closed loop", [f"{', '.join(taken)} is a parameter already. Rename it."])
    return derive(replace(equations.system, parameters={**equations.parameters, **values}), equations.form)


def estimated(linear: LinearModel) -> tuple[sp.Expr, ...]:
    """The symbols of the estimated perturbations, estimate_theta for theta."""
    return tuple(controller_state("estimate", s, linear) for s in linear.states)


def closed_model(law: FeedbackLaw, estimator: Estimator | None = None) -> LinearModel:
    """The linear model of the closed loop, for `stability`: F + HK, or with an observer the composite matrix.

    Where the law was designed for equations of motion it is the linear model of `close_loop` itself, so families of
    steady motions and conserved quantities are recognized; otherwise the roots alone decide.
    """
    linear = law.linear
    if isinstance(linear.equations, EquationsOfMotion) and not linear.closed:
        found = linearize(close_loop(linear.equations, law, estimator), _rest(law, estimator), drop=linear.dropped)
        if found.states == (*linear.states, *_extra_states(law, estimator)):
            return found
    return _by_matrices(law, estimator)


def _rest(law: FeedbackLaw, estimator: Estimator | None) -> Equilibrium:
    """The equilibrium or steady motion of the loop: the states of the controller and of the observer are zero."""
    at = law.linear.at
    values = {key: value for key, value in at.items() if key not in law.linear.inputs}
    return replace(at, values_by_symbol=values | dict.fromkeys(_extra_states(law, estimator), 0.0), others=())


def _by_matrices(law: FeedbackLaw, estimator: Estimator | None) -> LinearModel:
    linear = law.linear
    A = loop_matrices(law, estimator).A
    states = (*linear.states, *_extra_states(law, estimator))
    rows = {key: np.append(row, np.zeros(len(A) - len(row))) for key, row in linear.measured.items()}
    return replace(
        linear,
        system_matrix=A,
        states=states,
        inputs=(),
        input_matrix=np.zeros((len(A), 0)),
        measured=rows,
        closed=True,
        errors=None if linear.errors is None else _padded(linear.errors, len(A)),
        outputs={},
        mode_names={},
    )


def _padded(errors: np.ndarray, size: int) -> np.ndarray:
    """The errors of F within the matrix of the whole loop."""
    whole = np.zeros((size, size))
    whole[: len(errors), : len(errors)] = errors
    return whole


def _extra_states(law: FeedbackLaw, estimator: Estimator | None) -> tuple[sp.Expr, ...]:
    own = () if law.compensator is None else law.compensator.states
    return (*(() if estimator is None else estimator.symbols), *own)


def _laws(law: FeedbackLaw, estimator: Estimator | None, gains: np.ndarray | None = None) -> dict[sp.Expr, sp.Expr]:
    """u₀ + K η, or u₀ + K η̂, with the part of the compensator; K may be symbols."""
    if estimator is None:
        return inputs_of(law, deviations(law.linear, law.linear.states), gains)
    own = estimator.realization
    y = sp.Matrix(deviations(estimator.linear, estimator.outputs))
    return inputs_of(law, list(_matrix(own.P) * sp.Matrix(estimator.symbols) + _matrix(own.R) * y), gains)


def _estimator_rates(estimator: Estimator, laws: Mapping[sp.Expr, sp.Expr]) -> dict[sp.Expr, sp.Expr]:
    """ξ' = A ξ + B (u - u₀) + L (y - y₀), with the saturated inputs of the plant."""
    linear, own = estimator.linear, estimator.realization
    u = sp.Matrix([laws[key] - sp.Float(value_at(linear, key)) for key in linear.inputs])
    y = sp.Matrix(deviations(linear, estimator.outputs))
    rates = _matrix(own.A) * sp.Matrix(estimator.symbols) + _matrix(own.B) * u + _matrix(own.L) * y
    return dict(zip(estimator.symbols, rates, strict=True))


def _compensator_rates(law: FeedbackLaw, over: Mapping[sp.Expr, sp.Expr]) -> dict[sp.Expr, sp.Expr]:
    """ż = A z + B (y - y₀), and for integrators what limits take from the inputs."""
    own = law.compensator
    if own is None or not own.states:
        return {}
    y = sp.Matrix(deviations(law.linear, own.outputs))
    rates = _matrix(own.A) * sp.Matrix(own.states) + _matrix(own.B) * y
    found = dict(zip(own.states, rates, strict=True))
    limited = [law.linear.inputs.index(u) for u in over]
    for j, z in enumerate(own.states):
        C = own.C[limited, j]
        if not own.A[j].any() and C.any():
            back = sum(sp.Float(c) * taken for c, taken in zip(C, over.values(), strict=True))
            found[z] += sp.Float(_tracking_rate(law) / float(C @ C)) * back
    return found


def _tracking_rate(law: FeedbackLaw) -> float:
    """ρ, the geometric mean of the roots that are not zero."""
    sizes = np.abs(law.roots)
    return float(np.exp(np.log(sizes[sizes > 1e-9 * sizes.max()]).mean()))


def _matrix(array: np.ndarray) -> sp.Matrix:
    return sp.Matrix(*array.shape, [float(x) for x in array.ravel()])


def _at_the_same_parameters(equations: EquationsOfMotion, law: FeedbackLaw) -> EquationsOfMotion:
    """The plant at the parameters of the linear model. Parameters that the given plant has changed itself stay."""
    design = law.linear.equations
    if design is None:
        return equations
    at, plant, nominal = law.linear.at, equations.parameters, design.parameters
    chosen = {p: float(at[p]) for p in nominal if p in at} | dict(at.parameters)
    changed = {
        p: value for p, value in chosen.items() if p in plant and plant[p] == nominal.get(p) and plant[p] != value
    }
    if not changed:
        return equations
    return derive(replace(equations.system, parameters={**plant, **changed}), equations.form)


def _limited(expression: sp.Expr, limit: float | None) -> sp.Expr:
    return expression if limit is None else sp.Max(-sp.Float(limit), sp.Min(sp.Float(limit), expression))


def _refuse_limits(law: FeedbackLaw, limits: Mapping[sp.Expr, float]) -> None:
    problems = [f"{name_of(u)} is not an input of the law." for u in limits if u not in law.linear.inputs]
    for u, limit in limits.items():
        if u in law.linear.inputs and not limit > abs(value_at(law.linear, u)):
            holding = f"its holding value {value_at(law.linear, u):.6g}"
            problems.append(f"The limit {limit} of {name_of(u)} must be larger than the magnitude of {holding}.")
    if problems:
        raise ModelError("Invalid limits", problems)


def _refuse_unmeasured(law: FeedbackLaw, estimator: Estimator | None) -> None:
    """A controller with its own states reads outputs; with an observer these must be measured."""
    used: Sequence[sp.Expr] = () if law.compensator is None else law.compensator.outputs
    missing = [] if estimator is None else [y for y in used if y not in estimator.outputs]
    if missing:
        problem = f"The law uses {listed(missing)}, which the observer does not measure. Add it to the outputs."
        raise ModelError("Invalid closed loop", [problem])
