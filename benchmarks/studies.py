"""Studies beside raw heyoka ensembles of the same expressions: milliseconds a run, and how cost grows.

Every pair is measured in one process, in turn, and the smallest time counts. "raw" is heyoka's batch integrator with
the same equations, one state after the other, without starts, measures, checks or outcomes.
"""

from __future__ import annotations

import multiprocessing
import resource
import time

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam, four_bar, wheel_with_reactions
from vinculum import measure, vary
from vinculum.ensembles import Study, plan_study
from vinculum.ensembles.threads import run_threads

REPEAT = 3


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


def raw(study: Study, runs: int) -> float:
    """Seconds of heyoka's batch integrator for the same runs, from prepared starts."""
    ensemble = study.ensemble
    columns = study.columns(0, runs)
    values, _ = ensemble.starts.solve(columns, runs)
    x, p = ensemble.initial_states(columns, values), ensemble.settings_of(values)
    taylor, width = ensemble.lanes.taylor, ensemble.lanes.width
    began = time.thread_time()
    for first in range(0, runs - width + 1, width):
        taylor.set_time(0.0)
        taylor.state[:] = x[:, first : first + width]
        taylor.pars[:] = p[: len(taylor.pars), first : first + width]
        taylor.propagate_until(float(ensemble.grid[-1]))
    return time.thread_time() - began


def ours(study: Study, runs: int) -> float:
    """Seconds of the whole study of these runs on one thread, starts and checks included."""
    began = time.thread_time()
    study.block(0, runs)
    return time.thread_time() - began


def two_cores(study: Study, runs: int) -> tuple[float, float]:
    """Wall time of two independent processes with half of the raw runs each, and of the study on two threads."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.starmap(_raw_half, [(study, 8)] * 2)  # both processes are there
        began = time.perf_counter()
        pool.starmap(_raw_half, [(study, runs // 2)] * 2, chunksize=1)
        processes = time.perf_counter() - began
    run_threads(study, 0, 64, 2)  # compiles in both threads
    began = time.perf_counter()
    run_threads(study, 0, runs, 2)
    return processes, time.perf_counter() - began


def _raw_half(study: Study, runs: int) -> float:
    return raw(study, runs)


def main(runs: int = 2000) -> None:
    columns = f"{'raw ms':>8} {'study ms':>9} {'ratio':>6} {'two processes':>14} {'two threads':>12} {'ratio':>6}"
    print(f"{'system':12} {columns}")
    for name, make, count in (
        ("pendulum", pendulum, 4 * runs),
        ("four-bar", four_bars, runs // 2),
        ("wheel", wheels, runs // 4),
        ("ball, beam", balls, runs // 20),
    ):
        study = make(count)
        study.block(0, 16)
        pairs = [(raw(study, count), ours(study, count)) for _ in range(REPEAT)]
        heyoka, whole = (min(times) / count * 1e3 for times in zip(*pairs, strict=True))
        both = [two_cores(study, count) for _ in range(2)]
        processes, threads = (min(times) / count * 1e3 for times in zip(*both, strict=True))
        one, two = f"{heyoka:8.4f} {whole:9.4f} {heyoka / whole:6.2f}", f"{processes:14.4f} {threads:12.4f}"
        print(f"{name:12} {one} {two} {processes / threads:6.2f}", flush=True)
    print("\nregion of attraction of the ball and beam with its motor")
    attraction()
    print("\nmemory and time of short runs in a Zarr store")
    growth()


def attraction(side: int = 100) -> None:
    """Starts of the ball over most of the beam, with speeds up to 0.4 m/s. Beyond them the wheel spins: long runs."""
    equations, rest, _, law = ball_and_beam.stabilized(1)
    r, loop = ball_and_beam.r, vn.close_loop(equations, law)
    over = {r: np.linspace(0.05, 0.35, side), r.diff(): np.linspace(-0.4, 0.4, side)}
    for method, options in (("bdf", {"tolerance": 1e-6}), ("taylor", {})):
        part = over if method == "bdf" else {key: values[:: side // 10] for key, values in over.items()}
        wall, spent = time.perf_counter(), time.process_time()
        found = vn.feedback.region_of_attraction(loop, rest, part, 10.0, method=method, **options)
        wall, spent = time.perf_counter() - wall, time.process_time() - spent
        print(f"{method:7} {found}; {wall:.1f} s, {spent:.1f} s of processors", flush=True)


def growth() -> None:
    """Time and memory against the number of runs."""
    import tempfile

    for runs in (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            vn.study(swing(), {}, (0, 1), over={THETA: vary.uniform(-2, 2)}, samples=runs, store=f"{folder}/s",
                     measure={"end": measure.final(THETA)}, chunk=50_000)  # fmt: skip
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{runs:9} runs: {time.perf_counter() - began:6.1f} s, largest memory {memory:.0f} MB")


if __name__ == "__main__":
    main()
