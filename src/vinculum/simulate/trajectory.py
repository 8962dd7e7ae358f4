"""The result of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.graph import from_sympy
from vinculum.names import suggestion, variable_name
from vinculum.simulate.events import Happened, reaction
from vinculum.simulate.outcome import Outcome

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.simulate.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion: samples in time and all that can be computed from them.

    ``motion.t``; ``motion[x]`` for a coordinate, velocity, acceleration, input, reaction or any expression of them;
    ``motion.residuals``, ``motion.energy``, ``motion.reactions``; ``motion.outcome`` says how the run ended;
    ``motion.largest_residuals`` and ``motion.energy_error`` were taken over every step, not only the samples.
    """

    t: np.ndarray  # (N)
    states: np.ndarray  # (N, n)
    outcome: Outcome
    largest_residuals: Mapping[tuple[str, str], float]  # (constraint, "position" or "velocity") -> largest |residual|
    energy_error: float  # largest |E(t) - E(0) - work of forces|
    method: str  # the method and why it was chosen, with its step or tolerance
    stabilization: str
    events: tuple[Happened, ...] = ()
    steps: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)  # wall time of each stage
    segments: tuple[tuple[int, Problem], ...] = ()  # (first sample, problem): pivots may change along the way
    dense: tuple[Any, ...] = ()
    stored: Any = None  # the dataset of a trajectory that was read from a file

    def __getitem__(self, key: sp.Expr | str) -> np.ndarray:
        """Samples of a symbol or of any expression of symbols, as an array (N)."""
        name = key if isinstance(key, str) else variable_name(key)
        if name in self._columns:
            return self._columns[name]
        if self.problem is None or isinstance(key, str):
            known = [*self._columns, *(self.dataset.data_vars if self.stored is not None else ())]
            if name in known:
                return np.asarray(self.dataset[name])
            raise VinculumError(f"{name} is not in this trajectory.{suggestion(name, known)}")
        return self._computed([sp.sympify(key)])[:, 0]

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        if self.stored is not None:
            return {str(name): np.asarray(data) for name, data in self.stored.data_vars.items()}
        names = [variable_name(key) for key in self.problem.equations.states]  # type: ignore[union-attr]
        return {name: self.states[:, i] for i, name in enumerate(names)}

    @property
    def problem(self) -> Problem | None:
        """What was integrated; none for a trajectory that was read from a file."""
        return self.segments[0][1] if self.segments else None

    def _computed(self, expressions: list[sp.Expr]) -> np.ndarray:
        """Expressions at every sample, each with the pivots that were good there."""
        pieces = []
        ends = [first for first, _ in self.segments[1:]] + [len(self.t)]
        for (first, problem), end in zip(self.segments, ends, strict=True):
            nodes = [problem.node(e, f"motion[{e}]") for e in expressions]
            pieces.append(problem.compiled(nodes).rows(self.t[first:end], self.states[first:end], problem.values))
        return np.vstack(pieces)

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """λ of every constraint, in M q̈ + h = Q + Jᵀλ."""
        if self.problem is None:
            return self._stored("reaction_")
        names = [c.name for c in self.problem.equations.system.constraints]
        return dict(zip(names, self._computed([reaction(name) for name in names]).T, strict=True))

    @cached_property
    def residuals(self) -> dict[tuple[str, str], np.ndarray]:
        """The residual of every constraint at position and velocity level: {(name, level): array (N)}."""
        if self.problem is None:
            pairs = {key: key.removeprefix("residual_").rsplit("_", 1) for key in self._stored_names("residual_")}
            return {(name, level): self._columns[key] for key, (name, level) in pairs.items()}
        problem = self.problem
        rows = problem.compiled(problem.residuals).rows(self.t, self.states, problem.values)
        return dict(zip(problem.residual_names, rows.T, strict=True))

    @cached_property
    def energy(self) -> np.ndarray:
        """E = q̇·∂T/∂q̇ - T + V."""
        if self.problem is None:
            return self._columns["energy"]
        problem = self.problem
        energy = problem.lifted([problem.equations.mechanics.energy])
        return problem.compiled(energy).rows(self.t, self.states, problem.values)[:, 0]

    @cached_property
    def work(self) -> np.ndarray:
        """The work done on the system since the start: by forces, moving constraints and explicit time."""
        if self.problem is None:
            return self._columns["work"]
        n = len(self.problem.equations.states)
        return self.states[:, n] if self.states.shape[1] > n else np.zeros(len(self.t))

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Everything as an xarray dataset over ``time``."""
        if self.stored is not None:
            return self.stored
        from vinculum.simulate.storage import dataset

        return dataset(self)

    def at(self, times: np.ndarray | float) -> dict[str, np.ndarray]:
        """States between the samples, from the dense output of a run with ``dense=True``: {name: values}."""
        from vinculum.simulate.dense import interpolate

        return interpolate(self, times)

    def save(self, path: str | Path) -> None:
        """Write the trajectory to a NetCDF file; `vinculum.read` gives it back."""
        self.dataset.to_netcdf(path, engine="netcdf4")

    def plot(self, *keys: sp.Expr | str) -> Any:
        """A Plotly figure of the given quantities over time (default: all coordinates)."""
        from vinculum.present.plots import over_time

        return over_time(self, keys)

    def animate(self, *lines: Any, **options: Any) -> Any:
        """A Plotly figure that moves. Each line is a list of points (x, y), numbers or expressions."""
        from vinculum.present.animation import animation

        return animation(self, lines, **options)

    def __call__(self, expression: sp.Expr) -> np.ndarray:
        """The same as ``motion[expression]``, constants included."""
        node = from_sympy(sp.sympify(expression))
        return np.full(len(self.t), float(node.value)) if node.op == "constant" else self[sp.sympify(expression)]

    def _stored_names(self, prefix: str) -> list[str]:
        return [name for name in self._columns if name.startswith(prefix)]

    def _stored(self, prefix: str) -> dict[str, np.ndarray]:
        return {name.removeprefix(prefix): self._columns[name] for name in self._stored_names(prefix)}

    def __repr__(self) -> str:
        from vinculum.simulate.storage import summary

        return summary(self)
