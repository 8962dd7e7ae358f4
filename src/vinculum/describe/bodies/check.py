"""Checks of a tree of bodies; all problems are reported at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.describe.bodies.body import Body, has_symbols, inertia_matrix
from vinculum.describe.bodies.joints import JOINTS, Joint
from vinculum.describe.bodies.topology import GROUND, depth_first, graph_of
from vinculum.describe.findings import not_a_function_of_time, parameter_findings, repeated_names
from vinculum.errors import About, Finding, VinculumError, Word, as_finding, call
from vinculum.expressions import as_expression
from vinculum.names import suggestion

_ROUNDING = 1e-9  # relative slack of the inequalities of inertia
_SMALLEST = 1e-15  # m²: inertia per mass that counts as zero


def findings(bodies: Sequence[Body], parameters: Mapping[sp.Symbol, float]) -> list[Finding]:
    """All findings; the physics is checked only if shapes and names are valid."""
    others = [x for x in bodies if not isinstance(x, Body)]
    if others:
        return [Finding(f"{x!r} is not a body.", ["Write Body(name, parent, ...)."]) for x in others]
    first = [*_about_names(bodies), *_about_parents(bodies), *_about_coordinates(bodies)]
    for key, value in dict(parameters).items():
        first += parameter_findings(key, value, "BodyTree")
    for body in bodies:
        first += _of_body(body, _about_shape(body))
    if first:
        return first
    later = [*_about_cycles(bodies), *_about_symbols(bodies, parameters)]
    for body in bodies:
        found: list[Finding | str] = [
            *_about_mass(body, parameters),
            *_about_inertia(body, parameters),
            *_about_losses(body, parameters),
        ]
        found += _about_directions(body, parameters)
        later += _of_body(body, found)
    return later or list(_about_idle(bodies, parameters))


def _of_body(body: Body, found: Iterable[Finding | str]) -> list[Finding]:
    """Findings about one body."""
    return [replace(as_finding(finding), about=About("body", body.name)) for finding in found]


def _about_names(bodies: Sequence[Body]) -> Iterator[Finding]:
    if not bodies:
        yield Finding("there are no bodies.", ["Add one: ", call("Body"), "."])
    if any(not body.name for body in bodies):
        yield Finding("a body has no name.", ['Name it: Body("arm", ...).'])
    if any(body.name == GROUND for body in bodies):
        yield Finding(f"{GROUND!r} is the name of the ground, on which the tree stands.", ["Rename the body."])
    yield from repeated_names("body", "bodies", [body.name for body in bodies])
    for body in bodies:
        yield from _of_body(body, _about_joint(body))


def _about_joint(body: Body) -> Iterator[Finding]:
    """The joint's name must be known and its required numbers given."""
    joint = body.joint
    if isinstance(joint, Joint):
        return
    if joint not in JOINTS:
        near = suggestion(str(joint), JOINTS)
        yield Finding(f"the joint of {body.name!r} is {joint!r}.{near} The joints are {', '.join(JOINTS)}.")
    elif JOINTS[joint].required():
        kind, needed = JOINTS[joint], JOINTS[joint].required()
        asked = call(f"bodies.{kind.__name__}", **{key: Word("number") for key in needed})
        yield Finding(f"the {joint} joint of {body.name!r} needs its {', '.join(needed)}.", ["Use joint=", asked, "."])


def _has_joint(body: Body) -> bool:
    return not list(_about_joint(body))


def _about_parents(bodies: Sequence[Body]) -> Iterator[Finding]:
    names = {body.name for body in bodies}
    for body in bodies:
        if body.parent is not None and body.parent not in names:
            near = suggestion(body.parent, sorted(names))
            found = f"the parent {body.parent!r} of {body.name!r} is not a body of the tree.{near}"
            yield Finding(found, ["Leave parent out for the ground."], About("body", body.name))


def _about_coordinates(bodies: Sequence[Body]) -> Iterator[Finding]:
    owner: dict[sp.Expr, str] = {}
    for body in bodies:
        for q in body.coordinates if _has_joint(body) else ():
            if not isinstance(q, AppliedUndef):
                yield not_a_function_of_time("coordinate", q, f" of {body.name!r}")
            elif q in owner:
                found = f"{body.name!r} and {owner[q]!r} both move with {q.func}."
                yield Finding(found, ["Give each its own angle."], About("body", body.name))
            owner[q] = body.name


