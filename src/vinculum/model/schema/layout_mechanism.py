"""Keys of a mechanism: by energies, by rates or by bodies; its constraints, motors and release."""

from __future__ import annotations

from dataclasses import fields

from vinculum.describe.bodies.closures import KINDS
from vinculum.describe.bodies.joints import JOINTS
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Shape, Table, Text

NAMES = 'A list of names, or a table from name to unit, as {x = "m"}.'


def _declared(about: str) -> Shape:
    return Either(f"{about} {NAMES}", (ListOf(entry=Name()), MapOf(entry=Text())))


CONSTRAINT = Table(
    keys={
        "holonomic": Formula("F(q, t), which is kept at zero, or an equation a = b."),
        "nonholonomic": Formula("φ(q, dot(q), t), which an ideal reaction keeps at zero."),
        "servo": Formula("A condition that is held by the inputs named in through."),
        "through": ListOf("The inputs that hold a servo constraint.", Name()),
        "program": Formula("A condition that all inputs together hold, for form program."),
    }
)

SYSTEM = Table(
    "A mechanism stated by its energies.",
    {
        "coordinates": _declared("The coordinates q."),
        "inputs": _declared("Forces, torques or voltages that a law or a servo sets."),
        "kinetic_energy": Formula("T(q, dot(q), t)."),
        "potential_energy": Formula("V(q, t)."),
        "dissipation": Formula("Rayleigh's function D(q, dot(q)), which gives the force -dD/d dot(q)."),
        "forces": MapOf("Generalized forces by coordinate; they may contain inputs.", Formula()),
    },
    ("coordinates", "kinetic_energy"),
)

AFFINE = Table(
    "Any first-order system that is linear in its inputs.",
    {
        "states": _declared("The states x; a velocity is written dot(x)."),
        "inputs": _declared("Unknown reactions and controls."),
        "rates": MapOf("dx/dt by state, linear in the inputs.", Formula()),
        "energy": Formula("E(x, t), whose balance a run checks."),
        "power": Formula("P(x, t, inputs) = dE/dt."),
    },
    ("states", "rates"),
)

MOTOR = Table(
    "A direct-current motor in place of an input torque.",
    {
        "torque_constant": Number("k_t, the torque of a current [N*m/A], or the force [N/A]."),
        "resistance": Number("R of the winding [ohm]."),
        "inductance": Number("L of the winding [H]."),
        "gear": Number("Turns of the motor for one turn of the shaft; 1 by default."),
        "back_emf": Number("k_e [V*s]; equal to k_t by default."),
    },
    ("torque_constant", "resistance", "inductance"),
)

