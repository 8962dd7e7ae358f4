"""What people wait for: second runs, stiff runs, single calls, the command line. ``python -m benchmarks.waiting``.

Ours is the whole call; the peer or the work that cannot be avoided runs in the same process, turn by turn.
"""

import os
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import watt_governor
from vinculum.simulation.integrators import loops as loops_of_steps
from vinculum.simulation.integrators.series import Series
from vinculum.simulation.problem.pose import pose

from . import chains, ours
from .measure import duration, markdown_table
from .models import pendulum, wheel

LIBRARY = Path(vn.__file__).parent / "model" / "library"
REPEATS = 150  # of a second run


def main() -> None:
    tables = {"second runs": second_runs, "stiff runs": stiff_runs, "method 'auto'": choices, "single calls": calls,
              "command line": command_line}  # fmt: skip
    for title, rows in tables.items():
        print(f"\n{title}\n{markdown_table(rows())}", flush=True)


def in_turns(works, repeats=15):
    """The shortest time of each work, all taken in turns."""
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for i, work in enumerate(works):
            began = perf_counter()
            work()
            best[i] = min(best[i], perf_counter() - began)
    return best


def loops(count):
    """Four-bar linkages side by side."""
    g, t = sp.Symbol("g"), dynamicsymbols._t
    coordinates, T, V, constraints, start, guess = [], 0, 0, [], {}, {}
    for k in range(count):
        a, b, c = dynamicsymbols(f"a{k} b{k} c{k}")
        x, y = sp.cos(a), sp.sin(a)
        middle = x + 1.25 * sp.cos(b), y + 1.25 * sp.sin(b)
        T += a.diff() ** 2 / 6 + (middle[0].diff(t) ** 2 + middle[1].diff(t) ** 2) / 2 + 0.26 * b.diff() ** 2
        T += 2 * c.diff() ** 2 / 3
        V += g * (y / 2 + middle[1] + sp.sin(c))
        constraints.append(vn.Holonomic(x + 2.5 * sp.cos(b) - 2.5 - 2 * sp.cos(c), name=f"x{k}"))
        constraints.append(vn.Holonomic(y + 2.5 * sp.sin(b) - 2 * sp.sin(c), name=f"y{k}"))
        coordinates += [a, b, c]
        start |= {a: 1.0 + 0.01 * k, a.diff(): 2.0}
        guess |= {b: 0.6, c: 1.5}
    return vn.System(coordinates, T, V, constraints=constraints, parameters={g: 9.81}), start, guess


def second_runs():
    """Whole calls of ``simulate`` after the first, with the same start and with others, and what is integration."""
    rows = []
    single, rolling = pendulum(1), wheel()
    linkages, start, guess = loops(40)
    spin = [v for v in rolling.velocities if rolling.initial[v]][-1]
    given = {q: rolling.initial[q] for q in (*rolling.coordinates, spin)}
    cases = {
        "pendulum, 1 s": (ours.derivation(single), single.initial, next(iter(single.initial)), (0, 1), {}),
        "wheel, 5 s": (ours.derivation(rolling), given, spin, (0, 5), {}),
        "40 loops, rk4, 1 s": (vn.derive(linkages), start, next(iter(start)), (0, 1),
                               {"method": "rk4", "step": 1e-3, "guess": guess}),
    }  # fmt: skip
    for name, (equations, initial, varied, times, options) in cases.items():
        run = partial(vn.simulate, equations, times=times, **options)
        same = partial(run, initial)
        starts = iter(range(1, 10**6))

        def other(run=run, initial=initial, varied=varied, starts=starts):
            return run({**initial, varied: initial[varied] * (1 + 1e-4 * next(starts))})

        began = perf_counter()
        same()
        first = perf_counter() - began
        with kernels() as spent:
            whole, inside = min(whole_and_inside(same, spent) for _ in range(REPEATS))
            changed, integrated = min(whole_and_inside(other, spent) for _ in range(REPEATS))
        rows.append({"work": name, "first run": duration(first), "second run": duration(whole),
                     "integration in it": duration(inside), "around it": duration(whole - inside),
                     "around it, another start": duration(changed - integrated)})  # fmt: skip
    return rows


def whole_and_inside(run, spent):
    """Seconds of a run, and of the compiled code that makes its steps."""
    spent[0], began = 0.0, perf_counter()
    run()
    return perf_counter() - began, spent[0]


