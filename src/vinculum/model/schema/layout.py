"""Every key of a model file, with its type and meaning: the one table behind reading, schema and reference."""

from __future__ import annotations

from vinculum.describe.signal import BETWEEN, BEYOND
from vinculum.model.schema.layout_digital import DIGITAL
from vinculum.model.schema.layout_form import FORM, STATE
from vinculum.model.schema.layout_mechanism import AFFINE, CONSTRAINT, MOTOR, PATH, RELEASE, SYSTEM, TREE
from vinculum.model.schema.layout_regions import ATTRACTION, STABILITY_MAP
from vinculum.model.schema.layout_stabilization import STABILIZATION
from vinculum.model.schema.layout_study import study_table
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Table, Text, Whole
from vinculum.simulation.integrators import method_names

EVENT = Table(
    "An event to detect.",
    {
        "expression": Formula("The event occurs where this is zero; reaction(constraint) may be used."),
        "name": Text("Name of the event."),
        "direction": Text("Direction of the crossing.", ("any", "rising", "falling")),
        "terminal": Flag("Whether the event ends the run."),
    },
    ("expression",),
)

_START = {
    "initial": MapOf("Known initial values, by coordinate or dot(coordinate).", Number()),
    "guess": MapOf("Starting values of the search for the other initial values.", Number()),
    "fixed": ListOf("Initial values that must not change.", Name()),
    "times": ListOf(
        "Start and end, or a list of instants; if the end is before the start, the run goes backward.", Number()
    ),
    "samples": Whole("Number of samples between start and end.", 2, 100_000),
    "method": Text("Integration method; taylor by default.", method_names),
    "step": Number("Step of the fixed-step methods."),
    "tolerance": Number("Tolerance of the adaptive methods."),
    "stabilization": STABILIZATION,
}

SIMULATION = Table(
    "The motion to compute.",
    {
        **_START,
        "inputs": MapOf("Input laws: expressions of t and the state.", Formula()),
        "computed_torque": Table(
            "Computed-torque laws that make the joints follow a path (tree only).",
            {
                "path": MapOf(
                    "The desired function of t for every coordinate; in a loop, for as many as there are torques.",
                    Formula(),
                ),
                "frequency": Number("Frequency of the decay of errors, in rad/s (not Hz)."),
                "damping": Number("Damping ratio of that decay; 1 by default."),
            },
            ("path",),
        ),
        "task_path": Table(
            "Laws of the joint torques that move a body along a path (tree only).",
            {
                **PATH,
                "at": MapOf("A configuration near the path; the initial one by default.", Number()),
                "frequency": Number("Frequency of the decay of errors, in rad/s (not Hz)."),
                "damping": Number("Damping ratio of that decay; 1 by default."),
            },
            ("body",),
        ),
        "gravity_compensation": Flag("Whether the joint torques compensate gravity (tree only)."),
        "events": ListOf("Events to detect.", EVENT),
        "dense": Flag("Whether to keep dense output, for values between samples."),
    },
    ("times",),
)

BORDERS = Table(
    "Where the motion becomes or ceases to be stable as one value changes.",
    {
        "over": Name("The parameter, coordinate, constant velocity or input that changes."),
        "between": ListOf("Its first and last value.", Number(), 2),
        "points": Whole("Number of values to compare; 25 by default.", 2, 1000),
    },
    ("over", "between"),
)

EQUILIBRIUM = Table(
    "The equilibrium or steady motion to find, linearize and test for stability.",
    {
        "given": MapOf("Known coordinates, inputs or constant velocities.", Number()),
        "near": MapOf("Starting values of the search.", Number()),
        "starts": Whole("Number of further random starts.", 0, 1000),
        "steady": Flag("Whether ignorable coordinates may run uniformly; a given velocity implies it."),
        "moving": ListOf("The coordinates that may run; all ignorable ones by default.", Name()),
        "drop": ListOf("Ignorable coordinates to leave out of the linear model.", Name()),
        "modes": MapOf(
            "Names of modes, each with a number near its root; [real, imaginary] for a pair.",
            Either(options=(Number(), ListOf(entry=Number(), length=2))),
        ),
        "borders": BORDERS,
    },
)

_WEIGHT = Either(
    "One number for all, a diagonal as a list, a matrix as a list of rows, or a table by name.",
    (Number(), STATE, ListOf(entry=Either(options=(Number(), ListOf(entry=Number()))))),
)

PID = Table(
    "A controller of one output by one input, u = u0 + kp e + ki integral(e) + kd dot(e) with e = y0 - y.",
    {
        "output": Name("The coordinate or velocity to control."),
        "input": Name("The input that it acts on."),
        "kp": Number("Proportional gain."),
        "ki": Number("Integral gain; 0 by default."),
        "kd": Number("Derivative gain; 0 by default."),
        "filter": Number("Time constant of the filter of the derivative; none by default."),
    },
    ("output", "input", "kp"),
)

