"""One step at a time, for loops of the user's own: a controller in Python, a game, hardware in the loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.compile.machine import COMPILING
from vinculum.derivation.integrable import Equations, Feedback, Integrable
from vinculum.errors import Finding, SingularError, VinculumError, Word, call
from vinculum.graph import Converter, Node, evaluate, symbol
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.simulation.integrators.methods import Method, method_from
from vinculum.simulation.integrators.runge_kutta import RungeKutta
from vinculum.simulation.problem.motion_expressions import MotionNodes, input_laws
from vinculum.simulation.problem.pivots import WATCH_LIMIT
from vinculum.simulation.problem.start import consistent_state, given_laws, known_state, parameter_numbers
from vinculum.simulation.stabilization.feedback import feedback
from vinculum.simulation.stabilization.stabilization import (
    AFTER_STEPS,
    CONTINUOUS,
    Sampled,
    Stabilization,
    stabilization_from,
)
from vinculum.text_printer import labelled_rows


@dataclass(frozen=True, eq=False, repr=False)
class Stepper:
    """x⁺ = x + τ Σ b_s k_s: one Runge-Kutta step of ẋ = f(t, x, u, p), with the inputs u constant through the step.

    ``step(t, x, u)`` takes and returns arrays: x in the order of ``states``, u in the order of ``inputs``. A call takes
    a few microseconds and changes nothing, so several threads may use one stepper; they run side by side.
    """

    nodes: MotionNodes
    method: RungeKutta
    step: float
    stabilization: Stabilization
    parameters: Mapping[sp.Symbol, float]
    feedback: Feedback = field(repr=False)

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """What x consists of."""
        return tuple(node.value for node in self._record.states)

    @cached_property
    def inputs(self) -> tuple[sp.Expr, ...]:
        """What u consists of: the inputs without a law."""
        return tuple(u.value for u in self._record.inputs if u not in self.nodes.laws)

    def state(
        self, initial: Mapping[sp.Expr, float] | Mapping[str, float], *, guess: Mapping[sp.Expr, float] | None = None,
        fixed: Iterable[sp.Expr] | None = None, time: float = 0.0,
    ) -> np.ndarray:  # fmt: skip
        """x on the constraints, from the values that are known (see `consistent_state`)."""
        equations = self._record.equations
        given = known_state(equations, initial)
        extra = {key: float(given.pop(key, 0.0)) for key in equations.extra}
        choices: dict[str, Any] = {"guess": guess, "fixed": fixed, "parameters": self.parameters, "time": time}
        values = {symbol(key): value for key, value in (consistent_state(equations, given, **choices) | extra).items()}
        numbers = {symbol(p): value for p, value in self.parameters.items()}
        return np.array(self._record.state_values({**values, **numbers, self.nodes.time: time}))

    def __call__(self, t: float, x: np.ndarray, u: Any = ()) -> np.ndarray:
        """The state one step later."""
        run, full, stage, p, A, b, held = self._code
        x, u = np.ascontiguousarray(x, dtype=float), np.ascontiguousarray(u, dtype=float)
        if x.shape != (full.width,) or u.shape != (len(self.inputs),):
            self._refuse_shapes(x, u)
        after, watch = run(full.address, stage.address, float(t), x, p, u, A, b, self.step, held, full.size)
        if not watch <= WATCH_LIMIT:
            self._refuse(x, after)
        return after

    def _refuse_shapes(self, x: np.ndarray, u: np.ndarray) -> None:
        """Raise for arrays of other sizes."""
        for name, array, keys in (("x", x, self.states), ("u", u, self.inputs)):
            if array.shape != (len(keys),):
                of = listed(keys) or "none"
                raise VinculumError(f"{name} must have {len(keys)} values, of {of}; got shape {array.shape}.")

    def _refuse(self, x: np.ndarray, after: np.ndarray) -> None:
        """Raise where the code is not valid any more."""
        where = ", ".join(f"{name_of(key)} = {value:.6g}" for key, value in zip(self.states, x, strict=True))
        if not np.isfinite(after).all():
            raise SingularError(f"The step from {where} leads to numbers that are not finite. Use a smaller step.")
        raise SingularError(
            Finding(
                f"The pivots of the equations were chosen elsewhere and are no longer good at {where}.",
                ["Make another stepper there: ", call("stepper", at={Word("coordinate"): Word("value")}), "."],
            )
        )

    @property
    def _record(self) -> Integrable:
        return self.nodes.integrable

    @cached_property
    def _code(self) -> tuple[Any, Function, Function, np.ndarray, np.ndarray, np.ndarray, int]:
        """The compiled step, its functions, p, the tableau, and the number of corrections that are held."""
        nodes, n = self.nodes, len(self.states)
        held = len(nodes.corrections) if self.method.holds_feedback(self.stabilization) else 0
        free = tuple(map(symbol, self.inputs))
        parameters = (*nodes.settings, *free, *(self._record.corrections if held else ()))
        rates = (*nodes.rates[:n], nodes.watch.strict, *(nodes.corrections if held else ()))
        later = nodes.held_rates[:n] if held else nodes.rates[:n]
        full, stage = (function(nodes.time, self._record.states, parameters, out) for out in (rates, later))
        settings = [*self.parameters.values(), *self.feedback.gains.values(), *nodes.watch.numbers(self._record.pivots)]
        p = np.array([*settings, *[0.0] * (len(free) + held)], dtype=float)
        with COMPILING:  # Numba compiles the step at its first call
            from vinculum.simulation.integrators.loops import one_step

            A, b, none = self.method.A, self.method.b, np.zeros(0)
            one_step(full.address, stage.address, 0.0, np.zeros(n), p, none, A, b, 0.0, 0, full.size)
        return one_step, full, stage, p, A, b, held

    def __getstate__(self) -> dict[str, Any]:
        """Without machine code, which is compiled again."""
        return {key: value for key, value in self.__dict__.items() if key != "_code"}

    def __repr__(self) -> str:
        rows = {
            "states": listed(self.states),
            "inputs": listed(self.inputs) or "none",
            "method": f"{self.method.name}, step {self.step:.6g}",
            "stabilization": self.stabilization.described(1 / self.step) if self._record.constraints else "not needed",
        }
        return labelled_rows(f'Stepper of "{self._record.name}"', rows)

    _repr_html_ = html


def make_stepper(
    equations: Equations, method: Method | str, step: float, *, inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None, stabilization: Stabilization | str | None = None,
    at: Mapping[sp.Expr, float] | None = None,
) -> Stepper:  # fmt: skip
    """See ``EquationsOfMotion.stepper``."""
    chosen = method_from(method, step=step) if isinstance(method, str) else method
    if not isinstance(chosen, RungeKutta):
        raise VinculumError(f"A stepper needs a method without memory: 'euler', 'midpoint' or 'rk4', not {method!r}.")
    chosen.refuse_options()
    treatment = Sampled() if stabilization is None else stabilization_from(stabilization)
    if treatment.acts == AFTER_STEPS or (treatment.acts == CONTINUOUS and not treatment.given and chosen.order > 1):
        found = f"A stepper cannot choose the gains of the stabilization {treatment.name!r}."
        advice = ("Use ", call("stepper", stabilization="sampled"), ", or Baumgarte(rate=...).")
        raise VinculumError(Finding(found, advice))
    numbers = parameter_numbers(equations, parameters)
    laws = {**equations.laws, **given_laws(equations, inputs)}
    zero = {u: sp.Integer(0) for u in equations.inputs if u not in laws}
    closing = {u: law for u, law in input_laws(equations, {**laws, **zero}).items() if u.value not in zero}
    integrable = equations.integrable(*_states(equations, at, numbers, laws))
    law = feedback(treatment, integrable, 1.0 / step, chosen.order)
    nodes = MotionNodes(integrable, closing, law.corrections, tuple(law.gains), law.law)
    return Stepper(nodes, chosen, float(step), treatment, numbers, law)


def _states(
    equations: Equations, at: Mapping[sp.Expr, float] | None, numbers: Mapping[sp.Symbol, float],
    laws: Mapping[sp.Expr, sp.Expr],
) -> list[dict[Node, float]]:  # fmt: skip
    """The state at which pivots are chosen; none: the reference state of the equations."""
    if at is None:
        return []
    start = consistent_state(equations, known_state(equations, at), parameters=numbers)
    values = {symbol(key): float(x) for key, x in {**start, **numbers, equations.time: 0.0}.items()}
    values |= {symbol(key): 0.0 for key in (*equations.extra, *equations.inputs)}
    closed = {symbol(u): Converter()(law) for u, law in laws.items()}
    return [values | dict(zip(closed, evaluate(list(closed.values()), values), strict=True))]
