"""Keys of a mechanism: by energies, by rates or by bodies; its constraints, motors and release."""

from __future__ import annotations

from dataclasses import fields

from vinculum.describe.bodies.closures import KINDS
from vinculum.describe.bodies.joints import JOINTS
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Shape, Table, Text

NAMES = 'A list of names, or a table of units by name, such as {x = "m"}.'


def _declared(about: str) -> Shape:
    return Either(f"{about} {NAMES}", (ListOf(entry=Name()), MapOf(entry=Text())))


CONSTRAINT = Table(
    keys={
        "holonomic": Formula("F(q, t), which stays zero, or an equation a = b."),
        "nonholonomic": Formula("φ(q, dot(q), t), which an ideal reaction keeps zero."),
        "servo": Formula("A condition held by the inputs named in through."),
        "through": ListOf("The inputs that hold a servo constraint.", Name()),
        "program": Formula("A condition held by all inputs together, for form program."),
    }
)

SYSTEM = Table(
    "A mechanism stated by its energies.",
    {
        "coordinates": _declared("The coordinates q."),
        "inputs": _declared("Forces, torques or voltages set by a law or a servo constraint."),
        "kinetic_energy": Formula("T(q, dot(q), t)."),
        "potential_energy": Formula("V(q, t)."),
        "dissipation": Formula("Rayleigh's function D(q, dot(q)), which gives the force -dD/d dot(q)."),
        "forces": MapOf("Generalized forces by coordinate; they may contain inputs.", Formula()),
        "ignored": ListOf("Coordinates that linear models leave out: only their velocities matter.", Name()),
    },
    ("coordinates", "kinetic_energy"),
)

AFFINE = Table(
    "A first-order system that is linear in its inputs.",
    {
        "states": _declared("The states x; a velocity is written dot(x)."),
        "inputs": _declared("Unknown reactions and controls."),
        "rates": MapOf("dx/dt by state, linear in the inputs.", Formula()),
        "energy": Formula("E(x, t), the energy; a run checks its balance."),
        "power": Formula("P(x, t, inputs) = dE/dt."),
    },
    ("states", "rates"),
)

MOTOR = Table(
    "A DC motor in place of an input torque.",
    {
        "torque_constant": Number("k_t, the torque per current [N*m/A], or the force per current [N/A]."),
        "resistance": Number("R of the winding [ohm]."),
        "inductance": Number("L of the winding [H]."),
        "gear": Number("Turns of the motor per turn of the shaft; 1 by default."),
        "back_emf": Number("k_e [V*s]; equal to k_t by default."),
    },
    ("torque_constant", "resistance", "inductance"),
)

RELEASE = Table(
    "Release of the constraints: their reactions become inputs.",
    {
        "characteristics": MapOf("Quasi-velocities by name, as expressions.", Formula()),
        "metric": Text("Metric of the tangential reactions.", ("identity", "kinetic", "decoupling")),
        "exact": Flag("Whether the constraints are kept and only tangential reactions are inputs."),
    },
    ("characteristics",),
)


VECTOR = ListOf(entry=Formula(), length=3)
MATRIX = ListOf(entry=VECTOR, length=3)


def _one_or_each(about: str) -> Shape:
    return Either(about, (Formula(), ListOf(entry=Formula())))


_JOINT = {
    "joint": Text("The kind of joint; revolute by default.", tuple(JOINTS)),
    **{f.name: Formula(f.metadata["about"]) for kind in JOINTS.values() for f in fields(kind)},
    "mass": Formula("Its mass."),
    "center_of_mass": ListOf("Center of mass in the body's frame.", Formula(), 3),
    "inertia": Either(
        "Inertia about the center of mass: a number, three principal moments, six xx yy zz xy xz yz, or a 3×3 matrix.",
        (Formula(), ListOf(entry=Either(options=(Formula(), VECTOR)))),
    ),
    "angle": Either(
        "The names of its coordinates; by default made from the name of the body.", (Name(), ListOf(entry=Name()))
    ),
    "torque": Either("The inputs that act along its coordinates.", (Name(), ListOf(entry=Name()))),
    "damping": _one_or_each("Viscous damping of the joint."),
    "stiffness": _one_or_each("Stiffness of a spring in the joint."),
    "rest": _one_or_each("Coordinate at which that spring exerts no force."),
    "friction": _one_or_each("Coulomb friction: one number, or a pair for both directions."),
    "rotor_inertia": _one_or_each("Inertia of the motor's rotor."),
    "gear_ratio": _one_or_each("Turns of the rotor per turn of the joint."),
    "identified": Flag("Accept an inertia that violates the triangle inequality, common in published arm data."),
}