CONTROL = Table(
    "The feedback at the equilibrium: linear-quadratic with these weights, or from poles, gain or pid.",
    {
        "state_weights": _WEIGHT,
        "input_weights": _WEIGHT,
        "inputs": ListOf("Inputs to use; the others keep their holding values. All by default.", Name()),
        "outputs": ListOf("Outputs to which state_weights apply; the states by default.", Name()),
        "integral": ListOf("Outputs that are held against constant disturbances by their integrals.", Name()),
        "integral_weights": _WEIGHT,
        "poles": ListOf(
            "Roots of the closed loop; a pair [real, imaginary] stands for both conjugate roots.",
            Either(options=(Number(), ListOf(entry=Number(), length=2))),
        ),
        "gain": MapOf("Own gains by input and state, u = u0 + gain (x - x0).", MapOf(entry=Number())),
        "pid": PID,
    },
)

OBSERVER = Table(
    "An observer from measured outputs.",
    {
        "outputs": ListOf("Measured coordinates or velocities.", Name()),
        "order": Text("Whether to estimate all states or only those that are not measured.", ("full", "reduced")),
        "state_noise": _WEIGHT,
        "output_noise": _WEIGHT,
    },
    ("outputs",),
)

CLOSED_LOOP = Table(
    "The motion with feedback.",
    {"limits": MapOf("Maximum absolute value of each input.", Number()), **_START},
)

STUDY = study_table(_START, EVENT)

POINT = Either(
    "Two or three coordinates, or a point of a body.",
    (
        ListOf(entry=Formula()),
        Table(
            keys={
                "body": Name("A body of the tree."),
                "point": ListOf("The point, in the frame of the body.", Formula(), 3),
            },
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
                            "name": Text("Name in the legend."),
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
                    "along": Name("The variable in the coordinates."),
                    "from": Number("First value of the variable."),
                    "to": Number("Last value of the variable."),
                    "count": Whole("Number of points; 41 by default.", 2, 200),
                    "closed": Flag("Whether its ends are joined."),
                    "name": Text("Name in the legend."),
                },
                required=("points", "along", "from", "to"),
            ),
        ),
        "arrows": ListOf(
            "Forces and torques, drawn to scale when the page is asked for them.",
            Table(
                keys={
                    "at": Name("The point where it acts."),
                    "force": ListOf("Its two or three components; reaction(constraint) may be used.", Formula()),
                    "torque": Either(
                        "In the plane one number, positive counterclockwise; in space three components.",
                        options=(Formula(), ListOf(entry=Formula())),
                    ),
                    "name": Text("Name in the legend."),
                },
                required=("at",),
            ),
        ),
        "circles": ListOf(
            "Wheels and balls.",
            Table(
                keys={
                    "center": Name("A point."),
                    "radius": Formula("Radius of the circle."),
                    "angle": Formula("Angle of the spoke that shows its rotation."),
                    "normal": ListOf("Normal of its plane, in space.", Formula(), 3),
                    "name": Text("Name in the legend."),
                },
                required=("center", "radius"),
            ),
        ),
        "traces": ListOf("Points whose paths are drawn.", Name()),
    },
)


SPLINE = Table(
    "A curve through points, with degree - 1 continuous derivatives.",
    {
        "points": ListOf("Points at which the curve is given, in increasing order.", Number()),
        "values": ListOf("Values at these points.", Number()),
        "degree": Whole("Degree of the polynomials; 5 by default.", 1, 5),
    },
    ("points", "values"),
)

SIGNAL = Table(
    "A measured function of time, from a column of a CSV file or from lists.",
    {
        "file": Text("CSV file with a header, in the folder of the model file or below."),
        "column": Text("Column of the values."),
        "time": Text("Column of the times; time or t by default."),
        "unit": Text("Unit of the column; SI by default."),
        "time_unit": Text("Unit of the times; s by default."),
        "times": ListOf("Times of the points, in increasing order, in place of a file.", Number()),
        "values": ListOf("Values at these times.", Number()),
        "between": Text("What the signal is between two points; linear by default.", tuple(BETWEEN)),
        "beyond": Text("What the signal is before the first and after the last point; refuse by default.", BEYOND),
    },
)

MECHANISMS = ("system", "tree", "affine")  # a file has exactly one of them

MODEL = Table(
    "A model of Vinculum: one mechanism, what to compute about it and what to draw.",
    {
        "name": Text("Name of the mechanism."),
        "description": Text("Description in a few sentences."),
        "parameters": MapOf("Numbers by name: plain, with a unit, or formulas of those above.", Number()),
        "meanings": MapOf("Descriptions of the symbols, for reports.", Text()),
        "splines": MapOf("Curves through points by name, used as functions: p(x).", SPLINE),
        "signals": MapOf("Measured functions of time by name, used as functions: p(t).", SIGNAL),
        "definitions": MapOf(
            'Formulas by name, or with arguments such as "p(s)", used in the formulas below.', Formula()
        ),
        "system": SYSTEM,
        "tree": TREE,
        "affine": AFFINE,
        "constraints": MapOf("Constraints by name.", Either(options=(Formula(), CONSTRAINT))),
        "motors": MapOf("Motors by the input that each replaces.", MOTOR),
        "release": RELEASE,
        "form": FORM,
        "simulation": SIMULATION,
        "equilibrium": EQUILIBRIUM,
        "control": CONTROL,
        "observer": OBSERVER,
        "closed_loop": CLOSED_LOOP,
        "attraction": ATTRACTION,
        "stability_map": STABILITY_MAP,
        "digital": DIGITAL,
        "study": STUDY,
        "drawing": DRAWING,
    },
)
