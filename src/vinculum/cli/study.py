"""``vinculum study``: many runs, kept on disk and continued after an interruption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vinculum.cli.options import FORCE, FORM, JSON, MODEL, OUTPUT, PATH, SET
from vinculum.cli.terminal import DONE, INTERRUPTED, Wrong, say, tell

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.ensembles import Study

STUDY_KINDS = (".nc", ".csv")
STORE = click.option("--store", metavar="FOLDER", type=PATH, help="Keep the runs in a folder and continue there.")
SCHEDULER = click.option("--scheduler", metavar="ADDRESS", help="Compute on the workers of a Dask scheduler.")
SAMPLES = click.option(
    "--samples", metavar="NUMBER", type=click.IntRange(1), help="Number of draws, instead of the file's."
)
THREADS = click.option("--threads", metavar="NUMBER", type=click.IntRange(1), help="Number of threads.")


@MODEL
@STORE
@SCHEDULER
@SAMPLES
@THREADS
@OUTPUT
@FORCE
@FORM
@SET
@JSON
def study(
    model: Path,
    store: Path | None,
    scheduler: str | None,
    samples: int | None,
    threads: int | None,
    output: Path | None,
    force: bool,
    form: str | None,
    settings: tuple[str, ...],
    json: bool,
) -> int:
    """Run a model many times.

    Starts, parameters, inputs or gains differ from run to run, as [study] says. Ctrl-C keeps the runs computed so far.
    With --store, the same command continues them later.

    \b
    Examples:
      vinculum study model.toml --samples 2000 --store runs.zarr
      vinculum study model.toml -o runs.nc --json
    """
    from vinculum.cli.options import opened, refuse_unasked
    from vinculum.cli.terminal import as_json, free_place, table
    from vinculum.model.examine import equations_of, study_of

    free_place(output, force, STUDY_KINDS)
    asked = opened(model, settings, form)
    refuse_unasked(asked, model, "study")
    planned = study_of(asked, equations_of(asked), samples)
    folder = _folder(store, asked.study or {}, model)
    with _client(scheduler, folder) as client:
        runs = computed(planned, folder, client, (asked.study or {}).get("chunk"), threads, asked.name)
    data = study_data(asked.name, planned, runs, folder)
    if output is not None:
        stored(runs, output)
    if json:
        say(as_json(data))
    else:
        table(asked.name, rows_of(data))
    if data["computed"] == data["runs"]:
        return DONE
    options = {"--samples": samples, "--threads": threads, "--scheduler": scheduler, "--form": form}
    tell(f"Interrupted after {data['computed']} of {data['runs']} runs. {_again(model, folder, options, settings)}")
    return INTERRUPTED


def _again(model: Path, folder: Path | None, options: dict[str, Any], settings: Sequence[str]) -> str:
    """How to continue, or what to type to be able to."""
    import shlex

    words = [word for key, value in options.items() if value is not None for word in (key, str(value))]
    words += [word for setting in settings for word in ("--set", setting)]
    typed = shlex.join(["vinculum", "study", str(model), *words, "--store", str(folder or "runs.zarr")])
    return f"Continue with: {typed}" if folder else f"They were in memory only; to keep them, type: {typed}"


def _folder(store: Path | None, asked: dict[str, Any] | Any, model: Path) -> Path | None:
    """Where the runs are kept: by the option, or by the file, from its folder on."""
    if store is not None or "store" not in asked:
        return store
    return model.parent / str(asked["store"])


@contextmanager
def _client(address: str | None, folder: Path | None) -> Iterator[Any]:
    """A client of a Dask scheduler."""
    if address is None:
        yield None
        return
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from vinculum.extras import extra

    distributed = extra("distributed", "study")
    try:
        with ThreadPoolExecutor(1) as elsewhere:  # this thread may have a loop that runs
            elsewhere.submit(asyncio.run, _reach(distributed, address)).result()
    except (OSError, ValueError) as error:
        raise Wrong(
            f"There is no scheduler at {address} ({type(error).__name__}). Start one with: dask scheduler"
        ) from None
    with distributed.Client(address, timeout="10s", set_as_default=False) as client:
        yield client


async def _reach(distributed: Any, address: str) -> None:
    """Connect once. A client that finds nobody stays half made, and Dask waits for itself when it is removed later."""
    connection = await distributed.comm.connect(address, timeout=10)
    await connection.close()


def computed(
    planned: Study, folder: Path | None, client: Any, chunk: int | None, threads: int | None, name: str
) -> xr.Dataset:
    """The runs, with a progress bar that shows the time left; after Ctrl-C, those that are done."""
    import warnings

    from vinculum.cli.terminal import bar
    from vinculum.ensembles import read_study

    with bar(f"{planned.runs} runs of {name}") as report, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Interrupted after")
        try:
            return planned.run(store=folder, client=client, chunk=chunk, threads=threads, progress=report)
        except KeyboardInterrupt:
            if folder is None or not (folder / "zarr.json").exists():
                raise
            return read_study(folder)


def stored(runs: xr.Dataset, path: Path) -> None:
    """Write all runs as NetCDF, or as a table of text."""
    from vinculum.cli.terminal import tell_where
    from vinculum.writing import write_file

    netcdf = path.suffix.lower() == ".nc"
    write_file(path, bytes(runs.to_netcdf(engine="scipy")) if netcdf else runs.to_dataframe().to_csv())
    tell_where(path)


def study_data(name: str, planned: Study, runs: xr.Dataset, folder: Path | None) -> dict[str, Any]:
    """Outcomes, and what the measures and states at the end are over all runs."""
    import numpy as np

    from vinculum.ensembles.ensemble import OUTCOMES

    outcome = runs.outcome.values.ravel()
    counts = {kind: int((outcome == code).sum()) for code, kind in enumerate(OUTCOMES)}
    found = {}
    for variable in planned.ensemble.names:
        if variable not in ("outcome", "end_time") and "time" not in runs[variable].dims:
            values = runs[variable].values.ravel()
            found[variable] = _spread(values[np.isfinite(values)], int((outcome >= 0).sum()))
    return {
        "name": name,
        "runs": int(outcome.size),
        "computed": int((outcome >= 0).sum()),
        "outcomes": {kind: count for kind, count in counts.items() if count},
        "dimensions": {str(dim): int(size) for dim, size in runs.sizes.items()},
        "varied": list(planned.column_names().values()),
        "values": found,
        "store": None if folder is None else str(folder),
    }


def _spread(values: Any, computed: int) -> dict[str, Any]:
    """The distribution of a quantity in a few numbers; ``missing`` runs have none."""
    import numpy as np

    if not len(values):
        return {"missing": computed}
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    return {
        "smallest": float(values.min()), "5 %": float(low), "median": float(middle), "95 %": float(high),
        "largest": float(values.max()), "missing": computed - len(values),
    }  # fmt: skip


def rows_of(data: dict[str, Any]) -> dict[str, Any]:
    """The summary in labeled rows."""
    rows: dict[str, Any] = {"runs": f"{data['computed']} of {data['runs']}", "varied": ", ".join(data["varied"])}
    rows["outcomes"] = ", ".join(f"{count} {kind}" for kind, count in data["outcomes"].items())
    for name, spread in data["values"].items():
        if "median" not in spread:
            rows[name] = "no run has a value"
            continue
        numbers = f"{spread['smallest']:.6g} to {spread['largest']:.6g}, median {spread['median']:.6g}"
        rows[name] = numbers + (f", {spread['missing']} runs without a value" if spread["missing"] else "")
    return rows | ({"store": data["store"]} if data["store"] else {})
