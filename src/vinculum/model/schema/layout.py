"""Every key of a model file, with its shape and what it means: the one table behind reading, schema and reference."""

from __future__ import annotations

from vinculum.model.schema.layout_analysis import CLOSED_LOOP, CONTROL, EQUILIBRIUM, OBSERVER, SIMULATION
from vinculum.model.schema.layout_drawing import DRAWING
from vinculum.model.schema.layout_form import FORM
from vinculum.model.schema.layout_mechanism import AFFINE, CONSTRAINT, MOTOR, RELEASE, SYSTEM
from vinculum.model.schema.layout_tree import TREE
from vinculum.model.schema.schema_types import Either, Formula, ListOf, MapOf, Number, Table, Text, Whole

SPLINE = Table(
    "A curve through points, with as many continuous derivatives as its degree less one.",
    {
        "points": ListOf("Where it is given, in rising order.", Number()),
        "values": ListOf("What it is there.", Number()),
        "degree": Whole("Of its pieces; 5 when left out.", 1, 5),
    },
    ("points", "values"),
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
