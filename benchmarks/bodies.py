"""Forward dynamics of trees of bodies against Pinocchio's ABA in C++, in one run on one machine.

    python -m benchmarks.bodies            the table of growth, n = 5 ... 80, and the PUMA 560
    python -m benchmarks.bodies --quick    fewer sizes, no symbolic peers
    python -m benchmarks.bodies --cpp      with a C++ loop of pinocchio::aba beside it (three minutes of g++)

Python overhead counts for neither side: ours is the compiled loop over states behind one call; Pinocchio's is its own
compiled loop over a batch, ``pin.abaInParallel`` on one thread, or with --cpp the faster of that and a loop in C++
built here with -O3 -march=native. Times are minima over many bursts, the two sides taking turns.
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
from vinculum.compile.lanes import Lanes, native_width
from vinculum.derive.bodies import recursion
from vinculum.graph import operations, symbol

from .measure import growth_exponent, markdown_table

SIZES = (5, 7, 10, 20, 40, 80)


def chain(n, seed=3):
    """A serial chain with random twists, lengths and full inertias: no sparsity to be lucky with."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        points, masses = random.normal(size=(6, 3)) / 5, random.uniform(0.1, 1, 6)
        center = masses @ points / masses.sum()
        points = points - center
        J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
        shape = dict(mass=masses.sum(), center_of_mass=center, inertia=J)
        rows.append(dict(a=random.normal(), d=random.normal(), alpha=random.uniform(-2, 2), name=f"b{i}", **shape))
    return vn.BodyTree(vn.denavit_hartenberg(rows, convention="modified"))


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


def row(tree, label, library=None):
    """One line of the table."""
    n = len(tree.coordinates)
    began = time.perf_counter()
    arm = Dynamics(tree)
    nodes = arm.forward_nodes
    derived = time.perf_counter()
    inputs = (*arm._q, *arm._v, *arm._u, arm._time)
    one = Lanes(inputs, [], nodes, 1)
    compiled = time.perf_counter()
    many = Lanes(inputs, [], nodes, native_width())
    count = max(16, 4096 // n // 16 * 16)
    x = np.random.default_rng(0).normal(size=(3 * n + 1, count))
    q, v, tau = x[:n], x[n : 2 * n], x[2 * n : 3 * n]
    out, p = np.empty((n, count)), np.zeros(1)
    peer = Peer(tree, library)
    runs = [lambda code=code: code._call(count, x.ctypes.data, p.ctypes.data, out.ctypes.data) for code in (one, many)]
    runs.append(peer.batch(q, v, tau))
    if library is not None:
        runs.append(peer.loop(q, v, tau))
    check = np.column_stack(
        [pin.aba(peer.model, peer.model.createData(), *z) for z in zip(q.T[:4], v.T[:4], tau.T[:4], strict=True)]
    )
    error = np.abs(many(x, p)[:, :4] - check).max() / np.abs(check).max()
    ns = [1e9 * s / count for s in fastest(runs)]
    best = min(ns[2:])
    return {
        "arm": label, "n": n, "operations": operations(nodes).total(), "derive [s]": derived - began,
        "compile [s]": compiled - derived, "ours [ns]": ns[0], "ours, SIMD [ns]": ns[1],
        "Pinocchio batch call [ns]": ns[2],
        "Pinocchio C++ loop [ns]": ns[3] if library is not None else "-", "ratio": best / ns[0],
        "ratio, SIMD": best / ns[1], "error": error,
    }  # fmt: skip


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
            lambda code=code: code._call(count, x.ctypes.data, values.ctypes.data, out.ctypes.data) for code in codes
        ]
        ns = [1e9 * s / count for s in fastest(runs)]
        total = operations(arm.forward_nodes).total()
        lines.append({"PUMA 560": label, "operations": total, "one state [ns]": ns[0], "SIMD [ns]": ns[1]})
    return lines


def derivations(n):
    """Seconds and operations of M, h by SymPy mechanics, SymEngine and CasADi on the energies of a chain of n."""
    tree = chain(n)
    found = {}
    began = time.perf_counter()
    steps = recursion(tree)
    count = operations([*steps.mass_matrix().ravel(), *steps.bias()]).total()
    found["Vinculum"] = time.perf_counter() - began, count
    found |= {name: peer(tree) for name, peer in (("CasADi", _casadi), ("SymEngine", _symengine))}
    if n <= 2:
        found["SymPy mechanics"] = _sympy(tree)
    return [{"peer": name, "n": n, "derive [s]": s, "operations": k} for name, (s, k) in found.items()]


