"""M and h of a chain by other engines, from the same energies by differentiation, each n within a time limit.

    python -m benchmarks.bodies_peers SymEngine 7

prints derivation time (seconds of CPU time, as are the limit and the compile time), operations after common
subexpressions, compile time and evaluation time of one state. Each engine compiles as it does by default: SymPy to a
Python function, SymEngine with LLVM, CasADi to its own machine.
"""

import json
import resource
import signal
import subprocess
import sys
import time

import numpy as np

from vinculum.graph import from_sympy, operations, symbol
from vinculum.graph.traverse import order

from .chains import chain

LIMIT = 120.0  # seconds for one engine and one n


def compared(sizes, limit=LIMIT):
    """Rows of the table: every engine at every n until it does not finish."""
    rows = []
    for engine in ENGINES:
        beaten = None
        for n in sizes:
            found = None if beaten is not None else _in_process(engine, n, limit)
            beaten = n if found is None and beaten is None else beaten
            note = f"did not finish within {limit:.0f} s" if beaten == n else f"not tried after n = {beaten}"
            empty = {"derive [s]": note, "operations": "-", "compile [s]": "-", "evaluate [ns]": "-"}
            rows.append({"n": n, "engine": engine} | (found or empty))
            print(rows[-1], file=sys.stderr, flush=True)
    return sorted(rows, key=lambda row: row["n"])


def _in_process(engine, n, limit):
    command = [sys.executable, "-m", "benchmarks.bodies_peers", engine, str(n)]
    bound = int(limit)
    done = subprocess.run(
        command, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (bound, bound)),
    )  # fmt: skip
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def _seconds_per_call(call, bursts=12, burst=0.01):
    """CPU seconds of one call: the least of several bursts."""
    call()
    calls, best = 1, np.inf
    while bursts:
        began = time.process_time()
        for _ in range(calls):
            call()
        spent = time.process_time() - began
        best = min(best, spent / calls) if spent else best
        calls, bursts = (calls * 4, bursts) if spent < burst else (calls, bursts - 1)
    return best


def _row(derived, count, compiled, call):
    return {"derive [s]": derived, "operations": count, "compile [s]": compiled,
            "evaluate [ns]": 1e9 * _seconds_per_call(call)}  # fmt: skip


def vinculum(n):
    """Ours: recursions traced, M and h, straight-line code."""
    from vinculum.compile.simd import SimdFunction
    from vinculum.derivation.bodies import recursion

    tree = chain(n)
    began = time.process_time()
    steps = recursion(tree)
    outputs = [*steps.mass_matrix().ravel(), *steps.bias()]
    derived = time.process_time() - began
    began = time.process_time()
    inputs = [*map(symbol, tree.coordinates), *map(symbol, tree.velocities)]
    code = SimdFunction(inputs, [], outputs, 1)
    compiled = time.process_time() - began
    x, p, out = np.random.default_rng(0).normal(size=(2 * n, 64)), np.zeros(1), np.empty((len(outputs), 64))

    def call() -> None:
        code.call(64, x.ctypes.data, p.ctypes.data, out.ctypes.data)

    row = _row(derived, operations(outputs).total(), compiled, call)
    return row | {"evaluate [ns]": row["evaluate [ns]"] / 64}


def sympy_mechanics(n):
    """LagrangesMethod on T - V, cse, lambdify."""
    import sympy as sp
    from sympy.physics.mechanics import LagrangesMethod

    tree = chain(n)
    system = tree.system()
    began = time.process_time()
    T, V = system.kinetic_energy.doit(), system.potential_energy.doit()
    method = LagrangesMethod(T - V, list(system.coordinates))
    method.form_lagranges_equations()
    outputs = [*method.mass_matrix, *method.forcing]
    state = sp.symbols(f"x0:{2 * n}")
    names = dict(zip((*tree.velocities, *tree.coordinates), (*state[n:], *state[:n]), strict=True))
    outputs = [sp.sympify(e).xreplace(names) for e in outputs]
    replaced, reduced = sp.cse(outputs)
    derived = time.process_time() - began
    count = int(sum(sp.count_ops(e) for _, e in replaced) + sum(sp.count_ops(e) for e in reduced))
    began = time.process_time()
    f = sp.lambdify(state, outputs, modules="math", cse=lambda _: (replaced, reduced))
    compiled = time.process_time() - began
    x = np.random.default_rng(0).normal(size=2 * n).tolist()
    return _row(derived, count, compiled, lambda: f(*x))


