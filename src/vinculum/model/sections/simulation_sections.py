"""[simulation] and [closed_loop]: arguments of ``simulate``, and checks that a run is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from vinculum.describe.affine import AffineSystem
from vinculum.describe.system import System
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.reading import Reading
from vinculum.model.sections.analysis_sections import Symbols
from vinculum.model.sections.form_section import OPTION_READERS, read_plain
from vinculum.model.sections.given_motion import read_laws, read_torques
from vinculum.model.text.location import Path
from vinculum.names import TIME, name_of
from vinculum.options import options_listed
from vinculum.simulation.integrators import METHODS
from vinculum.simulation.problem.events import Event
from vinculum.simulation.stabilization.stabilization import STABILIZATIONS, Guaranteed
from vinculum.units import dimensions

_MOST_INTEGRATORS = 4  # before an input, as far as a file can name their states


def read_motion(reading: Reading, section: str, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``simulate`` for the motion or the closed loop, each key by its reader in `MOTION_READERS`."""
    raw = reading.data.get(section)
    if raw is None:
        return None
    found = {key: read(reading, (section, key), raw[key], known) for key, read in MOTION_READERS.items() if key in raw}
    if section == "simulation":
        found.setdefault("initial", {})
        torques = read_torques(reading, raw, known.tree, known.coordinates)
        if torques is not None:
            found["inputs"] = replace(torques, others=found.get("inputs", {}))
    return found


# -- one reader for each key -------------------------------------------------------------------------------------


