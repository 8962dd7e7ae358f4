"""The many runs that a model requests."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.analyze import Equilibrium
from vinculum.ensembles.ensemble import OUTCOMES
from vinculum.ensembles.plan import Study, plan_study
from vinculum.ensembles.vary import Variation
from vinculum.model.examine.motion_steps import Equations, question_of
from vinculum.model.examine.steps import loop_at, rest_of, run_near
from vinculum.model.model import Model

if TYPE_CHECKING:
    import xarray as xr

_WHERE = ("motion", "store", "chunk")  # keys of a study that are not arguments of `plan_study`


def study_of(model: Model, equations: Equations, samples: int | None = None, rest: Equilibrium | None = None) -> Study:
    """The many runs the model requests, checked and prepared; ``samples`` replaces that of the model.

    ``rest`` is the model's equilibrium where it was found before.
    """
    asked = question_of(model, "study")
    if samples is not None:
        asked["samples"] = samples
    closed = asked.get("motion") == "closed_loop"
    over = asked["over"]
    varied = over.columns if isinstance(over, Variation) else over
    run, how = _varied_loop(model, equations, varied, rest) if closed else (equations, _run_alone(model))
    how |= {key: value for key, value in asked.items() if key not in (*_WHERE, "initial")}
    start = {**how.pop("initial", {}), **asked.get("initial", {})}
    how["initial"] = {key: value for key, value in start.items() if key not in varied}
    how["inputs"] = {u: law for u, law in how.get("inputs", {}).items() if u not in varied}
    how.pop("dense", None)
    return plan_study(run, **how)


def _run_alone(model: Model) -> dict[str, Any]:
    """Arguments of the motion without feedback; its terminal events end the runs."""
    how = dict(model.simulation or {})
    return how | {"until": [event for event in how.pop("events", ()) if event.terminal]}


def _varied_loop(
    model: Model, equations: Equations, varied: Collection[Any], rest: Equilibrium | None
) -> tuple[Equations, dict[str, Any]]:
    """The closed loop at the first equilibrium and the arguments of its motion; gains are symbols if one varies."""
    rest = rest_of(model, equations) if rest is None else rest
    loop = loop_at(model, equations, rest, varied)
    own = {key: value for key, value in (model.study or {}).items() if key in ("initial", "times")}
    return loop, run_near(replace(model, closed_loop={**(model.closed_loop or {}), **own}), rest, rest)


@dataclass(frozen=True, eq=False)
class Runs:
    """Many runs: the plan, from which each can be run again, and what was kept of all of them."""

    plan: Study
    data: xr.Dataset

    @property
    def varied(self) -> list[str]:
        """The names of the varied quantities."""
        return list(self.plan.column_names().values())

    @property
    def measured(self) -> list[str]:
        """The measures; without any, the states at the end."""
        further = self.plan.ensemble.names
        return list(self.plan.ensemble.measures) or [
            name for name, dims in further.items() if not dims and name not in _CHECKS
        ]

    @cached_property
    def computed(self) -> np.ndarray:
        """Which runs were computed, (runs)."""
        return self.data.outcome.values.ravel() >= 0

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs ended in which way."""
        codes = self.data.outcome.values.ravel()
        return {kind: n for code, kind in enumerate(OUTCOMES) if (n := int((codes == code).sum()))}

    def column(self, name: str) -> np.ndarray:
        """A varied quantity or a measure of all runs, (runs)."""
        keys = {column: key for key, column in self.plan.column_names().items()}
        return self.plan.variation.columns[keys[name]] if name in keys else self.data[name].values.ravel()

    def is_grid(self, first: str, second: str) -> bool:
        """Whether both quantities are dimensions of the runs."""
        return first in self.data.dims and second in self.data.dims

    def largest_over(self, name: str) -> np.ndarray:
        """A measure over the grids of the first two varied quantities, the largest one over all others."""
        first, second = self.varied[:2]
        others = [dim for dim in self.data[name].dims if dim not in (first, second)]
        return self.data[name].max(others).transpose(first, second).values

    def worst(self, count: int) -> list[int]:
        """The numbers of the worst runs: without a value of the first measure, then with its largest ones."""
        done = np.flatnonzero(self.computed)
        values = self.column(self.measured[0])[done]
        return [int(k) for k in done[np.argsort(-np.where(np.isnan(values), np.inf, values), kind="stable")][:count]]

    def described(self, number: int) -> str:
        """The varied quantities of a run, and its first measure."""
        names = [*self.varied, *self.measured[:1]]
        return ", ".join(f"{name} = {self.column(name)[number]:.4g}" for name in names)


_CHECKS = ("outcome", "end_time", "energy_error", "largest_residual")


def runs_of(
    model: Model,
    equations: Equations,
    progress: Callable[[float], None] | None = None,
    rest: Equilibrium | None = None,
) -> Runs:
    """The many runs the model requests, computed; those in its store are read."""
    asked = model.study or {}
    planned = study_of(model, equations, rest=rest)
    folder = asked.get("store")
    store = None if folder is None else (model.source.parent if model.source else Path()) / str(folder)
    return Runs(planned, planned.run(store=store, chunk=asked.get("chunk"), progress=progress or False))
