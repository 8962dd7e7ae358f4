"""The front door of many runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.describe.quantities import dimensions_of
from vinculum.ensembles.ensemble import OUTCOMES, Ensemble
from vinculum.ensembles.measures import Measure, check_measures
from vinculum.ensembles.prepare import prepare
from vinculum.ensembles.vary import Variation, column_name, vary
from vinculum.errors import VinculumError
from vinculum.frozen import FrozenMapping
from vinculum.simulation.integrators import method_from
from vinculum.simulation.problem.events import Event
from vinculum.units.given import column_in_si

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.simulation import Trajectory

_LARGEST_PART = 1024  # runs that a thread computes at a time


@dataclass(frozen=True, eq=False)
class Study:
    """Many runs of the same equations: what varies, and what all of them share. It pickles without machine code."""

    ensemble: Ensemble
    variation: Variation
    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", FrozenMapping(self.about))

    @property
    def runs(self) -> int:
        """The number of runs."""
        return self.variation.runs

    def columns(self, first: int, last: int) -> dict[Any, np.ndarray]:
        """The varied quantities of the runs first .. last - 1."""
        return {key: column[first:last] for key, column in self.variation.columns.items()}

    def block(self, first: int, last: int) -> dict[str, np.ndarray]:
        """The results of the runs first .. last - 1."""
        return self.ensemble.run(self.columns(first, last))

    def one(self, number: int) -> Trajectory:
        """The trajectory of one run, by its number in the order of the study; raises the refusal of a start."""
        columns = self.columns(number, number + 1)
        values, refusals = self.ensemble.starts.solve(columns, 1)
        if refusals:
            raise VinculumError(refusals[0])
        varied = {key: float(column[0]) for key, column in columns.items()}
        return self.ensemble.one(varied, values[0], self.ensemble.grid)

    def run(
        self,
        *,
        threads: int | None = None,
        store: str | Path | None = None,
        client: Any = None,
        chunk: int | None = None,
        progress: bool | Callable[[float], None] | None = None,
    ) -> xr.Dataset:
        """Compute all runs, as in `study`."""
        if store is None and client is None:
            return self.dataset(run_threads(self, 0, self.runs, threads, progress))
        from vinculum.ensembles.store import compute

        return compute(self, store, client, chunk, threads, progress)

    def dataset(self, results: Mapping[str, np.ndarray]) -> xr.Dataset:
        """Arrays over all runs as a dataset, with the varied quantities as dimensions or coordinates."""
        import xarray as xr

        shape, dims = tuple(self.variation.dimensions.values()), tuple(self.variation.dimensions)
        further = self.ensemble.names
        data = {
            name: ((*dims, *further[name]), values.reshape(*shape, *values.shape[1:]))
            for name, values in results.items()
        }
        coords: dict[str, Any] = dict(self.variation.coordinates)
        if any(further.values()):
            coords["time"] = ("time", self.ensemble.grid)
        found = xr.Dataset(data, coords=coords, attrs=dict(self.about))
        found["outcome"].attrs = outcome_attributes()
        return found

    def column_names(self) -> dict[Any, str]:
        """The names of the varied quantities in the results."""
        return {key: column_name(key) for key in self.variation.columns}


def outcome_attributes() -> dict[str, Any]:
    """The meaning of the numbers in ``outcome``, as in the CF conventions."""
    words = " ".join(kind.replace(" ", "_") for kind in OUTCOMES)
    return {"flag_values": list(range(len(OUTCOMES))), "flag_meanings": words}


def plan_study(
    equations: Any,
    initial: Mapping[Any, float] | None = None,
    times: Sequence[float] | np.ndarray = (0.0, 1.0),
    *,
    over: Any,
    measure: Mapping[str, Measure] | None = None,
    keep: str | None = None,
    samples: int | None = None,
    seed: int = 0,
    sampling: str = "random",
    method: Any = "taylor",
    step: float | None = None,
    tolerance: float | None = None,
    stabilization: Any = None,
    inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    fixed: Sequence[sp.Expr] | None = None,
    until: Sequence[Event] | Event = (),
) -> Study:
    """The runs of a study, checked and prepared: ``.run()`` computes them, ``.one(number)`` is one trajectory.

    ``over`` = {coordinate, velocity or parameter: values}. A list makes a grid; a distribution (`vn.vary.uniform`,
    `vn.vary.normal`, or one of scipy.stats) is drawn ``samples`` times with ``seed``, by ``sampling`` = "random",
    "latin" (hypercube) or "sobol". All combinations of grids and samples are run. A pandas table, or `vn.vary.table`,
    gives one run for every row.

    ``measure`` = {name: `vn.measure.maximum`, `minimum`, `integral`, `final`, `first_time` or `settling_time` of an
    expression}. ``keep`` is "end" (the states at the end), "motion" (the states at all ``times``) or "measures"
    (nothing else; the default if there are measures). Every run also has its outcome, end time, energy error and
    largest residual: a run that fails is a row with its outcome.

    An event in ``until`` ends a run. Everything else is as in `simulate`; all runs share the gains of the
    stabilization, which are chosen at the first run.
    """
    variation = over if isinstance(over, Variation) else vary(_in_si(equations, over), samples, seed, sampling)
    asked = method_from(method, step=step, tolerance=tolerance)
    options = {"stabilization": stabilization, "inputs": dict(inputs or {})}
    measures = check_measures(measure)
    ensemble = prepare(
        equations, initial, times, variation, measures, keep, asked, options, parameters, guess, fixed, until
    )  # fmt: skip
    about = {"system": ensemble.starts.equations.name, "method": asked.name, "seed": seed, "sampling": sampling}
    return Study(ensemble, variation, about)


def _in_si(equations: Any, over: Any) -> Any:
    """The lists of ``over`` in SI; distributions and tables are in SI already."""
    if not isinstance(over, Mapping):
        return over
    known = dimensions_of(equations)
    return {key: column_in_si(key, given, known, "Invalid values in over=") for key, given in over.items()}


def study(
    equations: Any,
    initial: Mapping[Any, float] | None = None,
    times: Sequence[float] | np.ndarray = (0.0, 1.0),
    *,
    over: Any,
    threads: int | None = None,
    store: str | Path | None = None,
    client: Any = None,
    chunk: int | None = None,
    progress: bool | Callable[[float], None] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Run the same equations many times, with other starts and parameters; the results are an xarray dataset.

    ``over``, ``measure``, ``keep``, ``samples``, ``seed`` and the other ``options`` are those of `plan_study`.

    With ``store`` = a folder, results go to a Zarr store as they are computed, and the same call continues an
    interrupted study. A `dask.distributed` ``client`` computes on its workers, ``chunk`` runs at a time. The numbers do
    not depend on threads, workers or chunks.
    """
    planned = plan_study(equations, initial, times, over=over, **options)
    return planned.run(threads=threads, store=store, client=client, chunk=chunk, progress=progress)


def run_threads(
    study: Study,
    first: int,
    last: int,
    threads: int | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> dict[str, np.ndarray]:
    """The results of the runs first .. last - 1, on several threads (default: all cores)."""
    workers = threads or os.cpu_count() or 1
    share = -(-(last - first) // (4 * workers))  # four parts for every thread, so that none waits long at the end
    size = min(_LARGEST_PART, -(-share // 8) * 8)
    results = study.ensemble.empty(last - first)
    with ThreadPoolExecutor(workers) as pool:
        parts = [(k, min(k + size, last)) for k in range(first, last, size)]
        futures = [pool.submit(study.block, *part) for part in parts]
        try:
            for (begin, end), future in zip(parts, futures, strict=True):
                for name, values in future.result().items():
                    results[name][begin - first : end - first] = values
                if callable(progress):
                    progress((end - first) / (last - first))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results
