"""Keys of [attraction] and [stability_map]: the starts from which a loop converges, and its stability map."""

from __future__ import annotations

from vinculum.model.schema.layout_study import GRID
from vinculum.model.schema.schema_types import ListOf, MapOf, Name, Number, Table, Text, Whole

LOOPS = ("open", "closed")

ATTRACTION = Table(
    "The region of attraction of the equilibrium: runs from many starts, and a set of Lyapunov's form inside it.",
    {
        "over": MapOf(
            "One or two coordinates, velocities or states of the controller, with their initial values.", GRID
        ),
        "time": Number("Time after which a run has converged or not."),
        "within": Number("Share of its largest deviation that each state may keep; 0.05 by default."),
        "fixed": ListOf("Initial values that must not change; the independent ones by default.", Name()),
        "weights": MapOf("Diagonal of Q in A'P + PA = -Q, by state; the form of the modes by default.", Number()),
        "directions": Whole("Directions in which the decay of the form is checked; 2000 by default.", 10, 1_000_000),
    },
    ("over", "time"),
)

STABILITY_MAP = Table(
    "The stability of the equilibrium over two parameters.",
    {
        "over": MapOf("Two parameters or, in the closed loop, gains K_input_state, with their values.", GRID),
        "loop": Text(
            "Whether the map is of the loop with its feedback; closed by default if there is a control.", LOOPS
        ),
    },
    ("over",),
)
