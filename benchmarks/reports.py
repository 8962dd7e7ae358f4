"""Processor time of ``vinculum report`` for every shipped model. ``python -m benchmarks.reports [name ...]``.

Each report is a command of its own, as a user starts it: imports, derivation, compilation, runs, studies and the page.
The first report is made twice and counted once; loops that Numba compiles are on the disk afterwards.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import vinculum as vn

from .measure import duration, markdown_table

LIBRARY = Path(vn.__file__).parent / "model" / "library"


def command_seconds(*arguments: str | Path) -> float:
    """Processor time of one ``vinculum`` command, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "vinculum", *arguments], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report_seconds(name: str, folder: Path) -> float:
    page = folder / f"{name}.html"
    seconds = command_seconds("report", LIBRARY / f"{name}.toml", "--output", page, "--force")
    if not page.exists():
        raise RuntimeError(f"vinculum report {name} wrote no page.")
    return seconds


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in LIBRARY.glob("*.toml"))
    with tempfile.TemporaryDirectory() as folder:
        found = {name: report_seconds(name, Path(folder)) for name in names[:1] + names}
    slowest_first = sorted(found, key=found.__getitem__, reverse=True)
    print(markdown_table([{"model": name, "report": duration(found[name])} for name in slowest_first]))
    print(f"median {duration(median(found.values()))}, largest {duration(max(found.values()))}")


if __name__ == "__main__":
    main()
