"""What can be wrong with a description, all of it found at once, in the user's names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo, named
from vinculum.errors import VinculumError
from vinculum.graph import from_sympy, symbols
from vinculum.names import listed, name_of, suggestion

if TYPE_CHECKING:
    from vinculum.describe.system import System

Leaves = dict[str, set]  # label of an expression -> the symbols, functions of time and derivatives in it


def findings(system: System) -> list[str]:
    """Every finding about a system. The later checks need what the first group establishes."""
    shapes = list(_about_shapes(system))
    if shapes:
        return shapes
    first = [*_about_coordinates(system), *_about_types(system)]
    declared = list(_about_declarations(system))
    if first:
        return first + declared
    leaves, unusable = _leaves_of(system)
    later: list[Callable[[System, Leaves], Iterator[str]]] = [
        _about_symbols,
        _about_energies,
        _about_constraints,
        _about_inputs,
        _about_servos,
        _about_idle_coordinates,
    ]
    return declared + unusable + [finding for check in later for finding in check(system, leaves)]


def _about_shapes(system: System) -> Iterator[str]:
    """One thing where several belong, or the other way round."""
    for name in ("coordinates", "constraints", "inputs"):
        value = getattr(system, name)
        if isinstance(value, (str, sp.Basic, Holonomic, Nonholonomic, Servo)) or not isinstance(value, Iterable):
            yield f"{name} must be a list, got {value}. Write {name}=[{value}]."
    for name in ("parameters", "forces"):
        value = getattr(system, name)
        if not isinstance(value, Mapping):
            yield f"{name} must be a dictionary, got {value}. Write {name}={{symbol: value, ...}}."


def _about_coordinates(system: System) -> Iterator[str]:
    if not system.coordinates:
        yield "there are no coordinates. Pass coordinates=[x, ...] with x = dynamicsymbols('x')."
    for q in system.coordinates:
        if not isinstance(q, AppliedUndef) or len(q.args) != 1 or not isinstance(q.args[0], sp.Symbol):
            yield f"the coordinate {q} is not a function of time. Make it with dynamicsymbols('{q}')."
    times = {q.args for q in system.coordinates if isinstance(q, AppliedUndef)}
    if len(times) > 1:
        yield f"the coordinates are functions of different times: {listed(t[0] for t in times)}. Use one."


def _about_declarations(system: System) -> Iterator[str]:
    """Declared twice, or with a value that is no number."""
    names = Counter(name_of(key) for group in (system.coordinates, system.inputs, system.parameters) for key in group)
    for name, times in names.items():
        if times > 1:
            yield f"{name} is declared {times} times among coordinates, inputs and parameters. Keep one."
    time = next((q.args[0] for q in system.coordinates if isinstance(q, AppliedUndef) and q.args), None)
    if time is not None and name_of(time) in names:
        yield f"{time} is the time; it cannot be an input or a parameter too."
    for name, times in Counter(c.name for c in system.constraints if getattr(c, "name", "")).items():
        if times > 1:
            yield f"{times} constraints are called {name!r}. Give each its own name."
    for key, value in system.parameters.items():
        yield from _about_value(key, value)


def _about_value(key: object, value: object) -> Iterator[str]:
    if not isinstance(key, sp.Symbol):
        yield f"the parameter {key} is not a symbol. Make it with sympy.symbols('{key}')."
    try:
        number = math.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]  # refused below
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) and not isinstance(value, float):
        yield f"the parameter {key} has no value (found {value!r}). Write parameters={{{key}: number}}."
    elif not math.isfinite(number):
        yield f"the parameter {key} is {number}. Give it a finite value."


def _about_types(system: System) -> Iterator[str]:
    for label, expression in _labelled(system):
        if isinstance(expression, bool) or not isinstance(expression, (sp.Expr, Real)):
            yield f"the {label} is {expression!r}, a {type(expression).__name__}. Pass a SymPy expression."
    for constraint in system.constraints:
        if not isinstance(constraint, (Holonomic, Nonholonomic, Servo)):
            yield f"{constraint!r} is not a constraint. Write Holonomic({constraint}) or Nonholonomic(...)."
    for q in system.forces:
        if q not in system.coordinates:
            near = suggestion(name_of(q), map(name_of, system.coordinates))
            yield f"forces has the key {name_of(q)}, which is no coordinate.{near}"
    for u in system.inputs:
        if not isinstance(u, (sp.Symbol, AppliedUndef)):
            yield f"the input {name_of(u)} is not a symbol. Make it with sympy.symbols or dynamicsymbols."


def _labelled(system: System) -> Iterator[tuple[str, object]]:
    yield "kinetic energy", system.kinetic_energy
    yield "potential energy", system.potential_energy
    yield "dissipation", system.dissipation
    for q, force in system.forces.items():
        yield f"force on {name_of(q)}", force
    for constraint in _named(system):
        yield f"constraint {constraint.name}", constraint.expression


def _named(system: System) -> tuple[Constraint, ...]:
    return named(tuple(c for c in system.constraints if isinstance(c, (Holonomic, Nonholonomic, Servo))))


def _leaves_of(system: System) -> tuple[Leaves, list[str]]:
    """What every expression is made of, by its label, and the findings about those that cannot be used."""
    leaves: Leaves = {}
    unusable = []
    for label, expression in _labelled(system):
        try:
            leaves[label] = {node.value for node in symbols([from_sympy(sp.sympify(expression))])}
        except (VinculumError, ZeroDivisionError, OverflowError) as error:
            unusable.append(f"the {label} cannot be used: {error}")
    return leaves, unusable


def _about_symbols(system: System, leaves: Leaves) -> Iterator[str]:
    """Symbols that were never declared, each once, with the places they occur in."""
    declared = {*system.coordinates, *system.velocities, *system.parameters, *system.inputs, system.time}
    places: dict[sp.Expr, list[str]] = {}
    for label, found in leaves.items():
        for leaf in found - declared:
            if not _is_acceleration(system, leaf):
                places.setdefault(leaf, []).append(label)
    for leaf in sorted(places, key=name_of):
        yield _undeclared(system, leaf, places[leaf], declared)


def _undeclared(system: System, leaf: sp.Expr, where: list[str], declared: Iterable[sp.Expr]) -> str:
    name, near = name_of(leaf), suggestion(name_of(leaf), map(name_of, declared))
    place = f"{name} in the {' and the '.join(where)}"
    if isinstance(leaf, sp.Derivative):
        return f"{place} is the derivative of something that is no coordinate.{near}"
    if isinstance(leaf, AppliedUndef):
        return f"{place} is not declared.{near} Add it to coordinates or inputs."
    same = [d for d in declared if name_of(d) == name]
    if same:
        return f"{place} has other assumptions than the declared {name}. Use one and the same symbol."
    return f"{place} has no value.{near} Write parameters={{{name}: number}}, or inputs=[{name}]."


def _is_acceleration(system: System, leaf: sp.Expr) -> bool:
    return isinstance(leaf, sp.Derivative) and leaf.expr in system.coordinates and leaf.derivative_count > 1


def _about_energies(system: System, leaves: Leaves) -> Iterator[str]:
    for label, found in leaves.items():
        accelerations = [leaf for leaf in found if _is_acceleration(system, leaf)]
        if accelerations:
            yield f"the {label} contains the acceleration {listed(accelerations)}. Only q, dot(q) and t may enter."
    velocities = set(system.velocities)
    if not velocities & leaves.get("kinetic energy", velocities):
        yield "the kinetic energy contains no velocity, so nothing in the system has inertia."
    losses = leaves.get("dissipation", set())
    if losses and not velocities & losses:
        yield "the dissipation contains no velocity, so it gives no force. Rayleigh's function is D(q, dot(q))."
    moving = velocities & leaves.get("potential energy", set())
    if moving:
        yield (
            f"the potential energy contains the velocity {listed(moving)}. Subtract such a term from the kinetic "
            "energy instead: only T - V matters."
        )


def _about_constraints(system: System, leaves: Leaves) -> Iterator[str]:
    coordinates, velocities = set(system.coordinates), set(system.velocities)
    for constraint in _named(system):
        name = constraint.name
        if f"constraint {name}" not in leaves:
            continue
        found = leaves[f"constraint {name}"]
        if isinstance(constraint, Holonomic) and found & velocities:
            yield (
                f"the holonomic constraint {name} contains the velocity {listed(found & velocities)}. "
                "State it as Nonholonomic(...)."
            )
        elif isinstance(constraint, Holonomic) and not found & coordinates:
            yield f"the constraint {name} contains no coordinate: {_short(constraint.expression)} = 0."
        elif isinstance(constraint, Nonholonomic) and not found & velocities:
            yield f"the nonholonomic constraint {name} contains no velocity. State it as Holonomic(...)."


def _about_inputs(system: System, leaves: Leaves) -> Iterator[str]:
    inputs = set(system.inputs)
    for label, found in leaves.items():
        entering = inputs & found
        if entering and not label.startswith(("force", "dissipation")):
            yield (
                f"the input {listed(entering)} enters the {label}. Inputs may enter forces and dissipation; "
                "a prescribed motion is written as a function of time."
            )
    used = set().union(*leaves.values())
    for u in (u for u in system.inputs if u not in used):
        yield f"the input {name_of(u)} enters nowhere. Remove it, or use it in forces={{...}}."


def _about_servos(system: System, leaves: Leaves) -> Iterator[str]:
    """Servo constraints: through declared inputs that act as forces, as many as there are constraints."""
    servos = [c for c in _named(system) if isinstance(c, Servo)]
    for servo in servos:
        name = servo.name
        if not servo.through:
            yield f"the servo constraint {name} names no input that holds it. Write Servo(..., through=[u])."
        for u in servo.through:
            if u not in system.inputs:
                near = suggestion(name_of(u), map(name_of, system.inputs))
                yield f"the servo constraint {name} is held through {name_of(u)}, which is no input.{near}"
        if not leaves.get(f"constraint {name}", set()) & {*system.coordinates, *system.velocities}:
            yield f"the servo constraint {name} contains neither a coordinate nor a velocity."
    named = {u for servo in servos for u in servo.through}
    if servos and len(named) != len(servos):
        yield (
            f"{len(servos)} servo constraints are held through {len(named)} inputs "
            f"({listed(sorted(named, key=name_of))}). "
            "Name as many inputs as constraints; drive further inputs with simulate(..., inputs={...})."
        )


def _about_idle_coordinates(system: System, leaves: Leaves) -> Iterator[str]:
    """Coordinates for which there would be no equation at all."""
    present = set().union(*(found for label, found in leaves.items() if not label.startswith("force")))
    for q, v in zip(system.coordinates, system.velocities, strict=True):
        if q not in present and v not in present:
            yield f"the coordinate {name_of(q)} appears in no energy and in no constraint. Remove it."


def _short(expression: object) -> str:
    text = str(expression)
    return text if len(text) <= 60 else text[:57] + "..."
