"""Kill workers of a cluster, all of them, and the client at random: the same call ends with the store of one process.

python -m faults.cluster --kills 20
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faults.kills import ENVIRONMENT

WORKERS = 4
QUIET = {"DASK_LOGGING__DISTRIBUTED": "critical", "OMP_NUM_THREADS": "1"}
CLIENT = """
import sys
from distributed import Client
from faults.cluster import study
study(store=sys.argv[1], client=Client(sys.argv[2]), progress=lambda done: print(done, flush=True))
"""


def study(**options):
    """A thousand runs of a damped pendulum, in chunks of a fraction of a second."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    import vinculum as vn
    from vinculum import measure, vary

    theta, (g, c) = dynamicsymbols("theta"), sp.symbols("g c")
    system = vn.System(
        [theta], theta.diff() ** 2 / 2, -g * sp.cos(theta), {theta: -c * theta.diff()}, parameters={g: 9.81, c: 0.1}
    )
    over = {theta: vary.uniform(-2, 2), theta.diff(): vary.normal(0, 1), c: [0.1, 0.3]}
    wanted = {"top": measure.maximum(theta), "way": measure.integral(theta.diff() ** 2)}
    return vn.study(system, {}, (0, 200), over=over, samples=1500, measure=wanted, keep="end", chunk=25, **options)


class Cluster:
    """A scheduler and workers, each a process; a worker that was killed is replaced."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.folder, self.workers = folder, []
        port = self.address.rsplit(":", 1)[1]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")

    def __enter__(self) -> Cluster:
        for _ in range(WORKERS):
            self.hire()
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, *command: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command], env=ENVIRONMENT | QUIET, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def hire(self) -> None:
        """One more worker."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(self._start("worker", self.address, *options))

    def kill(self, count: int, r: random.Random) -> None:
        """Kill some workers and start as many."""
        for worker in r.sample(self.workers, count):
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            self.workers.remove(worker)
        for _ in range(count):
            self.hire()


def kill_cluster(kills: int, seed: int, expected: Path | None = None) -> tuple[dict[str, int], list[str]]:
    """What was killed how often during one study, and the files of its store that differ from those of one process."""
    r, counts = random.Random(seed), {"worker": 0, "all workers": 0, "client": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, one = folder / "cluster.zarr", expected or folder / "one.zarr"
        if expected is None:
            study(store=one)
        with Cluster(folder) as cluster:
            client = _client(store, cluster)
            while sum(counts.values()) < kills and _wait(client, r):
                what = r.choices(list(counts), weights=(6, 2, 3))[0]
                counts[what] += 1
                if what != "client":
                    cluster.kill(WORKERS if what == "all workers" else 1, r)
                    continue
                client.send_signal(signal.SIGKILL)
                client.communicate()
                client = _client(store, cluster)
            _, errors = client.communicate()
        wrong = different_files(one, store)
        return counts, [*wrong, *([errors[-2000:]] if client.returncode else [])]


def _client(store: Path, cluster: Cluster) -> subprocess.Popen:
    command = [sys.executable, "-c", CLIENT, str(store), cluster.address]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=ENVIRONMENT | QUIET, stdout=pipe, stderr=pipe, text=True, cwd=cluster.folder)


def _wait(client: subprocess.Popen, r: random.Random) -> bool:
    """Until some chunks are done, and a little longer; whether the study still runs."""
    assert client.stdout is not None
    for _ in range(r.randint(1, 6)):
        if not client.stdout.readline():
            return False
    time.sleep(r.uniform(0.0, 0.2))
    return client.poll() is None


def different_files(one: Path, other: Path) -> list[str]:
    """Files of two stores that are not the same bytes; what a killed writer left behind unfinished does not count."""
    names = {p.relative_to(root) for root in (one, other) for p in root.rglob("*") if p.is_file()}
    whole = sorted(name for name in names if name.suffix != ".partial")
    return [str(n) for n in whole if not _same(one / n, other / n)]


def _same(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and a.read_bytes() == b.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    began, total, seed = time.perf_counter(), 0, asked.seed
    with tempfile.TemporaryDirectory() as name:
        expected = Path(name) / "one.zarr"
        study(store=expected)
        while total < asked.kills:
            counts, wrong = kill_cluster(asked.kills - total, seed, expected)
            total, seed = total + sum(counts.values()), seed + 1
            print(f"{counts}, {len(wrong)} files differ, {time.perf_counter() - began:.0f} s", *wrong, flush=True)
        shutil.rmtree(expected)


if __name__ == "__main__":
    main()
