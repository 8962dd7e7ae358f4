"""A tree of rigid bodies on a base, and its `System`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies import energies, topology
from vinculum.describe.bodies.base import Base, moving_base
from vinculum.describe.bodies.body import Body
from vinculum.describe.bodies.check import findings, numbers_of
from vinculum.describe.bodies.closures import refuse_open
from vinculum.describe.bodies.contacts import implied
from vinculum.describe.bodies.kinematics import Motion, motions, nodes_of
from vinculum.describe.constraints import Constraint, Holonomic
from vinculum.describe.quantities import settle_units
from vinculum.describe.system import System
from vinculum.errors import About, Finding, ModelError, call
from vinculum.expressions import as_expression
from vinculum.frozen import FrozenMapping
from vinculum.graph import DeferredExpression, GraphExpression, as_sympy, jacobian, lift, symbol
from vinculum.graph.vectors import times
from vinculum.names import TIME, suggestion
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.dimensions import LENGTH, RATE, over
from vinculum.units.dimensions import TIME as TIME_DIMENSION
from vinculum.units.given import fields_in_si

_MOTION = {
    "gravity": over(LENGTH, TIME_DIMENSION, TIME_DIMENSION), "base_position": LENGTH,
    "base_velocity": over(LENGTH, TIME_DIMENSION), "base_angular_velocity": RATE,
}  # fmt: skip
_BASE = ("position", "velocity", "angular_velocity", "rotation")
_DEFERRED_FROM = 32  # coordinates; above, the energies are built only if they are needed
_IN_GRAPH_FROM = 200  # coordinates; above, joint forces stay in the graph: SymPy takes longer than all the rest


@dataclass(frozen=True, eq=False, repr=False)
class BodyTree:
    """Rigid bodies joined in a tree, in any order, with one root or several.

    ``gravity`` and the motion of the base are in inertial axes: ``base_position`` r_0(t) or ``base_velocity`` V_1(t),
    ``base_rotation`` R_0(t) or ``base_angular_velocity`` Ω_0(t), in any functions of t, also splines. ``loops`` close
    the tree, ``contacts`` let bodies roll or slide. `system()` gives the `System` that every form, simulation and
    controller accepts; its mass matrix and forces come from recursions over the tree.

    >>> tree = BodyTree([Body("arm", None, axis=(0, 1, 0), mass=1, center_of_mass=(1, 0, 0))])
    >>> tree
    BodyTree "tree"
      bodies              arm
      coordinates         arm
      base                at rest
      gravity             (0, 0, -9.81)
    >>> tree.position("arm", (1, 0, 0)).T
    Matrix([[cos(arm(t)), 0, -sin(arm(t))]])
    """

    bodies: Sequence[Body]
    gravity: Sequence[Any] = (0, 0, -9.81)
    base_velocity: Sequence[Any] | None = None
    base_angular_velocity: Sequence[Any] | None = None
    base_rotation: Any = None
    parameters: Mapping[sp.Symbol, float] = field(default_factory=dict)
    loops: Sequence[Any] = ()
    contacts: Sequence[Any] = ()
    name: str = "tree"
    base_position: Sequence[Any] | None = None
    units: Mapping[sp.Expr, str] = field(default_factory=dict)  # SI units of the parameters that have one

    def __post_init__(self) -> None:
        fields_in_si(self, _MOTION, f"Invalid tree {self.name!r}")
        wrong, _ = settle_units(self, ())
        found = wrong + findings(self.bodies, self.parameters)
        for label in ("gravity", "base_position", "base_velocity", "base_angular_velocity", "base_rotation"):
            entries = np.ravel(np.array(getattr(self, label), dtype=object))
            advice = ["Write a number or a SymPy expression."]
            found += [Finding(f"{label} contains the text {x!r}.", advice) for x in entries if isinstance(x, str)]
        for label in ("gravity", "base_position", "base_velocity", "base_angular_velocity"):
            given = getattr(self, label)
            if given is not None and np.shape(given) != (3,):
                advice = ["Give three components, as (0, 0, -9.81)."]
                found.append(Finding(f"{label} is {given}.", advice, About("option", label)))
        found += [
            Finding(f"{x!r} is not a loop.", ["Write ", call("bodies.Loop"), "."])
            for x in self.loops
            if not hasattr(x, "check")
        ]
        if found:
            raise ModelError(f"Invalid tree {self.name!r}", found)
        if any(
            getattr(self, f"base_{key}") is not None for key in ("position", "velocity", "angular_velocity", "rotation")
        ):
            _ = self.base  # invalid motions are refused
        object.__setattr__(self, "bodies", tuple(self.bodies))
        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))
        for joining in (*self.loops, *self.contacts):
            joining.check(self)
        if self.loops:
            refuse_open(self)

    # -- the graph -------------------------------------------------------------------------------------------

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names of the bodies in the internal numbering (depth first)."""
        return tuple(topology.depth_first(self.bodies))

    @property
    def graph(self) -> Any:
        """The tree as a ``networkx.DiGraph`` with the root "the ground"."""
        return topology.graph_of(self.bodies)

    @property
    def incidence(self) -> np.ndarray:
        """S (bodies, arcs) in the order of ``order``."""
        return topology.incidence(self.bodies)

    @property
    def inverse_incidence(self) -> np.ndarray:
        """S⁻¹ (arcs, bodies): which joints carry which bodies."""
        return topology.inverse_incidence(self.bodies)

    @property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """The bodies from the ground to every body."""
        return topology.paths(self.bodies)

    def body(self, name: str) -> Body:
        """A body by its name."""
        if name not in self._by_name:
            near = suggestion(name, self._by_name)
            raise ModelError("Unknown body", [f"{name!r} is not a body of {self.name!r}.{near}"])
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Body]:
        return {body.name: body for body in self.bodies}

    # -- kinematics ------------------------------------------------------------------------------------------

    @cached_property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """All coordinates, in the user's order of bodies."""
        return tuple(q for body in self.bodies for q in body.coordinates)

    @cached_property
    def home(self) -> dict[sp.Expr, float]:
        """The coordinates at which the frames of every joint coincide: zero, for a quaternion the identity."""
        values = (x for body in self.bodies for part in body.parts for x in part.joint.home)
        places = (body.coordinates[i] for body in self.bodies for part in body.parts for i in part.places)
        return dict(zip(places, values, strict=True))

    @property
    def time(self) -> sp.Symbol:
        """The symbol of time."""
        return self.coordinates[0].args[0] if self.coordinates else TIME

    @cached_property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """dq/dt for every coordinate."""
        return tuple(v for body in self.bodies for v in body.rates)

    @cached_property
    def base(self) -> Base:
        """The prescribed motion of the base."""
        given = self.base_position, self.base_velocity, self.base_angular_velocity, self.base_rotation
        return moving_base(*given, self.time)

    @cached_property
    def motions(self) -> Mapping[str | None, Motion]:
        """Rotations, positions and velocities of all bodies as nodes; the base is None."""
        return motions(self)

    def motion_of(self, name: str | None) -> Motion:
        """The motion of a body, by name."""
        return self.motions[None if name is None else self.body(name).name]

    def position(self, name: str | None, point: Sequence[Any] = (0, 0, 0)) -> sp.Matrix:
        """The position of a point of a body, in inertial axes."""
        _ = self.base.position  # known, or refused
        return _column(self.motion_of(name).at(nodes_of(point))[0])

    def rotation(self, name: str | None) -> sp.Matrix:
        """The axes of a body as columns, in inertial axes."""
        return sp.Matrix(3, 3, [as_sympy(lift(x)) for row in self.motion_of(name).R for x in row])

    def velocity(self, name: str | None, point: Sequence[Any] = (0, 0, 0)) -> sp.Matrix:
        """The velocity of a point of a body, in inertial axes."""
        return _column(self.motion_of(name).at(nodes_of(point))[1])

    def angular_velocity(self, name: str | None) -> sp.Matrix:
        """The angular velocity of a body, in inertial axes."""
        motion = self.motion_of(name)
        return _column(times(motion.R, motion.omega))

    def jacobian(self, name: str, point: Sequence[Any] = (0, 0, 0)) -> sp.Matrix:
        """J (3, coordinates) of the velocity of a point: v = J q̇ + (the base's part)."""
        return self._rows(self.motion_of(name).at(nodes_of(point))[1])

    def angular_jacobian(self, name: str) -> sp.Matrix:
        """J (3, coordinates) of the angular velocity of a body, inertial axes."""
        motion = self.motion_of(name)
        return self._rows(times(motion.R, motion.omega))

    def _rows(self, velocity: Sequence[Any]) -> sp.Matrix:
        rows = jacobian([lift(x) for x in velocity], [symbol(v) for v in self.velocities])
        return sp.Matrix(3, len(self.velocities), [as_sympy(x) for x in rows.ravel()])

    # -- the system ------------------------------------------------------------------------------------------

    @cached_property
    def norm_inertia(self) -> float:
        """μ of the term ½ μ (q·q̇)² of every quaternion, comparable to the other inertias."""
        flat = numbers_of([x for b in self.bodies for i in range(3) for x in [b.inertia_matrix[i][i]]], self.parameters)
        return 4.0 * max([float(np.mean(flat))] if flat else [0.0]) or 1.0

    @property
    def inputs(self) -> tuple[sp.Expr, ...]:
        """All joint torques."""
        return tuple(u for body in self.bodies for u in body.torques)

    @property
    def normalizations(self) -> tuple[Holonomic, ...]:
        """(|q|² - 1)/2 = 0 for every quaternion."""
        return tuple(
            Holonomic((sum(x**2 for x in body.coordinates[-4:]) - 1) / 2, name=f"{body.name} norm")
            for body in self.bodies
            if body.kind.quaternion
        )

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Norms of quaternions, loops and contacts, without the conditions that are ``omitted``."""
        return (*self.normalizations, *(c for c in self._joining if c.name not in self.omitted))

    @cached_property
    def omitted(self) -> tuple[str, ...]:
        """Conditions of contacts that the others imply, such as the sideways slip of the second wheel on an axle."""
        found = implied(self, self._joining)
        return tuple(c.name for c in self._joining if c.name in found)

    @cached_property
    def _joining(self) -> tuple[Constraint, ...]:
        return tuple(c for item in (*self.loops, *self.contacts) for c in item.constraints(self))

    @cached_property
    def energies(self) -> tuple[sp.Expr, sp.Expr]:
        """T and V; of a large tree they are built when they are first needed."""
        if len(self.coordinates) <= _DEFERRED_FROM:
            return as_sympy(energies.kinetic_energy(self)), as_sympy(energies.potential_energy(self))
        known = (*self.coordinates, *self.parameters, *([self.time] if self.base.moves else []))
        return (
            DeferredExpression(partial(energies.kinetic_energy, self), (*known, *self.velocities)),
            DeferredExpression(partial(energies.potential_energy, self), known),
        )

    def moves(self, system: System) -> bool:
        """Whether a system still has the coordinates and energies of this tree, so its recursions are valid."""
        same = system.coordinates == self.coordinates
        return same and (system.kinetic_energy, system.potential_energy) == self.energies

    def system(self, forces: Mapping[sp.Expr, Any] | None = None, constraints: Sequence[Constraint] = ()) -> System:
        """The tree as a `System`; further generalized ``forces`` and ``constraints`` are added to its own."""
        if not self.coordinates:
            raise ModelError(f"the tree {self.name!r} cannot move", ["all joints are fixed."])
        large = len(self.coordinates) > _IN_GRAPH_FROM
        spelled = GraphExpression if large else as_sympy
        acting = {q: spelled(force) for q, force in energies.joint_forces(self).items()}
        for q, force in (forces or {}).items():
            acting[q] = acting.get(q, sp.S.Zero) + as_expression(force)
        kinetic, potential = self.energies
        return System(
            coordinates=self.coordinates,
            kinetic_energy=kinetic,
            potential_energy=potential,
            forces=acting,
            constraints=[*self.constraints, *constraints],
            parameters=self.parameters,
            inputs=self.inputs,
            name=self.name,
            bodies=self,
            units=self.units,
        )

    def __repr__(self) -> str:
        rows = {
            "bodies": ", ".join(body.name for body in self.bodies),
            "coordinates": ", ".join(str(q.func) for q in self.coordinates) or "none",
            "base": "moves as given" if self.base.moves else "at rest",
            "gravity": f"({', '.join(str(x) for x in self.gravity)})",
        }
        return labelled_rows(f'BodyTree "{self.name}"', rows)

    _repr_html_ = html


def _column(vector: Sequence[Any]) -> sp.Matrix:
    return sp.Matrix([as_sympy(lift(x)) for x in vector])


# -- parameter values substituted -------------------------------------------------------------------------

_QUANTITIES = (
    "axis", "origin", "rotation", "mass", "center_of_mass", "inertia", "damping", "stiffness", "rest", "friction",
    "rotor_inertia", "gear_ratio",
)  # fmt: skip


def with_numbers(tree: BodyTree) -> BodyTree:
    """The same tree without parameters: every symbol replaced by its value."""
    if not tree.parameters:
        return tree
    bodies = [_body(body, tree.parameters) for body in tree.bodies]
    gravity = [_number(x, tree.parameters) for x in tree.gravity]
    moving: dict[str, Any] = {
        key: None if value is None else sp.Matrix(value).subs(dict(tree.parameters)).tolist()
        for key, value in (("base_rotation", tree.base_rotation),)
    }
    for key in ("base_position", "base_velocity", "base_angular_velocity"):
        given = getattr(tree, key)
        moving[key] = None if given is None else [as_expression(x).subs(dict(tree.parameters)) for x in given]
    return replace(tree, bodies=bodies, gravity=gravity, parameters={}, **moving)


def _body(body: Body, parameters: Mapping[sp.Symbol, float]) -> Body:
    joint = body.joint
    if not isinstance(joint, str):
        joint = replace(joint, **{key: _number(x, parameters) for key, x in joint.numbers().items()})
    return replace(body, joint=joint, **{key: _number(getattr(body, key), parameters) for key in _QUANTITIES})


def _number(value: Any, parameters: Mapping[sp.Symbol, float]) -> Any:
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(_number(x, parameters) for x in value)
    if isinstance(value, sp.MatrixBase):
        return tuple(tuple(_number(x, parameters) for x in value.row(i)) for i in range(value.rows))
    return float(as_expression(value).subs(dict(parameters))) if isinstance(value, sp.Basic) else value