def _about_cycles(bodies: Sequence[Body]) -> Iterator[Finding]:
    if len(depth_first(bodies)) == len(bodies):
        return
    import networkx as nx  # imported late: only refusals need it

    for cycle in nx.simple_cycles(graph_of(bodies)):
        ring = " -> ".join([*cycle, cycle[0]])
        advice = "Open the loop at one joint, attach the first body to the ground or another body, and close it with "
        about = About("body", cycle[0])
        yield Finding(f"the bodies {ring} form a closed loop of parents.", [advice, call("bodies.Loop"), "."], about)


def _about_shape(body: Body) -> Iterator[Finding | str]:
    """Lengths of vectors, numbers of coordinates, axes and rotations."""
    if not _has_joint(body):
        return
    yield from _about_vectors(body)
    try:
        inertia_matrix(body.inertia)
    except (ValueError, TypeError, sp.SympifyError) as error:
        yield f"invalid inertia of {body.name!r}: {error}."
    yield from _about_axis(body)
    yield from _about_rotation(body)
    yield from _about_numbers(body)
    wanted = len(body.kind.labels)
    if body.angle is not None and len(body.coordinates) != wanted:
        yield f"{body.name!r} has {len(body.coordinates)} coordinates; a {body.joint} joint has {wanted}."
    acting = body.kind.torques
    if body.torques and len(body.torques) != acting:
        yield f"{body.name!r} has {len(body.torques)} torques; a {body.joint} joint has {acting}."
    yield from _about_passive(body, wanted)


def _about_vectors(body: Body) -> Iterator[str]:
    """Origin and center of mass have three components; they and the mass are real numbers or SymPy expressions."""
    scalars = {"mass": [body.mass]}
    for label in ("origin", "center_of_mass"):
        vector = np.array(getattr(body, label), dtype=object)
        if vector.shape != (3,):
            yield f"the {label} of {body.name!r} is {getattr(body, label)!r}. Give three components."
        else:
            scalars[label] = list(vector)
    for label, values in scalars.items():
        for value in values:
            if not is_real(value):
                yield f"the {label} of {body.name!r} is {value!r}. Give a number or a SymPy expression of parameters."


def _about_numbers(body: Body) -> Iterator[str]:
    """Numbers of the joint, such as the pitch."""
    for key, value in body.kind.numbers().items():
        if not is_real(value):
            yield f"the {key} of the {body.joint} joint of {body.name!r} is {value!r}. Give a number or a SymPy symbol."


def _about_passive(body: Body, wanted: int) -> Iterator[str]:
    for label in ("damping", "stiffness", "friction", "rotor_inertia"):
        value = getattr(body, label)
        if body.kind.quaternion and np.any(np.array(value, dtype=object) != 0):
            yield f"{label} of {body.name!r}: a {body.joint} joint does not support it. Put it into forces."
        elif isinstance(value, (list, tuple)) and len(value) != wanted and not (label == "friction" and wanted == 1):
            yield f"{label} of {body.name!r} has {len(value)} numbers; the {body.joint} joint has {wanted} coordinates."


def _about_axis(body: Body) -> Iterator[Finding | str]:
    if not body.kind.axes:
        return
    two = body.kind.axes == 2
    given: Any = body.axis if two else [body.axis]
    shapes = [np.shape(axis) for axis in given]
    if two and (len(given) != 2 or shapes != [(3,), (3,)]):
        advice = ("Use ", call("Body", axis=[[1, 0, 0], [0, 1, 0]]), ", for instance.")
        yield Finding(f"the {body.joint} joint of {body.name!r} needs two axes; found {body.axis}.", advice)
        return
    if shapes[0] != (3,):
        yield f"the axis of {body.name!r} is {body.axis}. Give three components."
        return
    for axis in given:
        if has_symbols(axis):
            if body.kind.name == "planar":
                found = f"the axis {tuple(axis)} of the planar joint of {body.name!r} has symbols."
                yield Finding(found, ["Give it as axis=(0, 0, 1) and turn the joint with rotation."])
            continue
        try:
            numbers = [float(as_expression(x)) for x in axis]
        except (VinculumError, TypeError, ValueError) as error:
            yield f"the axis of {body.name!r} cannot be used: {error}. Give numbers or SymPy expressions of parameters."
            continue
        if not np.any(numbers) or not np.all(np.isfinite(numbers)):
            yield f"the axis of {body.name!r} is {tuple(axis)}, which has no direction. Give a nonzero vector."


