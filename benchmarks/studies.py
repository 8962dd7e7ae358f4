"""Studies beside raw heyoka ensembles of the same expressions: milliseconds a run, and how cost grows.

Every pair is measured in turn, and the smallest time counts. "raw" is heyoka's batch integrator, with the lanes that
heyoka recommends and the same equations, one register after the other, from prepared starts and without measures,
checks or outcomes. One core is measured in processor time, two in wall time: two independent raw processes that begin
together, with half of the runs each, and a study on two threads. "calls" are those that Python makes for a run, of
its own functions and of compiled ones. It takes about eight minutes, most of them for the ball and beam.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam, four_bar, wheel_with_reactions
from vinculum import measure, vary
from vinculum.compile.code_cache import heyoka
from vinculum.ensembles import Study, plan_study
from vinculum.ensembles.lanes import Lanes
from vinculum.ensembles.threads import run_threads

RUNS = 10_000
THETA = dynamicsymbols("theta")


def swing():
    """A pendulum in its angle: the smallest system, where all but the integration counts most."""
    m, g, l = sp.symbols("m g l")
    kinetic, potential = m * l**2 * THETA.diff() ** 2 / 2, -m * g * l * sp.cos(THETA)
    return vn.System([THETA], kinetic, potential, parameters={m: 1.0, g: 9.81, l: 1.0})


def pendulum(samples):
    over = {THETA: vary.uniform(-2, 2), THETA.diff(): vary.uniform(-1, 1)}
    return plan_study(swing(), {}, (0, 10), over=over, samples=samples)


def four_bars(samples):
    guess = {four_bar.beta: 1.0, four_bar.gamma: 1.5}
    over = {four_bar.alpha: vary.uniform(0.2, 1.5), four_bar.alpha.diff(): vary.uniform(0, 3)}
    return plan_study(four_bar.system(), {}, (0, 0.5), over=over, samples=samples, guess=guess)


def wheels(samples):
    equations = wheel_with_reactions.program(rates=10.0)
    start = wheel_with_reactions.start(equations)
    speed = next(key for key in start if sp.Symbol("phi_dot").name in str(key) or "phi" in str(key))
    varied = {speed: vary.uniform(start[speed] - 0.01, start[speed] + 0.01)}
    known = {key: value for key, value in start.items() if key != speed}
    return plan_study(equations, known, (0, 10), over=varied, samples=samples)


def balls(samples):
    equations, rest, _, law = ball_and_beam.stabilized(1)
    r, theta, alpha = ball_and_beam.r, ball_and_beam.theta, ball_and_beam.alpha
    loop, start = vn.close_loop(equations, law), {theta: rest[theta], r.diff(): 0.0, theta.diff(): 0.0}
    over = {r: vary.uniform(0.15, 0.3)}
    return plan_study(loop, start, (0, 10), over=over, samples=samples, guess={alpha: 0.0})


class Raw:
    """heyoka's batch integrator of the equations of a study, and the prepared starts of its runs."""

    def __init__(self, study: Study, runs: int) -> None:
        ensemble, nodes, branch = study.ensemble, study.ensemble.problem.nodes, study.ensemble.problem.branch
        (watch, *rates), method = branch.prepared([nodes.watch.plain, *nodes.rates]), ensemble.method
        width = heyoka().recommended_simd_size()
        made_of = (
            nodes.time,
            ensemble.state,
            branch.parameters,
            rates,
            watch,
            (),
            (),
            method.tolerance,
            method.compact,
        )
        self.taylor, self.end = Lanes(*made_of, width=width).taylor, float(ensemble.grid[-1])
        columns = study.columns(0, runs)
        values, _ = ensemble.starts.solve(columns, runs)
        self.x, self.p = ensemble.initial_states(columns, values), ensemble.settings_of(values)

    def run(self, clock: Callable[[], float], first: int = 0, last: int | None = None) -> float:
        """Seconds for the runs from first to last."""
        taylor, width, end = self.taylor, self.taylor.batch_size, self.end
        state, pars = taylor.state, taylor.pars
        x, p = self.x[:, first:last], self.p[: len(pars), first:last]
        began = clock()
        for k in range(0, x.shape[1] - width + 1, width):
            taylor.set_time(0.0)
            state[:], pars[:] = x[:, k : k + width], p[:, k : k + width]
            taylor.propagate_until(end)
        return clock() - began


def one_core(study: Study, raw: Raw, runs: int) -> tuple[float, float]:
    """Processor time of heyoka alone, and of the whole study on one thread, starts and checks included."""
    alone = raw.run(time.thread_time)
    began = time.thread_time()
    study.block(0, runs)
    return alone, time.thread_time() - began


