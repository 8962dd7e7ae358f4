"""Runs in several threads, or one inside another, are the runs that they are alone, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import hanging, pendulum, x, y

METHODS = {
    "taylor": vn.Taylor(),
    "taylor, projected": vn.Taylor(),
    "bdf": vn.BDF(),
    "rk4": vn.RungeKutta("rk4", step=2e-3),
    "rk4, projected": vn.RungeKutta("rk4", step=2e-3),
    "midpoint, sampled": vn.RungeKutta("midpoint", step=2e-3),
    "euler": vn.RungeKutta("euler", step=2e-3),
    "auto": vn.simulation.Automatic(),
    "ab4": vn.Adams("ab4", step=2e-3),
    "abm4": vn.Adams("abm4", step=2e-3),
}
EVENTS = [vn.Event(x, name="below"), vn.Event(x.diff(), name="turn", direction="falling")]


def motion(name: str, angle: float, **options: object) -> vn.Trajectory:
    """A pendulum from an angle, with two events."""
    stabilization = {"projected": "projection", "sampled": "sampled"}.get(name.split(", ")[-1])
    return vn.simulate(
        pendulum(), hanging(angle, 0.3), np.linspace(0, 3, 61), METHODS[name], events=EVENTS,
        stabilization=stabilization, **{"progress": False, **options},
    )  # fmt: skip


def numbers(run: vn.Trajectory) -> list:
    """All that a run gave."""
    columns = [run[key] for key in (x, y, x.diff(), y.diff())]
    return [[column.tolist() for column in columns], run.energy.tolist(), run.events, run.steps, run.outcome.kind]


@pytest.mark.parametrize("name", METHODS)
def test_threads_do_not_disturb_each_other(name):
    angles = np.linspace(0.4, 1.6, 16)
    alone = [numbers(motion(name, angle)) for angle in angles]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda angle: numbers(motion(name, angle)), angles))
    assert together == alone


def test_different_methods_at_once():
    work = [(name, angle) for name in METHODS for angle in (0.5, 1.1)]
    alone = [numbers(motion(*one)) for one in work]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda one: numbers(motion(*one)), work))
    assert together == alone


def test_threads_derive_and_go_from_corner_to_corner():
    """Everything from the system on in every thread: derivation, compilation, corners, rest."""

    def slide(push: float) -> list:
        block = vn.System([x], x.diff() ** 2 / 2, x**2 / 2, forces={x: -push * sp.sign(x.diff())})
        run = vn.simulate(block, {x: 1.0}, (0, 10), progress=False)
        return [run[x].tolist(), run[x.diff()].tolist(), run.steps, str(run.outcome)]

    pushes = [0.1 + 0.01 * (k % 4) for k in range(16)]
    alone = [slide(push) for push in pushes]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(slide, pushes)) == alone


@pytest.mark.parametrize("name", METHODS)
def test_a_run_inside_the_progress_of_another_leaves_it_alone(name):
    inner = []

    def report(share: float) -> None:
        if len(inner) < 3:
            inner.append(numbers(motion(name, 1.3)))

    outer = numbers(motion(name, 0.7, progress=report))
    assert outer == numbers(motion(name, 0.7))
    assert inner
    assert all(one == numbers(motion(name, 1.3)) for one in inner)


COLD = """
import sys
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, {tests!r})
from simulate.test_threads import METHODS, motion, numbers
work = [(name, 0.6) for name in METHODS] * 2
with ThreadPoolExecutor(16) as pool:
    together = list(pool.map(lambda one: numbers(motion(*one)), work))
assert together == [numbers(motion(*one)) for one in work]
print("equal")
"""


def test_cold_threads_compile_side_by_side(tmp_path):
    """A fresh process with an empty cache of Numba: everything is compiled by threads that start at once."""
    code = COLD.format(tests=str(Path(__file__).parents[1]))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert done.stdout.strip() == "equal", done.stderr[-2000:]
