"""Trajectories as xarray datasets, NetCDF files and CSV tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.errors import FileError, VinculumError
from vinculum.hooks import call
from vinculum.names import name_of
from vinculum.simulation.problem.events import Happened
from vinculum.simulation.trajectory.live_run import Beyond
from vinculum.simulation.trajectory.outcome import from_json, to_json
from vinculum.simulation.trajectory.run_file import foreign, from_bytes, to_bytes
from vinculum.simulation.trajectory.trajectory import Trajectory
from vinculum.writing import refuse_place, write_file

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class StoredRun:
    """The columns of a trajectory that was read from a file."""

    stored: xr.Dataset

    def at_rows(self, rows: np.ndarray) -> StoredRun:
        """Some of the samples."""
        return StoredRun(self.stored.isel({self._roles["time"]: rows}))

    @cached_property
    def _roles(self) -> dict[str, Any]:
        """The contents of each column."""
        return json.loads(self.stored.attrs["columns"])

    def _columns(self, role: str) -> dict[str, np.ndarray]:
        """The columns of a role, by name."""
        return {name: np.asarray(self.stored[column]) for column, name in self._roles.get(role, {}).items()}

    @cached_property
    def states(self) -> dict[str, np.ndarray]:
        """Coordinates, velocities and other states."""
        return self._columns("states")

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """Every input."""
        return self._columns("inputs")

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """λ of every constraint; of a servo constraint, the input that holds it."""
        return self._columns("reactions") | {name: self.inputs[u] for name, u in self.holding.items()}

    @cached_property
    def residuals(self) -> dict[tuple[str, str], np.ndarray]:
        """The residual of every constraint at every level."""
        pairs = self._roles["residuals"].items()
        return {(name, level): np.asarray(self.stored[column]) for column, (name, level) in pairs}

    @property
    def energy(self) -> np.ndarray:
        """E."""
        return np.asarray(self.stored[self._roles["energy"]])

    @property
    def work(self) -> np.ndarray:
        """The work done on the system since the start."""
        return np.asarray(self.stored[self._roles["work"]])

    @cached_property
    def servo_work(self) -> dict[str, np.ndarray]:
        """The work of each input that holds a servo constraint."""
        return self._columns("servo_work")

    @property
    def states_energy(self) -> bool:
        """Whether the system has an energy."""
        return bool(self._roles.get("states_energy", True))

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that a plot shows by default."""
        return tuple(self._roles.get("shown", [name for name in self.states if f"{name}_dot" in self.states]))

    @property
    def holding(self) -> dict[str, str]:
        """The input in place of a reaction, by the name of the reaction."""
        return self._roles.get("holding", {})

    @property
    def event_names(self) -> tuple[str, ...]:
        """The names of all events of the run."""
        return tuple(json.loads(self.stored.attrs.get("event_names", "[]")))

    @property
    def beyond(self) -> tuple[Beyond, ...]:
        """Curves used outside the range of their points."""
        rows = json.loads(self.stored.attrs.get("beyond", "[]"))
        return tuple(Beyond(name, tuple(used), tuple(points)) for name, used, points in rows)

    def at(self, times: np.ndarray) -> dict[str, np.ndarray]:
        """Raises: a file has no dense output."""
        raise VinculumError("A trajectory from a file has no dense output. Simulate it again, with dense=True.")


def dataset(motion: Trajectory) -> xr.Dataset:
    """States, inputs, energy, work, residuals and reactions over time; outcome, method and errors as attributes.

    The reaction of a servo constraint is the input that holds it; it is stored once, as this input. The attribute
    ``columns`` describes each column, so names may be any text, and a coordinate may be called energy.
    """
    if isinstance(motion.run, StoredRun):
        return motion.run.stored
    import xarray as xr

    states = {_plain(name): values for name, values in motion.own_columns.items()}
    taken = set(states)
    inputs = {_free(name, taken): name for name in motion.inputs}
    time, energy, work = (_free(name, taken) for name in ("time", "energy", "work"))
    residuals = {_free(f"residual_{name}_{level}", taken): (name, level) for name, level in motion.residuals}
    ideal = [name for name in motion.reactions if name not in motion.holding]
    reactions = {_free(f"reaction_{name}", taken): name for name in ideal}
    servos = {_free(f"servo_work_{name}", taken): name for name in motion.servo_work}
    columns = states | {column: motion.inputs[name] for column, name in inputs.items()}
    columns |= {energy: motion.energy, work: motion.work}
    columns |= {column: motion.residuals[key] for column, key in residuals.items()}
    columns |= {column: motion.reactions[name] for column, name in reactions.items()}
    columns |= {column: motion.servo_work[name] for column, name in servos.items()}
    roles = {
        "time": time,
        "states": dict(zip(states, motion.own_columns, strict=True)),
        "inputs": inputs,
        "holding": motion.holding,
        "energy": energy,
        "work": work,
        "residuals": residuals,
        "reactions": reactions,
        "servo_work": servos,
        "shown": motion.run.shown,
        "states_energy": motion.run.states_energy,
    }
    variables = {name: (time, np.asarray(values)) for name, values in columns.items()}
    return xr.Dataset(variables, coords={time: motion.t}, attrs=_attributes(motion) | {"columns": json.dumps(roles)})


