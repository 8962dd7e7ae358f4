"""Keys of [study]: many runs with other starts, parameters, inputs and gains."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.ensembles.measures import KEEP, KINDS
from vinculum.ensembles.vary import SAMPLINGS
from vinculum.model.schema.schema_types import Either, Formula, ListOf, MapOf, Number, Shape, Table, Text, Whole
from vinculum.simulation.problem.events import DIRECTIONS

MOST_RUNS = 100_000_000
MOTIONS = ("simulation", "closed_loop")

_GRID = {
    "from": Number("First value of a grid."),
    "to": Number("Last value of the grid."),
    "count": Whole("Number of its values, at equal distances.", 2, 100_000),
}
GRID = Either("A list of values or a grid.", (ListOf(entry=Number()), Table(keys=_GRID)))
VALUES = Either(
    "A list of values, a grid or a distribution.",
    (
        ListOf(entry=Number()),
        Table(
            keys={
                **_GRID,
                "uniform": ListOf("The smallest and the largest of equally likely values.", Number(), 2),
                "normal": ListOf("Mean and standard deviation of normally distributed values.", Number(), 2),
            }
        ),
    ),
)

MEASURE = Table(
    "One number of every run; one of the first keys.",
    {
        **{kind: Formula(about) for kind, about in KINDS.items()},
        "direction": Text("Direction of the crossing, with first_time.", tuple(DIRECTIONS)),
        "band": Number("Distance from the target that counts as settled, with settling_time."),
        "target": Number("The target, with settling_time; 0 by default."),
    },
)


def study_table(start: Mapping[str, Shape], event: Shape) -> Table:
    """The section, with the keys that it shares with the motions."""
    shared = {key: shape for key, shape in start.items() if key != "samples"}
    return Table(
        "Many runs of a motion. Keys that are left out are those of the motion's section.",
        {
            "motion": Text("The motion that is varied; simulation by default.", MOTIONS),
            "over": MapOf(
                "What varies: coordinates and dot(coordinates) at the start, parameters, inputs, gains K_input_state.",
                VALUES,
            ),
            "table": Text("A CSV file with one run in every row, in the folder of the model file or below it; in SI."),
            "samples": Whole("Number of draws from the distributions.", 1, MOST_RUNS),
            "sampling": Text("How they are drawn; random by default.", SAMPLINGS),
            "seed": Whole("Number that determines the draws; 0 by default.", 0, 2**31),
            "measure": MapOf("What is kept of every run, by name.", MEASURE),
            "keep": Text("What else is kept: the states at the end, at all times, or nothing but measures.", KEEP),
            "until": ListOf("Events that end a run.", event),
            "store": Text("A folder for the results; the same study continues there after an interruption."),
            "chunk": Whole("Number of runs that are written together.", 1, MOST_RUNS),
            **shared,
        },
    )
