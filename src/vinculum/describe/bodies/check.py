"""What can be wrong with a tree of bodies, all of it found at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.describe.bodies.body import Body, inertia_matrix
from vinculum.describe.bodies.joints import BALLS, COORDINATES
from vinculum.describe.bodies.topology import EXTERNAL, graph_of
from vinculum.names import suggestion

_ROUNDING = 1e-9  # relative slack of the inequalities of inertia
_SMALLEST = 1e-15  # m²: inertia per mass that counts as none


def findings(bodies: Sequence[Body], parameters: Mapping[sp.Symbol, float]) -> list[str]:
    """Every finding; the physics is looked at once shapes and names are right."""
    strangers = [x for x in bodies if not isinstance(x, Body)]
    if strangers:
        return [f"{x!r} is no body. Write vn.Body(name, parent, ...)." for x in strangers]
    first = [*_about_names(bodies), *_about_parents(bodies), *_about_coordinates(bodies)]
    for body in bodies:
        first += list(_about_shape(body))
    if first:
        return first
    later = [*_about_cycles(bodies), *_about_symbols(bodies, parameters)]
    for body in bodies:
        later += [*_about_mass(body, parameters), *_about_inertia(body, parameters)]
    return later or list(_about_idle(bodies, parameters))


def _about_names(bodies: Sequence[Body]) -> Iterator[str]:
    if not bodies:
        yield "there are no bodies. Pass BodyTree([Body(...), ...])."
    if any(body.name == EXTERNAL for body in bodies):
        yield f"{EXTERNAL!r} is the name of what the tree stands on. Call the body otherwise."
    for name, times in Counter(body.name for body in bodies).items():
        if times > 1:
            yield f"{times} bodies are called {name!r}. Give each its own name."
    for body in bodies:
        if body.joint not in COORDINATES:
            yield (
                f"the joint of {body.name!r} is {body.joint!r}.{suggestion(body.joint, COORDINATES)} The joints are "
                + (", ".join(COORDINATES) + ".")
            )


def _about_parents(bodies: Sequence[Body]) -> Iterator[str]:
    names = [body.name for body in bodies]
    for body in bodies:
        if body.parent is not None and body.parent not in names:
            yield (
                f"the parent {body.parent!r} of {body.name!r} is no body of the tree."
                f"{suggestion(body.parent, names)} Write None for the external body."
            )


def _about_coordinates(bodies: Sequence[Body]) -> Iterator[str]:
    owner: dict[sp.Expr, str] = {}
    for body in bodies:
        for q in body.coordinates if body.joint in COORDINATES else ():
            if not isinstance(q, AppliedUndef):
                yield f"the coordinate {q} of {body.name!r} is no function of time. Write dynamicsymbols({str(q)!r})."
            elif q in owner:
                yield f"{body.name!r} and {owner[q]!r} both move with {q.func}. Give each its own angle=."
            owner[q] = body.name


def _about_cycles(bodies: Sequence[Body]) -> Iterator[str]:
    import networkx as nx

    for cycle in nx.simple_cycles(graph_of(bodies)):
        ring = " -> ".join([*cycle, cycle[0]])
        yield (
            f"the bodies {ring} hang on each other in a circle. Open it at one joint, hang the first body on "
            "the external body (None) or another body, and close the loop with loops=[vn.bodies.Loop(...)]."
        )


def _about_shape(body: Body) -> Iterator[str]:
    """Lengths of vectors, numbers of coordinates, axes and rotations."""
    if body.joint not in COORDINATES:
        return
    for label in ("origin", "center_of_mass"):
        if len(getattr(body, label)) != 3:
            yield f"the {label} of {body.name!r} has {len(getattr(body, label))} components. Give three."
    try:
        inertia_matrix(body.inertia)
    except (ValueError, TypeError, sp.SympifyError) as error:
        yield f"the inertia of {body.name!r} cannot be read: {error}."
    if isinstance(body.mass, str):
        yield f"the mass of {body.name!r} is the text {body.mass!r}. Give a number or a SymPy symbol."
    yield from _about_axis(body)
    yield from _about_rotation(body)
    wanted = len(COORDINATES[body.joint])
    if body.angle is not None and len(body.coordinates) != wanted:
        yield f"{body.name!r} has {len(body.coordinates)} coordinates; a {body.joint} joint has {wanted}."
    acting = wanted - (1 if body.joint in BALLS else 0)
    if body.torques and len(body.torques) != acting:
        yield f"{body.name!r} has {len(body.torques)} torques; a {body.joint} joint has {acting}."
    yield from _about_passive(body, wanted)


def _about_passive(body: Body, wanted: int) -> Iterator[str]:
    for label in ("damping", "stiffness", "friction", "rotor_inertia"):
        value = getattr(body, label)
        if body.joint in BALLS and np.any(np.array(value, dtype=object) != 0):
            yield f"{label} of {body.name!r}: a {body.joint} joint has none of its own. Put it into forces={{...}}."
        elif isinstance(value, (list, tuple)) and len(value) != wanted and not (label == "friction" and wanted == 1):
            yield f"{label} of {body.name!r} has {len(value)} numbers; the {body.joint} joint has {wanted} coordinates."


def _about_axis(body: Body) -> Iterator[str]:
    if body.joint in ("fixed", *BALLS):
        return
    given: Any = body.axis if body.joint == "universal" else [body.axis]
    shapes = [np.shape(axis) for axis in given]
    if body.joint == "universal" and (len(given) != 2 or shapes != [(3,), (3,)]):
        yield f"the universal joint of {body.name!r} needs two axes, axis=((1, 0, 0), (0, 1, 0)); found {body.axis}."
        return
    if shapes[0] != (3,):
        yield f"the axis of {body.name!r} is {body.axis}. Give three components."
        return
    for axis in given:
        try:
            numbers = [float(x) for x in axis]
        except TypeError:
            yield f"the axis {axis} of {body.name!r} is not made of numbers. Only lengths may be symbols."
            continue
        if not np.any(numbers) or not np.all(np.isfinite(numbers)):
            yield f"the axis of {body.name!r} is {tuple(axis)}, which has no direction. Give another vector."


def _about_rotation(body: Body) -> Iterator[str]:
    if body.rotation is None:
        return
    try:
        R = np.array(body.rotation, dtype=float)
    except (TypeError, ValueError):
        yield f"the rotation of {body.name!r} is not made of numbers."
        return
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
        yield (
            f"the rotation of {body.name!r} is not a rotation matrix (orthogonal 3×3 with determinant 1). "
            "Make one with vn.bodies.rotation_rpy(roll, pitch, yaw)."
        )


def numbers_of(values: Sequence[Any], parameters: Mapping[sp.Symbol, float]) -> list[float] | None:
    """Numbers of expressions, or None where a symbol has no value."""
    found = [sp.sympify(x).subs(dict(parameters)) for x in values]
    return [float(x) for x in found] if all(x.is_number for x in found) else None


def _about_symbols(bodies: Sequence[Body], parameters: Mapping[sp.Symbol, float]) -> Iterator[str]:
    """Symbols in lengths, masses and inertias that have no value; what must not contain time or coordinates."""
    for body in bodies:
        scalars = [body.mass, *body.origin, *body.center_of_mass, *(x for row in body.inertia_matrix for x in row)]
        for x in dict.fromkeys(s for value in scalars for s in sp.sympify(value).free_symbols if s not in parameters):
            yield f"{x} of {body.name!r} has no value. Pass BodyTree(..., parameters={{{x}: number}})."


def _about_mass(body: Body, parameters: Mapping[sp.Symbol, float]) -> Iterator[str]:
    values = numbers_of([body.mass, *body.center_of_mass], parameters)
    if values is None:
        return
    mass = values[0]
    if mass < 0 or not np.isfinite(mass):
        yield f"the mass of {body.name!r} is {mass:.6g}. A mass is a number that is not negative."
    if mass == 0 and np.any(values[1:]):
        yield f"{body.name!r} has a center of mass away from its origin and no mass. Give mass=..., or leave it out."


def _about_inertia(body: Body, parameters: Mapping[sp.Symbol, float]) -> Iterator[str]:
    """J ≥ 0 and the triangle inequality J₁ + J₂ ≥ J₃: ∫ρ² dm along each principal axis is not negative."""
    flat = numbers_of([x for row in body.inertia_matrix for x in row], parameters)
    if flat is None:
        return
    J = np.array(flat).reshape(3, 3)
    if not np.allclose(J, J.T, rtol=0, atol=_ROUNDING * max(1e-300, np.abs(J).max())):
        yield f"the inertia of {body.name!r} is not symmetric."
        return
    principal = np.linalg.eigvalsh(J)
    shown = ", ".join(f"{x:.6g}" for x in principal)
    mass = numbers_of([body.mass], parameters)
    slack = max(_ROUNDING * float(np.abs(principal).max()), _SMALLEST * (mass[0] if mass else 0.0), 1e-30)
    if body.identified:
        return
    if principal[0] < -slack:
        yield f"the inertia of {body.name!r} is not positive: principal moments {shown}. Check signs and units."
    elif principal[0] + principal[1] < principal[2] - slack:
        yield (
            f"no body has the inertia of {body.name!r}: principal moments {shown}, of which two add up to less than "
            "the third. Check that it is about the center of mass and in kg m²; if it was identified by measurement, "
            "pass identified=True."
        )


def _about_idle(bodies: Sequence[Body], parameters: Mapping[sp.Symbol, float]) -> Iterator[str]:
    """Joints behind which nothing has inertia: their acceleration would not be determined."""
    import networkx as nx

    graph = graph_of(bodies)
    by_name = {body.name: body for body in bodies}
    for body in bodies:
        if body.joint == "fixed":
            continue
        carried = [by_name[name] for name in [body.name, *nx.descendants(graph, body.name)]]
        if not any(_resists(b) for b in carried) and not _has_rotor(body):
            yield (
                f"nothing on the joint of {body.name!r} has mass: no acceleration would be determined. Give mass=... "
                f"to {body.name!r} or to a body that hangs on it."
            )


def _resists(body: Body) -> bool:
    values = [body.mass, *(x for row in body.inertia_matrix for x in row)]
    return any(sp.sympify(x) != 0 for x in values)


def _has_rotor(body: Body) -> bool:
    return all(sp.sympify(x) != 0 for x in body.each("rotor_inertia"))
