"""Every key of a model file, with its shape and what it means: the one table behind reading, schema and reference."""

from __future__ import annotations

from vinculum.describe.bodies.joints import COORDINATES
from vinculum.describe.bodies.loops import KINDS
from vinculum.describe.files.shapes import (
    Either,
    Flag,
    Formula,
    ListOf,
    MapOf,
    Name,
    Number,
    Shape,
    Table,
    Text,
    Whole,
)

FORMS = (
    "multipliers",
    "lyapunov",
    "lurie-suslov",
    "shulgin",
    "routh",
    "voronets",
    "chaplygin",
    "hamel",
    "maggi",
    "program",
)
METHODS = ("taylor", "bdf", "auto", "euler", "midpoint", "rk4", "ab2", "ab3", "ab4", "ab5", "abm2", "abm3", "abm4")

NAMES = 'A list of names, or a table from name to unit, as {x = "m"}.'
VECTOR = ListOf(entry=Formula(), length=3)
MATRIX = ListOf(entry=VECTOR, length=3)
STATE = MapOf(entry=Number())


def _declared(about: str) -> Shape:
    return Either(f"{about} {NAMES}", (ListOf(entry=Name()), MapOf(entry=Text())))


def _one_or_each(about: str) -> Shape:
    return Either(about, (Formula(), ListOf(entry=Formula())))


SPLINE = Table(
    "A curve through points, with as many continuous derivatives as its degree less one.",
    {
        "points": ListOf("Where it is given, in rising order.", Number()),
        "values": ListOf("What it is there.", Number()),
        "degree": Whole("Of its pieces; 5 when left out.", 1, 5),
    },
    ("points", "values"),
)

