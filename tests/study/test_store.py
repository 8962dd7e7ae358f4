"""Nothing of a study is lost: stores, kills, restarts, workers that die. The bits are those of one process."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
import xarray as xr
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from faults.cluster import kill_cluster
from vinculum import measure, vary
from vinculum.ensembles.cluster import Chunk, on_workers
from vinculum.errors import VinculumError

theta, u = dynamicsymbols("theta u")
g, l, c = sp.symbols("g l c")
CALL = dict(
    over={theta: vary.uniform(-2, 2), theta.diff(): vary.normal(0, 1), l: [0.7, 1.0, 1.3]},
    samples=40,
    measure={"top": measure.maximum(theta), "way": measure.integral(theta.diff() ** 2)},
    keep="end",
)


def pendulum(damping: float = 0.1) -> vn.System:
    T, V = l**2 * theta.diff() ** 2 / 2, -g * l * sp.cos(theta)
    return vn.System([theta], T, V, {theta: -c * theta.diff()}, parameters={g: 9.81, l: 1.0, c: damping})


def run(**options) -> xr.Dataset:
    return vn.study(pendulum(), {}, (0, 5), **CALL, **options)


@pytest.fixture(scope="module")
def whole() -> xr.Dataset:
    return run()


@pytest.mark.parametrize("chunk", [7, 64, None])
def test_a_store_has_the_numbers_of_the_memory(whole, tmp_path, chunk):
    stored = run(store=tmp_path / "runs.zarr", chunk=chunk)
    xr.testing.assert_identical(whole, stored.load())
    xr.testing.assert_identical(whole, vn.ensembles.read_study(tmp_path / "runs.zarr").load())


def test_one_dimension_is_read_lazily(tmp_path):
    found = vn.study(pendulum(), {}, (0, 1), over={theta: np.linspace(0.1, 1, 9)}, store=tmp_path / "s", chunk=4)
    expected = vn.study(pendulum(), {}, (0, 1), over={theta: np.linspace(0.1, 1, 9)})
    assert not found.theta.variable._in_memory
    xr.testing.assert_equal(expected, found.load())


def test_what_is_in_a_store_is_not_run_again(tmp_path, monkeypatch):
    first = run(store=tmp_path / "s", chunk=30).load()
    monkeypatch.setattr("vinculum.ensembles.plan.Study.block", lambda *_: pytest.fail("a chunk was computed again"))
    xr.testing.assert_identical(first, run(store=tmp_path / "s", chunk=30).load())


def test_an_interrupted_study_is_continued(whole, tmp_path):
    def stop(done: float) -> None:
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(store=tmp_path / "s", chunk=10, progress=stop)
    half = vn.ensembles.read_study(tmp_path / "s")
    assert 0 < int((half.outcome == -1).sum()) < half.outcome.size
    assert np.isnan(half.top.values[half.outcome.values == -1]).all()
    xr.testing.assert_identical(whole, run(store=tmp_path / "s", chunk=10).load())


SCRIPT = """
import sys
sys.path[:0] = sys.argv[2:]
from test_store import run
run(store=sys.argv[1], chunk=5, progress=lambda done: print(done, flush=True))
"""


def test_a_study_survives_kills_of_its_process(whole, tmp_path):
    kills = 0
    for wanted in (1, 4, 2):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "s"), *map(str, Path(__file__).parents[:2])],
            stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        for _ in range(wanted):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        kills += process.wait() == -signal.SIGKILL
    assert kills == 3
    left = int((vn.ensembles.read_study(tmp_path / "s").outcome == -1).sum())
    assert 0 < left < whole.outcome.size
    xr.testing.assert_identical(whole, run(store=tmp_path / "s", chunk=5).load())


def test_a_store_of_another_study_is_refused(tmp_path):
    run(store=tmp_path / "s")
    for other in (
        lambda: vn.study(pendulum(0.2), {}, (0, 5), **CALL, store=tmp_path / "s"),
        lambda: vn.study(pendulum(), {}, (0, 6), **CALL, store=tmp_path / "s"),
        lambda: vn.study(pendulum(), {}, (0, 5), **(CALL | {"seed": 1}), store=tmp_path / "s"),
        lambda: vn.study(pendulum(), {}, (0, 5), **CALL, until=vn.Event(theta), store=tmp_path / "s"),
        lambda: run(store=tmp_path / "s", chunk=3),
    ):
        with pytest.raises(VinculumError, match="another study"):
            other()
    heavier = vn.System([theta], l**2 * theta.diff() ** 2, -g * l * sp.cos(theta), {theta: -c * theta.diff()},
                        parameters={g: 9.81, l: 1.0, c: 0.1})  # fmt: skip
    with pytest.raises(VinculumError, match="another study"):
        vn.study(heavier, {}, (0, 5), **CALL, store=tmp_path / "s")


def later(height: float) -> sp.Expr:
    """A torque that begins after a second."""
    return sp.Piecewise((0, dynamicsymbols._t < 1), (height, True))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (dict(over={theta: vary.uniform(0, 1)}, samples=4), dict(over={theta.diff(): vary.uniform(0, 1)}, samples=4)),
        (dict(over={theta: [0.1]}, inputs={u: later(1)}), dict(over={theta: [0.1]}, inputs={u: later(3)})),
        (
            dict(over={theta: [0.1]}, inputs={u: vn.spline(dynamicsymbols._t, [0, 1, 2, 3], [0, 0, 1, 1], degree=1)}),
            dict(over={theta: [0.1]}, inputs={u: vn.spline(dynamicsymbols._t, [0, 1, 2, 3], [0, 0, 1, 2], degree=1)}),
        ),
    ],
    ids=["quantities", "laws", "splines"],
)
def test_studies_with_the_same_numbers_and_other_meanings_are_refused(tmp_path, first, second):
    """Samples of another quantity are the same numbers, and two laws may be the same up to some instant."""
    driven = vn.System([theta], theta.diff() ** 2 / 2, theta**2, {theta: u}, inputs=[u])
    asked = {"inputs": {u: 0}, "store": tmp_path / "s"}
    vn.study(driven, {}, (0, 3), **(asked | first))
    vn.study(driven, {}, (0, 3), **(asked | first))
    with pytest.raises(VinculumError, match="another study"):
        vn.study(driven, {}, (0, 3), **(asked | second))


@pytest.mark.parametrize("name", ["computed", "a/b", ".hidden", ""])
def test_a_name_that_no_array_can_have_is_refused(tmp_path, name):
    with pytest.raises(VinculumError, match="cannot be called"):
        vn.study(
            pendulum(), {}, (0, 1), over={theta: [0.1]}, measure={name: measure.final(theta)}, store=tmp_path / "s"
        )


def test_a_folder_that_is_not_a_study_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(VinculumError, match="is not a study"):
        run(store=tmp_path)
    with pytest.raises(VinculumError, match="no study"):
        vn.ensembles.read_study(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(VinculumError, match="chunk=0 must be a positive whole number"):
        run(store=tmp_path / "s", chunk=0)


@pytest.mark.slow
def test_workers_of_a_cluster_may_die(whole, tmp_path):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        xr.testing.assert_identical(whole, run(client=client, chunk=25))
        killed = []

        def kill(done: float) -> None:
            if len(killed) < 2:
                pid = next(p for p in client.run(os.getpid).values() if p not in killed)
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                time.sleep(0.5)

        found = run(client=client, store=tmp_path / "s", chunk=6, progress=kill)
        assert len(killed) == 2
        xr.testing.assert_identical(whole, found.load())


class KilledWorker(Exception):
    """Of a scheduler that gave a task up."""


class DeadlyClient:
    """A client whose workers die with the chunk 9, at every attempt."""

    loop, ncores = None, staticmethod(lambda: {"worker": 1})

    def submit(self, work, *given, pure):
        future = concurrent.futures.Future()
        fatal = len(given) == 2 and given[1].number == 9
        future.set_exception(KilledWorker()) if fatal else future.set_result("done")
        future.release = lambda: None
        return future

    def cancel(self, futures):
        pass


class Answers(list):
    """`distributed.as_completed`, of futures that are done."""

    def __init__(self, futures, loop):
        super().__init__(futures)

    add, update = list.append, list.extend


def test_a_chunk_that_kills_its_workers_is_named_as_in_the_store(monkeypatch):
    """A continued study sends the chunks that its store lacks, here 7 and 9 of ten runs each."""
    library = SimpleNamespace(as_completed=Answers, scheduler=SimpleNamespace(KilledWorker=KilledWorker))
    monkeypatch.setattr("vinculum.ensembles.cluster.extra", lambda *_: library)
    chunks = [partial(Chunk, number, 10 * number, {theta: np.zeros(10)}) for number in (7, 9)]
    found = on_workers(DeadlyClient(), None, None, chunks)
    assert next(found) == (0, "done")
    with pytest.raises(VinculumError, match=r"runs 90 to 99 \(chunk 9\), in 8 attempts"):
        next(found)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kills processes")
def test_kills_at_random_leave_the_store_of_one_process():
    """A worker, all four of them, and the client; `python -m faults.cluster` makes longer series."""
    counts, wrong = kill_cluster(4, seed=3)
    assert sum(counts.values()) == 4
    assert not wrong
