"""The examples of the library as motions that a page computes, all in one page with a strict policy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.control.symbolic_gains import symbolic_gains
from vinculum.export.live_kernels import LiveMotion, methods
from vinculum.export.live_motion import live_motion
from vinculum.export.samples import expected, random_values
from vinculum.graph import Node
from vinculum.model.examine import Results, equations_of, examine, loop_of, motion_of
from vinculum.simulation.problem.motion_expressions import MotionNodes

LIBRARY = Path(vn.__file__).parent / "model" / "library"
CLOSED = ("ball_and_beam", "delta_robot", "five_bar", "segway", "start")  # whose closed loops are computed too
NAMES = sorted(path.stem for path in LIBRARY.glob("*.toml"))

PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-n'; img-src data:">
<script nonce="n">
{methods}
const models = {{ {models} }};
function called(model, name, args, sizes) {{
  const kernels = {{ motion: models[model].motion, states: models[model].states }};
  for (const row of [...models[model].levels, ...models[model].starts]) kernels[row.kernel.name] = row.kernel;
  const results = sizes.map((size) => new Float64Array(size));
  kernels[name](...args, ...results);
  return results.flatMap((row) => [...row]);
}}
function errors(cases) {{
  return cases.map(([model, name, args, sizes, wanted, allowed]) => called(model, name, args, sizes)
    .reduce((worst, x, i) => Math.max(worst, Math.abs(x - wanted[i]) / Math.max(allowed[i], 1e-300) || 0,
      Number.isNaN(x) ? Infinity : 0), 0));
}}
function ran(model, request) {{
  const numbers = {{ ...request, p: Float64Array.from(request.p), times: Float64Array.from(request.times) }};
  const whole = (tolerance, stiff) => {{
    const run = compute(models[model], {{ ...numbers, tolerance, stiff }});
    let now = run.next();
    while (!now.done) now = run.next();
    return now.value;
  }};
  try {{
    const draft = whole(request.tolerance ?? 1e-8, false), began = performance.now();
    const fine = whole((request.tolerance ?? 1e-8) / 100, draft.stiff);
    return {{ ...fine, errors: null, balance: null, ms: performance.now() - began,
      accuracy: difference(models[model], draft, fine), start: [...fine.start], times: [...fine.times],
      columns: Object.fromEntries(Object.entries(fine.columns).map(([key, row]) => [key, [...row]])) }};
  }} catch (error) {{
    if (error instanceof Refusal) return {{ refused: error.message }};
    throw error;
  }}
}}
window.vinculumReady = true;
</script>"""


@dataclass(frozen=True, eq=False)
class Case:
    """A motion of Python and its functions for a page."""

    name: str
    motion: Any
    live: LiveMotion
    equations: Any
    question: dict[str, Any]  # of `simulate`

    @property
    def request(self) -> dict[str, Any]:
        """The numbers of the run."""
        start = [self.live.values[key] for key in self.live.start_symbols]
        return {"p": list(self.live.settings.values()), "s": start, "times": self.motion.t.tolist()}


def columns(nodes: MotionNodes) -> dict[str, Node]:
    """Coordinates, velocities and reactions."""
    record = nodes.integrable
    keys = dict.fromkeys((*record.roles.symbols, *record.roles.reactions.values()))
    return dict(
        zip([str(key.value) for key in keys], nodes.as_reported([record.outputs[k] for k in keys]), strict=True)
    )


def cases(name: str) -> list[Case]:
    """The requested motion of an example, and that of its closed loop."""
    model = vn.load(LIBRARY / f"{name}.toml")
    if name in CLOSED:
        results = examine(model)
        return [*_open(name, results), _closed(name, results)]
    equations = equations_of(model)
    return _open(name, Results(model, equations, motion_of(model, equations)))


def fall(stopped: bool = False) -> Case:
    """A fall into a center, by itself or until half of the way."""
    r, k = dynamicsymbols("r"), sp.Symbol("k")
    system = vn.System([r], r.diff() ** 2 / 2, -k / r, parameters={k: 1.0}, name="fall")
    half = vn.Event(r - sp.Rational(1, 2), name="half", terminal=True)
    equations = vn.derive(system)
    motion = vn.simulate(equations, {r: 1.0, r.diff(): 0.0}, np.linspace(0, 0.8, 101), events=[half] if stopped else ())
    given = (r, r.diff())
    return Case("stopped fall" if stopped else "fall", motion, live_motion(motion, columns, given), equations, {})


def _open(name: str, results: Results) -> list[Case]:
    if results.motion is None:
        return []
    asked = dict(results.model.simulation or {})
    live = live_motion(results.motion, columns, asked.get("initial") or ())
    return [Case(name, results.motion, live, results.equations, asked)]


def _closed(name: str, results: Results) -> Case:
    point = results.points[0]
    law, gains = symbolic_gains(point.law, (results.model.control or {}).get("pid"))
    loop = loop_of(results.model, results.equations, law, point.estimator)
    live = live_motion(point.closed_motion, columns, (), (loop, gains))
    return Case(f"{name} closed", point.closed_motion, live, point.loop, {})


def written(every: list[Case]) -> str:
    """The page with the functions of all cases."""
    models = ",\n".join(f"{json.dumps(case.name)}: {case.live.source}" for case in every)
    return PAGE.format(methods=methods(), models=models)


def samples(case: Case) -> list[list[Any]]:
    """Every function at random arguments, with the numbers of the graph and the rounding that is allowed."""
    live, found = case.live, []
    starts = [live.start_kernel(k) for k in range(len(live.starts))]
    known = {**live.values, **dict(zip(live.nodes.state, _middle(case), strict=True))}
    for kernel in (live.motion, live.states, *(kernel for kernel, _ in live.levels), *starts):
        chosen = random_values(kernel, known, 2)
        for values, pairs in zip(chosen, expected(kernel, chosen), strict=True):
            args = [values[g.nodes[0]] if g.scalar else [values[n] for n in g.nodes] for g in kernel.arguments]
            sizes = [len(group) for group in kernel.results]
            found.append([case.name, kernel.name, args, sizes, *map(list, zip(*pairs, strict=True))])
    return found


def _middle(case: Case) -> np.ndarray:
    states = case.motion.segments[0].states
    places = {node: i for i, node in enumerate(case.motion.problem.nodes.state)}
    return np.array(
        [states[len(states) // 3, places[node]] if node in places else 0.0 for node in case.live.nodes.state]
    )