BODY = Table(
    "A rigid body and the joint that connects it to its parent.",
    {
        "parent": Name("The parent body; the ground by default."),
        "axis": Either(
            "Axis of the joint in the body's frame; two for a universal joint.",
            (ListOf(entry=Either(options=(Formula(), VECTOR))),),
        ),
        "origin": ListOf("Origin of the body's frame in the parent's frame.", Formula(), 3),
        "rotation": Either(
            "Rotation of the body's frame in the parent's frame: 3×3 with its axes as columns, or {roll, pitch, yaw}.",
            (MATRIX, Table(keys={"roll": Number(), "pitch": Number(), "yaw": Number()})),
        ),
        **_JOINT,
    },
)

LINK = Table(
    "A row of a Denavit-Hartenberg table.",
    {
        "name": Name("Name of the body."),
        "theta": Number(),
        "d": Number(),
        "a": Number(),
        "alpha": Number(),
        **_JOINT,
    },
)

LOOP = Table(
    "A second connection between two bodies.",
    {
        "first": Name("A body; the ground by default."),
        "second": Name("Another body; the ground by default."),
        "kind": Text("What coincides; point by default.", KINDS),
        "point": ListOf("Point of the first body.", Formula(), 3),
        "other_point": ListOf("Point of the second body.", Formula(), 3),
        "axis": ListOf("Axis of the first body.", Number(), 3),
        "other_axis": ListOf("Axis of the second body.", Number(), 3),
        "name": Text("Name for messages and reactions."),
    },
)

ROLLING = Table(
    "A ball or a thin disk that rolls on a plane.",
    {
        "body": Name("The body that rolls."),
        "radius": Formula("Radius of the ball or disk."),
        "center": ListOf("Center of the ball or disk in the body's frame.", Formula(), 3),
        "axis": ListOf("Axis of the disk in the body's frame; omit it for a ball.", Number(), 3),
        "normal": ListOf("Normal of the plane.", Number(), 3),
        "height": Formula("Height of the plane above the origin."),
        "name": Text("Name for messages and reactions."),
    },
    ("body", "radius"),
)

SLIDING = Table(
    "A blade or wheel at a point of a body.",
    {
        "body": Name("The body it belongs to."),
        "across": ListOf("The direction without velocity, in the body's frame.", Number(), 3),
        "point": ListOf("The point in the body's frame.", Formula(), 3),
        "name": Text("Name for messages and reactions."),
    },
    ("body", "across"),
)

PATH = {
    "body": Name("The body that follows the path."),
    "point": ListOf("The tool point in the body's frame; its origin by default.", Formula(), 3),
    "position": Table(
        "Path of the point, as functions of t; an omitted component is free.",
        {"x": Formula(), "y": Formula(), "z": Formula()},
    ),
    "orientation": ListOf("Orientation of the body, as 3×3 functions of t.", VECTOR, 3),
    "joints": MapOf("Coordinates that follow given functions of t.", Formula()),
}

TREE = Table(
    "A tree of rigid bodies.",
    {
        "gravity": ListOf("Acceleration of gravity; [0, 0, -9.81] by default.", Formula(), 3),
        "base_position": ListOf("Position of the base, as functions of t.", Formula(), 3),
        "base_velocity": ListOf("Velocity of the base, as functions of t.", Formula(), 3),
        "base_angular_velocity": ListOf("Angular velocity of the base, as functions of t.", Formula(), 3),
        "base_rotation": ListOf("Rotation of the base, as 3×3 functions of t.", VECTOR, 3),
        "bodies": MapOf("The bodies by name.", BODY),
        "links": ListOf("Denavit-Hartenberg rows, one body each.", LINK),
        "convention": Text("Convention of the links: standard or modified (Craig).", ("standard", "modified")),
        "loops": ListOf("Joints that close the tree.", LOOP),
        "rolling": ListOf("Bodies that roll.", ROLLING),
        "sliding": ListOf("Blades and wheels that do not slip sideways.", SLIDING),
        "forces": MapOf("Additional generalized forces by coordinate.", Formula()),
        "path": Table("Servo constraints: a path of a body, held by all joint torques together.", PATH, ("body",)),
        "urdf": Text("A URDF file in the folder of the model file or below it."),
        "floating": Flag("Whether the root link of the URDF moves freely."),
        "actuated": Either(
            "Whether every joint of the URDF gets an input tau_<joint>, or the joints that do.",
            (Flag(), ListOf(entry=Text())),
        ),
        "identified": Flag("Accept inertias of the URDF that violate the triangle inequality."),
    },
)
