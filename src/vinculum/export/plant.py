"""Equations as exporters see them: an `Integrable` at a start, closed by laws, with its method and stabilization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from vinculum.derivation.integrable import Equations, Feedback, Integrable, linear_feedback, with_definitions
from vinculum.errors import ModelError, VinculumError
from vinculum.graph import Converter, Node, evaluate, symbol
from vinculum.names import listed, name_of, suggestion
from vinculum.simulation.integrators import Method, method_from
from vinculum.simulation.integrators.runge_kutta import RungeKutta
from vinculum.simulation.problem.events import Event, name_events
from vinculum.simulation.problem.motion_expressions import MotionNodes
from vinculum.simulation.problem.signals import unstated
from vinculum.simulation.problem.start import (
    consistent_state,
    derive_if_needed,
    given_fixed,
    given_laws,
    given_parameters,
    known_state,
    parameter_numbers,
)
from vinculum.simulation.run import approached_constraints, with_gains
from vinculum.simulation.stabilization.feedback import feedback
from vinculum.simulation.stabilization.stabilization import (
    CONTINUOUS,
    Guaranteed,
    Sampled,
    Stabilization,
    stabilization_from,
)


@dataclass(frozen=True, eq=False)
class Gain:
    """A feedback gain number · (1/h)^power for steps h; power 0 for one that the user gave."""

    number: float
    power: int


@dataclass(frozen=True, eq=False)
class Plant:
    """What is exported, and the numbers at its start."""

    nodes: MotionNodes
    method: RungeKutta
    stabilization: Stabilization
    gains: tuple[Gain, ...]
    values: Mapping[Node, float]  # of all symbols at the start
    given: frozenset[Node]  # user's symbols that the start must not change
    initial: Mapping[sp.Expr, float]
    approached: bool = False  # whether a motion may start off the constraints, if all that could move is held

    @property
    def integrable(self) -> Integrable:
        """The record behind it."""
        return self.nodes.integrable

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The inputs without a law."""
        return tuple(u for u in self.integrable.inputs if u not in self.nodes.laws)

    @cached_property
    def start(self) -> list[float]:
        """x at the start."""
        return [self.values[state] for state in self.integrable.states]


def make_plant(
    what: Any,
    *,
    initial: Mapping[Any, float] | None = None,
    guess: Mapping[sp.Expr, float] | None = None,
    fixed: Iterable[sp.Expr] | None = None,
    inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    events: Sequence[Event] | Event = (),
    method: Method | str = "rk4",
    stabilization: Stabilization | str | None = None,
    time: float = 0.0,
) -> Plant:
    """The equations at a consistent start, with the variables and pivots that are good there.

    Without ``initial`` these are chosen at the reference state of the equations.
    """
    equations = derive_if_needed(what)
    equations = with_gains(equations, given_parameters(equations, parameters))
    chosen = _runge_kutta(method)
    approached = approached_constraints(equations, stabilization)
    laws = _laws(equations, inputs)
    numbers = parameter_numbers(equations, parameters)
    given = known_state(equations, initial or {})
    fixed = given_fixed(equations, fixed)
    values = _start(equations, given, {"guess": guess, "fixed": fixed, "approached": approached}, numbers, time, laws)
    integrable = equations.integrable(values)
    values = {**with_definitions(equations.definitions, values), **dict(
        zip(integrable.states, integrable.state_values(values), strict=True))}  # fmt: skip
    treatment = Sampled() if stabilization is None else stabilization_from(stabilization)
    law, gains = _gains(integrable, treatment, chosen)
    nodes = MotionNodes(integrable, laws, law.corrections, tuple(law.gains), law.law, tuple(name_events(events)))
    _refuse_signals(nodes)
    held = frozenset(symbol(key) for key in (given if fixed is None else fixed))
    return Plant(nodes, chosen, treatment, gains, values, held, given, bool(approached))


def _refuse_signals(nodes: MotionNodes) -> None:
    """Raise for signals that are refused beyond their points, because code cannot refuse."""
    names = dict.fromkeys(node.value.name for node in unstated(nodes.held_rates))
    if names:
        raise VinculumError(
            f"The signal {', '.join(names)} is refused beyond its points, which exported code cannot do. "
            "State beyond='hold' or beyond='zero'."
        )


def _runge_kutta(method: Method | str) -> RungeKutta:
    """The method, if exported code can step with it."""
    found = method_from(method)
    if not isinstance(found, RungeKutta):
        raise VinculumError(
            f"Exported code takes the fixed steps of a Runge-Kutta method; {found.name!r} is not one. Use "
            'method="rk4", "midpoint" or "euler", or vn.RungeKutta(name, A=..., b=..., order=...).'
        )
    return found


def _laws(equations: Equations, inputs: Mapping[sp.Expr, sp.Expr] | None) -> dict[Node, Node]:
    """The inputs that have a law; the others stay arguments."""
    given = given_laws(equations, inputs)
    strange = [u for u in given if u not in equations.inputs]
    if strange:
        near = suggestion(name_of(strange[0]), map(name_of, equations.inputs))
        raise ModelError(f"Invalid inputs of {equations.name!r}", [f"{listed(strange)} is not an input.{near}"])
    return {symbol(u): Converter()(law) for u, law in {**equations.laws, **given}.items()}


def _start(
    equations: Equations,
    given: Mapping[sp.Expr, float],
    choices: Mapping[str, Any],
    numbers: Mapping[sp.Symbol, float],
    time: float,
    laws: Mapping[Node, Node],
) -> dict[Node, float]:
    """All symbols at the start: on the constraints from what is given, or at the reference state of the equations."""
    extra = {key: float(given[key]) if key in given else 0.0 for key in equations.extra}
    if given:
        own = {key: value for key, value in given.items() if key not in extra}
        state = consistent_state(equations, own, **choices, parameters=numbers, time=time)
        values = {symbol(key): value for key, value in state.items()}
    else:
        from vinculum.export.samples import reference

        values = reference(equations)
    values |= {symbol(key): value for key, value in (extra | dict(numbers) | {equations.time: time}).items()}
    values |= {symbol(u): values.get(symbol(u), 0.0) for u in equations.inputs}
    values = with_definitions(equations.definitions, values)
    return values | dict(zip(laws, evaluate(list(laws.values()), values), strict=True))


def _gains(integrable: Integrable, treatment: Stabilization, method: RungeKutta) -> tuple[Feedback, tuple[Gain, ...]]:
    """The feedback and its gains as powers of 1/h, found from those for h = 1 and h = 1/2."""
    if isinstance(treatment, Guaranteed):
        raise VinculumError(
            "Guaranteed chooses gains along a run, which exported code does not know. Use "
            'stabilization="sampled", "projection" or vn.Baumgarte(rate=...).'
        )
    if not integrable.constraints:
        return linear_feedback((), ()), ()
    natural = treatment.acts == CONTINUOUS and not treatment.given and integrable.prescribed is None
    if natural and method.order > 1:
        raise VinculumError(
            "Continuous feedback in exported code needs its rate: the natural one depends on the motion. Use "
            "stabilization=vn.Baumgarte(rate=...), for instance 10, in 1/s."
        )
    one, two = (feedback(treatment, integrable, rate, method.order) for rate in (1.0, 2.0))
    pairs = zip(one.gains.values(), two.gains.values(), strict=True)
    return one, tuple(Gain(a, _power(a, b)) for a, b in pairs)


def _power(a: float, b: float) -> int:
    """k of b/a = 2ᵏ."""
    return 0 if a == b else round(sp.log(b / a, 2).evalf())
