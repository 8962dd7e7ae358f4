"""All benchmarks in one run: ``make bench``. Tables and plots go to benchmarks/results/."""

import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from sympy.core.cache import clear_cache

import vinculum as vn
from vinculum.derivation.mechanics.integrable_mechanics import choose_elimination

from . import delta, exported, ours, peers, quasi
from .measure import Timing, duration, markdown_table, measure, save_growth, save_table
from .models import Model, four_bar, nearby, pendulum, wheel

RESULTS = Path(__file__).parent / "results"
FAST = {"tolerance": 1e-13, "compact": False}  # of the Taylor method: still the smaller energy error of the two


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    report("derivation", derivations())
    report("evaluation", evaluations())
    report("wheel", wheel_runs())
    report("delta_to_gains", delta.to_gains())
    report("delta_right_side", delta.evaluations())
    report("delta_exported", exported.evaluations())
    report("quasi_velocities", quasi.derivations())
    report("quasi_velocities_rates", quasi.evaluations())
    report("start", [ours.cold_start() for _ in range(3)])
    grown = growth()
    report("growth", grown)
    plot_growth(grown)


def report(name: str, rows: list[dict]) -> None:
    """Print a table and write it as Markdown and CSV."""
    if not rows:
        return
    save_table(rows, RESULTS / name)
    print(f"\n{name}\n{markdown_table(rows)}", flush=True)


def derivations() -> list[dict]:
    """Energies to equations of motion, beside LagrangesMethod and a derivation by hand in SymPy."""
    models = {"four-bar": four_bar()} | {f"pendulum {n}": pendulum(n) for n in (4, 8, 12)}
    rows = []
    for name, model in models.items():
        repeats = 1 if name == "pendulum 12" else 3
        vinculum = measure(lambda model=model: ours.derivation(model), 7, calls=1, prepare=clear_cache)
        method = measure(lambda model=model: peers.sympy_derivation(model), repeats, calls=1, prepare=clear_cache)
        by_hand = measure(lambda model=model: peers.direct_derivation(model), repeats, calls=1, prepare=clear_cache)
        rows.append(compared(name, vinculum, {"LagrangesMethod": method, "SymPy by hand": by_hand}))
    return rows


def evaluations() -> list[dict]:
    """One evaluation of the accelerations: compiled batch of 10 000 beside lambdify(cse=True) and NumPy's solve."""
    rows = []
    for name, model in {"four-bar": four_bar(), "pendulum 4": pendulum(4), "pendulum 8": pendulum(8)}.items():
        equations = ours.derivation(model)
        function = ours.compiled(equations, ours.explicit(equations, model))
        peer = peers.lambdified_accelerations(model, peers.sympy_derivation(model))
        agree(function(0.0, model.start, np.array(list(model.parameters.values()))), peer(model.start))
        run = measure(ours.batch(function, model), 5)
        one = Timing(run.best / 10_000, run.median / 10_000, run.repeats, run.calls)
        rows.append(compared(name, one, {"lambdify": measure(lambda peer=peer, x=model.start: peer(x), 5)}))
    return rows


def agree(a: np.ndarray, b: np.ndarray) -> None:
    """Both sides must do the same work."""
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def compared(name: str, vinculum: Timing, others: dict[str, Timing]) -> dict:
    """A row of a table: our time, the others', and how many times longer they take."""
    row: dict = {"model": name, "Vinculum": duration(vinculum.best)}
    for peer, timing in others.items():
        row |= {peer: duration(timing.best), f"{peer} / Vinculum": timing.best / vinculum.best}
    return row


def wheel_runs(starts: int = 5) -> list[dict]:
    """The wheel over [0, 200] at like energy error, medians over nearby starts: DOP853 and the Taylor method.

    The motion is chaotic after t = 25, so one run is one sample.
    """
    model = wheel()
    models = nearby(model, model.velocities[3], 1e-9, starts)
    began = perf_counter()
    equations = ours.derivation(model)
    vn.simulate(equations, model.initial, (0, 0.1), **FAST)
    compiling = perf_counter() - began
    ours_row = taylor_row(equations, models)
    runs = [peers.scipy_wheel(m, rtol=1e-13, atol=1e-13) for m in models]
    theirs = {
        "method": "DOP853, lambdified, rtol = atol = 1e-13",
        "run, s": median(r.seconds for r in runs),
        "derive and compile, s": runs[0].setup_seconds,
        "energy error": median(r.energy_error for r in runs),
        "largest residual": median(max(r.residuals.values()) for r in runs),
    }
    ours_row["derive and compile, s"] = compiling
    rows = [ours_row, theirs]
    for row in rows:
        row["run / ours"] = row["run, s"] / ours_row["run, s"]
        total = row["run, s"] + row["derive and compile, s"]
        row["total / ours"] = total / (ours_row["run, s"] + compiling)
    return rows


def taylor_row(equations: vn.EquationsOfMotion, models: list[Model]) -> dict:
    runs = [vn.simulate(equations, m.initial, (0, 200), **FAST) for m in models]
    return {
        "method": "Vinculum, taylor, tolerance = 1e-13, compact=False",
        "run, s": median(r.seconds["run"] for r in runs),
        "derive and compile, s": 0.0,
        "energy error": median(r.energy_error for r in runs),
        "largest residual": median(max(r.largest_residuals.values()) for r in runs),
    }


def growth(sizes: tuple = (2, 4, 8, 12, 16, 24, 30)) -> list[dict]:
    """How derivation, operations, compilation and evaluation of the n-link pendulum grow with n."""
    rows = []
    for n in sizes:
        model = pendulum(n)
        derive = measure(lambda model=model: ours.derivation(model), 3, calls=1, prepare=clear_cache)
        equations = ours.derivation(model)
        eliminate = measure(lambda model=model, e=equations: fresh(e, model), 3, calls=1)
        nodes = ours.explicit(equations, model)
        compile_ = measure(lambda e=equations, nodes=nodes: ours.compiled(e, nodes), 2, calls=1)
        function = ours.compiled(equations, nodes)
        run = measure(ours.batch(function, model, 1000), 5)
        rows.append(
            {
                "n": n,
                "derive, s": derive.best,
                "eliminate, s": eliminate.best,
                "operations": equations.operations().total(),
                "compile, s": compile_.best,
                "evaluate, s": run.best / 1000,
            }
        )
    return rows


def fresh(equations: vn.EquationsOfMotion, model: Model) -> None:
    """Eliminate again, past what the record remembers."""
    choose_elimination(equations, equations.values(model.initial))


def plot_growth(rows: list[dict]) -> None:
    columns = ["derive, s", "eliminate, s", "compile, s", "evaluate, s"]
    curves = {column.removesuffix(", s"): {row["n"]: row[column] for row in rows} for column in columns}
    save_growth(curves, RESULTS / "growth.png", "n", "seconds", "n-link pendulum")
    counts = {"operations": {row["n"]: row["operations"] for row in rows}}
    save_growth(counts, RESULTS / "operations.png", "n", "operations", "n-link pendulum")


if __name__ == "__main__":
    sys.exit(main())
