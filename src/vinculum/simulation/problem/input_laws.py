"""Expressions that a user gave, checked: laws of inputs, events, and what is asked of a trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy as sp

from vinculum.derivation.interface import Equations
from vinculum.errors import About, Finding, Formula, ModelError, Word, call
from vinculum.graph import Converter, Node, symbol, symbols
from vinculum.names import listed, name_of, suggestion
from vinculum.simulation.problem.events import Event


def refuse_strangers(given: Node, known: Iterable[Node], where: str) -> None:
    """Refuse an expression with symbols that the system does not have."""
    known = set(known)
    strangers = [s.value for s in symbols([given]) - known]
    if strangers:
        near = suggestion(name_of(strangers[0]), (name_of(s.value) for s in known))
        raise ModelError(f"{where} is not usable", [f"{listed(strangers)} is not known to the system.{near}"])


def refuse_constant(event: Event, node: Node, moving: set[Node]) -> None:
    """Refuse an event whose expression stays what it is."""
    if not symbols([node]) & moving:
        said = (
            f"{event.expression} is constant during the run, so the event can never occur. "
            "Use an expression of the state or time."
        )
        raise ModelError(f"the event {event.name!r} is not usable", [said])


def input_laws(equations: Equations, laws: Mapping[sp.Expr, sp.Expr]) -> dict[Node, Node]:
    """Every input as a node of time and state; what is missing, unknown or not an expression is refused."""
    problems: list[Finding | str] = [_without_law(u) for u in equations.inputs if u not in laws]
    closed: dict[Node, Node] = {}
    for u, law in laws.items():
        problem = _misplaced(equations, u, law)
        if not problem:
            closed[symbol(u)] = Converter()(law)
            problem = _without_value(equations, u, closed[symbol(u)])
        problems += [problem] if problem else []
    if problems:
        raise ModelError(f"the inputs of {equations.name!r} are not usable", problems)
    return closed


def _without_law(u: sp.Expr) -> Finding:
    law = {Word(name_of(u)): Formula("expression of t and the state")}
    return Finding(f"{name_of(u)} has no law.", ["Use ", call("simulate", inputs=law), "."], About("input", name_of(u)))


def _misplaced(equations: Equations, u: sp.Expr, law: sp.Expr) -> str:
    """Why there can be no such law; empty where there can."""
    if u in equations.held_inputs:
        return f"{name_of(u)} holds a servo constraint, so it has no law of its own. Leave it out."
    if u not in equations.inputs:
        return f"{name_of(u)} is not an input.{suggestion(name_of(u), map(name_of, equations.inputs))}"
    if callable(law) and not isinstance(law, sp.Basic):
        return (
            f"the law of {name_of(u)} is a Python function. Write it as a SymPy expression of t and the state, so that "
            "it can be compiled."
        )
    return ""


def _without_value(equations: Equations, u: sp.Expr, law: Node) -> str:
    """What a law contains that is neither time nor state nor parameter; empty where there is nothing."""
    allowed = {*equations.user_symbols, *equations.states, *equations.extra, *equations.parameters, equations.time}
    strangers = [s.value for s in symbols([law]) if s.value not in allowed]
    return f"the law of {name_of(u)} contains {listed(strangers)}, which has no value." if strangers else ""
