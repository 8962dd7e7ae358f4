"""Checks of a system; all problems are reported at once, with the user's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.describe import findings as shared
from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo, named
from vinculum.describe.findings import label
from vinculum.describe.homogeneous import Stated
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import About, Finding, Formula, VinculumError, Word, call
from vinculum.names import listed, name_of, suggestion
from vinculum.units.dimensions import ENERGY, TIME, over

if TYPE_CHECKING:
    from vinculum.describe.system import System

Leaves = dict[About, set]  # for each part of the description, its symbols, functions of time and derivatives

KINETIC, POTENTIAL, DISSIPATION = (
    About("energy", name) for name in ("kinetic_energy", "potential_energy", "dissipation")
)
_CONSTRAINTS = (Holonomic, Nonholonomic, Servo)


def findings(system: System) -> list[Finding]:
    """All findings about a system. The later checks run only if the first ones pass."""
    wrong_types = list(_check_containers(system))
    if wrong_types:
        return wrong_types
    first = [*_check_coordinates(system), *_check_types(system)]
    declarations = list(_check_declarations(system))
    if first:
        return first + declarations
    leaves, unusable = _leaves(system)
    later: list[Callable[[System, Leaves], Iterator[Finding]]] = [
        _check_symbols,
        _check_energies,
        _check_constraints,
        _check_inputs,
        _check_servos,
        _check_idle_coordinates,
    ]
    return declarations + unusable + [finding for check in later for finding in check(system, leaves)]


def _check_containers(system: System) -> Iterator[Finding]:
    """Single values where a list or dictionary is needed."""
    for name in ("coordinates", "constraints", "inputs"):
        value = getattr(system, name)
        if isinstance(value, (str, sp.Basic, *_CONSTRAINTS)) or not isinstance(value, Iterable):
            yield Finding(f"{name} must be a list, got {value}.", [f"Write {name}=[{value}]."])
    for name in ("parameters", "forces"):
        value = getattr(system, name)
        if not isinstance(value, Mapping):
            yield Finding(f"{name} must be a dictionary, got {value}.", [f"Write {name}={{symbol: value, ...}}."])


def _check_coordinates(system: System) -> Iterator[Finding]:
    if not system.coordinates:
        advice = ("Use ", call("System", coordinates=[Formula("x")]), ".")
        yield Finding("there are no coordinates.", advice, About("coordinate"))
    for q in system.coordinates:
        if not shared.is_function_of_time(q):
            yield shared.not_a_function_of_time("coordinate", q)
    yield from shared.different_times(
        "coordinate", dict.fromkeys(q.args[0] for q in system.coordinates if isinstance(q, AppliedUndef))
    )


def _check_declarations(system: System) -> Iterator[Finding]:
    """Symbols and constraints declared twice, parameters without a number."""
    groups = (system.coordinates, system.inputs, system.parameters)
    yield from shared.repeated_declarations("coordinates, inputs and parameters", *groups)
    time = next((q.args[0] for q in system.coordinates if isinstance(q, AppliedUndef) and q.args), None)
    if time is not None and name_of(time) in {name_of(key) for group in groups for key in group}:
        yield Finding(f"{time} is the time; it cannot also be an input or a parameter.", ["Rename it."])
    yield from shared.repeated_names(
        "constraint", "constraints", [c.name for c in system.constraints if getattr(c, "name", "")]
    )
    for key, value in system.parameters.items():
        yield from shared.parameter_findings(key, value)


def _check_types(system: System) -> Iterator[Finding]:
    for part, expression in _parts(system):
        if isinstance(expression, bool) or not isinstance(expression, (sp.Expr, Real)):
            found = f"the {label(part)} is {expression!r}, a {type(expression).__name__}."
            yield Finding(found, ["Use a SymPy expression."], part)
    for constraint in system.constraints:
        if not isinstance(constraint, _CONSTRAINTS):
            yield Finding(
                f"{constraint!r} is not a constraint.", [f"Write Holonomic({constraint}) or Nonholonomic(...)."]
            )
    declared = set(system.coordinates)
    for q in system.forces:
        if q not in declared:
            near = suggestion(name_of(q), map(name_of, system.coordinates))
            found = f"forces has the key {name_of(q)}, which is not a coordinate.{near}"
            yield Finding(found, about=About("force", name_of(q)))
    for u in system.inputs:
        if not isinstance(u, (sp.Symbol, AppliedUndef)):
            yield shared.not_a_symbol(u)


def _parts(system: System) -> Iterator[tuple[About, object]]:
    """Every expression of the description, by the part it belongs to."""
    yield KINETIC, system.kinetic_energy
    yield POTENTIAL, system.potential_energy
    yield DISSIPATION, system.dissipation
    for q, force in system.forces.items():
        yield About("force", name_of(q)), force
    for constraint in _named(system):
        yield About("constraint", constraint.name), constraint.expression


def parts_with_dimensions(system: System) -> Iterator[Stated]:
    """Every expression of the description, with the dimension it needs if that is known."""
    known = dimensions_of(system)
    needed = {KINETIC: ENERGY, POTENTIAL: ENERGY, DISSIPATION: over(ENERGY, TIME)}
    for q in system.coordinates:
        needed |= {About("force", name_of(q)): over(ENERGY, known[q])} if q in known else {}
    for part, expression in _parts(system):
        yield part, label(part), expression, needed.get(part)


def _named(system: System) -> tuple[Constraint, ...]:
    return named(tuple(c for c in system.constraints if isinstance(c, _CONSTRAINTS)))


def _leaves(system: System) -> tuple[Leaves, list[Finding]]:
    """The symbols in every expression, and findings about invalid expressions."""
    leaves: Leaves = {}
    unusable = []
    for part, expression in _parts(system):
        try:
            leaves[part] = shared.leaves_of(expression)
        except (VinculumError, ZeroDivisionError, OverflowError) as error:
            unusable.append(shared.unusable(label(part), error, part))
    return leaves, unusable


def _check_symbols(system: System, leaves: Leaves) -> Iterator[Finding]:
    """Undeclared symbols, each reported once with the places where it occurs."""
    declared = {*system.coordinates, *system.velocities, *system.parameters, *system.inputs, system.time}
    places: dict[sp.Expr, list[About]] = {}
    for part, found in leaves.items():
        for leaf in found - declared:
            if not _is_acceleration(leaf, declared):
                places.setdefault(leaf, []).append(part)
    for leaf in sorted(places, key=name_of):
        yield _undeclared(leaf, places[leaf], list(declared))


def _undeclared(leaf: sp.Expr, where: list[About], declared: list[sp.Expr]) -> Finding:
    name, near = name_of(leaf), suggestion(name_of(leaf), map(name_of, declared))
    place = " and the ".join(map(label, where))
    if isinstance(leaf, sp.Derivative) and not isinstance(leaf.expr, AppliedUndef):
        return Finding(f"{leaf} in the {place} is not carried out.", ["Use .doit()."], where[0])
    delayed = [d for d in declared if isinstance(leaf, AppliedUndef) and d.func == leaf.func]
    if delayed:
        return Finding(f"{leaf} in the {place} is {delayed[0]} at another time, which no form can use.", about=where[0])
    if isinstance(leaf, sp.Derivative):
        return Finding(f"{name} in the {place}: {name_of(leaf.expr)} is not a coordinate.{near}", about=where[0])
    if isinstance(leaf, AppliedUndef):
        advice = ["Add it to coordinates or inputs."]
        return Finding(f"{name} in the {place} is not declared.{near}", advice, where[0])
    if any(name_of(d) == name for d in declared):
        twin = next(d for d in declared if name_of(d) == name)
        wrong = f"has assumptions that the declared {name} does not have"
        if isinstance(twin, AppliedUndef):
            wrong = f"is a constant, not the declared function of time {name}"
        return Finding(f"{name} in the {place} {wrong}.", ["Use the same symbol in both places."], where[0])
    return shared.no_value(leaf, place, declared, "System", where[0])


def _is_acceleration(leaf: sp.Expr, coordinates: set) -> bool:
    return isinstance(leaf, sp.Derivative) and leaf.derivative_count > 1 and leaf.expr in coordinates


def _check_energies(system: System, leaves: Leaves) -> Iterator[Finding]:
    coordinates = set(system.coordinates)
    for part, found in leaves.items():
        accelerations = [leaf for leaf in found if _is_acceleration(leaf, coordinates)]
        if accelerations:
            text = f"the {label(part)} contains the acceleration {listed(accelerations)}."
            yield Finding(text, ["Use only q, dot(q) and t."], part)
    velocities = set(system.velocities)
    if not velocities & leaves.get(KINETIC, velocities):
        yield Finding("the kinetic energy contains no velocity, so nothing in the system has inertia.", about=KINETIC)
    losses = leaves.get(DISSIPATION, set())
    if losses and not velocities & losses:
        text = "the dissipation contains no velocity, so it gives no force. Rayleigh's function is D(q, dot(q))."
        yield Finding(text, about=DISSIPATION)
    moving = velocities & leaves.get(POTENTIAL, set())
    if moving:
        advice = "Subtract the term from the kinetic energy instead: only T - V matters."
        yield Finding(f"the potential energy contains the velocity {listed(moving)}.", [advice], POTENTIAL)


def _check_constraints(system: System, leaves: Leaves) -> Iterator[Finding]:
    coordinates, velocities = set(system.coordinates), set(system.velocities)
    for constraint in _named(system):
        about = About("constraint", constraint.name)
        if about not in leaves:
            continue
        name, found = constraint.name, leaves[about]
        if isinstance(constraint, Holonomic) and found & velocities:
            text = f"the holonomic constraint {name} contains the velocity {listed(found & velocities)}."
            yield Finding(text, ["State it as ", call("Nonholonomic"), "."], about)
        elif isinstance(constraint, Holonomic) and not found & coordinates:
            text = f"the constraint {name} contains no coordinate: {shared.shortened(constraint.expression)} = 0."
            yield Finding(text, about=about)
        elif isinstance(constraint, Nonholonomic) and not found & velocities:
            text = f"the nonholonomic constraint {name} contains no velocity."
            yield Finding(text, ["State it as ", call("Holonomic"), "."], about)


def _check_inputs(system: System, leaves: Leaves) -> Iterator[Finding]:
    inputs = set(system.inputs)
    for part, found in leaves.items():
        entering = inputs & found
        if entering and part.kind != "force" and part != DISSIPATION:
            text = (
                f"the input {listed(entering)} enters the {label(part)}. Inputs may enter forces and dissipation only."
            )
            yield Finding(text, ["Write a prescribed motion as a function of time."], part)
    used = set().union(*leaves.values())
    for u in (u for u in system.inputs if u not in used):
        advice = ("Remove it, or use it in ", call("System", forces={Word("coordinate"): Formula(name_of(u))}), ".")
        yield Finding(f"the input {name_of(u)} is never used.", advice, About("input", name_of(u)))


def _check_servos(system: System, leaves: Leaves) -> Iterator[Finding]:
    """Servo constraints need declared inputs that act as forces, as many as there are constraints."""
    servos = [c for c in _named(system) if isinstance(c, Servo)]
    for servo in servos:
        name, about = servo.name, About("constraint", servo.name)
        if not servo.through:
            advice = ("Use ", call("Servo", through=[Formula("u")]), ".")
            yield Finding(f"the servo constraint {name} names no input that holds it.", advice, about)
        for u in servo.through:
            if u not in system.inputs:
                near = suggestion(name_of(u), map(name_of, system.inputs))
                text = f"the servo constraint {name} is held through {name_of(u)}, which is not an input.{near}"
                yield Finding(text, about=about)
        if not leaves.get(about, set()) & {*system.coordinates, *system.velocities}:
            text = f"the servo constraint {name} contains neither a coordinate nor a velocity."
            yield Finding(text, about=about)
    used = sorted({u for servo in servos for u in servo.through}, key=name_of)
    if servos and len(used) != len(servos):
        text = f"{len(servos)} servo constraints are held through {len(used)} inputs ({listed(used)})."
        laws = call("simulate", inputs={Word("input"): Formula("...")})
        advice = ("Name as many inputs as constraints; give further inputs a law with ", laws, ".")
        yield Finding(text, advice, About("constraint", servos[0].name))


def _check_idle_coordinates(system: System, leaves: Leaves) -> Iterator[Finding]:
    """Coordinates that would have no equation."""
    present = set().union(*(found for part, found in leaves.items() if part.kind != "force"))
    for q, v in zip(system.coordinates, system.velocities, strict=True):
        if q not in present and v not in present:
            text = f"the coordinate {name_of(q)} appears in no energy and in no constraint."
            yield Finding(text, ["Remove it."], About("coordinate", name_of(q)))
