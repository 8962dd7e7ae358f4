"""The kernels of equations of motion, from the nodes of their `Integrable`.

    rates        ẋ = f(t, x, u, c, p), and the pivots of the elimination, relative to those at the start
    outputs      coordinates and velocities, accelerations, reactions, inputs that have a law
    residuals    of all constraints
    corrections  c of the constraint feedback with gains g
    level_k      residuals and their Jacobian for the projection of the states
    start_k      the same in the user's coordinates and velocities, for a consistent start
    states       x of the user's coordinates and velocities
    energy       E
    events       the event functions, then the surfaces at which the rates are not smooth
    motion       ẋ with continuous feedback of the constraints
    derivative   directional derivative of motion and outputs

Each is built on first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import sympy as sp

from vinculum.export.identifiers import label_of, unit_of
from vinculum.export.kernel import Group, Kernel
from vinculum.export.plant import Plant
from vinculum.graph import ZERO, Node, along, apply, constant, jacobian, substitute, symbol
from vinculum.simulation.problem.discontinuities import find_corners
from vinculum.simulation.problem.pivots import PivotWatch
from vinculum.simulation.stabilization.stabilization import CONTINUOUS


class Level(NamedTuple):
    """Residuals with their Jacobian, and the variables that move: ``moved`` of them, from ``first`` on."""

    kernel: Kernel
    rows: int
    first: int
    moved: int
    what: str


@dataclass(frozen=True, eq=False)
class EquationKernels:
    """The kernels of a plant. With ``fold`` the values of parameters are written into the code."""

    plant: Plant
    fold: bool = False
    units: Mapping[sp.Expr, str] | None = None

    # -- arguments -------------------------------------------------------------------------------------------

    @cached_property
    def t(self) -> Group:
        """The time."""
        return Group("t", (self.plant.integrable.time,), ("t",), "time", scalar=True)

    @cached_property
    def x(self) -> Group:
        """The states."""
        return self._group("x", self.plant.integrable.states, "states")

    @cached_property
    def u(self) -> Group:
        """The inputs without a law."""
        return self._group("u", self.plant.inputs, "inputs")

    @cached_property
    def p(self) -> Group:
        """The parameters."""
        return self._group("p", () if self.fold else tuple(self.plant.integrable.parameters), "parameters")

    @cached_property
    def c(self) -> Group:
        """The corrections."""
        record = self.plant.integrable
        names = tuple(held.name for held in record.constraints)
        return Group("c", record.corrections, names, "feedback of the constraints, zero on the exact motion")

    @cached_property
    def g(self) -> Group:
        """The gains of the feedback."""
        gains = self.plant.nodes.gains
        return Group("g", gains, ("",) * len(gains), "gains of the constraint feedback")

    @cached_property
    def s(self) -> Group:
        """Coordinates and velocities of the user."""
        return self._group("s", self.plant.integrable.roles.symbols, "coordinates and velocities")

    def _group(self, name: str, nodes: Sequence[Node], about: str) -> Group:
        return Group(name, tuple(nodes), tuple(self._label(node.value) for node in nodes), about)

    def _label(self, key: sp.Expr) -> str:
        unit = unit_of(key, self.units or {})
        return f"{label_of(key)} [{unit}]" if unit else label_of(key)

    def _kernel(self, name: str, about: str, arguments: Sequence[Group], results: Sequence[Group]) -> Kernel:
        made = Kernel(name, about, tuple(arguments), tuple(results))
        return made.folded(self.parameters) if self.fold else made

    @property
    def parameters(self) -> dict[Node, float]:
        """The parameters and their values at the start."""
        return {p: self.plant.values[p] for p in self.plant.integrable.parameters}

    # -- the motion ------------------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Kernel:
        """ẋ, and the pivots relative to those at the start."""
        record = self.plant.integrable
        own = self.plant.nodes.held_rates[: len(record.states)]
        dx = Group("dx", own, tuple(f"rate of {label}" for label in self.x.labels), "rates of the states")
        pivots = PivotWatch(record).changing
        nodes = tuple(self.plant.nodes.closed([pivot.node / constant(pivot.value) for pivot in pivots]))
        k = Group("k", nodes, ("",) * len(nodes), "pivots of the elimination, 1 at the start; near 0 it is singular")
        return self._kernel("rates", "The rates of the states.", (self.t, self.x, self.u, self.c, self.p), (dx, k))

    @cached_property
    def outputs(self) -> Kernel:
        """Everything that follows from the state."""
        record, nodes = self.plant.integrable, self.plant.nodes
        held = [*record.roles.reactions.values(), *record.roles.holding.values(), *record.roles.servos]
        forces = [key for key in dict.fromkeys(held) if key in record.outputs]
        moving = [key for key in record.outputs if key not in record.roles.symbols and key not in forces]
        laws = list(nodes.laws)
        keys = (*record.roles.symbols, *moving, *forces)
        values = self._reported([*(record.outputs[key] for key in keys), *laws])
        found = dict(zip([*record.roles.symbols, *moving, *forces, *laws], values, strict=True))
        groups = [("s", record.roles.symbols, "coordinates and velocities"), ("a", moving, "accelerations"),
                  ("r", forces, "reactions and inputs that hold constraints, M a + h = Q + J^T r"),
                  ("l", laws, "inputs given by their laws")]  # fmt: skip
        results = [
            Group(name, tuple(found[key] for key in keys), tuple(self._label(key.value) for key in keys), about)
            for name, keys, about in groups
        ]
        about = "Coordinates and velocities, accelerations and reactions on the exact motion."
        return self._kernel("outputs", about, (self.t, self.x, self.u, self.p), results)

    @cached_property
    def energy(self) -> Kernel | None:
        """E, if the system has one."""
        if self.plant.integrable.energy is None:
            return None
        stored = self.plant.nodes.closed([self.plant.nodes.energy])
        e = Group("e", tuple(stored), ("kinetic and potential energy",), "energy")
        return self._kernel("energy", "The energy.", (self.t, self.x, self.p), (e,))

    # -- the constraints -------------------------------------------------------------------------------------

    @cached_property
    def residuals(self) -> Kernel:
        """All that is zero on the exact motion."""
        found = self.plant.integrable.residuals
        f = Group("f", tuple(r.node for r in found), tuple(f"{r.constraint}, {r.level}" for r in found), "residuals")
        return self._kernel("residuals", "What the constraints leave; zero on the exact motion.",
                            (self.t, self.x, self.p), (f,))  # fmt: skip

    @cached_property
    def corrections(self) -> Kernel:
        """c of the feedback."""
        c = Group("c", self.plant.nodes.corrections, self.c.labels, self.c.about)
        return self._kernel("corrections", "The feedback that keeps the motion on its constraints.",
                            (self.t, self.x, self.g, self.p), (c,))  # fmt: skip

    @cached_property
    def projections(self) -> list[Level]:
        """Residuals and Jacobians in the states."""
        pairs = [(zeros, moved) for zeros, moved in self.plant.integrable.projections if zeros]
        return [
            self._level(f"level_{k}", self.x, list(zeros), moved, "states") for k, (zeros, moved) in enumerate(pairs)
        ]

    @cached_property
    def starts(self) -> list[Level]:
        """Residuals and Jacobians of a consistent start, in the user's symbols."""
        plant = self.plant
        values = dict(plant.values)
        found: list[Level] = []
        for level in plant.integrable.equations.start_levels(plant.initial, values):
            if level.residuals:
                zeros, moved = [f for _, f in level.residuals], list(map(symbol, level.movable))
                found.append(self._level(f"start_{len(found)}", self.s, zeros, moved, level.what))
        return found

    def _level(self, name: str, space: Group, zeros: list[Node], moved: Sequence[Node], what: str) -> Level:
        f = Group("f", tuple(zeros), ("",) * len(zeros), "residuals")
        slopes = tuple(jacobian(zeros, moved).ravel())
        J = Group("J", slopes, ("",) * len(slopes), "their Jacobian, row by row")
        kernel = self._kernel(name, f"Residuals and Jacobian in the {what}.", (self.t, space, self.p), (f, J))
        return Level(kernel, len(zeros), space.nodes.index(moved[0]), len(moved), what)

    @cached_property
    def states(self) -> Kernel:
        """x of the user's symbols, without the states that a closed loop adds."""
        record = self.plant.integrable
        own = record.states[: len(record.states) - len(record.equations.extra)]
        nodes = tuple(record.definitions.get(state, state) for state in own)
        x = Group("x", nodes, self.x.labels[: len(own)], "states")
        return self._kernel("states", "The states of given coordinates and velocities.", (self.t, self.s, self.p), (x,))

    # -- events and derivatives ------------------------------------------------------------------------------

    @cached_property
    def events(self) -> Kernel:
        """Functions that pass zero at an event or at a corner of the rates."""
        nodes = self.plant.nodes
        corners = find_corners(nodes.held_rates)
        signs = {node: apply("sign", g) for node, g in zip(corners.sigma, corners.surfaces, strict=True)}
        surfaces = substitute(list(corners.surfaces), corners.natural)
        for _ in range(len(signs)):  # a surface may contain the sides of inner ones
            surfaces = substitute(surfaces, signs)
        surfaces += [search.alternating for search in corners.searches]
        labels = (*(event.name for event in nodes.events), *(f"corner {k + 1}" for k in range(len(surfaces))))
        e = Group("e", (*self._with_gains(nodes.event_functions), *surfaces), labels, "event functions")
        return self._kernel("events", "Functions that are zero at events and at corners of the rates.",
                            (self.t, self.x, self.u, self.p), (e,))  # fmt: skip

    @property
    def acts(self) -> bool:
        """Whether continuous feedback with given gains is part of the motion."""
        continuous = self.plant.stabilization.acts == CONTINUOUS or self.plant.integrable.prescribed is not None
        return continuous and not any(gain.power for gain in self.plant.gains)

    def _with_gains(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes with the numbers of the gains."""
        gains = zip(self.g.nodes, self.plant.gains, strict=True)
        return substitute(list(nodes), {node: constant(gain.number) for node, gain in gains})

    def _reported(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes on the exact motion; inputs of a program with its feedback."""
        if self.acts:
            return self._with_gains(self.plant.nodes.as_reported(nodes))
        return substitute(self.plant.nodes.closed(nodes), dict.fromkeys(self.c.nodes, ZERO))

    @cached_property
    def motion(self) -> Kernel:
        """ẋ with the feedback of the constraints, if it acts continuously with given gains."""
        feedback = dict.fromkeys(self.c.nodes, ZERO)
        if self.acts:
            own = self._with_gains(self.plant.nodes.corrections)
            feedback = dict(zip(self.c.nodes, own, strict=True))
        dx = self.rates.results[0]
        nodes = tuple(substitute(list(dx.nodes), feedback))
        about = "The rates of the states, with the feedback of the constraints if it is continuous."
        result = Group("dx", nodes, dx.labels, dx.about)
        return self._kernel("motion", about, (self.t, self.x, self.u, self.p), (result,))

    @cached_property
    def derivative(self) -> Kernel:
        """d(ẋ) and d(outputs) for small changes of x and u."""
        vx, vu = (
            Group(
                f"v{g.name}",
                tuple(symbol(("seed", g.name, i)) for i in range(len(g))),
                g.labels,
                f"change of {g.about}",
            )
            for g in (self.x, self.u)
        )
        direction = dict(zip((*self.x.nodes, *self.u.nodes), (*vx.nodes, *vu.nodes), strict=True))
        results = []
        for group in (self.motion.results[0], *self.outputs.results):
            changes = along(list(group.nodes), direction)
            results.append(Group(f"d{group.name}", tuple(changes), group.labels, f"change of {group.about}"))
        about = "The directional derivative of the motion and the outputs."
        return self._kernel("derivative", about, (self.t, self.x, self.u, self.p, vx, vu), results)