def _about_rotation(body: Body) -> Iterator[Finding | str]:
    if body.rotation is None:
        return
    try:
        entries = np.array(body.rotation, dtype=object)
        R = np.eye(3) if entries.shape == (3, 3) and has_symbols(entries.ravel()) else entries.astype(float)
    except (TypeError, ValueError):
        yield f"the rotation of {body.name!r} is {body.rotation}. Give 3×3 numbers or SymPy expressions of parameters."
        return
    if R.shape != (3, 3) or not np.abs(R @ R.T - np.eye(3)).max() <= 1e-9 or np.linalg.det(R) < 0:
        found = f"the rotation of {body.name!r} is not a rotation matrix (orthogonal 3×3 with determinant 1)."
        yield Finding(found, ["Make one with ", call("bodies.rotation_rpy", roll=Word("angle")), "."])


def _about_directions(body: Body, parameters: Mapping[sp.Symbol, float]) -> Iterator[Finding | str]:
    """Axes and rotations with symbols: a direction at the values of the parameters, a rotation for all values."""
    for axis in body.axis if body.kind.axes == 2 else [body.axis] if body.kind.axes else []:
        numbers = numbers_of(axis, parameters) if has_symbols(axis) else None
        if numbers is not None and not (np.any(numbers) and np.all(np.isfinite(numbers))):
            yield f"the axis {tuple(axis)} of {body.name!r} has no direction at the values of the parameters."
    entries = [] if body.rotation is None else list(np.array(body.rotation, dtype=object).ravel())
    if not has_symbols(entries):
        return
    for factor in (1.0, 1.37):
        flat = numbers_of(entries, {p: factor * x for p, x in parameters.items()})
        R = np.eye(3) if flat is None else np.reshape(flat, (3, 3))
        if not np.abs(R @ R.T - np.eye(3)).max() <= 1e-9 or np.linalg.det(R) < 0:
            yield f"the rotation of {body.name!r} is not a rotation matrix for all values of its parameters."
            return


def is_real(value: Any) -> bool:
    """Whether a value is a finite real number, or an expression that may be one."""
    if not isinstance(value, (int, float, np.number, sp.Expr)):
        return False
    number = as_expression(value)
    return number.is_extended_real is not False and number.is_finite is not False and number is not sp.nan


def numbers_of(values: Sequence[Any], parameters: Mapping[sp.Symbol, float]) -> list[float] | None:
    """The numerical values of expressions, or None if a symbol has no value."""
    if all(isinstance(x, (int, float)) for x in values):
        return [float(x) for x in values]
    found = [as_expression(x).subs(dict(parameters)) for x in values]
    return [float(x) for x in found] if all(x.is_number for x in found) else None


def _about_symbols(bodies: Sequence[Body], parameters: Mapping[sp.Symbol, float]) -> Iterator[Finding]:
    """Lengths, masses and inertias must not contain time, coordinates or symbols without a value."""
    for body in bodies:
        scalars = [body.mass, *body.origin, *body.center_of_mass, *(x for row in body.inertia_matrix for x in row)]
        scalars += [*body.kind.numbers().values(), *np.ravel(np.array(body.axis, dtype=object))]
        scalars += [] if body.rotation is None else list(np.ravel(np.array(body.rotation, dtype=object)))
        written = [as_expression(value) for value in scalars if not isinstance(value, (int, float))]
        for x in sorted({s for value in written for s in value.free_symbols if s not in parameters}, key=str):
            advice = ("Use ", call("BodyTree", parameters={x: Word("number")}), ".")
            yield Finding(f"{x} of {body.name!r} has no value.", advice, About("body", body.name))


