"""Chains of closed loops, and how deriving and simulating them grows with the number of loops, beside other engines.

    python -m benchmarks.loops             Vinculum, Pinocchio, MuJoCo and Exudyn in one run, N = 1 ... 200;
                                           Drake too, where it is installed (pip install drake)
    python -m benchmarks.loops --quick     N = 10, 20, 40

N four-bars in a row (IFToMM benchmark A02): cranks from the ground points (i, 0), i = 0 ... N, couplers from crank to
crank, all links with length 1 m and mass 1 kg. Pinocchio's tables have n³ entries, so it ends at 80 loops (161 joints).
"""

import argparse
from functools import partial
from importlib.util import find_spec
from time import process_time

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

from .chains import chain
from .loops_peers import drake_run, exudyn_run, mujoco_run, pinocchio_run
from .measure import grown, least, markdown_table

GRAVITY = sp.Rational(981, 100)
PEERS = {"Pinocchio": pinocchio_run, "MuJoCo": mujoco_run, "Exudyn": exudyn_run}
UP_TO = {"Pinocchio": 80}
LONGEST = 200  # joints of a chain for Pinocchio, whose tables take gigabytes beyond
if find_spec("pydrake"):
    PEERS["Drake"] = drake_run


def angles(loops):
    """The angles of the cranks and of the couplers, from the horizontal."""
    names = (("phi", 0), ("psi", 1))
    return tuple(tuple(dynamicsymbols(f"{name}{first}:{loops + 1}")) for name, first in names)


def four_bars(loops):
    """The system in the angles of all links, two constraints for each loop."""
    cranks, couplers = angles(loops)
    energies = [(v**2 / 6, GRAVITY * sp.sin(q) / 2) for q, v in ((q, q.diff()) for q in cranks)]
    constraints = []
    for i, (a, b, c) in enumerate(zip(cranks, couplers, cranks[1:], strict=False), start=1):
        u, v = a.diff(), b.diff()
        moving = (u**2 + v**2 / 3 + u * v * sp.cos(a - b)) / 2
        energies.append((moving, GRAVITY * (sp.sin(a) + sp.sin(b) / 2)))
        constraints.append(vn.Holonomic(sp.cos(a) + sp.cos(b) - sp.cos(c) - 1, name=f"x{i}"))
        constraints.append(vn.Holonomic(sp.sin(a) + sp.sin(b) - sp.sin(c), name=f"y{i}"))
    kinetic, potential = (sp.Add(*column) for column in zip(*energies, strict=True))
    return vn.System([*cranks, *couplers], kinetic, potential, constraints=constraints, name=f"{loops} four-bars")


def start(loops, angle=sp.pi / 2, speed=1.0):
    """Cranks upright, their ends moving to the right with a speed of 1 m/s."""
    cranks, couplers = angles(loops)
    place = dict.fromkeys(cranks, float(angle)) | dict.fromkeys(couplers, 0.0)
    return place | {q.diff(): -speed for q in cranks} | {q.diff(): 0.0 for q in couplers}


def growth(sizes, seconds=1.0):
    """Deriving, the first run and a repeated run of N loops, beside the other engines with steps of 1 ms.

    Times are of the CPU, the least of three; errors are those of the crank angles at the end, against one pendulum with
    the same energies (`reference`).
    """
    rows = []
    for loops in sizes:
        exact = reference(loops, seconds)
        began = process_time()
        equations = vn.derive(four_bars(loops))
        derived, began = process_time() - began, process_time()
        run = partial(vn.simulate, equations, start(loops), (0, seconds))
        run()
        first = process_time() - began
        engines = {"Vinculum": lambda run=run, n=loops: ends(run(), n)} | {
            name: make(loops, seconds) for name, make in PEERS.items() if loops <= UP_TO.get(name, loops)
        }
        found = {name: least(engine) for name, engine in engines.items()}
        row = {"loops": loops, "derive [s]": derived, "first run [s]": first}
        row |= {f"{name} [ms]": 1e3 * found[name][0] if name in found else "-" for name in ("Vinculum", *PEERS)}
        row |= {f"error, {name}": np.abs(q - exact).max() for name, (_, q) in found.items()}
        rows.append({"loops": loops} | row | {f"error, {n}": "-" for n in PEERS if n not in found})
        print(rows[-1], flush=True)
    return rows


def ends(motion, loops):
    """The angles of the cranks at the end."""
    return np.array([motion[crank][-1] for crank in angles(loops)[0]])


def joints(sizes, count=1000):
    """1000 steps of rk4 of a chain of bodies, the whole repeated call, beside 4000 calls of Pinocchio's ABA in C++."""
    import pinocchio as pin

    from .bodies import pinocchio_model

    rows = []
    for n in sizes:
        tree = chain(n)
        equations = vn.derive(tree.system())
        begin = dict.fromkeys(tree.coordinates, 0.3) | dict.fromkeys(tree.velocities, 0.0)
        run = partial(vn.simulate, equations, begin, (0, count * 1e-4), "rk4", step=1e-4)
        run()
        row = {"joints": n, "run [ms]": 1e3 * least(run)[0], "Pinocchio [ms]": "-", "ratio": "-"}
        if n <= LONGEST:
            pool = pin.ModelPool(pinocchio_model(tree))
            q, v, tau, out = (np.full((n, 4 * count), value, order="F") for value in (0.3, 0.0, 0.0, 0.0))
            theirs = 1e3 * least(lambda p=pool, a=(q, v, tau, out): pin.abaInParallel(1, p, *a))[0]
            row |= {"Pinocchio [ms]": theirs, "ratio": theirs / row["run [ms]"]}
        rows.append(row)
        print(rows[-1], flush=True)
    return rows


def reference(loops, seconds):
    """The angle of the cranks at the end: they move as one pendulum."""
    q = dynamicsymbols("q")
    inertia, weight = sp.Rational(loops + 1, 3) + loops, GRAVITY * (sp.Rational(loops + 1, 2) + loops)
    pendulum = vn.System([q], inertia * q.diff() ** 2 / 2, weight * sp.sin(q))
    return vn.simulate(vn.derive(pendulum), {q: np.pi / 2, q.diff(): -1.0}, (0, seconds))[q][-1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="fewer sizes")
    quick = arguments.parse_args().quick
    rows = growth((10, 20, 40) if quick else (1, 2, 5, 10, 20, 40, 80, 200))
    print(markdown_table(rows))
    print(
        grown(
            [row for row in rows if row["loops"] >= 10],
            "loops",
            ["derive [s]", "first run [s]", *(f"{name} [ms]" for name in ("Vinculum", *PEERS))],
        )
    )
    print(markdown_table(joints((10, 20, 40) if quick else (10, 20, 40, 80, 200, 1000))))


if __name__ == "__main__":
    main()
