"""The variables of an FMU: names, references, causality, start values, units.

References run through the arrays of an instance one after the other: time, parameters p, the internal step, inputs u,
coordinates and velocities s, further states z, rates dx, accelerations a, reactions r, inputs by law l, residuals f,
energy e, event functions g.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from vinculum.export.equation_kernels import EquationKernels
from vinculum.export.identifiers import distinct, label_of, unit_of
from vinculum.graph import Node, symbol

STEP = "step_size"


@dataclass(frozen=True)
class Variable:
    """One variable of the model description."""

    name: str
    reference: int
    causality: str
    variability: str = "continuous"
    initial: str | None = None
    start: float | None = None
    unit: str = ""
    about: str = ""
    derivative_of: int | None = None  # the reference of the state


@dataclass(frozen=True, eq=False)
class Layout:
    """All variables in the order of their references, and the first reference of every array."""

    variables: tuple[Variable, ...]
    first: Mapping[str, int]
    state_of: tuple[int, ...]  # for every symbol the number of its state, or -1
    other: tuple[int, ...]  # the states that are not symbols

    @property
    def states(self) -> dict[int, int]:
        """The reference of every state by its number."""
        own = {j: self.first["S"] + i for i, j in enumerate(self.state_of) if j >= 0}
        return own | {j: self.first["Z"] + i for i, j in enumerate(self.other)}


def make_layout(
    kernels: EquationKernels, step: float, units: Mapping[sp.Expr, str], meanings: Mapping[sp.Expr, str]
) -> Layout:
    """The variables of the equations."""
    plant, record = kernels.plant, kernels.plant.integrable
    state = {node: j for j, node in enumerate(record.states)}
    state_of = tuple(state.get(node, -1) for node in kernels.s.nodes)
    other = tuple(j for j, node in enumerate(record.states) if node not in kernels.s.nodes)
    found: list[Variable] = []
    first: dict[str, int] = {}

    def begin(key: str) -> None:
        first[key] = len(found)

    def add(node: Node | str, causality: str, **more: object) -> None:
        key = node if isinstance(node, str) else node.value
        own = {"unit": unit_of(key, units), "about": meanings.get(key, "")} if not isinstance(node, str) else {}
        name = node if isinstance(node, str) else label_of(key)
        found.append(Variable(name, len(found), causality, **{**own, **more}))  # type: ignore[arg-type]

    begin("TIME")
    add("time", "independent", unit="s")
    begin("P")
    for p in kernels.p.nodes:
        add(p, "parameter", variability="fixed", initial="exact", start=plant.values[p])
    begin("STEP")
    add(STEP, "parameter", variability="fixed", initial="exact", start=step, unit="s",
        about="largest step of the integration in co-simulation")  # fmt: skip
    begin("U")
    for u in kernels.u.nodes:
        add(u, "input", start=plant.values[u])
    begin("S")
    for s in kernels.s.nodes:
        add(s, "output", **_start(kernels, s, state))
    begin("Z")
    extra = set(map(symbol, record.equations.extra))
    for j in other:
        node = record.states[j]
        exact = {"initial": "exact", "start": plant.start[j]} if node in extra else {"initial": "calculated"}
        add(node, "local", **exact)
    begin("D")
    references = Layout((), first, state_of, other).states
    for j, node in enumerate(record.states):
        unit = unit_of(node.value, units)
        add(f"der({label_of(node.value)})", "local", initial="calculated", unit=f"{unit}/s" if unit else "",
            derivative_of=references[j])  # fmt: skip
    outputs = {group.name: group for group in kernels.outputs.results}
    for key, group in (("A", outputs["a"]), ("R", outputs["r"]), ("L", outputs["l"])):
        begin(key)
        for label in group.labels:
            name, _, unit = label.partition(" [")
            add(name, "output", initial="calculated", unit=unit.rstrip("]"))
    begin("F")
    for label in kernels.residuals.results[0].labels:
        add(f"residual of {label}", "local", initial="calculated")
    begin("E")
    if kernels.energy is not None:
        add("energy", "local", initial="calculated")
    begin("G")
    for label in kernels.events.results[0].labels:
        add(f"event {label}", "local", initial="calculated")
    begin("END")
    names = distinct(variable.name for variable in found)
    named = tuple(replace(variable, name=name) for variable, name in zip(found, names, strict=True))
    return Layout(named, first, state_of, other)


def _start(kernels: EquationKernels, node: Node, state: Mapping[Node, int]) -> dict[str, object]:
    """How a coordinate or velocity begins: given, solved from the constraints, or following from the states."""
    plant = kernels.plant
    constrained = any(
        level.first <= kernels.s.nodes.index(node) < level.first + level.moved for level in kernels.starts
    )
    if node in plant.given or not constrained:
        return {"initial": "exact", "start": plant.values[node]}
    return {"initial": "approx", "start": plant.values[node]}
