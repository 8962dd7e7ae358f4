"""Random runs with a promised accuracy: a run that says it kept its promise did, every other one ends with a reason.

make promises ARGS="--count 1000 --jobs 2"

Constrained motions with short pulses, dry friction, close encounters and chaos, with random methods, accuracies and
steps. The residuals are evaluated by NumPy on the dense output, at random instants; where an accuracy of the trajectory
is promised, the run is compared with the same motion in free coordinates, derived by itself and integrated to 1e-13.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

SEED = 20200304
t = dynamicsymbols._t
x, y, z, X, Y, theta, phi = dynamicsymbols("x y z X Y theta phi")
gravity, push, when, width, rub, soft, pull = sp.symbols("g push when width rub soft pull")

GAUSS = push * sp.exp(-(((t - when) / width) ** 2))
BOX = sp.Piecewise((push, (t > when) & (t < when + width)), (0, True))
METHODS = ("rk4", "rk4", "rk4", "midpoint", "euler", "ab2", "ab3", "ab4", "abm2", "abm3", "abm4")
FREE = ("theta", "phi", "X", "Y")  # coordinates of the systems without constraints
INSTANTS = 1500  # of the dense output that are looked at


@dataclass(frozen=True)
class Family:
    """A constrained system, the same motion in free coordinates, and how to draw a case."""

    constrained: vn.System
    free: vn.System
    same: dict[sp.Expr, sp.Expr]  # coordinates of the constrained system by those of the free one
    start: Callable[[np.random.Generator], dict[sp.Expr, float]]  # of the free system
    numbers: Callable[[np.random.Generator, float], dict[sp.Symbol, float]]  # with the duration
    jumps: bool = False  # whether only a method that stops at corners integrates it accurately


def _velocities(coordinates: dict[sp.Expr, sp.Expr]) -> dict[sp.Expr, sp.Expr]:
    return {key.diff(t): value.diff(t) for key, value in coordinates.items()}


def _both(
    coordinates: list, free: dict, kinetic: sp.Expr, potential: sp.Expr, forces: dict, constraints: list, names: list
) -> tuple[vn.System, vn.System, dict]:
    """The system with its constraints, and the same in the coordinates of ``free``, {dependent: expression}."""
    parameters = dict.fromkeys(names, 1.0)
    constrained = vn.System(
        coordinates, kinetic, potential, forces=forces, constraints=constraints, parameters=parameters
    )
    own = sorted({f for e in free.values() for f in e.atoms(sp.Function) if f.func.__name__ in FREE}, key=str)
    put = {**_velocities(free), **free}
    work = {
        q: sum((force * free[key].diff(q) for key, force in forces.items()), sp.S.Zero).subs(put).doit() for q in own
    }
    plain = vn.System(own, kinetic.subs(put).doit(), potential.subs(free), forces=work, parameters=parameters)
    return constrained, plain, free


def _uniform(low: float, high: float, random: np.random.Generator) -> float:
    return float(random.uniform(low, high))


def _pulse(random: np.random.Generator, span: float) -> dict[sp.Symbol, float]:
    """A push of 0.3 to 3 in momentum, 0.1 % to 5 % of the duration long."""
    short = span * float(np.exp(random.uniform(np.log(1e-3), np.log(5e-2))))
    return {push: _uniform(0.3, 3, random) / short, when: _uniform(0.1, 0.85, random) * span, width: short}


def _pendulum(force: sp.Expr, names: list) -> tuple:
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    rod = vn.Holonomic(x**2 + y**2 - 1, name="rod")
    return _both(
        [x, y], {x: sp.sin(theta), y: -sp.cos(theta)}, kinetic, gravity * y, {x: force}, [rod], [gravity, *names]
    )


def _swing(random: np.random.Generator) -> dict[sp.Expr, float]:
    return {theta: _uniform(-2, 2, random), theta.diff(t): _uniform(-3, 3, random)}


def _double() -> tuple:
    """Two rods, chaotic at these energies."""
    kinetic = sum(q.diff(t) ** 2 for q in (x, y, X, Y)) / 2
    rods = [vn.Holonomic(x**2 + y**2 - 1, name="upper"), vn.Holonomic((X - x) ** 2 + (Y - y) ** 2 - 1, name="lower")]
    free = {x: sp.sin(theta), y: -sp.cos(theta)}
    free |= {X: free[x] + sp.sin(phi), Y: free[y] - sp.cos(phi)}
    return _both([x, y, X, Y], free, kinetic, gravity * (y + Y), {X: GAUSS}, rods, [gravity, push, when, width])


def _bowl() -> tuple:
    """A particle in a bowl, attracted by a softened center near its bottom: close encounters are short and violent."""
    kinetic = (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2
    attraction = -pull / sp.sqrt((x - sp.Rational(1, 5)) ** 2 + y**2 + soft**2)
    bowl = vn.Holonomic(z - (x**2 + y**2) / 2, name="bowl")
    free = {x: X, y: Y, z: (X**2 + Y**2) / 2}
    return _both([x, y, z], free, kinetic, gravity * z + attraction, {}, [bowl], [gravity, pull, soft])


@cache
def families() -> dict[str, Family]:
    """All families; their numbers are parameters, so each is derived and compiled once."""
    earth = {gravity: 9.81}
    friction = -rub * sp.sign(x.diff(t))
    return {
        "smooth pulse": Family(*_pendulum(GAUSS, [push, when, width]), _swing, lambda r, T: earth | _pulse(r, T)),
        "sudden pulse": Family(
            *_pendulum(BOX, [push, when, width]), _swing, lambda r, T: earth | _pulse(r, T), jumps=True
        ),
        "friction": Family(
            *_pendulum(friction, [rub]), _swing, lambda r, T: earth | {rub: _uniform(0.2, 2, r)}, jumps=True
        ),
        "chaos": Family(
            *_double(),
            lambda r: {theta: _uniform(-2, 2, r), phi: _uniform(-2, 2, r), theta.diff(t): 0.0, phi.diff(t): 0.0},
            lambda r, T: earth | _pulse(r, T),
        ),
        "encounters": Family(
            *_bowl(),
            lambda r: {X: _uniform(0.4, 1, r), Y: _uniform(-0.5, 0.5, r), X.diff(t): _uniform(-1, 1, r),
                       Y.diff(t): _uniform(-1, 1, r)},
            lambda r, T: {gravity: 1.0, pull: _uniform(0.2, 1.5, r), soft: _uniform(0.03, 0.3, r)},
        ),
    }  # fmt: skip


@cache
def equations(name: str, free: bool) -> vn.EquationsOfMotion:
    """The equations of a family."""
    family = families()[name]
    return vn.derive(family.free if free else family.constrained)


@dataclass(frozen=True)
class Case:
    """One random run."""

    family: str
    method: str
    span: float
    epsilon: float
    trajectory: float | None
    step: float | None
    start: dict[sp.Expr, float]
    numbers: dict[sp.Symbol, float]


def draw(number: int, seed: int = SEED) -> Case:
    """The case with a number."""
    random = np.random.default_rng([seed, number])
    name = str(random.choice(list(families())))
    family, method = families()[name], str(random.choice(METHODS))
    span = _uniform(1.5, 5, random) if method == "euler" else _uniform(2, 10, random)
    loosest, tightest = (-2, -4) if method == "euler" else (-3, -8)
    epsilon = 10 ** _uniform(tightest, loosest, random)
    tight = -2 if method == "euler" else -3 if family.jumps else -5
    trajectory = 10 ** _uniform(tight, -1, random) if random.random() < 0.5 else None
    step = 10 ** _uniform(-3, -1, random) if random.random() < 0.2 else None
    return Case(name, method, span, epsilon, trajectory, step, family.start(random), family.numbers(random, span))


def run_case(case: Case) -> tuple[str, str]:
    """(what the run said, what is wrong with it)."""
    family, model = families()[case.family], equations(case.family, False)
    put = {**case.start, **case.numbers}
    known = {**_velocities(family.same), **family.same}
    initial = {key: float(sp.sympify(value).doit().subs(put)) for key, value in known.items()}
    promise = vn.Guaranteed(case.epsilon, trajectory=case.trajectory)
    try:
        motion = vn.simulate(
            model, initial, (0, case.span), case.method, step=case.step, stabilization=promise,
            parameters=case.numbers, dense=True, progress=False,
        )  # fmt: skip
    except vn.VinculumError as error:
        return "refused", "" if "keeps the constraints" in str(error) or "passes over" in str(error) else str(error)
    if not motion.kept:
        return f"ended: {motion.outcome.cause.name}", "" if not motion.outcome else f"not kept, but {motion.outcome}"
    return "kept" if case.trajectory is None else "kept, with trajectory", _false(case, motion)


def _false(case: Case, motion: vn.Trajectory) -> str:
    """What is not true of a run that says it kept its promise."""
    random = np.random.default_rng(7)
    times = np.sort(random.uniform(0, case.span, INSTANTS))
    found = motion.at(times)
    for constraint in families()[case.family].constrained.constraints:
        for level, residual in (("position", constraint.expression), ("velocity", constraint.expression.diff(t))):
            largest = float(np.abs(_values(residual, found, times)).max())
            bound = motion.promised[constraint.name, level]
            if largest > bound:
                return f"{constraint.name}, {level}: {largest:.3g}, promised {bound:.3g}"
            if level == "position" and bound > case.epsilon:
                return f"{constraint.name}: promised {bound:.3g}, asked {case.epsilon:.3g}"
    if case.trajectory is None:
        return ""
    error = _error(case, found, times)
    promised = motion.trajectory_error
    if promised is None or promised > case.trajectory or error > promised:
        return f"trajectory: {error:.3g}, promised {promised}, asked {case.trajectory:.3g}"
    return ""


def _values(expression: sp.Expr, found: dict[str, np.ndarray], times: np.ndarray) -> np.ndarray:
    """An expression of coordinates and velocities, by NumPy."""
    coordinates = sorted(expression.atoms(sp.Function), key=str)
    names = {q.diff(t): sp.Symbol(f"dot_{q.func.__name__}") for q in coordinates}
    names |= {q: sp.Symbol(q.func.__name__) for q in coordinates}
    columns = {symbol: found[f"{q.func.__name__}_dot" if key != q else q.func.__name__]
               for key, symbol in names.items() for q in coordinates if key in (q, q.diff(t))}  # fmt: skip
    function = sp.lambdify(list(columns), expression.subs(names), "numpy")
    return function(*columns.values()) + 0 * times


def _error(case: Case, found: dict[str, np.ndarray], times: np.ndarray) -> float:
    """The largest difference to the accurate motion in any coordinate."""
    family = families()[case.family]
    reference = _reference(case, times)
    symbols = sorted({q for e in family.same.values() for q in e.atoms(sp.Function) if q in reference}, key=str)
    worst = 0.0
    for key, expression in family.same.items():
        exact = sp.lambdify(symbols, expression, "numpy")(*(reference[q] for q in symbols))
        worst = max(worst, float(np.abs(exact - found[key.func.__name__]).max()))
    return worst


def _reference(case: Case, times: np.ndarray) -> dict[sp.Expr, np.ndarray]:
    """The motion in free coordinates by Taylor's method, in parts that do not pass over a pulse."""
    model, numbers = equations(case.family, True), case.numbers
    marks = {0.0, case.span}
    if width in numbers:
        middle, reach = numbers[when], 7 * numbers[width]
        marks |= {float(m) for m in np.linspace(middle - reach, middle + reach, 15) if 0 < m < case.span}
    state, columns = dict(case.start), {q: np.empty(len(times)) for q in model.user_symbols}
    for low, high in zip(sorted(marks)[:-1], sorted(marks)[1:], strict=True):
        inside = (times >= low) & (times <= high)
        grid = np.unique([low, *times[inside], high])
        part = vn.simulate(model, state, grid, parameters=numbers, tolerance=1e-15, progress=False)
        assert part.outcome, part.outcome
        for q in columns:
            values = part[q]
            columns[q][inside] = np.interp(times[inside], part.t, values)
            state[q] = float(values[-1])
    return columns


# -- many of them --------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """How many runs said what, and which were wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.failures += other.failures

    def __str__(self) -> str:
        said = ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
        return f"{sum(self.counts.values())} runs: {said}; {len(self.failures)} false"


def run(numbers: range, seed: int = SEED) -> Tally:
    """The cases with these numbers."""
    tally = Tally()
    for number in numbers:
        case = draw(number, seed)
        said, wrong = run_case(case)
        tally.counts[said] += 1
        if wrong:
            tally.failures.append(f"{number} ({case.family}, {case.method}): {wrong}")
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    size, total, began = 20, Tally(), time.perf_counter()
    parts = [range(i, min(i + size, asked.count)) for i in range(0, asked.count, size)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for part in pool.map(run, parts, [asked.seed] * len(parts)):
            total.add(part)
            print(
                f"{total}, {time.perf_counter() - began:.0f} s", *part.failures, sep="\n", file=sys.stderr, flush=True
            )
    print(total, *total.failures, sep="\n")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
