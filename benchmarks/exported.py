"""The Delta robot's closed loop as exported C: dynamics, law and observer, per step beside Pinocchio.

``python -m benchmarks.exported`` runs it alone. An evaluation is the rates of all states for a state and an estimate:
accelerations under the torques of the law, and the rates of the observer. Ours is exported C, ``cc -O2``, in a loop
of C. Pinocchio's is ``constraintDynamics`` of the tree of `delta`, law and observer in Eigen, ``g++ -O3``, in a loop of
C++ (`delta_pinocchio`); both must give the same numbers, and neither calls Python inside the clock. Pinocchio's tree
has 12 velocities and 9 constraints, our equations 6 and 3: this difference is part of the comparison. The last two
rows call Pinocchio from Python, as `delta` does.
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import vinculum as vn
from examples import delta_robot
from examples.delta_robot import HEIGHT, Z, theta

from . import delta_pinocchio
from .delta import call_overhead, pinocchio_batch, start
from .measure import Timing, duration, markdown_table, measure

CALLS = 10_000
DRIVER = """
#include "loop.h"
#include "board.h"
static double x[LOOP_STATES + 1], p[LOOP_PARAMETERS + 1], dx[LOOP_STATES + 1];
static double y[BOARD_OUTPUTS + 1], u[BOARD_INPUTS + 1];
void rates_at(const double *at, double *found) { loop_motion(0, at, 0, p, found); }
void prepare(void) { loop_initial(x); loop_parameters(p); }
double motions(int n) { double s = 0; for (int i = 0; i < n; ++i) { x[0] += 1e-12; loop_motion(0, x, 0, p, dx);
    s += dx[3]; } return s; }
double steps(int n) { double s = 0; for (int i = 0; i < n; ++i) s += loop_step(i * 1e-4, 1e-4, x, 0, p); return s; }
double samples(int n) { board_controller c; board_init(&c); for (int i = 0; i < n; ++i) board_step(&c, y, u);
    return u[0]; }
"""


def closed_loop() -> tuple:
    """The loop with torques and an observer of the arm angles, its law and its start."""
    equations, rest, linear, law = delta_robot.stabilized()
    estimator = vn.observe(linear, list(theta))
    begin = {q: float(rest[q]) + 0.05 for q in theta} | {q.diff(): 0.0 for q in theta}
    return vn.close_loop(equations, law, estimator), law, estimator, begin


def compiled(folder: Path, loop: vn.EquationsOfMotion, law, estimator, begin: dict) -> ctypes.CDLL:
    """The loop and its controller as a library."""
    vn.export_c(loop, folder / "loop", initial=begin, guess={Z: HEIGHT}, fold=True)
    vn.export_c(law, folder / "board", estimator=estimator, period=1e-3)
    (folder / "driver.c").write_text(DRIVER)
    sources = [str(folder / name) for name in ("loop.c", "board.c", "driver.c")]
    library = folder / "bench.so"
    subprocess.run(["cc", "-O2", "-std=c99", "-shared", "-fPIC", "-o", str(library), *sources, "-lm"], check=True)
    code = ctypes.CDLL(str(library))
    for name in ("motions", "steps", "samples"):
        getattr(code, name).restype = ctypes.c_double
    code.prepare()
    return code


def rates(code: ctypes.CDLL, loop: vn.EquationsOfMotion, values: dict) -> np.ndarray:
    """The rates of the states in exported C."""
    x = np.array([values[key] for key in (*loop.states, *loop.extra)])
    found = np.zeros_like(x)
    code.rates_at(x.ctypes.data_as(ctypes.c_void_p), found.ctypes.data_as(ctypes.c_void_p))
    return found


def agree(ours: ctypes.CDLL, theirs: ctypes.CDLL, loop: vn.EquationsOfMotion, state: dict) -> None:
    """Both sides must compute the same: accelerations of the arms and rates of the estimate."""
    estimate = np.array([0.01, -0.02, 0.03, 0.1, -0.2, 0.05])
    found = rates(ours, loop, {**state, **dict(zip(loop.extra, estimate, strict=True))})
    keys = [*loop.states, *loop.extra]
    accelerations, rate = delta_pinocchio.rates(theirs, estimate)
    speeds = [keys.index(q.diff()) for q in theta]
    np.testing.assert_allclose(accelerations, found[speeds], rtol=1e-7)
    np.testing.assert_allclose(rate, found[-6:], rtol=1e-7)


def evaluations() -> list[dict]:
    """One evaluation of the closed loop, one step of RK4, one sample of the controller; the same with Pinocchio."""
    if shutil.which("cc") is None:
        print("No C compiler was found (cc): the benchmark of exported code is left out.", file=sys.stderr)
        return []
    loop, law, estimator, begin = closed_loop()
    with tempfile.TemporaryDirectory() as folder:
        code = compiled(Path(folder), loop, law, estimator, begin)
        rows = [
            _timed("exported C, dynamics with law and observer", code.motions),
            _timed("exported C, one step of RK4 of the same", code.steps),
            _timed("exported C, law and observer as a digital controller", code.samples),
        ]
        try:
            batch, _ = pinocchio_batch(start())
        except ImportError:
            print("Pinocchio is not installed (pip install pin): the comparison is left out.", file=sys.stderr)
            return rows
        theirs = delta_pinocchio.compiled(Path(folder))
        if theirs is not None:
            delta_pinocchio.prepare(theirs, start(), law, estimator)
            agree(code, theirs, loop, start())
            rows.append(_timed("Pinocchio in C++, dynamics with law and observer", theirs.closed))
            rows.append(_timed("Pinocchio in C++, constraintDynamics alone", theirs.dynamics))
    rows.append(_row("Pinocchio, constraintDynamics alone, loop in Python", measure(batch, 5), 1000))
    rows.append(_row("cheapest call of Pinocchio from Python", measure(call_overhead(), 5), 1000))
    for row in rows:
        row["times ours"] = row["best, s"] / rows[0]["best, s"]
    return rows


def _timed(name: str, function: Callable[[int], float]) -> dict:
    """A function of C that makes many evaluations."""
    return _row(name, measure(lambda: function(CALLS), 5), CALLS)


def _row(name: str, run: Timing, calls: int) -> dict:
    return {"evaluation": name, "one": duration(run.best / calls), "best, s": run.best / calls}


if __name__ == "__main__":
    print(markdown_table(evaluations()))
