"""The result of a simulation: samples over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.expressions import as_expression, refuse_arrays
from vinculum.graph import Node, from_sympy
from vinculum.hooks import call
from vinculum.names import suggestion, variable_name
from vinculum.notebook_repr import html
from vinculum.simulation.problem.events import Happened, reaction
from vinculum.simulation.trajectory.live_run import Beyond, LiveRun
from vinculum.simulation.trajectory.outcome import Outcome
from vinculum.text_printer import labelled_rows

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.live_run import Segment
    from vinculum.simulation.trajectory.storage import StoredRun


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion: samples in time and everything computed from them.

    ``motion.t``; ``motion[x]`` for a coordinate, velocity, acceleration, input, reaction or any expression of them;
    ``motion.inputs``, ``motion.residuals``, ``motion.energy``, ``motion.reactions``; ``motion.outcome`` is how
    the run ended; ``motion.largest_residuals`` and ``motion.energy_error`` are over all steps, not only the samples.
    """

    t: np.ndarray  # (N)
    outcome: Outcome
    run: LiveRun | StoredRun  # the columns: of a run that can still compute, or of a file
    largest_residuals: Mapping[tuple[str, str], float]  # (constraint, "position" or "velocity") -> largest |residual|
    energy_error: float  # largest |E(t) - E(0) - work of forces|; zero if the system has no energy
    method: str  # the method and why it was chosen, with its step or tolerance
    stabilization: str
    events: tuple[Happened, ...] = ()
    steps: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)  # wall time of each stage
    promised: Mapping[tuple[str, str], float] = field(default_factory=dict)  # bounds of `Guaranteed`, by residual
    trajectory_error: float | None = None  # bound of the error of every coordinate, if `Guaranteed` was asked for one

    def __getitem__(self, key: sp.Expr | str) -> np.ndarray:
        """Samples of a symbol or of any expression of symbols, as an array (N)."""
        refuse_arrays(key)
        name = key if isinstance(key, str) else variable_name(key)
        if name in self.own_columns:
            return self.own_columns[name]
        if self.live is not None and not isinstance(key, str):
            return self.live.expressions([as_expression(key)])[:, 0]
        further = self.inputs | {"energy": self.energy, "work": self.work}
        further |= {str(reaction(c)): values for c, values in self.reactions.items()}
        further |= {f"servo_work_{u}": values for u, values in self.servo_work.items()}
        if name not in further:
            near = suggestion(name, [*self.own_columns, *further])
            raise VinculumError(f"{name} is not in this trajectory.{near}")
        return further[name]

    # -- the live run ----------------------------------------------------------------------------------------

    @property
    def live(self) -> LiveRun | None:
        """The run with its problems; None for a trajectory from a file."""
        return self.run if isinstance(self.run, LiveRun) else None

    @property
    def problem(self) -> Problem | None:
        """The initial value problem; None for a trajectory from a file."""
        return None if self.live is None else self.live.problem

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts that were integrated in one set of variables; none for a trajectory from a file."""
        return () if self.live is None else self.live.segments

    def rows(self, nodes: Callable[[Problem], Sequence[Node]]) -> np.ndarray:
        """Nodes at every sample, each segment with its own variables and pivots."""
        if self.live is None:
            raise VinculumError("A trajectory from a file has only the columns stored there; simulate it again.")
        return self.live.rows(nodes)

    # -- columns ---------------------------------------------------------------------------------------------

    @property
    def own_columns(self) -> dict[str, np.ndarray]:
        """Coordinates, velocities and other states, by name."""
        return self.run.states

    @property
    def last_state(self) -> dict[str, float]:
        """Every state at the last sample, by name; another run can continue from it."""
        return {name: float(values[-1]) for name, values in self.own_columns.items()}

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """Every input by its name: from its law, or the value with which it holds a constraint."""
        return self.run.inputs

    @property
    def holding(self) -> dict[str, str]:
        """The input in place of a reaction, by the name of the reaction, for servo constraints."""
        return self.run.holding

    @property
    def reactions(self) -> dict[str, np.ndarray]:
        """λ of every constraint, in M q̈ + h = Q + Jᵀλ; of a servo constraint, the input that holds it."""
        return self.run.reactions

    @property
    def residuals(self) -> dict[tuple[str, str], np.ndarray]:
        """The residual of every constraint at position and velocity level: {(name, level): array (N)}."""
        return self.run.residuals

    @property
    def energy(self) -> np.ndarray:
        """E = q̇·∂T/∂q̇ - T + V."""
        return self.run.energy

    @property
    def work(self) -> np.ndarray:
        """The work done on the system since the start: by forces, moving constraints and explicit time."""
        return self.run.work

    @property
    def servo_work(self) -> dict[str, np.ndarray]:
        """The work done since the start by each input that holds a servo constraint, by its name.

        It is integrated with the motion, to the same accuracy: E(t) - E(0) = the sum of these + ``other_work``.
        """
        return self.run.servo_work

    @property
    def other_work(self) -> np.ndarray:
        """The work of everything but the servos: other forces, moving constraints, explicit time."""
        return self.work - sum(self.servo_work.values(), np.zeros(len(self.t)))

    @property
    def beyond(self) -> tuple[Beyond, ...]:
        """Curves that the motion used outside the range of their points."""
        return self.run.beyond

    # -- events ----------------------------------------------------------------------------------------------

    @property
    def event_names(self) -> tuple[str, ...]:
        """The names of all events of the run, whether or not they happened."""
        return self.run.event_names

    @property
    def event_times(self) -> dict[str, list[float]]:
        """The times of each event; an empty list if it never happened."""
        names = dict.fromkeys((*self.event_names, *(event.name for event in self.events)))
        return {name: [event.time for event in self.events if event.name == name] for name in names}

    # -- dense output, files, pictures -----------------------------------------------------------------------

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Everything as an xarray dataset over ``time``."""
        from vinculum.simulation.trajectory.storage import dataset

        return dataset(self)

    @property
    def kept(self) -> bool:
        """Whether the run ended as requested and every residual stayed within its promised bound.

        The residuals are those at the steps and between them. A trajectory accuracy that is not met ends the run.
        """
        return bool(self.outcome) and all(self.largest_residuals[key] <= bound for key, bound in self.promised.items())

    def at(self, times: np.ndarray | float) -> dict[str, np.ndarray]:
        """States between the samples, from the dense output of a run with ``dense=True``: {name: values}."""
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        low, high = sorted((self.t[0], self.t[-1]))
        if wanted.min() < low or wanted.max() > high:
            raise VinculumError(f"The run covers {low:.6g} to {high:.6g}; times outside cannot be interpolated.")
        return self.run.at(wanted)

    def save(self, path: str | Path, *keys: sp.Expr | str, overwrite: bool = False, **options: Any) -> None:
        """Write the motion to a file; the ending of its name says what.

        .nc: everything, for `read_trajectory`; .csv: the samples. .png, .svg, .pdf: curves over time for a paper, of
        the quantities ``keys`` (default: all coordinates), or with ``drawing`` the mechanism in several positions.
        .gif, .mp4: an animation. ``drawing`` is a model, a `Drawing` or a list of lines, as in `animate`; a system made
        from bodies needs none for an animation. Further options of pictures: ``size`` = (width, height) in inches,
        ``dots`` per inch, ``arrows=True`` for the forces and torques of the drawing, and of animations ``speed``, in
        seconds of the motion per second.

        A file that exists is replaced only with ``overwrite=True``. The file is written whole or not at all.
        """
        from vinculum.simulation.trajectory.storage import save

        save(self, path, keys, overwrite=overwrite, **options)

    def plot(self, *keys: sp.Expr | str) -> Any:
        """A Plotly figure of the given quantities over time (default: all coordinates)."""
        return call("plot of a motion", self, keys)

    def animate(self, *what: Any, **options: Any) -> Any:
        """A Plotly figure that moves: of a `Drawing`, of a model, or of lines, each a list of points (x, y) or
        (x, y, z), numbers or expressions. A system made from bodies needs no arguments. ``arrows=True`` draws the
        forces and torques of a drawing too.
        """
        return call("animation", self, what, **options)

    def __call__(self, expression: sp.Expr) -> np.ndarray:
        """The same as ``motion[expression]``, constants included."""
        node = from_sympy(as_expression(expression))
        return np.full(len(self.t), float(node.value)) if node.op == "constant" else self[as_expression(expression)]

    def __repr__(self) -> str:
        return summary(self)

    _repr_html_ = html


