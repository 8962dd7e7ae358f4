"""First-order systems that are linear in their unknown reactions or controls, with the constraints these must hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.check_affine import Entry, by_name, findings, matrix_rows, parts_with_dimensions
from vinculum.describe.homogeneous import dimension_findings
from vinculum.describe.quantities import dimensions_of, settle_units
from vinculum.errors import ModelError
from vinculum.frozen import FrozenMapping
from vinculum.graph import ZERO, Converter, Node, symbol
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.dimensions import TIME


@dataclass(frozen=True, eq=False, repr=False)
class AffineSystem:
    """ẋ = F(x, t) + B(x, t) N with constraints f(x, t) = 0 that the unknown N must hold.

    ``states`` are functions of time (``dynamicsymbols``); ``drift`` is F, one expression for each state; ``inputs`` are
    the symbols of N: reactions, controls, or rates of auxiliary states (α̇ = U); ``input_matrix`` is B, a row for each
    state and a column for each input; ``constraints`` {name: f} or a sequence of f. ``energy`` E(x, t) and ``power``
    P(x, t, N) = dE/dt are optional; with both, a run reports the largest |E - E(0) - ∫P dt|. Parameters, states and
    inputs may have units, as in `System`.

    Sources: Pesterev, Matrosov, Morozov, equations (1)-(3); Mukharlyamov, Kirgizbaev, equations (12)-(16).

    >>> import sympy as sp
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> x, y = dynamicsymbols("x y")
    >>> u = sp.Symbol("u")
    >>> AffineSystem([x, y], [-4 * y, x], [u], [[x], [4 * y]], {"ellipse": x**2 / 2 + 2 * y**2 - 2})
    AffineSystem "system"
      states       x, y
      inputs       u
      constraints  ellipse
      parameters   none
    """

    states: Sequence[sp.Expr] | Any  # or {state: SI unit}
    drift: Sequence[Entry]
    inputs: Sequence[sp.Expr] | Any = ()  # or {input: SI unit}
    input_matrix: Sequence[Sequence[Entry]] | sp.Matrix | np.ndarray = ()
    constraints: Mapping[str, Entry] | Sequence[Entry] = ()
    parameters: Mapping[sp.Symbol, float] = field(default_factory=dict)
    energy: Entry | None = None
    power: Entry = sp.S.Zero
    name: str = "system"
    divisors: tuple[Node, ...] = ()  # of a converted system: the divisors of its eliminations
    units: Mapping[sp.Expr, str] = field(default_factory=dict)  # SI units of the symbols that have one

    def __post_init__(self) -> None:
        wrong, stated = settle_units(self, ("states", "inputs"))
        found = wrong + findings(self)
        if stated and not found:
            found = dimension_findings(parts_with_dimensions(self), dimensions_of(self) | {self.time: TIME})
        if found:
            raise ModelError(f"Invalid affine system {self.name!r}", found)
        settle = object.__setattr__
        settle(self, "states", tuple(self.states))
        settle(self, "drift", tuple(self.drift))
        settle(self, "inputs", tuple(self.inputs))
        settle(self, "input_matrix", matrix_rows(self.input_matrix, len(self.states), len(self.inputs)))
        settle(self, "constraints", FrozenMapping(by_name(self.constraints)))
        settle(self, "parameters", FrozenMapping({p: float(v) for p, v in self.parameters.items()}))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint."""
        return tuple(by_name(self.constraints))

    @property
    def time(self) -> sp.Symbol:
        """The symbol of time, taken from the states."""
        return self.states[0].args[0] if not isinstance(self.states[0], sp.Derivative) else self.states[0].variables[0]

    @cached_property
    def nodes(self) -> AffineNodes:
        """The description in the expression graph."""
        return AffineNodes.of(self)

    def __repr__(self) -> str:
        shown = {
            "states": listed(self.states),
            "inputs": listed(self.inputs) or "none",
            "constraints": ", ".join(self.constraint_names) or "none",
            "parameters": ", ".join(f"{name_of(p)} = {v:.6g}" for p, v in self.parameters.items()) or "none",
        }
        return labelled_rows(f'AffineSystem "{self.name}"', shown)

    _repr_html_ = html


@dataclass(frozen=True, eq=False)
class AffineNodes:
    """An `AffineSystem` in the expression graph: n states, s inputs, r constraints."""

    time: Node
    x: tuple[Node, ...]  # (n)
    parameters: tuple[Node, ...]
    inputs: tuple[Node, ...]  # (s) N
    F: np.ndarray  # (n)
    B: np.ndarray  # (n, s)
    f: tuple[Node, ...]  # (r)
    energy: Node | None
    power: Node

    @classmethod
    def of(cls, system: AffineSystem) -> AffineNodes:
        """Convert a system; entries that are already nodes stay unchanged."""
        convert = Converter()

        def node(entry: Entry) -> Node:
            return entry if isinstance(entry, Node) else convert(entry)

        n, s = len(system.states), len(system.inputs)
        F, B = np.full(n, ZERO, dtype=object), np.full((n, s), ZERO, dtype=object)
        for i in range(n):
            F[i] = node(system.drift[i])
            for k in range(s):
                B[i, k] = node(system.input_matrix[i][k])
        return cls(
            time=symbol(system.time),
            x=tuple(map(symbol, system.states)),
            parameters=tuple(map(symbol, system.parameters)),
            inputs=tuple(map(symbol, system.inputs)),
            F=F,
            B=B,
            f=tuple(node(f) for f in by_name(system.constraints).values()),
            energy=None if system.energy is None else node(system.energy),
            power=node(system.power),
        )
