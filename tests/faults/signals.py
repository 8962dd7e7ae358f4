"""Signals to the command line at random instants: an exit code, no traceback, no part of a file."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import vinculum as vn
from faults.kills import ENVIRONMENT

LIBRARY = Path(vn.__file__).parent / "model" / "library"
COMMANDS = [
    ["simulate", "MODEL", "-o", "out.nc", "--force"],
    ["simulate", "MODEL", "-o", "out.csv", "--force"],
    ["simulate", "MODEL", "--end", "1e9"],
    ["report", "MODEL", "-o", "out.html", "--force"],
    ["stability", "MODEL", "--json"],
    ["new", "out.toml", "--force"],
    ["derive", "MODEL"],
    ["check", "MODEL"],
]
LONGEST = 2.5  # seconds from the start of our code to the signal
CODES = {signal.SIGINT: {130, -signal.SIGINT}, signal.SIGTERM: {143, -signal.SIGTERM}}


def signal_at_random(number: signal.Signals, count: int, seed: int = 1) -> list[str]:
    """What was wrong after a signal at random instants of random commands."""
    r = random.Random(f"{number.name} {seed}")
    with tempfile.TemporaryDirectory() as name:
        found = [_try(r, number, Path(name)) for _ in range(count)]
    return [wrong for wrong in found if wrong]


def _try(r: random.Random, number: signal.Signals, folder: Path) -> str:
    command = [str(LIBRARY / "cartesian_pendulum.toml") if word == "MODEL" else word for word in r.choice(COMMANDS)]
    process = subprocess.Popen(
        [sys.executable, "-m", "vinculum", *command], cwd=folder, env=ENVIRONMENT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    _wait_for_our_code(process)
    time.sleep(r.uniform(0, LONGEST) * r.random())
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{' '.join(command)}: the signal was not heard within a minute"
    told = f"{' '.join(command)}: exit code {process.returncode}, {err[-600:]!r}"
    if "Traceback" in err + out:
        return f"a traceback. {told}"
    if process.returncode not in CODES[number] | {0, 1}:  # 0 and 1: it was done before
        return told
    return _look_at_files(folder, told)


def _wait_for_our_code(process: subprocess.Popen) -> None:
    """Wait until the process has taken the signal to terminate; before, only Python itself is running."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        caught = next((line for line in status.read_text().splitlines() if line.startswith("SigCgt")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.002)


def _look_at_files(folder: Path, told: str) -> str:
    """Every file in the folder is whole."""
    for path in folder.iterdir():
        if path.name.endswith(".part"):
            return f"{path.name} was left behind. {told}"
        if path.suffix == ".nc":
            vn.read_trajectory(path)
        elif path.suffix == ".html" and not path.read_text().rstrip().endswith("</html>"):
            return f"a part of a report. {told}"
        elif path.suffix == ".csv" and not path.read_bytes().endswith(b"\n"):
            return f"a part of a table. {told}"
        path.unlink()
    return ""
