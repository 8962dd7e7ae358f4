"""The Delta robot's closed loop as exported C: dynamics, law and observer, per step beside Pinocchio's dynamics alone.

The C is compiled with ``cc -O2`` and called in a loop of C. Pinocchio is called as in `delta`, from Python; what such a
call costs by itself is in the last row.
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import vinculum as vn
from examples import delta_robot
from examples.delta_robot import HEIGHT, Z, theta

from .delta import call_overhead, pinocchio_batch, start
from .measure import Timing, duration, measure

CALLS = 10_000
DRIVER = """
#include "loop.h"
#include "board.h"
static double x[LOOP_STATES + 1], p[LOOP_PARAMETERS + 1], dx[LOOP_STATES + 1];
static double y[BOARD_OUTPUTS + 1], u[BOARD_INPUTS + 1];
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


def compiled(folder: Path) -> ctypes.CDLL:
    """The loop and its controller as a library."""
    loop, law, estimator, begin = closed_loop()
    vn.export_c(loop, folder / "loop", initial=begin, guess={Z: HEIGHT}, fold=True)
    vn.export_c(law, folder / "board", estimator=estimator, period=1e-3)
    (folder / "driver.c").write_text(DRIVER)
    sources = [str(folder / name) for name in ("loop.c", "board.c", "driver.c")]
    library = folder / "bench.so"
    subprocess.run(["cc", "-O2", "-std=c99", "-shared", "-fPIC", "-o", str(library), *sources, "-lm"], check=True)
    code = ctypes.CDLL(str(library))
    for name in ("motions", "steps", "samples"):
        getattr(code, name).restype = ctypes.c_double
    return code


def evaluations() -> list[dict]:
    """One evaluation of the closed loop, one step of RK4, one sample of the controller; Pinocchio's dynamics alone."""
    if shutil.which("cc") is None:
        print("No C compiler was found (cc): the benchmark of exported code is left out.", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        code = compiled(Path(folder))
        code.prepare()
        rows = [
            _row("exported C, dynamics with law and observer", measure(lambda: code.motions(CALLS), 5), CALLS),
            _row("exported C, one step of RK4 of the same", measure(lambda: code.steps(CALLS), 5), CALLS),
            _row(
                "exported C, law and observer as a digital controller", measure(lambda: code.samples(CALLS), 5), CALLS
            ),
        ]
    try:
        loop, _ = pinocchio_batch(start())
    except ImportError:
        print("Pinocchio is not installed (pip install pin): the comparison is left out.", file=sys.stderr)
        return rows
    rows.append(_row("Pinocchio, constraintDynamics alone, loop in Python", measure(loop, 5), 1000))
    rows.append(_row("cheapest call of Pinocchio from Python", measure(call_overhead(), 5), 1000))
    for row in rows:
        row["times ours"] = row["best, s"] / rows[0]["best, s"]
    return rows


def _row(name: str, run: Timing, calls: int) -> dict:
    return {"evaluation": name, "one": duration(run.best / calls), "best, s": run.best / calls}
