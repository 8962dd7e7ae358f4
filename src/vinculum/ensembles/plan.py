"""The front door of many runs."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.describe.quantities import dimensions_of
from vinculum.ensembles.alternatives import alternatives_of, run_alternatives
from vinculum.ensembles.ensemble import OUTCOMES, Ensemble
from vinculum.ensembles.held_inputs import hold_inputs
from vinculum.ensembles.measures import Measure, check_measures
from vinculum.ensembles.prepare import prepare
from vinculum.ensembles.threads import run_threads
from vinculum.ensembles.vary import Variation, by_symbols, column_name, table, vary
from vinculum.errors import VinculumError
from vinculum.frozen import FrozenMapping
from vinculum.options import refuse_unknown
from vinculum.simulation.integrators import method_from
from vinculum.simulation.problem.events import Event
from vinculum.simulation.problem.start import derive_if_needed, given_laws
from vinculum.simulation.progress import Shown, progress_bar
from vinculum.simulation.sampling import Sampler
from vinculum.units.given import column_in_si

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.simulation import Trajectory


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

    def block(self, first: int, last: int, stop: threading.Event | None = None) -> dict[str, np.ndarray]:
        """The results of the runs first .. last - 1; `Stopped` if ``stop`` was set before the end."""
        return self.ensemble.run(self.columns(first, last), stop)

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
        progress: Shown = None,
    ) -> xr.Dataset:
        """Compute all runs, as in `study`."""
        _refuse_where(threads, client, chunk, store)
        with progress_bar(progress, f"{self.runs} runs") as report:
            if store is None and client is None:
                return self.dataset(run_threads(self, 0, self.runs, threads, report, partial=True))
            from vinculum.ensembles.store import compute

            return compute(self, store, client, chunk, threads, report)

    def dataset(self, results: Mapping[str, np.ndarray]) -> xr.Dataset:
        """Arrays over all runs as a dataset, with the varied quantities as dimensions or coordinates.

        The arrays are NumPy's; with ``fastpath`` xarray does not import Dask to find that out.
        """
        import xarray as xr

        shape, dims = tuple(self.variation.dimensions.values()), tuple(self.variation.dimensions)
        further = self.ensemble.names
        data = {
            name: xr.Variable((*dims, *further[name]), values.reshape(*shape, *values.shape[1:]), fastpath=True)
            for name, values in results.items()
        }
        along: dict[str, Any] = dict(self.variation.coordinates)
        if any(further.values()):
            along["time"] = ("time", self.ensemble.grid)
        coords = {name: xr.Variable(dim, values, fastpath=True) for name, (dim, values) in along.items()}
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

    ``over`` = {coordinate, velocity, parameter or input: values}. A list makes a grid; a distribution
    (`vn.vary.uniform`, `vn.vary.normal`, or one of scipy.stats) is drawn ``samples`` times with ``seed``, by
    ``sampling`` = "random", "latin" (hypercube) or "sobol". All combinations of grids and samples are run. A pandas
    table, or `vn.vary.table`, gives one run for every row. Quantities may be given by name, such as "x_dot".

    ``measure`` = {name: `vn.measure.maximum`, `minimum`, `integral`, `final`, `first_time` or `settling_time` of an
    expression}. ``keep`` is "end" (the states at the end), "motion" (the states at all ``times``) or "measures"
    (nothing else; the default if there are measures). Every run also has its outcome, end time, energy error and
    largest residual: a run that fails is a row with its outcome.

    An event in ``until`` ends a run. Everything else is as in `simulate`; all runs share the gains of the
    stabilization, which are chosen at the first run.
    """
    equations = derive_if_needed(equations)
    variation = _varied(equations, over, samples, seed, sampling)
    asked = method_from(method, step=step, tolerance=tolerance)
    if isinstance(inputs, Sampler):
        raise VinculumError("A study cannot run a digital law yet. Call vn.simulate(..., inputs=law) for every run.")
    equations, variation, laws = hold_inputs(equations, variation, given_laws(equations, inputs))
    options = {"stabilization": stabilization, "inputs": laws}
    measures = check_measures(measure)
    ensemble = prepare(
        equations, initial, times, variation, measures, keep, asked, options, parameters, guess, fixed, until
    )  # fmt: skip
    about = {"system": ensemble.starts.equations.name, "method": asked.name, "seed": seed, "sampling": sampling}
    return Study(ensemble, variation, about)


def _varied(equations: Any, over: Any, samples: int | None, seed: int, sampling: str) -> Variation:
    """The runs; quantities may be given by name. Lists may have units; distributions and tables are in SI."""
    inputs = getattr(equations, "system", equations).inputs
    known = (*equations.user_symbols, *equations.extra, *equations.parameters, *inputs)
    if isinstance(over, Variation):
        return Variation(over.dimensions, by_symbols(over.columns, known), by_symbols(over.along, known))
    if not isinstance(over, Mapping) and hasattr(over, "to_dict"):  # a DataFrame
        return table(by_symbols({key: over[key] for key in over}, known))
    if not isinstance(over, Mapping):
        return vary(over, samples, seed, sampling)
    sizes = dimensions_of(equations)
    named = by_symbols(over, known)
    in_si = {key: column_in_si(key, given, sizes, "Invalid values in over=") for key, given in named.items()}
    return vary(in_si, samples, seed, sampling)


def _refuse_where(threads: Any, client: Any, chunk: Any, store: Any) -> None:
    """Raise for threads or a chunk that are not a number, for an address instead of a client, and for another store."""
    for name, number, default in (
        ("threads", threads, "to use all cores"),
        ("chunk", chunk, "for as many runs as suit the memory"),
    ):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise VinculumError(f"{name}={number!r} must be a positive whole number. Leave it out {default}.")
    if store is not None and not isinstance(store, (str, Path)):
        raise VinculumError(f"store={store!r} is not the name of a folder. Use store='runs.zarr', for instance.")
    if client is not None and not hasattr(client, "submit"):
        raise VinculumError(
            f"client={client!r} is not a client of dask.distributed. With `from distributed import Client`, pass "
            "client=Client(address), or client=Client(LocalCluster()) for processes on this machine."
        )


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
    progress: Shown = None,
    **options: Any,
) -> xr.Dataset:
    """Run the same equations many times, with other starts and parameters; the results are an xarray dataset.

    ``over``, ``measure``, ``keep``, ``samples``, ``seed`` and the other ``options`` are those of `plan_study`. To
    compare forms of a law, ``equations`` may be {name: closed loop}, and ``over`` may have {input: {name: law}}: the
    names are a dimension of the result.

    With ``store`` = a folder, results go to a Zarr store as they are computed, and the same call continues an
    interrupted study. A `dask.distributed` ``client`` computes on its workers, ``chunk`` runs at a time. The numbers do
    not depend on threads, workers or chunks.

    ``progress`` is a function of the fraction done, True, or False; by default a terminal shows a bar with the time
    left. Ctrl-C ends a study in memory with a warning: runs that were not computed have the outcome -1. With a store it
    raises KeyboardInterrupt, and the same call continues.
    """
    refuse_unknown("A study", options, list(inspect.signature(plan_study).parameters))
    found = alternatives_of(equations, over)
    if found is not None:
        asked = {"equations": equations, "initial": initial, "times": times, "over": over, **options}
        where = {"threads": threads, "client": client, "chunk": chunk}
        return run_alternatives(study, plan_study, found, asked, store, progress, where)
    planned = plan_study(equations, initial, times, over=over, **options)
    return planned.run(threads=threads, store=store, client=client, chunk=chunk, progress=progress)
