"""Kill a writer at random instants: the file is whole, and one of the two that it writes.

make faults ARGS="--kills 100"
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faults.writers import ENDINGS

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]),
}


def kill_at_random(kind: str, kills: int, seed: int = 1) -> list[str]:
    """What was wrong after a kill -9 at random instants, while files of a kind were written.

    A fork of a process that is ready is killed, so one start serves many kills.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "faults.kills", "--forks", kind, folder]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT) as starter:
            assert starter.stdin is not None
            assert starter.stdout is not None
            while (line := starter.stdout.readline()).strip() != "ready":
                if not line:
                    raise RuntimeError(f"the writer of {kind} did not start: {starter.communicate()[1][-2000:]}")
            return _kill(starter, random.Random(f"{kind} {seed}"), Path(folder), kind, kills)


def _kill(starter: subprocess.Popen, r: random.Random, folder: Path, kind: str, kills: int) -> list[str]:
    assert starter.stdin is not None
    assert starter.stdout is not None
    whole = [path.read_bytes() for path in sorted(folder.glob("whole*"))]
    place, wrong = folder / f"file{ENDINGS[kind]}", []
    for _ in range(kills):
        starter.stdin.write("fork\n")
        starter.stdin.flush()
        child = int(starter.stdout.readline())
        time.sleep(r.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        starter.stdout.readline()  # it was collected
        if place.read_bytes() not in whole:
            wrong.append(f"{kind}: a part of a file, {place.stat().st_size} bytes")
    starter.stdin.close()
    return wrong


def forks(kind: str, folder: Path) -> None:
    """Prepare the writers, then fork a process that writes without end for every line on standard input."""
    from faults.writers import contents

    place = folder / f"file{ENDINGS[kind]}"
    writers = contents(kind, place)
    for i, write in enumerate(writers):
        write()
        (folder / f"whole{i}").write_bytes(place.read_bytes())
    print("ready", flush=True)
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            while True:
                for write in writers:
                    write()
        print(child, flush=True)
        os.waitpid(child, 0)
        print("collected", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--signals", type=int, default=100)
    parser.add_argument("--forks", nargs=2, metavar=("KIND", "FOLDER"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.forks:
        return forks(asked.forks[0], Path(asked.forks[1]))
    from faults.signals import signal_at_random

    wrong = []
    for kind in ENDINGS:
        found = kill_at_random(kind, asked.kills)
        print(f"{kind}: {asked.kills} kills, {len(found)} damaged files", flush=True)
        wrong += found
    for number in (signal.SIGINT, signal.SIGTERM):
        found = signal_at_random(number, asked.signals)
        print(f"{number.name}: {asked.signals} signals to the command line, {len(found)} wrong", flush=True)
        wrong += found
    print("\n".join(wrong))
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
