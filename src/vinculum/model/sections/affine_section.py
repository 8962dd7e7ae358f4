"""[affine]: states and their rates, which are linear in the inputs: dx/dt = F(x, t) + B(x, t) N."""

from __future__ import annotations

import sympy as sp

from vinculum.describe.affine import AffineSystem
from vinculum.errors import VinculumError
from vinculum.model import limits
from vinculum.model.reading import Reading
from vinculum.model.sections import declarations as declared
from vinculum.model.sections.constraints import affine_constraints
from vinculum.names import name_of


def declare_states(reading: Reading) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """States and inputs; a state dot(x) needs x among the states."""
    raw = reading.data["affine"]
    stated = raw["states"]
    plain = [name for name in stated if not name.startswith("dot(")]
    units = {name: stated[name] for name in plain} if isinstance(stated, dict) else plain
    known = declared.coordinates(reading, ("affine", "states"), units)
    rates = [q.diff() for q in known]
    states = [
        reading.key(("affine", "states"), name, [*known, *rates], "state") for name in stated
    ]  # fmt: skip
    return [s for s in states if s is not None], declared.inputs(reading, ("affine", "inputs"), raw.get("inputs", []))


def read_affine(reading: Reading, states: list[sp.Expr], inputs: list[sp.Expr], name: str) -> AffineSystem | None:
    """The affine system; None when a part of it is wrong."""
    raw = reading.data["affine"]
    rates = {}
    size = 0
    for text, entry in raw["rates"].items():
        path = ("affine", "rates", text)
        state, rate = reading.key(path, text, states, "state"), reading.formula(path, entry)
        if state is not None and rate is not None:
            rates[state] = rate.expression
            size += rate.size
    if size * len(inputs) > limits.SPLIT:
        reading.problem(
            ("affine", "rates"), f"{size} operations with {len(inputs)} inputs are too many. Simplify them."
        )
        return None
    for state in (state for state in states if state not in rates):
        if not any(text == name_of(state) for text in raw["rates"]):
            reading.problem(
                ("affine", "rates"),
                f'the rate of the state {name_of(state)} is missing. Write "{name_of(state)}" = ...',
            )
    split = {state: _split(reading, state, rate, inputs) for state, rate in rates.items()}
    energy = reading.expression(("affine", "energy"), raw["energy"]) if "energy" in raw else None
    power = reading.expression(("affine", "power"), raw["power"]) if "power" in raw else sp.S.Zero
    constraints = affine_constraints(reading)
    if reading.problems:
        return None
    try:
        return AffineSystem(
            states, [split[s][0] for s in states], inputs, [split[s][1] for s in states], constraints,
            dict(reading.numbers), energy, power, name,
        )  # fmt: skip
    except VinculumError as error:
        reading.refusal(error, ("affine",))
    return None


def _split(reading: Reading, state: sp.Expr, rate: sp.Expr, inputs: list[sp.Expr]) -> tuple[sp.Expr, list[sp.Expr]]:
    """F and the row of B; a rate that is not linear in the inputs is refused."""
    row = [rate.diff(u) for u in inputs]
    bent = [u for u in inputs if any(entry.has(u) for entry in row)]
    if bent:
        names = ", ".join(map(name_of, bent))
        reading.problem(("affine", "rates", name_of(state)), f"the rate is not linear in the input {names}.")
    return rate.xreplace(dict.fromkeys(inputs, sp.S.Zero)), row
