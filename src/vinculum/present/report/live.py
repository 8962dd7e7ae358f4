"""Motions that the page computes again when a number changes: what may change, and the code that computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from vinculum.control.symbolic_gains import symbolic_gains
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.integrable import WORK, Equations
from vinculum.export.live_kernels import LiveMotion, methods
from vinculum.export.live_motion import live_motion, refusal
from vinculum.graph import Node
from vinculum.model.examine import Results, loop_of
from vinculum.names import name_of, variable_name
from vinculum.present.report.charts import Charts
from vinculum.present.report.scenes import Animation
from vinculum.present.report.tables import Table
from vinculum.simulation.problem.motion_expressions import MotionNodes

MOST = 400_000  # characters of JavaScript for all motions of a page


@dataclass(frozen=True)
class Setting:
    """A number that may change: what it is, its value, and the motions that depend on it."""

    kind: str  # parameter, start, gain or rate
    key: sp.Expr
    value: float
    reach: float  # of the slider: a factor for parameters, gains and rates, else a distance
    runs: tuple[str, ...] = ()

    @property
    def log(self) -> bool:
        """Whether the slider multiplies."""
        return self.kind != "start" and self.value != 0


@dataclass(eq=False)
class Live:
    """The motions that can be computed again, by table, and the reasons why others cannot."""

    motions: dict[str, LiveMotion] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    places: dict[str, dict[str, list[str | float]]] = field(default_factory=dict)  # of settings in p and s
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        """Settings and their places, for the page's script."""
        rows = {name: {"value": s.value, "reach": s.reach, "log": s.log} for name, s in self.settings.items()}
        return {"settings": rows, "runs": self.places, "refused": self.refused}

    def code(self, worker: str) -> str:
        """The text of the worker: methods of integration, the functions of all motions, and its messages."""
        models = "\n".join(f"models[{name!r}] = {live.source};" for name, live in self.motions.items())
        return "\n".join(['"use strict";', methods(), "const models = {};", models, worker])


def live_motions(results: Results, charts: Charts, shown: Sequence[Animation]) -> Live:
    """The motions of the films, with everything that their tables show."""
    found, size = Live(), 0
    for one in shown:
        table = charts.tables[one.run]
        why = refusal(table.motion)
        if not why:
            live = live_motion(table.motion, _columns(table), _given(results, one), _loop(results, one))
            size += len(live.source)
            why = (
                ""
                if size <= MOST
                else f"its equations take {size // 1000} kB of code, and {MOST // 1000} kB are allowed"
            )
        if why:
            found.refused[one.run] = why
        else:
            _enter(found, one, live, results)
    return found


def without_sliders(shown: Sequence[Animation], most: int) -> Live:
    """No motion is computed again, because the page would be too large."""
    why = f"the page would be larger than {most / 1e6:g} MB with the code that computes its motions"
    return Live(refused={one.run: why for one in shown})


def _given(results: Results, one: Animation) -> Mapping[sp.Expr, float]:
    """The start values in the model."""
    model = results.model
    own = (model.closed_loop or {}).get("initial") if one.group != "motion" else None
    return own or (model.simulation or {}).get("initial") or {}


def _loop(results: Results, one: Animation) -> tuple[Equations, Mapping[sp.Symbol, float]] | None:
    """The closed loop with symbols for its gains."""
    kind, _, number = one.run.partition("-")
    if kind != "closed":
        return None
    point = results.points[int(number) - 1]
    assert point.law is not None
    assert isinstance(results.equations, EquationsOfMotion)
    law, gains = symbolic_gains(point.law, (results.model.control or {}).get("pid"))
    return loop_of(results.model, results.equations, law, point.estimator), gains


# -- columns ------------------------------------------------------------------------------------------------------


def _columns(table: Table) -> Callable[[MotionNodes], dict[str, Node]]:
    """Every column of a table as a node of the motion."""

    def made(nodes: MotionNodes) -> dict[str, Node]:
        known = _by_name(nodes)
        return {
            name: nodes.node(table.expressions[name], name) if name in table.expressions else known[name]
            for name in table.columns
        }

    return made


def _by_name(nodes: MotionNodes) -> dict[str, Node]:
    """Quantities that a table names without an expression; the page's script adds E(0) to the work."""
    record = nodes.integrable
    reactions = {f"reaction {name}": record.outputs[key] for name, key in record.roles.reactions.items()}
    states = {naming(key.value): node for key, node in record.outputs.items() for naming in (name_of, variable_name)}
    own = {**states, **reactions, "energy": nodes.energy, "energy and work": WORK}
    return dict(zip(own, nodes.as_reported(list(own.values())), strict=True))


# -- settings -----------------------------------------------------------------------------------------------------


def _enter(found: Live, one: Animation, live: LiveMotion, results: Results) -> None:
    """Add a motion and its settings."""
    parameters = live.nodes.integrable.parameters
    p = [_kind(node, parameters) for node in live.settings]
    names = [_name(kind, one, node) for kind, node in zip(p, live.settings, strict=True)]
    for name, kind, (node, value) in zip(names, p, live.settings.items(), strict=True):
        _set(found, name, Setting(kind, node.value, value, 4.0 if value else 1.0, (one.run,)))
    s: list[str | float] = [live.values[node] for node in live.start_symbols]
    for i, node in enumerate(live.start_symbols):
        if node in live.independent:
            value, s[i] = float(live.values[node]), _name("start", one, node)
            _set(found, str(s[i]), Setting("start", node.value, value, _reach(live, node, value), (one.run,)))
    found.motions[one.run] = live
    found.places[one.run] = {"p": list(names), "s": s}


def _kind(node: Node, parameters: Mapping[Node, float]) -> str:
    if node in parameters:
        return "parameter"
    return "rate" if str(node.value).startswith("rate of ") else "gain"


def _name(kind: str, one: Animation, node: Node) -> str:
    """Parameters belong to all motions, start values to those with and without feedback, gains to one."""
    whose = {"parameter": "", "start": f"{one.group} "}.get(kind, f"{one.run} ")
    return f"{kind} {whose}{name_of(node.value)}"


def _set(found: Live, name: str, setting: Setting) -> None:
    known = found.settings.get(name)
    runs = setting.runs if known is None else (*known.runs, *setting.runs)
    found.settings[name] = Setting(setting.kind, setting.key, setting.value, setting.reach, runs)


def _reach(live: LiveMotion, node: Node, value: float) -> float:
    """The range of a slider for a start value: its distance from zero, or the largest value of the state."""
    sizes = dict(zip(live.nodes.state, live.sizes, strict=True))
    return float(f"{max(abs(value), sizes.get(node, 0.0)) or 1.0:.2g}") if np.isfinite(value) else 1.0
