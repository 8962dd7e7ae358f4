"""Trajectories as xarray datasets, NetCDF files and CSV tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.errors import VinculumError
from vinculum.simulation.problem.events import Happened
from vinculum.simulation.trajectory.outcome import Outcome
from vinculum.simulation.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    import xarray as xr


def dataset(motion: Trajectory) -> xr.Dataset:
    """States, inputs, energy, work, residuals and reactions over time; how the run went as attributes.

    What is called the reaction of a servo constraint is the input that holds it, and is stored once, as this input.
    What a column holds is said in the attribute ``columns``, so that names may be any text, and a coordinate may be
    called energy.
    """
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
    }
    variables = {name: (time, np.asarray(values)) for name, values in columns.items()}
    return xr.Dataset(variables, coords={time: motion.t}, attrs=_attributes(motion) | {"columns": json.dumps(roles)})


def _plain(name: str) -> str:
    """A name NetCDF accepts: it has no use for slashes."""
    return name.replace("/", "\N{DIVISION SLASH}")


def _free(name: str, taken: set[str]) -> str:
    """A column name that is not taken yet; marks it as taken."""
    name = _plain(name)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _attributes(motion: Trajectory) -> dict[str, str | float | int]:
    """How the run went, in what NetCDF can hold."""
    largest = [[name, level, value] for (name, level), value in motion.largest_residuals.items()]
    return {
        "outcome": json.dumps([motion.outcome.kind, motion.outcome.time, motion.outcome.reason]),
        "largest_residuals": json.dumps(largest),
        "promised": json.dumps([[name, level, value] for (name, level), value in motion.promised.items()]),
        "energy_error": motion.energy_error,
        "method": motion.method,
        "stabilization": motion.stabilization,
        "events": json.dumps([[e.name, e.time, e.rising] for e in motion.events]),
        "event_names": json.dumps(motion.event_names),
        "steps": motion.steps,
    }


def save(motion: Trajectory, path: str | Path) -> None:
    """NetCDF with everything for .nc, a table of the samples for .csv; other endings are refused."""
    kind = Path(path).suffix.lower()
    if kind == ".nc":
        motion.dataset.to_netcdf(path, engine="netcdf4")
    elif kind == ".csv":
        motion.dataset.to_dataframe().to_csv(path)
    else:
        raise VinculumError(f"The name {str(path)!r} must end in .nc (NetCDF, with everything) or .csv (the samples).")


def read_trajectory(path: str | Path) -> Trajectory:
    """A trajectory from a NetCDF file written by ``motion.save``."""
    import xarray as xr

    if not Path(path).exists():
        raise VinculumError(f"There is no file {str(path)!r}.")
    foreign = VinculumError(f"{str(path)!r} is not a trajectory: it was not written by motion.save(...).")
    try:
        stored = xr.load_dataset(path, engine="netcdf4")
    except (OSError, ValueError) as error:
        raise foreign from error
    if "columns" not in stored.attrs:
        raise foreign
    attributes: dict[str, Any] = stored.attrs
    return Trajectory(
        t=np.asarray(stored[json.loads(attributes["columns"])["time"]]),
        outcome=Outcome(*json.loads(attributes["outcome"])),
        largest_residuals={(name, level): v for name, level, v in json.loads(attributes["largest_residuals"])},
        promised={(name, level): v for name, level, v in json.loads(attributes.get("promised", "[]"))},
        energy_error=float(attributes["energy_error"]),
        method=attributes["method"],
        stabilization=attributes["stabilization"],
        events=tuple(Happened(*row) for row in json.loads(attributes["events"])),
        steps=int(attributes["steps"]),
        stored=stored,
    )