def _state(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[Any, float]:
    """Numbers by state; a program may have made states of inputs, written u, dot(u), ..."""
    values = reading.scope.values
    delayed = {name_of(u): u for u in known.delayed}
    declared = {name: values[name].dimension for name in delayed if name in values}
    scope = reading.scope.with_values({name: Value(u, dimension=declared.get(name)) for name, u in delayed.items()})
    added = [u.diff(TIME, order) for u in known.delayed for order in range(_MOST_INTEGRATORS)]
    return reading.table(path, raw, [*known.states, *added], "state", scope=scope)


def _limits(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[Any, float]:
    return reading.table(path, raw, known.inputs, "input")


def _states(reading: Reading, path: Path, raw: Any, known: Symbols) -> list[Any]:
    return reading.listed(path, raw, known.states, "state")


def _times(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """(start, end), or all instants; with the key samples, instants at equal distances."""
    samples = None if path[0] == "study" else reading.data[str(path[0])].get("samples")  # there, a number of runs
    read = [reading.number((*path, i), entry, dimensions.TIME) for i, entry in enumerate(raw)]
    found = [instant for instant in read if instant is not None]
    if len(found) < len(read):
        return None
    backwards = len(found) == 2 and found[1] < found[0]
    if len(found) < 2 or not (backwards or all(a < b for a, b in pairwise(found))):
        reading.problem(path, "give start and end, as [0, 10], or instants in increasing order.")
        return None
    if samples is None:
        return tuple(found)
    if len(found) != 2:
        reading.problem((path[0], "samples"), "samples can only be used when times has a start and an end.")
    return np.linspace(found[0], found[-1], samples)


def _step(reading: Reading, path: Path, raw: Any, known: Symbols) -> float | None:
    return reading.number(path, raw, dimensions.TIME)


def _tolerance(reading: Reading, path: Path, raw: Any, known: Symbols) -> float | None:
    return reading.number(path, raw, dimensions.NONE)


def _stabilization(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """The stabilization, by name or with its options."""
    if isinstance(raw, str):
        return raw
    kind = STABILIZATIONS[raw["kind"]]
    options = kind.options()
    for key in (key for key in raw if key not in ("kind", *options)):
        reading.problem((*path, key), f"{kind.name} has no option {key}. {options_listed(options)}.")
    for key in (key for key, option in options.items() if option.needed and key not in raw):
        reading.problem(path, f"{kind.name} needs {key}. {options[key].about} Write {key} = ... in this table.")
    found = {key: option for key, option in options.items() if key in raw}
    given = {key: OPTION_READERS[option.kind](reading, (*path, key), raw[key], known) for key, option in found.items()}
    complete = all(given.get(key) is not None for key, option in options.items() if option.needed or key in raw)
    return kind(**given) if complete else None


def _laws(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    return read_laws(reading, path, raw, known.inputs, "input")


def _events(reading: Reading, path: Path, raw: Any, known: Symbols) -> list[Any]:
    return [read_event(reading, (*path, i), entry, known) for i, entry in enumerate(raw)]


def read_event(reading: Reading, path: Path, raw: dict[str, Any], known: Symbols) -> Any:
    """An event with its options."""
    scope = replace(reading.scope, constraints=tuple(known.constraints))
    value = reading.equation((*path, "expression"), raw["expression"], scope)
    options = {key: raw[key] for key in ("name", "direction", "terminal") if key in raw}
    return None if value is None else Event(value.expression, **options)


MOTION_READERS: dict[str, Callable[[Reading, Path, Any, Symbols], Any]] = {
    "initial": _state,
    "guess": _state,
    "limits": _limits,
    "fixed": _states,
    "times": _times,
    "step": _step,
    "tolerance": _tolerance,
    "method": read_plain,
    "dense": read_plain,
    "stabilization": _stabilization,
    "inputs": _laws,
    "events": _events,
}
READ_WITH_OTHERS = ("samples", "computed_torque", "task_path", "gravity_compensation")  # with times and with inputs


# -- checks ------------------------------------------------------------------------------------------------------


def check_runs(reading: Reading, system: System | AffineSystem | None, answers: Mapping[str, Any]) -> None:
    """Report anything that would be missing at run time, unless the file has other problems."""
    if reading.problems:
        return
    for section in ("simulation", "closed_loop", "study"):
        if answers[section] is not None:
            _check_steps(reading, section, answers[section])
    program = answers["derivation"].get("form") == "program"
    if isinstance(system, System) and answers["simulation"] is not None and not program:
        _check_laws(reading, system, answers["simulation"].get("inputs", {}))


def _check_laws(reading: Reading, system: System, laws: Mapping[Any, Any]) -> None:
    """Every input needs a law except those that hold servo constraints; a program determines all of them."""
    missing = [name_of(u) for u in system.free_inputs if u not in laws]
    held = [name_of(u) for u in system.servo_inputs if u in laws]
    place: Path = ("simulation", "inputs") if "inputs" in reading.data["simulation"] else ("simulation",)
    if missing:
        names, laws_to_write = ", ".join(missing), ", ".join(f'{u} = "..."' for u in missing)
        reading.problem(
            place,
            f"{names} {'has' if len(missing) == 1 else 'have'} no law. Write inputs = {{ {laws_to_write} }} in "
            "[simulation], with expressions of t and the state.",
        )
    for u in held:
        reading.problem((*place, u), f"{u} holds a servo constraint, so it cannot have a law. Leave it out.")


def _check_steps(reading: Reading, section: str, asked: Mapping[str, Any]) -> None:
    """Fixed-step methods need a step; the others must not have one."""
    method, step = asked.get("method", "taylor"), asked.get("step")
    guaranteed = isinstance(asked.get("stabilization"), Guaranteed)  # which chooses the step itself
    takes = METHODS[method].options
    if step is not None and "step" not in takes:
        reading.problem((section, "step"), f"the method {method} chooses its own steps. Leave step out.")
    if step is None and "step" in takes and not guaranteed:
        reading.problem(
            (section, "method"), f"the method {method} needs a fixed step. Write step = 1e-3, for instance."
        )
    if step is not None and "step" in takes and step <= 0:
        reading.problem((section, "step"), f"the step is {step:g}; it must be positive.")
    if "tolerance" in asked and "tolerance" not in takes:
        reading.problem(
            (section, "tolerance"),
            f"the method {method} has a fixed step, so it has no tolerance. Leave tolerance out.",
        )