def _plain(name: str) -> str:
    """A name that NetCDF accepts: without slashes."""
    return name.replace("/", "\N{DIVISION SLASH}")


def _free(name: str, taken: set[str]) -> str:
    """A column name that is not taken yet; marks it as taken."""
    name = _plain(name)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _attributes(motion: Trajectory) -> dict[str, str | float | int]:
    """Outcome, method, errors and events as NetCDF attributes."""
    largest = [[name, level, value] for (name, level), value in motion.largest_residuals.items()]
    return {
        "outcome": json.dumps(to_json(motion.outcome)),
        "largest_residuals": json.dumps(largest),
        "promised": json.dumps([[name, level, value] for (name, level), value in motion.promised.items()]),
        "trajectory_error": json.dumps(motion.trajectory_error),
        "energy_error": motion.energy_error,
        "method": motion.method,
        "stabilization": motion.stabilization,
        "events": json.dumps([[e.name, e.time, e.rising] for e in motion.events]),
        "event_names": json.dumps(motion.event_names),
        "beyond": json.dumps([[b.name, b.used, b.points] for b in motion.beyond]),
        "steps": str(motion.steps),  # any size
    }


DATA, PICTURES = (".nc", ".csv"), (".png", ".svg", ".pdf", ".gif", ".mp4")


def save(motion: Trajectory, path: str | Path, keys: Sequence[Any] = (), *, overwrite: bool, **options: Any) -> None:
    """NetCDF with everything for .nc, a table of the samples for .csv, and pictures; raises for other endings."""
    kind = Path(path).suffix.lower()
    if kind in PICTURES:
        return call("picture of a motion", motion, path, keys, overwrite=overwrite, **options)
    if kind not in DATA:
        raise VinculumError(
            f"The name {str(path)!r} must end in .nc (NetCDF, with everything), .csv (the samples), .png, .svg, .pdf "
            "(curves), .gif or .mp4 (an animation)."
        )
    if keys or options:
        given = ", ".join([*map(name_of, keys), *options])
        raise VinculumError(f"A {kind} file holds the whole motion; leave out {given}, or choose a picture: .pdf.")
    refuse_place(path, overwrite)
    content = to_bytes(motion.dataset) if kind == ".nc" else motion.dataset.to_dataframe().to_csv()
    return write_file(path, content, overwrite=overwrite)


def read_trajectory(path: str | Path) -> Trajectory:
    """A trajectory from a NetCDF file written by ``motion.save``; its checksum is verified."""
    if not Path(path).exists():
        raise FileError(f"There is no file {str(path)!r}.")
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    stored = from_bytes(content, path)
    if "columns" not in stored.attrs:
        raise foreign(path)
    try:
        found = _trajectory(stored)
        _look_at_everything(found)
    except _INVALID as error:
        raise foreign(path) from error
    return found


# what a file by a stranger, with a valid checksum, can lead to
_INVALID = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def _trajectory(stored: xr.Dataset) -> Trajectory:
    attributes: dict[str, Any] = stored.attrs
    return Trajectory(
        t=np.asarray(stored[json.loads(attributes["columns"])["time"]]),
        outcome=from_json(json.loads(attributes["outcome"])),
        run=StoredRun(stored),
        largest_residuals={(name, level): float(v) for name, level, v in json.loads(attributes["largest_residuals"])},
        promised={(name, level): float(v) for name, level, v in json.loads(attributes.get("promised", "[]"))},
        trajectory_error=_number(json.loads(attributes.get("trajectory_error", "null"))),
        energy_error=float(attributes["energy_error"]),
        method=str(attributes["method"]),
        stabilization=str(attributes["stabilization"]),
        events=tuple(
            Happened(str(name), float(time), bool(rising)) for name, time, rising in json.loads(attributes["events"])
        ),
        steps=int(attributes["steps"]),
    )


def _number(stored: Any) -> float | None:
    """A number that may be missing."""
    return None if stored is None else float(stored)


def _look_at_everything(motion: Trajectory) -> None:
    """Use every column and attribute once, so that an invalid file is refused when it is read."""
    run, size = motion.run, motion.t.shape
    roles = (run.states, run.inputs, run.reactions, run.residuals, run.servo_work)
    columns = [*(column for role in roles for column in role.values()), motion.energy, motion.work]
    if len(size) != 1 or not size[0] or any(column.shape != size for column in columns):
        raise ValueError("columns of different lengths")
    if not (set(run.shown) <= set(run.states) and set(run.holding.values()) <= set(run.inputs)):
        raise ValueError("roles of columns that do not exist")
    words = [*run.states, *run.inputs, *run.reactions, *run.servo_work, *run.event_names, motion.method]
    if not all(isinstance(word, str) for word in words):
        raise TypeError("names that are not text")
    repr(motion)