def _energies(tree, scalars, convert):
    """T and V of the tree in another library's scalars."""
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


def casadi(n):
    """SX graphs; M, h by gradient, jacobian and jtimes, cse; its own virtual machine, 64 states in a map."""
    import casadi as ca

    tree = chain(n)
    began = time.process_time()
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    scalars = {symbol(x): q[i] for i, x in enumerate(tree.coordinates)}
    scalars |= {symbol(x): v[i] for i, x in enumerate(tree.velocities)}
    T, V = _energies(tree, scalars, lambda op: {"sin": ca.sin, "cos": ca.cos, "constant": ca.SX}[op])
    momenta = ca.gradient(T, v)
    M = ca.jacobian(momenta, v)
    h = ca.jtimes(momenta, q, v) - ca.gradient(T, q) + ca.gradient(V, q)
    outputs = ca.cse([M, h])
    derived = time.process_time() - began
    began = time.process_time()
    f = ca.Function("f", [q, v], outputs)
    compiled = time.process_time() - began
    many = f.map(64)
    x, y = np.random.default_rng(0).normal(size=(2, n, 64))
    x, y = ca.DM(x), ca.DM(y)
    row = _row(derived, f.n_instructions(), compiled, lambda: many(x, y))
    return row | {"evaluate [ns]": row["evaluate [ns]"] / 64}


def symengine(n):
    """Expressions in C++, differentiated, cse, LLVM."""
    import symengine as se

    tree = chain(n)
    began = time.process_time()
    q, v = se.symbols(f"q0:{n}"), se.symbols(f"v0:{n}")
    scalars = {symbol(x): q[i] for i, x in enumerate(tree.coordinates)}
    scalars |= {symbol(x): v[i] for i, x in enumerate(tree.velocities)}
    T, V = _energies(tree, scalars, lambda op: {"sin": se.sin, "cos": se.cos, "constant": se.RealDouble}[op])
    momenta = [T.diff(x) for x in v]
    M = [p.diff(x) for p in momenta for x in v]
    h = [sum(p.diff(x) * y for x, y in zip(q, v, strict=True)) - T.diff(x0) + V.diff(x0)
         for p, x0 in zip(momenta, q, strict=True)]  # fmt: skip
    replaced, reduced = se.cse([*M, *h])
    derived = time.process_time() - began
    count = sum(_operations(e) for _, e in replaced) + sum(_operations(e) for e in reduced)
    began = time.process_time()
    f = se.Lambdify([*q, *v], [*M, *h], backend="llvm", cse=True)
    compiled = time.process_time() - began
    x = np.random.default_rng(0).normal(size=(64, 2 * n))
    row = _row(derived, count, compiled, lambda: f(x))
    return row | {"evaluate [ns]": row["evaluate [ns]"] / 64}


def _operations(e):
    """Operations of an expression in which everything shared has a name already."""
    stack, total = [e], 0
    while stack:
        node = stack.pop()
        total += max(len(node.args) - 1, 1) if node.args else 0
        stack.extend(node.args)
    return total


ENGINES = {"Vinculum": vinculum, "CasADi": casadi, "SymEngine": symengine, "SymPy mechanics": sympy_mechanics}

if __name__ == "__main__":
    print(json.dumps(ENGINES[sys.argv[1]](int(sys.argv[2]))))
