"""Forward dynamics of trees of bodies against Pinocchio's ABA in C++, in one run on one machine.

    python -m benchmarks.bodies            the tables of growth, n = 5 ... 80, the PUMA 560, trees of up to 500 bodies
    python -m benchmarks.bodies --quick    fewer sizes, no symbolic peers
    python -m benchmarks.bodies --cpp      also against a C++ loop of pinocchio::aba (three minutes of g++)

Python overhead counts for neither side: ours is the compiled loop over states behind one call; Pinocchio's is its own
compiled loop over a batch, ``pin.abaInParallel`` on one thread, or with --cpp the faster of that and a loop in C++
built here with -O3 -march=native. Times are minima over many bursts, the two sides taking turns; derivation and
compilation in seconds of CPU time.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from ctypes import CDLL, c_char_p, c_int, c_void_p
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import sympy as sp

import vinculum as vn
from examples.puma560 import tree as puma
from vinculum.compile.dynamics import Dynamics
from vinculum.compile.looped import code
from vinculum.compile.machine import native_width
from vinculum.compile.simd import simd_function
from vinculum.graph import operations

from .bodies_peers import LIMIT, compared
from .chains import branching, chain
from .measure import growth_exponent, markdown_table

SIZES = (5, 7, 10, 20, 40, 80)
LARGE = (20, 40, 80, 200, 500)
STRAIGHT_UP_TO = 200  # beyond, LLVM takes minutes and ten gigabytes for straight-line code


def pinocchio_model(tree):
    """The same tree in Pinocchio, each body on a revolute joint about z, with rotor inertias."""
    model = pin.Model()
    joints = {None: 0}
    for name in tree.order:
        body = tree.body(name)
        place = pin.SE3(body.turned, np.array(body.origin, dtype=float))
        joints[name] = model.addJoint(joints[body.parent], pin.JointModelRZ(), place, name)
        J = np.array(body.inertia_matrix, dtype=float)
        inertia = pin.Inertia(float(body.mass), np.array(body.center_of_mass, dtype=float), J)
        model.appendBodyToJoint(joints[name], inertia, pin.SE3.Identity())
    rotors = [float(tree.body(n).gear_ratio) ** 2 * float(tree.body(n).rotor_inertia) for n in tree.order]
    model.armature = np.array(rotors)
    return model


CPP = """
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/serialization.hpp>
using namespace pinocchio;
// never destroyed: libraries unload in any order
static Model& model = *new Model; static Data* data = nullptr;
extern "C" void load(const char* path) {
  loadFromBinary(model, std::string(path)); delete data; data = new Data(model);
}
extern "C" void run(int rows, const double* q, const double* v, const double* tau, double* out) {
  const int n = model.nv;
  for (int i = 0; i < rows; ++i) {
    Eigen::Map<const Eigen::VectorXd> Q(q + i * n, n), V(v + i * n, n), T(tau + i * n, n);
    Eigen::Map<Eigen::VectorXd>(out + i * n, n) = aba(model, *data, Q, V, T, Convention::WORLD);
  }
}
"""


BOOST = ("-DBOOST_MPL_LIMIT_LIST_SIZE=40", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS")  # for Pinocchio's variants


def compiled_peer():
    """The C++ loop as a library, or None where it cannot be built."""
    prefix = Path(pin.__file__).parents[4]
    folder = Path(tempfile.mkdtemp())
    (folder / "peer.cpp").write_text(CPP)
    command = ["g++", "-O3", "-march=native", "-DNDEBUG", *BOOST, "-std=c++17", "-shared", "-fPIC",
               "peer.cpp", "-o", "peer.so", f"-I{prefix}/include", *(f"-I{path}" for path in eigen(prefix)),
               f"-L{prefix}/lib",
               f"-Wl,-rpath,{prefix}/lib", "-lpinocchio_default", "-lboost_serialization"]  # fmt: skip
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if built.returncode:
        print("\n".join(line for line in built.stderr.splitlines() if "error" in line)[:500], file=sys.stderr)
    return CDLL(str(folder / "peer.so")) if built.returncode == 0 else None


def eigen(prefix):
    """Where the headers of Eigen may be: Pinocchio's own, CasADi's, the system's."""
    import casadi

    places = (prefix / "include/eigen3", Path(casadi.__file__).parent / "include/eigen3", Path("/usr/include/eigen3"))
    return [path for path in places if path.exists()]


