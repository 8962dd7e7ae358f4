"""From a description to the first acceleration of trees of up to 5000 bodies, beside Pinocchio and MuJoCo in one run.

    python -m benchmarks.bodies_growth            n = 10 ... 5000
    python -m benchmarks.bodies_growth --quick    up to 1000

Times are seconds of CPU time, minima over ``--repeats`` runs, each in a new process: imports do not count, but nothing
is remembered between runs. The columns:

| column   | Vinculum                                                         | Pinocchio           | MuJoCo           |
|----------|------------------------------------------------------------------|---------------------|------------------|
| describe | `BodyTree` from bodies in Python                                 |                     |                  |
| urdf     | `from_urdf`: text to `System`                                    | buildModelFromXML   | from_xml_string  |
| derive   | frames, regrouped inertias, the table of the recursion           | createData          | MjData           |
| compile  | machine code of the looped recursion                             |                     |                  |
| first    | the first acceleration, all of the above but ``describe``        | the same            | the same         |
| again    | one more acceleration, from Python, in microseconds              | `aba`               | `mj_forward`     |

Pinocchio's ``Data`` has tables with n³ entries: 1.8 GB at n = 300. It is left out above 200.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from .chains import branching, urdf
from .measure import growth_exponent, markdown_table

SIZES = (10, 30, 100, 200, 500, 1000, 2000, 5000)
PINOCCHIO_UP_TO = 200


def vinculum(n):
    """Ours."""
    import vinculum as vn
    import vinculum.bodies
    from vinculum.compile.looped import code

    code.cache_clear()
    text, clock = urdf(n), Clock()
    system = vn.from_urdf(text)
    clock.stop("urdf")
    arm = vn.bodies.dynamics(system.bodies)
    arm.kernel() if arm.chosen == "looped" else arm.equations.forward(arm.chosen)
    clock.stop("derive")
    if arm.chosen == "looped":
        code("forward", arm.kernel().patterns, 1)
    else:
        arm.forward_code(1)
    clock.stop("compile")
    q, v, tau = state(n)
    found = arm.forward(q, v, tau)
    clock.stop("run")
    again = clock.again(lambda: arm.forward(q, v, tau))
    began = time.process_time()
    branching(n)
    names = [str(x.func) for x in system.coordinates]
    return clock.row(again) | {"describe": time.process_time() - began, "found": dict(zip(names, found, strict=True))}


def pinocchio(n):
    """Pinocchio; joints that turn without limits have two coordinates, cosine and sine."""
    import pinocchio as pin

    text, clock = urdf(n), Clock()
    model = pin.buildModelFromXML(text)
    clock.stop("urdf")
    data = model.createData()
    clock.stop("derive")
    q = np.concatenate([[0.1] if joint.nq == 1 else [np.cos(0.1), np.sin(0.1)] for joint in model.joints[1:]])
    v = np.full(n, 0.2)
    tau = -0.1 * v
    found = np.array(pin.aba(model, data, q, v, tau))
    clock.stop("run")
    again = clock.again(lambda: pin.aba(model, data, q, v, tau))
    return clock.row(again) | {"found": dict(zip(list(model.names)[1:], found, strict=True))}


def mujoco(n):
    """MuJoCo reads the same file."""
    import mujoco

    options = '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco>'
    text, clock = urdf(n).replace('<robot name="large">', f'<robot name="large">{options}'), Clock()
    model = mujoco.MjModel.from_xml_string(text)
    clock.stop("urdf")
    data = mujoco.MjData(model)
    clock.stop("derive")
    data.qpos[:], data.qvel[:] = 0.1, 0.2
    mujoco.mj_forward(model, data)
    clock.stop("run")
    again = clock.again(lambda: mujoco.mj_forward(model, data))
    names = [model.joint(i).name for i in range(n)]
    return clock.row(again) | {"found": dict(zip(names, data.qacc.tolist(), strict=True))}


def state(n):
    return np.full(n, 0.1), np.full(n, 0.2), np.zeros(n)


class Clock:
    """CPU seconds of the steps, one after the other."""

    def __init__(self):
        self.times, self.last = {}, time.process_time()

    def stop(self, name):
        now = time.process_time()
        self.times[name], self.last = now - self.last, time.process_time()

    def again(self, run):
        """Microseconds of one more run, the least of ten bursts."""
        best = np.inf
        for _ in range(10):
            began = time.perf_counter()
            for _ in range(5):
                run()
            best = min(best, (time.perf_counter() - began) / 5)
        return 1e6 * best

    def row(self, again):
        return {**self.times, "first": sum(self.times.values()), "again": again}


ENGINES = {"Vinculum": vinculum, "Pinocchio": pinocchio, "MuJoCo": mujoco}


def measured(engine, n, repeats):
    """The least times of several processes, and the accelerations."""
    command = [sys.executable, "-m", "benchmarks.bodies_growth", "--one", engine, str(n)]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(repeats)
    ]
    return {key: min(run[key] for run in runs) for key in runs[0] if key != "found"} | {"found": runs[0]["found"]}


def compared(sizes, repeats):
    """One row for every engine and n, with the difference from our accelerations."""
    rows = []
    for n in sizes:
        ours = None
        for engine in ENGINES:
            if engine == "Pinocchio" and n > PINOCCHIO_UP_TO:
                continue
            one = measured(engine, n, repeats)
            found = one.pop("found")
            ours = found if ours is None else ours
            scale = max(map(abs, ours.values()))
            error = max(abs(found[key] - ours[key]) for key in ours) / scale
            keys = {"describe": "describe [s]", "urdf": "urdf [s]", "derive": "derive [s]", "compile": "compile [s]",
                    "first": "first [s]", "again": "again [µs]"}  # fmt: skip
            row = {"n": n, "engine": engine} | {label: one.get(key, "-") for key, label in keys.items()}
            rows.append(row | {"difference": "-" if engine == "Vinculum" else error})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="up to 1000 bodies")
    options.add_argument("--repeats", type=int, default=3, help="processes for every engine and n")
    options.add_argument("--one", nargs=2, metavar=("ENGINE", "N"), help="measure one engine and print JSON")
    given = options.parse_args()
    if given.one:
        engine, n = given.one
        ENGINES[engine](2)  # imports
        print(json.dumps(ENGINES[engine](int(n))))
        return
    sizes = [n for n in SIZES if n <= 1000 or not given.quick]
    rows = compared(sizes, given.repeats)
    print(markdown_table(rows))
    for engine in ENGINES:
        own = [row for row in rows if row["engine"] == engine and row["n"] >= 100]
        grown = growth_exponent([row["n"] for row in own], [row["first [s]"] for row in own])
        print(f"{engine}: from the file to the first acceleration grows as n^{grown:.2f} from n = 100")


if __name__ == "__main__":
    main()