# -- the summary -------------------------------------------------------------------------------------------------


def summary_rows(motion: Trajectory) -> dict[str, str]:
    """Outcome, method, errors and events of a run in labeled rows."""
    rows = {
        "time": f"{motion.t[0]:.6g} to {motion.t[-1]:.6g}, {_count(len(motion.t), 'sample')}, "
        f"{_count(motion.steps, 'step')}",
        "outcome": str(motion.outcome),
        "method": motion.method,
        "stabilization": motion.stabilization,
    }
    if motion.trajectory_error is not None:
        rows["trajectory error"] = f"at most {motion.trajectory_error:.2g} in every coordinate"
    if motion.run.states_energy:
        rows["energy error"] = f"{motion.energy_error:.2g}"
    for name, work in motion.servo_work.items():
        rows[f"work of {name}"] = f"{work[-1]:.6g}"
    for (name, level), value in motion.largest_residuals.items():
        bound = motion.promised.get((name, level))
        rows[f"{name}, {level}"] = f"{value:.2g}" + (f" (promised {bound:.2g})" if bound is not None else "")
    if motion.beyond:
        rows["warning"] = "; ".join(map(str, motion.beyond))
    for name, times in motion.event_times.items():
        rows[f"event {name}"] = instants(times)
    return rows


def instants(times: Sequence[float]) -> str:
    """The first instants of an event and how many more there are."""
    if not times:
        return "none"
    more = f" and {len(times) - 3} more" if len(times) > 3 else ""
    return "t = " + ", ".join(f"{t:.6g}" for t in times[:3]) + more


def _count(amount: int, what: str) -> str:
    return f"{amount} {what}" if amount == 1 else f"{amount} {what}s"


def summary(motion: Trajectory) -> str:
    """The rows as text."""
    return labelled_rows("Trajectory", summary_rows(motion))
