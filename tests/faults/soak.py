"""Random systems, runs and reports in one process, for as long as asked: memory, files and time per run stay flat.

make soak ARGS="--minutes 60"

Every round describes a system that no round had before, derives it, simulates it with another method, linearizes it,
and saves and reads the run; every twentieth writes a report of a changed model file. The last third of the rounds is
compared with the third before it: it may not need more memory, more open files or more time.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.present.report import write_report

LIBRARY = Path(vn.__file__).parent / "model" / "library"
METHODS = [("taylor", {}), ("bdf", {}), ("rk4", {"step": 1e-3}), ("abm4", {"step": 1e-3})]
MORE_MEMORY = 30.0  # megabytes of the last third over the middle third, when all caches are full
FILLING, CACHES = 300, 80.0  # rounds until they are, and the megabytes that they may still take until then
MORE_TIME = 1.5  # times the median of the middle third
t = dynamicsymbols._t


@dataclass
class Soak:
    """Measurements of every round: seconds since the start, seconds of the round, megabytes, open files."""

    rounds: list[tuple[float, float, float, int]] = field(default_factory=list)

    def thirds(self) -> tuple[np.ndarray, np.ndarray]:
        """The middle and the last third of the rounds."""
        rows = np.array(self.rounds)
        first, second = len(rows) // 3, 2 * len(rows) // 3
        return rows[first:second], rows[second:]

    def problems(self) -> list[str]:
        """What grew."""
        middle, last = self.thirds()
        found = []
        grown = np.median(last[:, 2]) - np.median(middle[:, 2])
        if grown > (MORE_MEMORY if len(self.rounds) > 3 * FILLING else CACHES):
            found.append(f"memory grew by {grown:.0f} MB from the middle to the last third")
        if last[:, 3].max() > middle[:, 3].max():
            found.append(f"open files grew from {middle[:, 3].max():.0f} to {last[:, 3].max():.0f}")
        slower = np.median(last[:, 1]) / np.median(middle[:, 1])
        if slower > MORE_TIME:
            found.append(f"a round takes {slower:.2f} times as long in the last third as in the middle one")
        return found


def random_system(r: random.Random, number: int) -> tuple[vn.System, dict]:
    """One to three masses on springs of random laws, with a rod between two of them now and then; and a start."""
    n = r.randint(1, 3)
    q = [sp.Function(f"q{i}")(t) if r.random() < 0.8 else sp.Function(f"q{i}_{number}")(t) for i in range(n)]
    m, k, c = sp.symbols("m k c", positive=True)
    numbers = [sp.Float(r.uniform(0.5, 2.0)) for _ in range(4)]
    kinetic = sum(m * numbers[0] * v.diff(t) ** 2 for v in q) / 2 + sum(
        numbers[1] * sp.cos(a - b) * a.diff(t) * b.diff(t) / 10 for a, b in pairwise(q)
    )
    laws = [lambda x: k * x**2, lambda x: k * (1 - sp.cos(x)), lambda x: k * x**4, lambda x: k * sp.exp(x) * x**2]
    potential = sum(numbers[2] * r.choice(laws)(x) for x in q) + numbers[3] * sum((a - b) ** 2 for a, b in pairwise(q))
    rods = [vn.Holonomic(q[0] - numbers[0] * q[1], name=f"rod {number}")] if n > 1 and r.random() < 0.4 else []
    values = {m: r.uniform(0.5, 2), k: r.uniform(0.5, 2), c: r.uniform(0.01, 0.2)}
    drag = {x: -c * x.diff(t) * r.choice([1, sp.Abs(x.diff(t))]) for x in q}
    system = vn.System(q, kinetic, potential, drag, constraints=rods, parameters=values, name=f"system {number}")
    return system, {q[-1]: r.uniform(-0.5, 0.5)}


def one_round(r: random.Random, number: int, folder: Path) -> None:
    """Describe, derive, simulate, linearize, save, read; now and then write a report."""
    system, start = random_system(r, number)
    equations = vn.derive(system)
    method, options = r.choice(METHODS)
    events = [vn.Event(system.coordinates[0], name=f"zero {number}")] if r.random() < 0.5 else []
    motion = vn.simulate(equations, start, np.linspace(0, 2, 201), method, events=events, progress=False, **options)
    motion.save(folder / "motion.nc", overwrite=True)
    vn.read_trajectory(folder / "motion.nc")
    if not any(x.has(sp.Abs) for x in system.forces.values()):
        vn.stability(vn.linearize(equations, at=vn.equilibrium(equations, dict.fromkeys(system.coordinates, 0.0))))
    if number % 20 == 10:
        text = (LIBRARY / "cartesian_pendulum.toml").read_text(encoding="utf-8")
        changed = text.replace("9.81", f"{r.uniform(9, 10):.6f}")
        write_report(vn.model.loads(changed), folder / "report.html", overwrite=True)


def soak(minutes: float, seed: int = 1, tell: bool = False) -> Soak:
    """Rounds for some minutes."""
    r, measured, began, number = random.Random(seed), Soak(), time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as name:
        while time.perf_counter() - began < 60 * minutes:
            start = time.process_time()
            one_round(r, number, Path(name))
            spent = time.process_time() - start
            if number % 10 == 0:
                gc.collect()
            measured.rounds.append((time.perf_counter() - began, spent, megabytes(), len(os.listdir("/proc/self/fd"))))
            number += 1
            if tell and number % 50 == 0:
                at, seconds, memory, files = np.median(np.array(measured.rounds[-50:]), axis=0)
                print(
                    f"{at:7.0f} s {number:6d} rounds {1e3 * seconds:7.1f} ms {memory:7.1f} MB {files:4.0f} files",
                    flush=True,
                )
    return measured


def megabytes() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    problems = soak(asked.minutes, asked.seed, tell=True).problems()
    print("\n".join(problems) or "memory, open files and time per round are flat")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
