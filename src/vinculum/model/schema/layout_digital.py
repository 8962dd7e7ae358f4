"""Keys of [digital]: the law on a processor, and the plant that it meets there."""

from __future__ import annotations

from vinculum.model.schema.layout_study import MOTIONS
from vinculum.model.schema.schema_types import Flag, Formula, MapOf, Number, Table, Text, Whole

DESIGNS = ("continuous", "sampled")

PLANT = Table(
    "How the plant differs from the model of the design.",
    {
        "parameters": MapOf("Other values of parameters.", Number()),
        "forces": MapOf("Further generalized forces by coordinate, such as friction.", Formula()),
        "kinetic_energy": Formula("Further kinetic energy, such as that of an extra mass."),
        "potential_energy": Formula("Further potential energy."),
    },
)

DIGITAL = Table(
    "The law on a processor: it reads its sensors once per period and holds its outputs.",
    {
        "period": Number("Sample period."),
        "delay": Number("Time from the measurement to the actuator; 0 by default."),
        "motion": Text("The motion whose law acts at samples; closed_loop by default if there is a control.", MOTIONS),
        "design": Text(
            "Whether the feedback is the one of control, made discrete, or is designed at the samples.", DESIGNS
        ),
        "before": MapOf("Inputs until the first command arrives; the holding values by default.", Number()),
        "limits": MapOf("Maximum absolute value of each input; those of closed_loop by default.", Number()),
        "rates": MapOf("Maximum rate of change of each input.", Number()),
        "resolution": MapOf("Step to which a measured quantity or an input is rounded.", Number()),
        "noise": MapOf("Standard deviation of the noise of each measured quantity.", Number()),
        "disturbances": MapOf("Standard deviation of what is added to each input, new at every sample.", Number()),
        "loads": MapOf("Expressions of t and the state that are added to inputs all the time.", Formula()),
        "seed": Whole("Seed of noise and disturbances; 0 by default.", 0, 2**31 - 1),
        "anti_windup": Flag("Whether integrators stop while a limit holds; true by default."),
        "plant": PLANT,
    },
    ("period",),
)