def two_cores(study: Study, raw: Raw, runs: int, repeat: int) -> tuple[float, float]:
    """Wall time of two processes of heyoka alone and, in turn with them, of the study on two threads; the best of each.

    A process waits for its turn without using its core.
    """
    context = multiprocessing.get_context("fork")
    together, times = context.Barrier(3), context.SimpleQueue()
    halves = [(0, runs // 2), (runs // 2, runs)]
    processes = [context.Process(target=_half, args=(raw, *half, repeat, together, times)) for half in halves]
    for process in processes:
        process.start()
    run_threads(study, 0, min(runs, 512), 2)  # both threads have their integrators
    alone, threads = [], []
    for _ in range(repeat):
        together.wait()
        alone.append(max(times.get() for _ in processes))
        threads.append(_wall(lambda: run_threads(study, 0, runs, 2)))
    for process in processes:
        process.join()
    return min(alone), min(threads)


def _half(raw: Raw, first: int, last: int, repeat: int, together: Any, times: Any) -> None:
    for _ in range(repeat):
        together.wait()
        times.put(raw.run(time.perf_counter, first, last))


def calls_for_a_run(study: Study) -> float:
    """Calls that Python makes for one run more, of its own functions and of compiled ones."""
    many = min(study.runs, 1024)
    few = many // 2
    return (_calls(study, many) - _calls(study, few)) / (many - few)


def _calls(study: Study, runs: int) -> int:
    found = [0]

    def count(_frame: Any, event: str, _what: Any) -> None:
        found[0] += event in ("call", "c_call")

    sys.setprofile(count)
    study.block(0, runs)
    sys.setprofile(None)
    return found[0]


def _wall(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def row(study: Study, runs: int, repeat: int) -> str:
    """One row of the table."""
    study.block(0, 64)
    raw = Raw(study, runs)
    heyoka_alone, whole = map(min, zip(*(one_core(study, raw, runs) for _ in range(repeat)), strict=True))
    processes, threads = two_cores(study, raw, runs, repeat)
    with study.ensemble.borrowed() as integrator:
        lanes = f"{raw.taylor.batch_size}/{integrator.width}"
    a, b, c, d = (seconds / runs * 1e3 for seconds in (heyoka_alone, whole, processes, threads))
    calls = calls_for_a_run(study)
    return f"{runs:6} {lanes:>6} {a:8.4f} {b:9.4f} {a / b:6.2f} {c:14.4f} {d:12.4f} {c / d:6.2f} {calls:6.2f}"


def main(runs: int = RUNS) -> None:
    columns = f"{'raw ms':>8} {'study ms':>9} {'ratio':>6} {'two processes':>14} {'two threads':>12} {'ratio':>6}"
    print(f"{'system':12} {'runs':>6} {'lanes':>6} {columns} {'calls':>6}")
    for name, make, repeat in SYSTEMS:
        print(f"{name:12} {row(make(runs), runs, repeat)}", flush=True)
    print("\nregion of attraction of the ball and beam with its motor")
    attraction()
    print("\nmemory and time of short runs in a Zarr store")
    growth()


SYSTEMS = (
    ("pendulum", pendulum, 20),
    ("four-bar", four_bars, 2),
    ("wheel", wheels, 1),
    ("ball, beam", balls, 1),
)  # and how often each pair is measured


def attraction(side: int = 100) -> None:
    """Starts of the ball over most of the beam, with speeds up to 0.4 m/s. Beyond them the wheel spins: long runs."""
    equations, rest, _, law = ball_and_beam.stabilized(1)
    r, loop = ball_and_beam.r, vn.close_loop(equations, law)
    over = {r: np.linspace(0.05, 0.35, side), r.diff(): np.linspace(-0.4, 0.4, side)}
    for method in (vn.BDF(tolerance=1e-6), vn.Taylor()):
        stiff = isinstance(method, vn.BDF)
        part = over if stiff else {key: values[:: side // 10] for key, values in over.items()}
        wall, spent = time.perf_counter(), time.process_time()
        found = vn.feedback.region_of_attraction(loop, rest, part, 10.0, method=method)
        wall, spent = time.perf_counter() - wall, time.process_time() - spent
        print(f"{'bdf' if stiff else 'taylor':7} {found}; {wall:.1f} s, {spent:.1f} s of processors", flush=True)


def growth() -> None:
    """Time and memory against the number of runs, each in a fresh process; time ~ runs to the power of the exponent."""
    spent = {}
    for runs in (1_000, 10_000, 100_000, 1_000_000):
        answer = subprocess.run(
            [sys.executable, "-m", "benchmarks.studies", "--short", str(runs)], capture_output=True, check=True
        )
        wall, spent[runs], memory = map(float, answer.stdout.split())
        print(
            f"{runs:9} runs: {wall:6.1f} s, {spent[runs]:6.1f} s of processors, largest memory {memory:.0f} MB",
            flush=True,
        )
    print(f"exponent from 100 000 to 1 000 000 runs: {np.log10(spent[1_000_000] / spent[100_000]):.2f}")


def short_runs(runs: int) -> None:
    """Wall and processor seconds of a study into a store, after one that compiles, and the largest memory in MB."""
    for count in (100, runs):
        with tempfile.TemporaryDirectory() as folder:
            spent = time.process_time()
            wall = _wall(lambda: vn.study(
                swing(), {}, (0, 1), over={THETA: vary.uniform(-2, 2)}, samples=count, store=f"{folder}/s",  # noqa: B023  # called at once
                measure={"end": measure.final(THETA)}, chunk=50_000,
            ))  # fmt: skip
            spent = time.process_time() - spent
    print(wall, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--runs", type=int, default=RUNS, help="of every system (default: %(default)s)")
    reader.add_argument("--short", type=int, help=argparse.SUPPRESS)  # runs of a pendulum, for `growth`
    given = reader.parse_args()
    short_runs(given.short) if given.short else main(given.runs)
