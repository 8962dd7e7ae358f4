"""The result of a simulation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.graph import Node, from_sympy
from vinculum.hooks import call
from vinculum.names import suggestion, variable_name
from vinculum.notebook_repr import html
from vinculum.simulation.problem.events import Happened, reaction
from vinculum.simulation.problem.motion_expressions import WORK, servo_work
from vinculum.simulation.trajectory.extrapolation import Beyond, beyond_points
from vinculum.simulation.trajectory.outcome import Outcome

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Segment


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion: samples in time and all that can be computed from them.

    ``motion.t``; ``motion[x]`` for a coordinate, velocity, acceleration, input, reaction or any expression of them;
    ``motion.inputs``, ``motion.residuals``, ``motion.energy``, ``motion.reactions``; ``motion.outcome`` says how
    the run ended; ``motion.largest_residuals`` and ``motion.energy_error`` were taken over every step, not only the
    samples.
    """

    t: np.ndarray  # (N)
    outcome: Outcome
    largest_residuals: Mapping[tuple[str, str], float]  # (constraint, "position" or "velocity") -> largest |residual|
    energy_error: float  # largest |E(t) - E(0) - work of forces|; zero where no energy was stated
    method: str  # the method and why it was chosen, with its step or tolerance
    stabilization: str
    events: tuple[Happened, ...] = ()
    steps: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)  # wall time of each stage
    segments: tuple[Segment, ...] = ()  # stretches integrated in one set of variables
    dense: tuple[Any, ...] = ()
    promised: Mapping[tuple[str, str], float] = field(default_factory=dict)  # bounds of `Guaranteed`, by residual
    stored: Any = None  # the dataset of a trajectory that was read from a file

    def __getitem__(self, key: sp.Expr | str) -> np.ndarray:
        """Samples of a symbol or of any expression of symbols, as an array (N)."""
        name = key if isinstance(key, str) else variable_name(key)
        if name in self.own_columns:
            return self.own_columns[name]
        if self.problem is None or isinstance(key, str):
            further = self.inputs | {"energy": self.energy, "work": self.work}
            further |= {str(reaction(c)): values for c, values in self.reactions.items()}
            further |= {f"servo_work_{u}": values for u, values in self.servo_work.items()}
            known = [*self.own_columns, *further]
            if name in further:
                return further[name]
            raise VinculumError(f"{name} is not in this trajectory.{suggestion(name, known)}")
        return self._computed([sp.sympify(key)])[:, 0]

    @cached_property
    def beyond(self) -> tuple[Beyond, ...]:
        """Curves through points that the motion used beyond their points."""
        return beyond_points(self.segments)

    @cached_property
    def own_columns(self) -> dict[str, np.ndarray]:
        """Coordinates, velocities and what other states there are, by name."""
        if self.problem is None:
            return {name: np.asarray(self.stored[column]) for column, name in self._roles["states"].items()}
        equations = self.problem.equations
        keys = dict.fromkeys((*equations.user_symbols, *equations.states, *equations.extra))
        values = self._computed(list(keys))
        return {variable_name(key): values[:, i] for i, key in enumerate(keys)}

    @property
    def last_state(self) -> dict[str, float]:
        """Every state at the last sample, by name: a start from which another run goes on."""
        return {name: float(values[-1]) for name, values in self.own_columns.items()}

    @cached_property
    def _roles(self) -> dict[str, Any]:
        """What each column of a stored trajectory holds."""
        return json.loads(self.stored.attrs["columns"])

    @property
    def problem(self) -> Problem | None:
        """What was integrated; none for a trajectory that was read from a file."""
        return self.segments[0].problem if self.segments else None

    def _computed(self, expressions: list[sp.Expr]) -> np.ndarray:
        """Expressions at every sample, (N, len(expressions))."""
        return self.rows(lambda problem: [problem.nodes.node(e, f"motion[{e}]") for e in expressions])

    def rows(self, nodes: Callable[[Problem], Sequence[Node]]) -> np.ndarray:
        """Nodes at every sample, each stretch with its own variables and pivots."""
        return np.vstack([segment.rows(nodes(segment.problem)) for segment in self.segments])

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """Every input by its name: by its law, or where it holds a constraint, what that takes."""
        if self.problem is None:
            columns = self._roles.get("inputs", {})
            return {name: np.asarray(self.stored[column]) for column, name in columns.items()}
        equations = self.problem.equations
        keys = list(dict.fromkeys((*equations.inputs, *equations.holding.values())))
        return dict(zip(map(variable_name, keys), self._computed(keys).T, strict=True)) if keys else {}

    @cached_property
    def holding(self) -> dict[str, str]:
        """The name of the input that stands in place of a reaction, by the reaction's name: those of servos."""
        if self.problem is None:
            return self._roles.get("holding", {})
        return {name: variable_name(u) for name, u in self.problem.equations.holding.items()}

    @cached_property
    def event_names(self) -> tuple[str, ...]:
        """All events that were watched for, whether they happened or not."""
        if self.problem is None:
            return tuple(json.loads(self.stored.attrs.get("event_names", "[]")))
        return tuple(event.name for event in self.problem.nodes.events)

    @property
    def event_times(self) -> dict[str, list[float]]:
        """When each event happened that was watched for: an empty list where it never did."""
        names = dict.fromkeys((*self.event_names, *(event.name for event in self.events)))
        return {name: [event.time for event in self.events if event.name == name] for name in names}

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """λ of every constraint, in M q̈ + h = Q + Jᵀλ; of a servo constraint, the input that holds it."""
        if self.problem is None:
            ideal = {name: np.asarray(self.stored[column]) for column, name in self._roles["reactions"].items()}
            return ideal | {name: self.inputs[u] for name, u in self.holding.items()}
        known = self.problem.equations.reaction_symbols
        return dict(zip(known, self._computed(list(known.values())).T, strict=True)) if known else {}

    @cached_property
    def residuals(self) -> dict[tuple[str, str], np.ndarray]:
        """The residual of every constraint at position and velocity level: {(name, level): array (N)}."""
        if self.problem is None:
            pairs = self._roles["residuals"].items()
            return {(name, level): np.asarray(self.stored[column]) for column, (name, level) in pairs}
        rows = self.rows(lambda problem: problem.nodes.residuals)
        return dict(zip(self.problem.nodes.residual_names, rows.T, strict=True))

    @cached_property
    def energy(self) -> np.ndarray:
        """E = q̇·∂T/∂q̇ - T + V."""
        if self.problem is None:
            return np.asarray(self.stored[self._roles["energy"]])
        return self.rows(lambda problem: [problem.nodes.energy])[:, 0]

    @cached_property
    def work(self) -> np.ndarray:
        """The work done on the system since the start: by forces, moving constraints and explicit time."""
        if self.problem is None:
            return np.asarray(self.stored[self._roles["work"]])
        return self._integrated(WORK)

    @cached_property
    def servo_work(self) -> dict[str, np.ndarray]:
        """The work that each input which holds a servo constraint has done since the start, by its name.

        It is integrated with the motion and as accurate: E(t) - E(0) = the sum of these + ``other_work``.
        """
        if self.problem is None:
            columns = self._roles.get("servo_work", {})
            return {name: np.asarray(self.stored[column]) for column, name in columns.items()}
        return {variable_name(u): self._integrated(servo_work(u)) for u in self.problem.equations.held_inputs}

    @property
    def other_work(self) -> np.ndarray:
        """The work of everything but the servos: other forces, moving constraints, explicit time."""
        return self.work - sum(self.servo_work.values(), np.zeros(len(self.t)))

    def _integrated(self, work: Node) -> np.ndarray:
        """A quantity that was integrated beside the motion."""
        return np.concatenate([segment.integrated(work) for segment in self.segments])

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Everything as an xarray dataset over ``time``."""
        if self.stored is not None:
            return self.stored
        from vinculum.simulation.trajectory.storage import dataset

        return dataset(self)

    @property
    def kept(self) -> bool:
        """Whether every residual stayed within what was promised."""
        return all(self.largest_residuals[key] <= bound for key, bound in self.promised.items())

    def at(self, times: np.ndarray | float) -> dict[str, np.ndarray]:
        """States between the samples, from the dense output of a run with ``dense=True``: {name: values}."""
        from vinculum.simulation.trajectory.dense import interpolate

        return interpolate(self, times)

    def save(self, path: str | Path) -> None:
        """Write a NetCDF file (.nc) with everything, which `read_trajectory` reads, or the samples as text (.csv)."""
        from vinculum.simulation.trajectory.storage import save

        save(self, path)

    def plot(self, *keys: sp.Expr | str) -> Any:
        """A Plotly figure of the given quantities over time (default: all coordinates)."""
        return call("plot of a motion", self, keys)

    def animate(self, *what: Any, **options: Any) -> Any:
        """A Plotly figure that moves: of a `Drawing`, of a model, or of lines, each a list of points (x, y) or
        (x, y, z), numbers or expressions. A system made from bodies is drawn without being told what.
        """
        return call("animation", self, what, **options)

    def __call__(self, expression: sp.Expr) -> np.ndarray:
        """The same as ``motion[expression]``, constants included."""
        node = from_sympy(sp.sympify(expression))
        return np.full(len(self.t), float(node.value)) if node.op == "constant" else self[sp.sympify(expression)]

    def __repr__(self) -> str:
        from vinculum.simulation.trajectory.summary import summary

        return summary(self)

    _repr_html_ = html
