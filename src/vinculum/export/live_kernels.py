"""A motion that a page computes again from other numbers: its functions, and the numbers they need.

    motion   ẋ, then what must not reach zero, then the event functions, then columns, residuals and E - w
    states   x of the coordinates and velocities s
    level_k  residuals and Jacobian of the projection
    start_k  the same of a consistent start, by the values of s that follow from the others

Parameters, gains of a feedback law and rates with which constraints are approached are arguments p of all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import StartLevel
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import DomainError
from vinculum.export.js_code import function
from vinculum.export.kernel import Group, Kernel
from vinculum.graph import ZERO, Node, jacobian, substitute, symbol
from vinculum.graph.evaluate import magnitudes
from vinculum.simulation.problem.events import DIRECTIONS
from vinculum.simulation.problem.motion_expressions import MotionNodes
from vinculum.simulation.problem.pivots import CHART_LIMIT, WATCH_LIMIT, PivotWatch

METHODS = ("linear.js", "dop853.js", "radau.js", "run.js")  # how a browser computes motions
_PIVOT = "Another order of elimination is needed, which the page does not have,"


class Start(NamedTuple):
    """Residuals of a consistent start and the values that follow from the others."""

    level: StartLevel
    moved: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class LiveMotion:
    """The nodes of a run, the numbers of its symbols at the start, and what the page shows of it."""

    nodes: MotionNodes
    settings: Mapping[Node, float]  # p
    values: Values  # of all symbols at the start
    given: frozenset[sp.Expr]  # start values that the user chose
    columns: Mapping[str, Node]  # of time, states and p
    sizes: np.ndarray  # of the states

    # -- arguments -------------------------------------------------------------------------------------------

    @cached_property
    def start_symbols(self) -> tuple[Node, ...]:
        """s: coordinates, velocities, and the states of a controller."""
        record = self.nodes.integrable
        return tuple(dict.fromkeys((*record.roles.symbols, *map(symbol, record.equations.extra))))

    @cached_property
    def _arguments(self) -> dict[str, Group]:
        groups = {"x": self.nodes.state, "p": tuple(self.settings), "s": self.start_symbols}
        found = {name: Group(name, nodes, ("",) * len(nodes), "") for name, nodes in groups.items()}
        return found | {"t": Group("t", (self.nodes.time,), ("t",), "time", scalar=True)}

    def _kernel(self, name: str, arguments: str, **results: Sequence[Node]) -> Kernel:
        groups = [Group(key, tuple(nodes), ("",) * len(nodes), "") for key, nodes in results.items()]
        return Kernel(name, "", tuple(self._arguments[key] for key in arguments), tuple(groups))

    # -- the functions ---------------------------------------------------------------------------------------

    @cached_property
    def motion(self) -> Kernel:
        """Everything that follows from a state."""
        nodes = self.nodes
        shown = [*self.columns.values(), *nodes.as_reported([*nodes.residuals, nodes.balance])]
        return self._kernel("motion", "txp", dx=self._rates, k=self._limits[0], e=nodes.event_functions, y=shown)

    @property
    def follows(self) -> bool:
        """Whether rates that belong to the equations bring the motion to its constraints."""
        return self.nodes.is_law

    @property
    def _rates(self) -> Sequence[Node]:
        if self.follows:
            return self.nodes.rates
        return substitute(list(self.nodes.held_rates), dict.fromkeys(self.nodes.integrable.corrections, ZERO))

    @cached_property
    def _limits(self) -> tuple[list[Node], list[dict[str, Any]]]:
        """Pivots and conditions with the share of their first value that they must keep."""
        record = self.nodes.integrable
        pivots = [pivot.node for pivot in PivotWatch(record).changing]
        conditions = [limit for limit in record.conditions if limit.node is not None]
        found = self.nodes.lifted([*pivots, *(limit.node for limit in conditions if limit.node is not None)])
        limits = [{"least": WATCH_LIMIT**-0.5, "words": _PIVOT} for _ in pivots]
        limits += [{"least": CHART_LIMIT, "words": f"{limit.meaning.capitalize()}"} for limit in conditions]
        return self.nodes.as_reported(found), limits

    @cached_property
    def states(self) -> Kernel:
        """x of s; the work is zero at the start."""
        record = self.nodes.integrable
        own = [record.definitions.get(state, state) for state in record.states]
        return self._kernel("states", "tsp", x=[*own, *[ZERO] * len(self.nodes.powers)])

    @cached_property
    def levels(self) -> list[tuple[Kernel, tuple[Node, ...]]]:
        """Residuals and Jacobians of the projection."""
        pairs = [] if self.follows else [pair for pair in self.nodes.integrable.projections if pair[0]]
        return [(self._level(f"level_{k}", "txp", zeros, moved), moved) for k, (zeros, moved) in enumerate(pairs)]

    def _level(self, name: str, arguments: str, zeros: Sequence[Node], moved: Sequence[Node]) -> Kernel:
        return self._kernel(name, arguments, f=zeros, J=jacobian(list(zeros), list(moved)).ravel().tolist())

    @cached_property
    def starts(self) -> list[Start]:
        """The conditions of a consistent start with the values that follow from the others."""
        known = {key.value: self.values[key] for key in self.start_symbols}
        found = self.nodes.integrable.equations.start_levels(known, dict(self.values))
        return [Start(level, self._dependent(level)) for level in found if level.residuals]

    def _dependent(self, level: StartLevel) -> tuple[Node, ...]:
        """Values that the residuals determine: if possible those that the user did not choose."""
        residuals = [f for _, f in level.residuals]
        free = [symbol(key) for key in level.movable if key not in self.given]
        held = [symbol(key) for key in level.movable if key in self.given]
        J = numbers(jacobian(residuals, [*free, *held]), self.values)
        first = len(free)
        if self.follows:
            return tuple(free)
        chosen = _determined(J, list(range(first)), list(range(first, J.shape[1])))
        return tuple((*free, *held)[i] for i in sorted(chosen))

    def start_kernel(self, k: int) -> Kernel:
        """The residuals of a level of the start and their Jacobian."""
        start = self.starts[k]
        return self._level(f"start_{k}", "tsp", [f for _, f in start.level.residuals], start.moved)

    @cached_property
    def independent(self) -> tuple[Node, ...]:
        """The start values that may be chosen."""
        moved = {node for start in self.starts for node in start.moved}
        return tuple(node for node in self.start_symbols if node not in moved)

    # -- the text --------------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> str:
        """An expression of JavaScript: an object with the functions and numbers that run.js needs."""
        places = {node: i for i, node in enumerate(self.start_symbols)}
        states = {node: i for i, node in enumerate(self.nodes.state)}
        levels = [(kernel, states, moved, "state", ()) for kernel, moved in self.levels]
        starts = [
            (self.start_kernel(k), places, start.moved, start.level.what, [name for name, _ in start.level.residuals])
            for k, start in enumerate(self.starts)
        ]
        texts = [function(kernel) for kernel in (self.motion, self.states, *(row[0] for row in (*levels, *starts)))]
        fields = {
            "sizes": [float(size) for size in self.sizes], "columns": list(self.columns), "follows": self.follows,
            "residuals": [f"{name}, {level}" for name, level in self.nodes.residual_names],
            "scales": self.scales, "balanced": self.nodes.integrable.energy is not None, "limits": self._limits[1],
            "events": [{"name": e.name, "direction": DIRECTIONS[e.direction], "terminal": e.terminal}
                       for e in self.nodes.events],
        }  # fmt: skip
        own = [f"{key}: {_json(value)}" for key, value in fields.items()]
        own += [
            f"{key}: [{', '.join(map(_described, rows))}]" for key, rows in (("levels", levels), ("starts", starts))
        ]
        body = "\n".join([*texts, f"return {{ motion, states, {', '.join(own)} }};"])
        return f"(() => {{\n{body}\n}})()"

    @property
    def scales(self) -> list[float]:
        """The size of the terms in every column, below which differences are rounding."""
        states = dict(zip(self.nodes.state, map(float, self.sizes), strict=True))
        found = [_terms(node, {**self.values, **states}) or _terms(node, self.values) for node in self.columns.values()]
        return [size or 1.0 for size in found]


def _terms(node: Node, values: Values) -> float:
    """The size of the terms of a node; zero outside its domain."""
    try:
        return float(magnitudes([node], values)[0][1])
    except (DomainError, ZeroDivisionError):
        return 0.0


def _determined(J: np.ndarray, *groups: Sequence[int]) -> list[int]:
    """Columns that the rows of J determine, from the first group as far as its rank goes, then from the next."""
    from scipy.linalg import qr

    length = np.linalg.norm(J, axis=1)
    left, chosen = J[length > 0] / length[length > 0][:, None], []
    for group in groups:
        if not len(group) or not left.size:
            continue
        Q, R, order = qr(left[:, group], mode="full", pivoting=True)
        sizes = np.abs(np.diag(R))
        rank = int(np.sum(sizes > 1e-10))
        chosen += [group[i] for i in order[:rank]]
        left = Q[:, rank:].T @ left
    return chosen


def _described(row: tuple[Kernel, Mapping[Node, int], Sequence[Node], str, Sequence[str]]) -> str:
    kernel, places, moved, what, names = row
    fields = {"rows": len(kernel.results[0]), "moved": [places[node] for node in moved], "what": what,
              "names": list(names)}  # fmt: skip
    return f"{{ kernel: {kernel.name}, {', '.join(f'{key}: {_json(value)}' for key, value in fields.items())} }}"


def _json(value: Any) -> str:
    """A value of JavaScript that is safe inside a script element."""
    return json.dumps(value).replace("<", "\\u003c")


def methods() -> str:
    """The text of the methods with which a browser computes motions."""
    folder = files("vinculum.export").joinpath("javascript")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in METHODS)
