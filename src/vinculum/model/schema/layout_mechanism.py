"""Keys of a mechanism stated by energies or by rates, of its constraints, motors and release."""

from __future__ import annotations

from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Shape, Table, Text

NAMES = 'A list of names, or a table from name to unit, as {x = "m"}.'


def _declared(about: str) -> Shape:
    return Either(f"{about} {NAMES}", (ListOf(entry=Name()), MapOf(entry=Text())))


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
        "gear": Number("Turns of the motor for one of the shaft; 1 when left out."),
        "back_emf": Number("k_e [V*s]; equal to k_t when left out."),
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