RELEASE = Table(
    "The constraints released: their reactions become inputs.",
    {
        "characteristics": MapOf("Names of quasi-velocities and what they are.", Formula()),
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
    "joint": Text("The kind of joint; revolute when left out.", tuple(JOINTS)),
    **{f.name: Formula(f.metadata["about"]) for kind in JOINTS.values() for f in fields(kind)},
    "mass": Formula("Its mass."),
    "center_of_mass": ListOf("In the frame of the body.", Formula(), 3),
    "inertia": Either(
        "About the center of mass: a number, three principal moments, six xx yy zz xy xz yz, or a 3×3 matrix.",
        (Formula(), ListOf(entry=Either(options=(Formula(), VECTOR)))),
    ),
    "angle": Either(
        "The names of its coordinates; made from the name of the body when left out.", (Name(), ListOf(entry=Name()))
    ),
    "torque": Either("The inputs that act along its coordinates.", (Name(), ListOf(entry=Name()))),
    "damping": _one_or_each("Viscous damping of the joint."),
    "stiffness": _one_or_each("Stiffness of a spring in the joint."),
    "rest": _one_or_each("Where that spring is at rest."),
    "friction": _one_or_each("Coulomb friction: one number, or a pair for both directions."),
    "rotor_inertia": _one_or_each("Inertia of the motor's rotor."),
    "gear_ratio": _one_or_each("Turns of the rotor for one of the joint."),
    "identified": Flag("Accept an inertia against the triangle inequality, as published arms have."),
}

BODY = Table(
    "A rigid body and the joint by which it hangs on its parent.",
    {
        "parent": Name("The body it hangs on; the ground when left out."),
        "axis": Either(
            "Of the joint, in the frame of the body; two for a universal joint.",
            (ListOf(entry=Either(options=(Formula(), VECTOR))),),
        ),
        "origin": ListOf("Of its frame, in the frame of the parent.", Formula(), 3),
        "rotation": Either(
            "Of its frame in that of the parent: 3×3 with its axes as columns, or {roll, pitch, yaw}.",
            (MATRIX, Table(keys={"roll": Number(), "pitch": Number(), "yaw": Number()})),
        ),
        **_JOINT,
    },
)

LINK = Table(
    "A row of a table of Denavit and Hartenberg.",
    {
        "name": Name("Of the body."),
        "theta": Number(),
        "d": Number(),
        "a": Number(),
        "alpha": Number(),
        **_JOINT,
    },
)

LOOP = Table(
    "Two bodies joined a second time.",
    {
        "first": Name("A body; the ground when left out."),
        "second": Name("Another body; the ground when left out."),
        "kind": Text("What coincides; point when left out.", KINDS),
        "point": ListOf("On the first body.", Formula(), 3),
        "other_point": ListOf("On the second body.", Formula(), 3),
        "axis": ListOf("On the first body.", Number(), 3),
        "other_axis": ListOf("On the second body.", Number(), 3),
        "name": Text("For messages and reactions."),
    },
)

ROLLING = Table(
    "A ball or a thin disk that rolls on a plane.",
    {
        "body": Name("The body that rolls."),
        "radius": Formula("Of the ball or disk."),
        "center": ListOf("In the frame of the body.", Formula(), 3),
        "axis": ListOf("Of the disk, in the frame of the body; a ball when left out.", Number(), 3),
        "normal": ListOf("Of the plane.", Number(), 3),
        "height": Formula("Of the plane above the origin."),
        "name": Text("For messages and reactions."),
    },
    ("body", "radius"),
)

SLIDING = Table(
    "A blade or wheel at a point of a body.",
    {
        "body": Name("The body it belongs to."),
        "across": ListOf("The direction without velocity, in the frame of the body.", Number(), 3),
        "point": ListOf("In the frame of the body.", Formula(), 3),
        "name": Text("For messages and reactions."),
    },
    ("body", "across"),
)

PATH = {
    "body": Name("The body that follows the path."),
    "point": ListOf("The tool point, in the frame of the body; its origin by default.", Formula(), 3),
    "position": Table(
        "Path of the point, as functions of t; a component left out is free.",
        {"x": Formula(), "y": Formula(), "z": Formula()},
    ),
    "orientation": ListOf("Of the body, 3×3 functions of t.", VECTOR, 3),
    "joints": MapOf("Coordinates that follow given functions of t.", Formula()),
}

TREE = Table(
    "A tree of rigid bodies.",
    {
        "gravity": ListOf("Acceleration of gravity; [0, 0, -9.81] when left out.", Formula(), 3),
        "base_velocity": ListOf("Of the base, as functions of t.", Formula(), 3),
        "base_angular_velocity": ListOf("Of the base, as functions of t.", Formula(), 3),
        "base_rotation": ListOf("Of the base, 3×3 functions of t.", VECTOR, 3),
        "bodies": MapOf("The bodies by name.", BODY),
        "links": ListOf("Rows of Denavit and Hartenberg, one body each.", LINK),
        "convention": Text("Of the links: standard or modified (Craig).", ("standard", "modified")),
        "loops": ListOf("Joints that close the tree.", LOOP),
        "rolling": ListOf("Bodies that roll.", ROLLING),
        "sliding": ListOf("Blades and wheels that do not slip sideways.", SLIDING),
        "forces": MapOf("Further generalized forces by coordinate.", Formula()),
        "path": Table("A path on which all joint torques together hold a body, by servo constraints.", PATH, ("body",)),
        "urdf": Text("A URDF file in the folder of the model file or below it."),
        "floating": Flag("Whether the root link of the URDF moves freely."),
        "actuated": Flag("Whether every joint of the URDF gets an input tau_<joint>."),
        "identified": Flag("Accept inertias of the URDF against the triangle inequality."),
    },
)
