"""Trajectories as xarray datasets and NetCDF files, and as a few labelled rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vinculum.errors import VinculumError
from vinculum.simulate.events import Happened
from vinculum.simulate.outcome import Outcome
from vinculum.simulate.trajectory import Trajectory

if TYPE_CHECKING:
    import xarray as xr


def dataset(motion: Trajectory) -> xr.Dataset:
    """States, energy, work, residuals and reactions over ``time``; how the run went as attributes."""
    import xarray as xr

    columns = dict(motion._columns)
    columns |= {"energy": motion.energy, "work": motion.work}
    columns |= {f"residual_{name}_{level}": values for (name, level), values in motion.residuals.items()}
    columns |= {f"reaction_{name}": values for name, values in motion.reactions.items()}
    variables = {name: ("time", np.asarray(values)) for name, values in columns.items()}
    return xr.Dataset(variables, coords={"time": motion.t}, attrs=_attributes(motion))


def _attributes(motion: Trajectory) -> dict[str, str | float | int]:
    largest = [[name, level, value] for (name, level), value in motion.largest_residuals.items()]
    return {
        "outcome": json.dumps([motion.outcome.kind, motion.outcome.time, motion.outcome.reason]),
        "largest_residuals": json.dumps(largest),
        "promised": json.dumps([[name, level, value] for (name, level), value in motion.promised.items()]),
        "energy_error": motion.energy_error,
        "method": motion.method,
        "stabilization": motion.stabilization,
        "events": json.dumps([[e.name, e.time, e.rising] for e in motion.events]),
        "steps": motion.steps,
    }


def read(path: str | Path) -> Trajectory:
    """A trajectory from a NetCDF file written by ``motion.save``."""
    import xarray as xr

    if not Path(path).exists():
        raise VinculumError(f"There is no file {str(path)!r}.")
    stored = xr.load_dataset(path, engine="netcdf4")
    attributes = stored.attrs
    if "outcome" not in attributes:
        raise VinculumError(f"{str(path)!r} is not a trajectory: it was not written by motion.save(...).")
    return Trajectory(
        t=np.asarray(stored["time"]),
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


def summary(motion: Trajectory) -> str:
    """A few labelled rows."""
    rows = {
        "time": f"{motion.t[0]:.6g} to {motion.t[-1]:.6g}, {len(motion.t)} samples, {motion.steps} steps",
        "outcome": str(motion.outcome),
        "method": motion.method,
        "stabilization": motion.stabilization,
        "energy error": f"{motion.energy_error:.2g}",
    }
    for (name, level), value in motion.largest_residuals.items():
        bound = motion.promised.get((name, level))
        rows[f"{name}, {level}"] = f"{value:.2g}" + (f" (promised {bound:.2g})" if bound is not None else "")
    for name in dict.fromkeys(event.name for event in motion.events):
        times = [event.time for event in motion.events if event.name == name]
        more = f" and {len(times) - 3} more" if len(times) > 3 else ""
        rows[f"event {name}"] = "t = " + ", ".join(f"{t:.6g}" for t in times[:3]) + more
    width = max(map(len, rows))
    return "\n".join(["Trajectory", *(f"  {key:<{width}}  {value}" for key, value in rows.items())])
