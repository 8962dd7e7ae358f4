"""A study that outlives its process: chunks of runs in a Zarr store, computed here or on Dask's workers.

The store has one row for every run. Each chunk has its own files, so workers write theirs without waiting for each
other, and the mark in ``computed`` is written last: a chunk without it is computed again. A study may be killed at any
instant and is continued by the same call.
"""

from __future__ import annotations

import hashlib
import json
import time as clock
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.ensembles.cluster import Chunk, on_workers
from vinculum.ensembles.ensemble import Ensemble
from vinculum.ensembles.plan import Study, outcome_attributes
from vinculum.ensembles.threads import MISSING, nothing, put, run_threads, warn_partial
from vinculum.errors import VinculumError
from vinculum.extras import extra
from vinculum.graph.canonical import digests
from vinculum.graph.routine import expand_calls
from vinculum.graph.splines import expand_splines

if TYPE_CHECKING:
    import xarray as xr

_CHUNK_SECONDS = 4.0  # of one core for a chunk
_LARGEST_CHUNK = 65_536  # runs
_TRIED = 16  # runs that are timed
_CHUNK_BYTES = 64e6  # of the results of one chunk, at most
_MARK = "computed"  # (chunks) 1 where all arrays of a chunk are written


def compute(
    study: Study,
    store: str | Path | None,
    client: Any,
    chunk: int | None,
    threads: int | None,
    report: Callable[[float], None],
) -> xr.Dataset:
    """Compute what is missing in a store, or, without one, in memory on a client's workers."""
    path = None if store is None else Path(store)
    size = _chunk_size(study, chunk, path)
    parts = list(_parts(study.runs, size))
    if path is None:
        return study.dataset(_gathered(study, client, parts, report))
    root = _opened(study, path, size)
    waiting = [(k, part) for k, part in enumerate(parts) if not root[_MARK][k]]
    done = len(parts) - len(waiting)
    for share in _computed(study, path, client, waiting, threads):
        report((done + share) / len(parts))
    return read_study(path)


def read_study(store: str | Path) -> xr.Dataset:
    """A study from its store, finished or not; arrays are read from the disk when they are used.

    Runs that were not computed yet have outcome -1. Along several dimensions, the runs are ordered as in `study`.
    """
    import xarray as xr

    extra("zarr", "study")
    path = Path(store)
    if not (path / "zarr.json").exists():
        raise VinculumError(f"There is no study in {path}.")
    flat = xr.open_zarr(path, consolidated=False, chunks=None).drop_vars(_MARK)
    layout = json.loads(flat.attrs.pop("layout"))
    for own in ("fingerprint", "chunk"):
        flat.attrs.pop(own)
    dims: dict[str, int] = layout["dimensions"]
    fixed = {name: flat[name] for name in flat.variables if "run" not in flat[name].dims}
    if len(dims) == 1:
        name = next(iter(dims))
        found = flat.set_coords([column for column in layout["along"] if column in flat.variables])
        if name in found.variables:
            return found.swap_dims(run=name)
        return found if name == "run" else found.rename_dims(run=name)
    data, coords = {}, dict(fixed)
    for name in (n for n in flat.variables if "run" in flat[n].dims):
        values = flat[name].values.reshape(*dims.values(), *flat[name].shape[1:])
        if name in layout["along"]:
            axis = list(dims).index(layout["along"][name])
            first = tuple(slice(None) if k == axis else 0 for k in range(len(dims)))
            coords[name] = (layout["along"][name], values[first])
        else:
            data[name] = ((*dims, *flat[name].dims[1:]), values, flat[name].attrs)
    return xr.Dataset(data, coords, flat.attrs)


# -- the store ---------------------------------------------------------------------------------------------------------