@contextmanager
def kernels():
    """Seconds that are spent in compiled steps, of Taylor's tapes and of fixed steps."""
    spent = [0.0]

    def timed(work):
        def measured(*args):
            began = perf_counter()
            found = work(*args)
            spent[0] += perf_counter() - began
            return found

        return measured

    with patch.object(loops_of_steps, "advance", timed(loops_of_steps.advance)), \
         patch.object(Series, "_steps", timed(Series._steps)):  # fmt: skip
        yield spent


def direct_cvode(problem, x, times):
    """CVODE with the same compiled right side."""
    from sksundae.cvode import CVODE

    rates, p = problem.compiled(problem.nodes.rates), problem.values

    def right_side(t, x, out):
        out[:] = rates(t, x, p)

    return lambda: CVODE(right_side, rtol=1e-9, atol=1e-9, max_num_steps=10**6).solve(times, x)


def stiff_runs():
    """``bdf`` beside CVODE with the same compiled right side, called directly."""
    w, rows = watt_governor, []
    governor, tree = vn.derive(w.system()), vn.derive(chains.chain(20).system())
    fall = {w.alpha: 0.9, w.phi: 0, w.phi.diff(): 8.0, w.alpha.diff(): 0.1}
    cases = {
        "governor in oil, 10 s": (governor, fall, 10.0, {w.c: 1e5}),
        "chain of 20 joints, 1 s": (tree, dict.fromkeys(tree.system.coordinates, 0.1), 1.0, {}),
    }
    for name, (equations, initial, end, changed) in cases.items():
        numbers = {**equations.parameters, **changed}
        peer = direct_cvode(*pose(equations, initial, 0.0, {}, numbers, []), np.linspace(0, end, 1001))
        run = partial(vn.simulate, equations, initial, (0, end), "bdf", parameters=numbers)
        began = perf_counter()
        run()
        first = perf_counter() - began
        own, other = in_turns([run, peer], 5)
        rows.append({"work": name, "first result": duration(first), "bdf": duration(own), "CVODE": duration(other),
                     "ratio": f"{own / other:.2g}"})  # fmt: skip
    return rows


def choices():
    """What "auto" chooses and costs, beside each method that it could have chosen."""
    w, rows = watt_governor, []
    equations, fall = vn.derive(w.system()), {w.alpha: 0.9, w.phi: 0, w.phi.diff(): 8.0, w.alpha.diff(): 0.1}
    for name, changed in {"governor, 10 s": {}, "governor in oil, 10 s": {w.c: 1e5}}.items():
        numbers = {**equations.parameters, **changed}
        run = partial(vn.simulate, equations, fall, (0, 10.0), parameters=numbers)
        methods = {"auto": {}, "taylor": {}, "bdf": {}, "rk4": {"step": 1e-3}}
        runs = {method: partial(run, method=method, **options) for method, options in methods.items()}
        first = {method: work() for method, work in runs.items()}
        good = {method: motion for method, motion in first.items() if motion.outcome}
        times = dict(zip(good, in_turns([runs[method] for method in good], 5), strict=True))
        row = {"work": name, "auto takes": first["auto"].method}
        rows.append(
            row | {m: f"{duration(times[m])} ({good[m].energy_error:.0e})" if m in good else "fails" for m in methods}
        )
    return rows


def calls():
    """One call from Python: a compiled function, and a step."""
    model = pendulum(1)
    equations = ours.derivation(model)
    motion = vn.simulate(equations, model.initial, (0, 0.01))
    f, p = motion.problem.compiled(motion.problem.nodes.rates), motion.problem.values
    x = motion.segments[0].states[0]
    advance = equations.stepper("rk4", 1e-3)
    state = advance.state(model.initial)
    for _ in range(1100):
        f(0.0, x, p)

    def thousand(work):
        for _ in range(1000):
            work()

    function, step = in_turns([lambda: thousand(lambda: f(0.0, x, p)), lambda: thousand(lambda: advance(0.0, state))])
    return [{"call": "compiled function", "time": duration(function / 1000)},
            {"call": "step of rk4", "time": duration(step / 1000)}]  # fmt: skip


def command_line():
    """Processor time of whole commands; the first of them compiles the package to bytecode."""
    import resource

    rows, environment = [], {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for model in ("cartesian_pendulum", "four_bar"):
        command = [sys.executable, "-m", "vinculum", "simulate", str(LIBRARY / f"{model}.toml")]
        spent = []
        for _ in range(4):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        rows.append({"command": f"vinculum simulate {model}", "processor time": duration(min(spent))})
    return rows


if __name__ == "__main__":
    main()