def _about_mass(body: Body, parameters: Mapping[sp.Symbol, float]) -> Iterator[str]:
    values = numbers_of([body.mass, *body.center_of_mass], parameters)
    if values is None:
        return
    mass = values[0]
    if mass < 0:
        yield f"the mass of {body.name!r} is {mass:.6g}. A mass must not be negative."
    if mass == 0 and np.any(values[1:]):
        yield (
            f"{body.name!r} has a center of mass away from its origin but no mass. Give it a mass, or leave out "
            "center_of_mass."
        )


def _about_inertia(body: Body, parameters: Mapping[sp.Symbol, float]) -> Iterator[Finding | str]:
    """J ≥ 0 and the triangle inequality J₁ + J₂ ≥ J₃: ∫ρ² dm along each principal axis is not negative."""
    flat = numbers_of([x for row in body.inertia_matrix for x in row], parameters)
    if flat is None:
        return
    J = np.array(flat).reshape(3, 3)
    if np.abs(J - J.T).max() > _ROUNDING * max(1e-300, np.abs(J).max()):
        yield f"the inertia of {body.name!r} is not symmetric."
        return
    principal = np.linalg.eigvalsh(J)
    shown = ", ".join(f"{x:.6g}" for x in principal)
    mass = numbers_of([body.mass], parameters)
    slack = max(_ROUNDING * float(np.abs(principal).max()), _SMALLEST * (mass[0] if mass else 0.0), 1e-30)
    if body.identified:
        return
    if principal[0] < -slack:
        yield f"the inertia of {body.name!r} has a negative principal moment: {shown}. Check signs and units."
    elif principal[0] + principal[1] < principal[2] - slack:
        found = (
            f"no rigid body has the inertia of {body.name!r}: principal moments {shown}, two of which add up to less "
            "than the third."
        )
        advice = "Check that it is about the center of mass and in kg m²; if it was identified by measurement, use "
        yield Finding(found, [advice, call("Body", identified=True), "."])


def _about_losses(body: Body, parameters: Mapping[sp.Symbol, float]) -> Iterator[str]:
    """Damping, friction and rotor inertia take or store energy; a gear ratio transmits it."""
    for label in ("damping", "friction", "rotor_inertia", "gear_ratio"):
        given = getattr(body, label)
        given = [given] if isinstance(given, (int, float)) else np.ravel(np.array(given, dtype=object)).tolist()
        values = [x for number in given for x in numbers_of([number], parameters) or []]
        if not all(map(math.isfinite, values)):
            yield f"the {label} of {body.name!r} is {given}. Give finite numbers."
        elif label == "gear_ratio" and 0.0 in values:
            yield f"the gear_ratio of {body.name!r} is 0. Give the turns of the rotor per turn of the joint."
        elif label != "gear_ratio" and min(values, default=0.0) < 0:
            why = (
                "has no meaning" if label == "rotor_inertia" else "would drive the joint; put such a force into forces"
            )
            yield f"the {label} of {body.name!r} is {min(values):g}. A negative one {why}."


def _about_idle(bodies: Sequence[Body], parameters: Mapping[sp.Symbol, float]) -> Iterator[Finding]:
    """Joints that carry no inertia: their acceleration would be undetermined."""
    by_name = {body.name: body for body in bodies}
    resisting: set[str | None] = set()  # bodies that have inertia or carry some
    for name in reversed(depth_first(bodies)):
        if name in resisting or _resists(by_name[name]):
            resisting |= {name, by_name[name].parent}
    for body in bodies:
        if body.coordinates and body.name not in resisting and not _has_rotor(body):
            found = f"nothing carried by the joint of {body.name!r} has mass, so its acceleration is undetermined."
            advice = f"Give a mass to {body.name!r} or to a body attached to it."
            yield Finding(found, [advice], About("body", body.name))


def _resists(body: Body) -> bool:
    values = [body.mass, *(x for row in body.inertia_matrix for x in row)]
    return any(x != 0 for x in values)


def _has_rotor(body: Body) -> bool:
    return all(as_expression(x) != 0 for x in body.each("rotor_inertia"))