def _sympy(tree):
    from sympy.physics.mechanics import LagrangesMethod

    system = tree.system()
    began = time.perf_counter()
    method = LagrangesMethod(system.kinetic_energy.doit() - system.potential_energy.doit(), list(system.coordinates))
    method.form_lagranges_equations()
    replaced, reduced = sp.cse([*method.mass_matrix, *method.forcing])
    seconds = time.perf_counter() - began
    return seconds, int(sum(sp.count_ops(e) for _, e in replaced) + sum(sp.count_ops(e) for e in reduced))


def _energies(tree, scalars, convert):
    """T and V of the tree in another library's scalars."""
    from vinculum.graph import from_sympy
    from vinculum.graph.traverse import order

    system = tree.system()
    outputs = [from_sympy(system.kinetic_energy), from_sympy(system.potential_energy)]
    known = dict(scalars)
    arithmetic = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
                  "divide": lambda a, b: a / b, "negate": lambda a: -a}  # fmt: skip
    for node in order(outputs):
        if node in known:
            continue
        if not node.args:
            known[node] = convert("constant")(float(node.value))
        else:
            operation = arithmetic.get(node.op) or convert(node.op)
            known[node] = operation(*(known[arg] for arg in node.args))
    return [known[output] for output in outputs]


def _casadi(tree):
    import casadi as ca

    n = len(tree.coordinates)
    began = time.perf_counter()
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    scalars = {symbol(x): q[i] for i, x in enumerate(tree.coordinates)}
    scalars |= {symbol(x): v[i] for i, x in enumerate(tree.velocities)}
    T, V = _energies(tree, scalars, lambda op: {"sin": ca.sin, "cos": ca.cos, "constant": ca.SX}[op])
    momenta = ca.gradient(T, v)
    M = ca.jacobian(momenta, v)
    h = ca.jtimes(momenta, q, v) - ca.gradient(T, q) + ca.gradient(V, q)
    f = ca.Function("f", [q, v], [ca.cse(M), ca.cse(h)])
    return time.perf_counter() - began, f.n_instructions()


def _symengine(tree):
    import symengine as se

    n = len(tree.coordinates)
    began = time.perf_counter()
    q, v = se.symbols(f"q0:{n}"), se.symbols(f"v0:{n}")
    scalars = {symbol(x): q[i] for i, x in enumerate(tree.coordinates)}
    scalars |= {symbol(x): v[i] for i, x in enumerate(tree.velocities)}
    T, V = _energies(tree, scalars, lambda op: {"sin": se.sin, "cos": se.cos, "constant": se.RealDouble}[op])
    momenta = [T.diff(x) for x in v]
    M = [p.diff(x) for p in momenta for x in v]
    h = [sum(p.diff(x) * y for x, y in zip(q, v, strict=True)) - T.diff(x0) + V.diff(x0)
         for p, x0 in zip(momenta, q, strict=True)]  # fmt: skip
    replaced, reduced = se.cse([*M, *h])
    count = sum(_operations(e) for _, e in replaced) + sum(_operations(e) for e in reduced)
    return time.perf_counter() - began, count


def _operations(e):
    """Operations of an expression in which everything shared has a name already."""
    stack, total = [e], 0
    while stack:
        node = stack.pop()
        total += max(len(node.args) - 1, 1) if node.args else 0
        stack.extend(node.args)
    return total


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="n = 7 and 20 and the PUMA only")
    options.add_argument("--cpp", action="store_true", help="build and time a C++ loop too")
    given = options.parse_args()
    quick, library = given.quick, compiled_peer() if given.cpp else None
    rows = [row(puma(), "PUMA 560", library)]
    rows += [row(chain(n), f"chain {n}", library) for n in ((7, 20) if quick else SIZES)]
    print(markdown_table(rows))
    print(markdown_table(run_time_parameters()))
    if not quick:
        sizes = [r["n"] for r in rows[1:]]
        for key in ("operations", "derive [s]", "compile [s]", "ours [ns]"):
            print(f"{key} grows as n^{growth_exponent(sizes, [r[key] for r in rows[1:]]):.2f}")
        print(markdown_table([line for n in (2, 3, 5) for line in derivations(n)]))


if __name__ == "__main__":
    main()