class Peer:
    """Pinocchio's ABA on many states."""

    def __init__(self, tree, library=None):
        self.model, self.library = pinocchio_model(tree), library
        self.pool = pin.ModelPool(self.model)
        if library is not None:
            path = Path(tempfile.mkdtemp()) / "model"
            self.model.saveToBinary(str(path))
            library.load.argtypes, library.run.argtypes = [c_char_p], [c_int, *[c_void_p] * 4]
            self.path = str(path).encode()

    def batch(self, q, v, tau):
        out = np.empty_like(q, order="F")
        q, v, tau = (np.asfortranarray(x) for x in (q, v, tau))
        return lambda: pin.abaInParallel(1, self.pool, q, v, tau, out)

    def loop(self, q, v, tau):
        self.library.load(self.path)
        rows = [np.ascontiguousarray(x.T) for x in (q, v, tau)]
        out = np.empty_like(rows[0])
        pointers = [x.ctypes.data for x in (*rows, out)]
        return lambda: self.library.run(len(out), *pointers)


def fastest(runs, bursts=60):
    """Seconds of each function, minima over bursts in which they take turns."""
    best = [np.inf] * len(runs)
    for _ in range(bursts):
        for i, run in enumerate(runs):
            began = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def code_of(arm):
    """Seconds to compile for one state and for SIMD lanes, and functions that run x (inputs, rows) into out."""
    one, many = (_runner(arm, width) for width in (1, native_width()))
    compiled = []
    for make in (one, many):
        began = time.process_time()
        make()
        compiled.append(time.process_time() - began)
    return compiled, (one(), many())


def _runner(arm, width):
    """A function that compiles, and gives what runs the compiled code."""
    if arm.chosen == "looped":
        kernel = arm.kernel()

        def made():
            machine = code(kernel.what, kernel.patterns, width)
            rest = kernel.shape.ctypes.data, kernel.table.ctypes.data
            return lambda x, out: machine.call(x.shape[1], x.ctypes.data, *rest, out.ctypes.data)

        return made
    inputs, p = (*arm.equations.q, *arm.equations.v, *arm.equations.u, arm.equations.time), np.zeros(1)

    def straight():
        machine = simd_function(inputs, [], arm.equations.forward(arm.chosen), width)
        return lambda x, out: machine.call(x.shape[1], x.ctypes.data, p.ctypes.data, out.ctypes.data)

    return straight


def given(arm, count):
    """Random states and forces, and behind them the time, or for looped code the base at rest."""
    n = len(arm.coordinates)
    x = np.random.default_rng(0).normal(size=(3 * n + (9 if arm.chosen == "looped" else 1), count))
    if arm.chosen == "looped":
        x[3 * n :] = np.array([0.0] * 8 + [9.81])[:, None]
    return x


