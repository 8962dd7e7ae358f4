"""Every key of a model file, with its type and what it means: the one table behind reading, schema and reference."""

from __future__ import annotations

from vinculum.model.schema.layout_form import FORM, STATE
from vinculum.model.schema.layout_mechanism import AFFINE, CONSTRAINT, MOTOR, PATH, RELEASE, SYSTEM, TREE
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Table, Text, Whole
from vinculum.simulation.integrators import method_names

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
    "times": ListOf("Start and end, or all instants; an end before the start runs backwards.", Number()),
    "samples": Whole("How many instants between start and end.", 2, 100_000),
    "method": Text("Of integration; taylor when left out.", method_names),
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
                "frequency": Number("Of the decay of errors, in rad/s (not Hz)."),
                "damping": Number("Of that decay, a pure number; 1 when left out."),
            },
            ("path",),
        ),
        "task_path": Table(
            "Laws of the joint torques that lead a body along a path (tree only).",
            {
                **PATH,
                "at": MapOf("A configuration near the path; the initial one when left out.", Number()),
                "frequency": Number("Of the decay of errors, in rad/s (not Hz)."),
                "damping": Number("Of that decay, a pure number; 1 when left out."),
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


SPLINE = Table(
    "A curve through points, with as many continuous derivatives as its degree less one.",
    {
        "points": ListOf("Where it is given, in rising order.", Number()),
        "values": ListOf("What it is there.", Number()),
        "degree": Whole("Of its pieces; 5 when left out.", 1, 5),
    },
    ("points", "values"),
)

MECHANISMS = ("system", "tree", "affine")  # a file has exactly one of them

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
