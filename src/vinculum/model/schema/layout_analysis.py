"""Keys of what is asked: motion, equilibrium, feedback, observer, closed loop."""

from __future__ import annotations

from vinculum.model.schema.layout_form import STATE
from vinculum.model.schema.layout_tree import PATH
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Table, Text, Whole

ADAPTIVE = ("taylor", "bdf", "auto")  # methods that choose their steps
METHODS = (*ADAPTIVE, "euler", "midpoint", "rk4", "ab2", "ab3", "ab4", "ab5", "abm2", "abm3", "abm4")

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