def row(tree, label, library=None, method="auto"):
    """One line of the table."""
    n = len(tree.coordinates)
    code.cache_clear()  # trees of one make would share their code
    began = time.process_time()
    arm = Dynamics(tree, method)
    count_of = "-" if arm.chosen == "looped" else operations(arm.equations.forward(arm.chosen)).total()
    if arm.chosen == "looped":
        arm.kernel()
    derived = time.process_time()
    compiled, (one, many) = code_of(arm)
    count = max(16, 4096 // n // 16 * 16)
    x = given(arm, count)
    q, v, tau = x[:n], x[n : 2 * n], x[2 * n : 3 * n]
    places = [tree.order.index(body.name) for body in tree.bodies]
    outs = np.empty((n, count)), np.empty((n, count))
    peer = Peer(tree, library)
    runs = [lambda: one(x, outs[0]), lambda: many(x, outs[1])]
    ours = [np.empty_like(q) for _ in range(3)]
    for theirs, own in zip(ours, (q, v, tau), strict=True):
        theirs[places] = own  # Pinocchio's joints stand in the order of the tree
    runs.append(peer.batch(*ours))
    if library is not None:
        runs.append(peer.loop(*ours))
    ns = [1e9 * s / count for s in fastest(runs, 60 if n <= 80 else 20)]
    check = np.column_stack(
        [pin.aba(peer.model, peer.model.createData(), *z) for z in zip(*(x.T[:4] for x in ours), strict=True)]
    )[places]
    error = max(np.abs(out[:, :4] - check).max() for out in outs) / np.abs(check).max()
    best = min(ns[2:])
    return {
        "arm": label, "n": n, "method": arm.chosen, "operations": count_of, "derive [s]": derived - began,
        "compile [s]": compiled[0], "compile, SIMD [s]": compiled[1], "ours [ns]": ns[0], "ours, SIMD [ns]": ns[1],
        "Pinocchio batch call [ns]": ns[2],
        "Pinocchio C++ loop [ns]": ns[3] if library is not None else "-", "ratio": best / ns[0],
        "ratio, SIMD": best / ns[1], "error": error,
    }  # fmt: skip


def looped_rows(sizes):
    """Straight-line code against loops over the hinges, on chains and branching trees."""
    lines = []
    for label, make in (("chain", chain), ("tree", branching)):
        for n in sizes:
            for method in ("articulated", "looped") if n <= STRAIGHT_UP_TO else ("looped",):
                lines.append(row(make(n), f"{label} {n}", method=method))
    keys = ("arm", "method", "derive [s]", "compile [s]", "compile, SIMD [s]", "ours [ns]", "ours, SIMD [ns]", "error")
    return [{key: line[key] for key in keys} for line in lines]


def symbolic(tree):
    """The same tree with a symbol for every mass, center of mass and inertia that is not zero."""
    values, bodies = {}, []

    def named(name, x):
        if float(x) == 0:
            return 0
        values[sp.Symbol(name)] = float(x)
        return sp.Symbol(name)

    for body in tree.bodies:
        J = np.array(body.inertia_matrix, dtype=float)
        center = tuple(named(f"{body.name}_c{i}", x) for i, x in enumerate(body.center_of_mass))
        upper = [(i, j) for i in range(3) for j in range(i, 3)]
        entries = {(i, j): named(f"{body.name}_J{i}{j}", J[i, j]) for i, j in upper}
        inertia = [[entries[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]
        changed = replace(body, mass=named(f"{body.name}_m", body.mass), center_of_mass=center, inertia=inertia)
        bodies.append(changed)
    return vn.BodyTree(bodies, parameters=values, name=f"{tree.name}, run-time parameters")


def run_time_parameters():
    """What inertial parameters kept as run-time values cost the PUMA; what they alone determine is computed too."""
    folded, free = Dynamics(puma()), Dynamics(symbolic(puma()), fold=False)
    count, values = 512, np.array(list(free.parameters.values()))
    x, out = np.random.default_rng(0).normal(size=(19, count)), np.empty((6, count))
    lines = []
    for label, arm in (("folded", folded), (f"{len(values)} run-time values", free)):
        codes = [arm.forward_code(width) for width in (1, native_width())]
        runs = [
            lambda code=code: code.call(count, x.ctypes.data, values.ctypes.data, out.ctypes.data) for code in codes
        ]
        ns = [1e9 * s / count for s in fastest(runs)]
        total = operations(arm.equations.forward(arm.chosen)).total()
        lines.append({"PUMA 560": label, "operations": total, "one state [ns]": ns[0], "SIMD [ns]": ns[1]})
    return lines


def growth(sizes, library=None):
    """Forward dynamics of the PUMA and of chains against Pinocchio, and how straight-line code grows."""
    rows = [row(puma(), "PUMA 560", library), *(row(chain(n), f"chain {n}", library) for n in sizes)]
    print(markdown_table(rows), flush=True)
    print(markdown_table(run_time_parameters()), flush=True)
    straight = [row(chain(n), f"chain {n}", method="articulated") for n in sizes]
    for key in ("operations", "derive [s]", "compile [s]", "ours [ns]"):
        print(f"{key} of straight-line code grows as n^{growth_exponent(sizes, [r[key] for r in straight]):.2f}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="n = 7 and 20 and the PUMA only")
    options.add_argument("--cpp", action="store_true", help="build and time a C++ loop too")
    options.add_argument("--limit", type=float, default=LIMIT, help="seconds for a symbolic peer and one n")
    options.add_argument("--part", choices=("growth", "large", "peers"), help="one of the tables only")
    given = options.parse_args()
    if given.part in (None, "growth"):
        growth((7, 20) if given.quick else SIZES, compiled_peer() if given.cpp else None)
    if given.part in (None, "large") and not given.quick:
        print(markdown_table(looped_rows(LARGE)), flush=True)
    if given.part in (None, "peers") and not given.quick:
        print(markdown_table(compared(SIZES, given.limit)), flush=True)


if __name__ == "__main__":
    main()
