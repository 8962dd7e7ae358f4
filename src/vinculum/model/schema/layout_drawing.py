"""Keys of what is drawn."""

from __future__ import annotations

from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Table, Text, Whole

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