CONSTRAINT = Table(
    keys={
        "holonomic": Formula("F(q, t), which is kept zero; an equation a = b may be written."),
        "nonholonomic": Formula("φ(q, dot(q), t), which is kept zero by an ideal reaction."),
        "servo": Formula("A condition that inputs hold, named in through."),
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

_JOINT = {
    "joint": Text("The kind of joint; revolute when left out.", tuple(COORDINATES)),
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
        "parent": Name("The body it hangs on; the external body when left out."),
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
        "first": Name("A body; the external body when left out."),
        "second": Name("Another body; the external body when left out."),
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

_PATH = {
    "body": Name("The body that is led."),
    "point": ListOf("Of the body, in its frame; its origin when left out.", Formula(), 3),
    "position": Table(
        "Where the point is led, as functions of t; a component left out is free.",
        {"x": Formula(), "y": Formula(), "z": Formula()},
    ),
    "orientation": ListOf("Of the body, 3×3 functions of t.", VECTOR, 3),
    "joints": MapOf("Coordinates that follow functions of t of their own.", Formula()),
}

TREE = Table(
    "A tree of rigid bodies.",
    {
        "gravity": ListOf("Acceleration of gravity; [0, 0, -9.81] when left out.", Formula(), 3),
        "base_velocity": ListOf("Of the external body, as functions of t.", Formula(), 3),
        "base_angular_velocity": ListOf("Of the external body, as functions of t.", Formula(), 3),
        "base_rotation": ListOf("Of the external body, 3×3 functions of t.", VECTOR, 3),
        "bodies": MapOf("The bodies by name.", BODY),
        "links": ListOf("Rows of Denavit and Hartenberg, one body each.", LINK),
        "convention": Text("Of the links: standard or modified (Craig).", ("standard", "modified")),
        "loops": ListOf("Joints that close the tree.", LOOP),
        "rolling": ListOf("Bodies that roll.", ROLLING),
        "sliding": ListOf("Blades and wheels that do not slip sideways.", SLIDING),
        "forces": MapOf("Further generalized forces by coordinate.", Formula()),
        "path": Table(
            "A path on which all joint torques together hold a body, by servo constraints.", _PATH, ("body",)
        ),
        "urdf": Text("A URDF file beside the model file, or in a folder below it."),
        "floating": Flag("Whether the root link of the URDF moves freely."),
        "actuated": Flag("Whether every joint of the URDF gets an input tau_<joint>."),
        "identified": Flag("Accept inertias of the URDF against the triangle inequality."),
    },
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
        "torque_constant": Number("k_t."),
        "resistance": Number("R."),
        "inductance": Number("L."),
        "gear": Number("Turns of the motor for one of the shaft; 1 when left out."),
        "back_emf": Number("k_e; equal to k_t when left out."),
    },
    ("torque_constant", "resistance", "inductance"),
)

RELEASE = Table(
    "The constraints released: their reactions become inputs.",
    {
        "characteristics": MapOf("Names of quasi-velocities and what they are.", Formula()),
        "metric": Text("Of the tangential reactions.", ("identity", "kinetic", "decoupling")),
        "exact": Flag("Whether the constraints stay and only tangential reactions are inputs."),
    },
    ("characteristics",),
)

RATES = Either(
    "Decay of deviations from the constraints: one rate, or one for each constraint.",
    (Number(), STATE, ListOf(entry=Number())),
)

FORM = Table(
    "The form of the equations of motion.",
    {
        "name": Text("The form; multipliers when left out.", FORMS),
        "dependent": ListOf("Coordinates to eliminate.", Name()),
        "cyclic": ListOf("Coordinates replaced by their momenta (routh).", Name()),
        "redundant": Text("What to do with dependent constraints.", ("refuse", "least_squares")),
        "characteristics": MapOf("Quasi-velocities: a new name and what it is.", Formula()),
        "kind": Text("Of the equations in quasi-velocities.", ("voronets-hamel", "chaplygin", "maggi")),
        "inverse": Either(
            'The velocities by the quasi-velocities, or "newton".', (Text(choices=("newton",)), MapOf(entry=Formula()))
        ),
        "release": MapOf("New names for the deviations from constraints.", Name()),
        "rates": RATES,
        "perturbation": Table(
            "How deviations of program constraints decay, instead of rates.",
            {
                "matrix": ListOf("A row for each constraint, a column for each residual.", ListOf(entry=Formula())),
                "functions": MapOf("An expression of residual(constraint, level) for each constraint.", Formula()),
            },
        ),
        "free": MapOf("What inputs should approach where the constraints leave a choice.", Formula()),
        "weights": MapOf("Of the inputs in that choice.", Number()),
        "at": MapOf(
            "A state at which pivots and ranks are looked at; what is left out is zero, but for an affine system.",
            Number(),
        ),
    },
)

STABILIZATION = Either(
    "How the constraints are held during a run.",
    (
        Text(choices=("none", "baumgarte", "sampled", "projection")),
        Table(
            keys={
                "kind": Text("The way.", ("baumgarte", "sampled", "guaranteed")),
                "rate": Either("One rate, or one for each constraint.", (Number(), STATE)),
                "alpha": Either("Of Baumgarte's feedback.", (Number(), STATE)),
                "beta": Either("Of Baumgarte's feedback.", (Number(), STATE)),
                "epsilon": Number("The accuracy that is guaranteed."),
                "sampled": Flag("Whether guaranteed feedback is held through a step."),
            },
            required=("kind",),
        ),
    ),
)

EVENT = Table(
    "An instant to look for.",
    {
        "expression": Formula("Its zero is the event; reaction(constraint) may be used."),
        "name": Text("Of the event."),
        "direction": Text("Of the crossing.", ("any", "rising", "falling")),
        "terminal": Flag("Whether it ends the run."),
    },
    ("expression",),
)

_START = {
    "initial": MapOf("What is known of the start, by coordinate or dot(coordinate).", Number()),
    "guess": MapOf("Where the search for the rest of the start begins.", Number()),
    "fixed": ListOf("Which of the initial values must not be changed.", Name()),
    "times": ListOf("Start and end, or all instants.", Number()),
    "samples": Whole("How many instants between start and end.", 2, 100_000),
    "method": Text("Of integration; taylor when left out.", METHODS),
    "step": Number("Of the methods with a fixed step."),
    "tolerance": Number("Of the adaptive methods."),
    "stabilization": STABILIZATION,
}

SIMULATION = Table(
    "The motion to compute.",
    {
        **_START,
        "inputs": MapOf("Laws of the inputs: expressions of t and the state.", Formula()),
        "computed_torque": Table(
            "Laws of the joint torques that follow a path (tree only).",
            {
                "path": MapOf("The desired function of t for every coordinate.", Formula()),
                "frequency": Number("Of the decay of errors [rad/s]."),
                "damping": Number("Of that decay."),
            },
            ("path",),
        ),
        "task_path": Table(
            "Laws of the joint torques that lead a body along a path (tree only).",
            {
                **_PATH,
                "at": MapOf("A configuration near the path; the initial one when left out.", Number()),
                "frequency": Number("Of the decay of errors [rad/s]."),
                "damping": Number("Of that decay."),
            },
            ("body",),
        ),
        "gravity_compensation": Flag("Whether the joint torques carry the weight (tree only)."),
        "events": ListOf("Instants to look for.", EVENT),
        "dense": Flag("Whether to keep what values between samples need."),
    },
    ("times",),
)

EQUILIBRIUM = Table(
    "The equilibrium or steady motion to find, linearize and judge.",
    {
        "given": MapOf("Coordinates, inputs or constant velocities that are known.", Number()),
        "near": MapOf("Where the search begins.", Number()),
        "starts": Whole("How many further random starts.", 0, 1000),
    },
)

_WEIGHT = Either(
    "One number for all, a list of a diagonal or of rows, or a table by name.",
    (Number(), STATE, ListOf(entry=Either(options=(Number(), ListOf(entry=Number()))))),
)

CONTROL = Table(
    "Weights of the linear-quadratic feedback at the equilibrium.",
    {"state_weights": _WEIGHT, "input_weights": _WEIGHT},
)

OBSERVER = Table(
    "An observer from measured outputs.",
    {
        "outputs": ListOf("Measured coordinates or velocities.", Name()),
        "state_noise": _WEIGHT,
        "output_noise": _WEIGHT,
    },
    ("outputs",),
)

CLOSED_LOOP = Table(
    "The motion with the feedback at work.",
    {"limits": MapOf("The largest size of an input.", Number()), **_START},
)

POINT = Either(
    "Two or three coordinates, or a point of a body.",
    (
        ListOf(entry=Formula()),
        Table(
            keys={"body": Name("A body of the tree."), "point": ListOf("In its frame.", Formula(), 3)},
            required=("body",),
        ),
    ),
)

DRAWING = Table(
    "What to draw.",
    {
        "points": MapOf("Points by name.", POINT),
        "segments": ListOf(
            "Lines through points.",
            Either(
                options=(
                    ListOf(entry=Name()),
                    Table(
                        keys={
                            "points": ListOf(entry=Name()),
                            "closed": Flag("Whether its ends are joined."),
                            "name": Text("For the legend."),
                            "scenery": Flag(
                                "Whether it is a floor, a track or a path: thin, without color and joints."
                            ),
                        },
                        required=("points",),
                    ),
                )
            ),
        ),
        "curves": ListOf(
            "Lines given by a formula: a gutter, a prescribed path, a spring.",
            Table(
                keys={
                    "points": ListOf("Two or three coordinates.", Formula()),
                    "along": Name("The variable in them."),
                    "from": Number("Where it begins."),
                    "to": Number("Where it ends."),
                    "count": Whole("How many points are drawn; 41 when left out.", 2, 200),
                    "closed": Flag("Whether its ends are joined."),
                    "name": Text("For the legend."),
                },
                required=("points", "along", "from", "to"),
            ),
        ),
        "circles": ListOf(
            "Wheels and balls.",
            Table(
                keys={
                    "center": Name("A point."),
                    "radius": Formula("Of the circle."),
                    "angle": Formula("Turns the spoke that shows its rotation."),
                    "normal": ListOf("Of its plane, in space.", Formula(), 3),
                    "name": Text("For the legend."),
                },
                required=("center", "radius"),
            ),
        ),
        "traces": ListOf("Points that leave their path behind.", Name()),
    },
)

MODEL = Table(
    "A model of Vinculum: one mechanism, what to compute about it and what to draw.",
    {
        "name": Text("Of the mechanism."),
        "description": Text("In a few sentences."),
        "parameters": MapOf("Numbers by name: plain, with a unit, or formulas of those above.", Number()),
        "meanings": MapOf("What the symbols are, in words, for reports.", Text()),
        "splines": MapOf("Curves through points by name, used as functions: p(x).", SPLINE),
        "definitions": MapOf('Formulas by name, or with arguments as "p(s)", used in those below.', Formula()),
        "system": SYSTEM,
        "tree": TREE,
        "affine": AFFINE,
        "constraints": MapOf("Constraints by name.", Either(options=(Formula(), CONSTRAINT))),
        "motors": MapOf("Motors by the input whose place they take.", MOTOR),
        "release": RELEASE,
        "form": FORM,
        "simulation": SIMULATION,
        "equilibrium": EQUILIBRIUM,
        "control": CONTROL,
        "observer": OBSERVER,
        "closed_loop": CLOSED_LOOP,
        "drawing": DRAWING,
    },
)
