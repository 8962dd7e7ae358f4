"""Random systems, runs and reports in one process, for as long as asked: memory, files and time per run stay flat.

make soak ARGS="--minutes 60"

Every round describes a system, derives it, simulates it, linearizes it, and saves and reads the run; some write a
report of a changed model file. In each lap, every other round repeats one of the first lap and the others have systems
that no round had before. `faults.flat` measures after every lap and judges whether anything grows. While something is
undecided, the soak goes on, up to three times as long. A busy machine makes it longer, but has no part in the judgment.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from faults.flat import FEWEST, LIMITS, WARM_UP, Lap, judge, measure
from vinculum.graph import symbol
from vinculum.present.report import write_report

LIBRARY = Path(vn.__file__).parent / "model" / "library"
METHODS = [("taylor", {}), ("bdf", {}), ("rk4", {"step": 1e-3}), ("abm4", {"step": 1e-3})]
ROUNDS = 12  # in a lap of a short soak; a lap of an hour has 120, which fill the caches
PATIENCE = 3.0  # times the minutes that were asked for, and the laps that are needed
t = dynamicsymbols._t
Round = Callable[[random.Random, int, Path], None]


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
    if number % ROUNDS in (4, 9):
        text = (LIBRARY / "cartesian_pendulum.toml").read_text(encoding="utf-8")
        changed = text.replace("9.81", f"{r.uniform(9, 10):.6f}")
        write_report(vn.model.loads(changed), folder / "report.html", overwrite=True)


def soak(minutes: float, seed: int = 1, work: Round = one_round, rounds: int = ROUNDS, tell: bool = False) -> list[str]:
    """Laps for some minutes, and as many more as a decision needs: what grows, or is still undecided."""
    laps: list[Lap] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        while True:
            laps.append(measure(_lap(work, len(laps), rounds, seed, Path(folder))))
            spent = (time.perf_counter() - began) / 60
            grows, undecided = judge(laps, rounds)
            if tell:
                _tell(laps, rounds, spent)
            enough = min(spent / minutes if minutes else np.inf, len(laps) / (WARM_UP + FEWEST))
            if enough >= PATIENCE or (enough >= 1 and (grows or not undecided)):
                return grows + [f"undecided: {told}" for told in undecided]


def _lap(work: Round, lap: int, rounds: int, seed: int, folder: Path) -> float:
    """The seconds of the processor for the rounds that every lap repeats; the others are new."""
    repeated = 0.0
    for i in range(rounds):
        same = i % 2 == 1
        began = time.process_time()
        work(random.Random(f"{seed} {0 if same else lap} {i}"), i if same else lap * rounds + i, folder)
        repeated += same * (time.process_time() - began)
    return repeated


def _tell(laps: list[Lap], rounds: int, minutes: float) -> None:
    last = laps[-1]
    held = ", ".join(f"{last.held[name]:.{2 if unit else 0}f} {unit or name}" for name, (_, unit) in LIMITS.items())
    print(f"{minutes:5.1f} min {len(laps) * rounds:6d} rounds {last.seconds:6.2f} s: {held}; ", end="")
    print(f"caches {last.caches:.0f} MB", flush=True)


LEAKS: dict[str, Callable[[int], Any]] = {
    "memory": lambda number: b"x" * 300_000,
    "files": lambda number: number % 20 or os.open(os.devnull, os.O_RDONLY),
    "nodes": lambda number: symbol(f"leaked {number}"),
}


def leaking(kind: str, lost: list[Any], work: Round = one_round) -> Round:
    """A round that loses something: 0.3 MB, an open file every twentieth time, or a node of a graph."""

    def leaky(r: random.Random, number: int, folder: Path) -> None:
        work(r, number, folder)
        lost.append(LEAKS[kind](len(lost)))

    return leaky


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leak", choices=LEAKS, help="lose something in every round, which must be found")
    asked = parser.parse_args()
    rounds = max(ROUNDS, ROUNDS * int(asked.minutes / 6))
    work = leaking(asked.leak, []) if asked.leak else one_round
    problems = soak(asked.minutes, asked.seed, work, rounds, tell=True)
    print("\n".join(problems) or "memory, open files and time per round are flat")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
