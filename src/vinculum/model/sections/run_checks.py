"""What a run needs beside the mechanism: a law for every free input, a step for a method with a fixed one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vinculum.describe.affine import AffineSystem
from vinculum.describe.system import System
from vinculum.model.reading import Reading
from vinculum.model.schema.layout_analysis import ADAPTIVE
from vinculum.model.text.location import Path
from vinculum.names import name_of


def refuse_unusable(reading: Reading, system: System | AffineSystem | None, answers: Mapping[str, Any]) -> None:
    """Note what would be missing at run time; nothing is said of a file with other problems."""
    if reading.problems:
        return
    for section in ("simulation", "closed_loop"):
        if answers[section] is not None:
            _refuse_steps(reading, section, answers[section])
    program = answers["derivation"].get("form") == "program"
    if isinstance(system, System) and answers["simulation"] is not None and not program:
        _refuse_lawless(reading, system, answers["simulation"].get("inputs", {}))


def _refuse_lawless(reading: Reading, system: System, laws: Mapping[Any, Any]) -> None:
    """Every input needs a law but those that hold servo constraints; a program sets all of them."""
    missing = [name_of(u) for u in system.free_inputs if u not in laws]
    held = [name_of(u) for u in system.servo_inputs if u in laws]
    place: Path = ("simulation", "inputs") if "inputs" in reading.data["simulation"] else ("simulation",)
    if missing:
        names, laws_to_write = ", ".join(missing), ", ".join(f'{u} = "..."' for u in missing)
        reading.problem(
            place,
            f"{names} {'has' if len(missing) == 1 else 'have'} no law. Write inputs = {{ {laws_to_write} }} in "
            "[simulation], with expressions of t and the state, or 0.",
        )
    for u in held:
        reading.problem((*place, u), f"{u} holds a servo constraint, so that it has no law of its own. Leave it out.")


def _refuse_steps(reading: Reading, section: str, asked: Mapping[str, Any]) -> None:
    """A fixed step is given for the methods that have one, and for no other."""
    method, step = asked.get("method", "taylor"), asked.get("step")
    kind = reading.data[section].get("stabilization")
    guaranteed = isinstance(kind, dict) and kind.get("kind") == "guaranteed"  # which finds the step by itself
    if method in ADAPTIVE and step is not None:
        reading.problem((section, "step"), f"the method {method} chooses its own steps. Leave step out.")
    if method in ADAPTIVE:
        return
    if step is None and not guaranteed:
        reading.problem((section, "method"), f"the method {method} has a fixed step. Write step = 1e-3, for instance.")
    if step is not None and step <= 0:
        reading.problem((section, "step"), f"the step is {step:g}; it must be positive.")
    if "tolerance" in asked:
        reading.problem((section, "tolerance"), f"the method {method} has a fixed step and no tolerance. Leave it out.")