def _chunk_size(study: Study, chunk: int | None, path: Path | None) -> int:
    """Runs in a chunk: as asked, as in the store, or as many as take some seconds and fit into some memory."""
    if chunk is not None:
        return chunk
    if path is not None and (path / "zarr.json").exists():
        size = extra("zarr", "study").open_group(path, mode="r").attrs.get("chunk")
        if size is not None:
            return int(size)
    one = sum(array.nbytes for array in study.ensemble.empty(1).values())
    return int(max(1, min(_CHUNK_SECONDS // _seconds(study), _LARGEST_CHUNK, _CHUNK_BYTES // one, study.runs)))


def _seconds(study: Study) -> float:
    """The time of one run, on one thread."""
    tried = min(_TRIED, study.runs)
    study.block(0, tried)  # compiles
    began = clock.perf_counter()
    study.block(0, tried)
    return (clock.perf_counter() - began) / tried


def _parts(runs: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, runs, size):
        yield first, min(first + size, runs)


def fingerprint(study: Study, size: int) -> str:
    """A digest of everything that determines the numbers in a store, and of its division into chunks.

    Equations count by their formulas, not by values at some states: two laws may differ only at later times.
    """
    ensemble, digest = study.ensemble, hashlib.sha256()
    starts, text = ensemble.starts, [ensemble.keep, ensemble.method, ensemble.shown, size]
    text += [dict(study.variation.dimensions), dict(ensemble.measures), starts.initial, starts.guess, starts.fixed]
    text += [ensemble.extra, ensemble.treatment, ensemble.until, list(study.column_names().values())]
    digest.update(repr([str(part) for part in text]).encode())
    for array in (*study.variation.columns.values(), ensemble.grid, ensemble.problem.parameter_values):
        digest.update(np.ascontiguousarray(array).tobytes())
    for formula in _formulas(ensemble):
        digest.update(formula)
    return digest.hexdigest()


def _formulas(ensemble: Ensemble) -> list[bytes]:
    """Digests of what is integrated, watched and computed at the start; they are the same in every process."""
    nodes = ensemble.problem.nodes
    outputs = [*nodes.rates, *nodes.event_functions, *ensemble.integrals.values(), *ensemble.outputs, *nodes.hoisted]
    outputs = expand_splines(expand_calls(outputs))  # splines and calls have names only
    found = digests(outputs, {})
    return [found[node] for node in outputs]


def _opened(study: Study, path: Path, size: int) -> Any:
    """The group of a store, made if it does not exist; raises if it belongs to another study."""
    zarr = extra("zarr", "study")
    _refuse_names(study)
    own = fingerprint(study, size)
    if (path / "zarr.json").exists():
        root = zarr.open_group(path, mode="r+")
        if root.attrs.get("fingerprint") == own:
            return root
        if "fingerprint" in root.attrs:
            raise VinculumError(
                f"{path} has the runs of another study (other equations, values, times, measures or chunk). Continue "
                "that study with its own call, or give another folder."
            )
        return _made(study, root, size, own)  # killed while it was made
    if path.exists() and any(path.iterdir()):
        raise VinculumError(f"{path} exists and is not a study. Give another folder.")
    return _made(study, zarr.open_group(path, mode="a"), size, own)


def _refuse_names(study: Study) -> None:
    """Raise for names that an array of a store cannot have."""
    names = [*study.ensemble.names, *study.column_names().values()]
    bad = [name for name in names if name in ("", _MARK, "zarr.json") or "/" in name or name.startswith(".")]
    if bad:
        raise VinculumError(
            f"An array of a store cannot be called {bad[0]!r}. Give the measure or parameter another name."
        )


def _made(study: Study, root: Any, size: int, own: str) -> Any:
    """All arrays, empty; the fingerprint is written last."""
    runs, names, names_of = study.runs, study.ensemble.names, study.column_names()
    template = study.ensemble.empty(1)
    for name, dims in names.items():
        extent = template[name].shape[1:]
        fill = MISSING if name == "outcome" else np.nan
        array = root.require_array(
            name, shape=(runs, *extent), chunks=(size, *extent), dtype=template[name].dtype, fill_value=fill,
            dimension_names=("run", *dims),
        )  # fmt: skip
        array.attrs.update(outcome_attributes() if name == "outcome" else {})
    for key, column in study.variation.columns.items():
        _put(root, names_of[key], column, ("run",))
    if any(names.values()):
        _put(root, "time", study.ensemble.grid, ("time",))
    parts = -(-runs // size)
    root.require_array(_MARK, shape=(parts,), chunks=(1,), dtype="int8", fill_value=0, dimension_names=("chunk",))
    along = {names_of[key]: dim for key, dim in study.variation.along.items()}
    layout = {"dimensions": dict(study.variation.dimensions), "along": along}
    root.attrs.update(dict(study.about) | {"layout": json.dumps(layout), "chunk": size})
    root.attrs.update({"fingerprint": own})
    return root


def _put(root: Any, name: str, values: np.ndarray, dims: tuple[str, ...]) -> None:
    array = root.require_array(name, shape=values.shape, dtype="float64", dimension_names=dims)
    array[:] = values


def write_chunk(path: Path, number: int, first: int, results: Mapping[str, np.ndarray]) -> None:
    """The results of one chunk, and then its mark."""
    root: Any = extra("zarr", "study").open_group(path, mode="r+")
    for name, values in results.items():
        root[name][first : first + len(values)] = values
    root[_MARK][number] = 1


# -- where it is computed ----------------------------------------------------------------------------------------------


def _computed(
    study: Study, path: Path, client: Any, waiting: list[tuple[int, tuple[int, int]]], threads: int | None
) -> Iterator[int]:
    """Compute chunks one after the other, or on the workers, as they come; yields how many are written."""
    if client is None:
        for done, (number, (first, last)) in enumerate(waiting, start=1):
            write_chunk(path, number, first, run_threads(study, first, last, threads))
            yield done
        return
    work = partial(_write_on_worker, str(path.resolve()))
    chunks = [partial(_chunk, study, number, *part) for number, part in waiting]
    for done, _ in enumerate(on_workers(client, study.ensemble, work, chunks), start=1):
        yield done


def _chunk(study: Study, number: int, first: int, last: int) -> Chunk:
    return Chunk(number, first, study.columns(first, last))


def _write_on_worker(path: str, ensemble: Ensemble, chunk: Chunk) -> None:
    """One chunk on a Dask worker, written by the worker itself."""
    write_chunk(Path(path), chunk.number, chunk.first, ensemble.run(chunk.columns))


def _on_worker(ensemble: Ensemble, chunk: Chunk) -> dict[str, np.ndarray]:
    return ensemble.run(chunk.columns)


def _gathered(
    study: Study, client: Any, parts: list[tuple[int, int]], report: Callable[[float], None]
) -> dict[str, np.ndarray]:
    """The results of all chunks from a client's workers, in memory; Ctrl-C keeps what has arrived."""
    chunks = [partial(_chunk, study, number, *part) for number, part in enumerate(parts)]
    results = nothing(study, study.runs)
    try:
        for done, (k, found) in enumerate(on_workers(client, study.ensemble, _on_worker, chunks), start=1):
            put(results, parts[k][0], found)
            report(done / len(parts))
    except KeyboardInterrupt:
        warn_partial(results)
    return results
