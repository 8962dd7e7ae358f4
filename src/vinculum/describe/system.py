"""A mechanical system as the user states it: energies, forces, constraints, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from vinculum.describe.check import findings, parts_with_dimensions
from vinculum.describe.constraints import Constraint, Holonomic, Servo, named
from vinculum.describe.homogeneous import dimension_findings
from vinculum.describe.quantities import dimensions_of, settle_units
from vinculum.errors import ModelError
from vinculum.expressions import as_expression
from vinculum.frozen import FrozenMapping
from vinculum.graph import Converter, Node, from_sympy, symbol
from vinculum.names import listed, velocity_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.dimensions import TIME


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """A mechanical system stated by its energies.

    ``coordinates`` are functions of time (``dynamicsymbols``), velocities their derivatives ``q.diff()``.
    ``kinetic_energy`` T(q, qdot, t) may have quadratic, linear and velocity-free parts; ``potential_energy``
    V(q, t); ``forces`` {coordinate: generalized force}, which may contain ``inputs``; ``dissipation`` Rayleigh's
    function D(q, qdot), giving the force -dD/dqdot; ``parameters`` {symbol: value}. ``ignored`` are coordinates that
    linear models leave out, because only their velocities matter: the charge of a circuit, the angle of a flywheel.

    Numbers are in SI. A parameter may have a unit, ``{m: "28.2 g"}`` or a quantity of pint, and coordinates and inputs
    may be given with their SI units, ``{x: "m"}``: then every sum, function, energy, force and constraint whose
    dimensions are known is checked, as in a model file.

    An invalid description is refused with a `ModelError` that lists every finding.

    >>> import sympy as sp
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> theta = dynamicsymbols("theta")
    >>> m, l, g = sp.symbols("m l g")
    >>> System([theta], m * l**2 * theta.diff()**2 / 2, -m * g * l * sp.cos(theta),
    ...        parameters={m: 1, l: 0.5, g: 9.81}, name="pendulum")
    System "pendulum"
      coordinates         theta
      constraints         none
      degrees of freedom  1
      inputs              none
      parameters          m = 1, l = 0.5, g = 9.81
    """

    coordinates: Sequence[sp.Expr] | Any  # or {coordinate: SI unit}
    kinetic_energy: sp.Expr
    potential_energy: sp.Expr = sp.S.Zero
    forces: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)
    dissipation: sp.Expr = sp.S.Zero
    constraints: Sequence[Constraint] = ()
    parameters: Mapping[sp.Symbol, float] = field(default_factory=dict)
    inputs: Sequence[sp.Expr] | Any = ()  # or {input: SI unit}
    name: str = "system"
    ignored: Sequence[sp.Expr] = ()  # coordinates whose values do not matter, only their velocities: charges of motors
    bodies: Any = None  # the BodyTree that made the system, if any: its recursions give M and h
    units: Mapping[sp.Expr, str] = field(default_factory=dict)  # SI units of the symbols that have one

    def __post_init__(self) -> None:
        wrong, stated = settle_units(self, ("coordinates", "inputs"))
        found = wrong + findings(self)
        if stated and not found:
            found = dimension_findings(parts_with_dimensions(self), dimensions_of(self) | {self.time: TIME})
        if found:
            raise ModelError(f"Invalid system {self.name!r}", found)
        settle = object.__setattr__
        settle(self, "coordinates", tuple(self.coordinates))
        settle(self, "inputs", tuple(self.inputs))
        settle(self, "ignored", tuple(self.ignored))
        settle(self, "constraints", named(self.constraints))
        settle(self, "forces", FrozenMapping({q: as_expression(f) for q, f in self.forces.items()}))
        settle(self, "parameters", FrozenMapping({p: float(v) for p, v in self.parameters.items()}))
        for energy in ("kinetic_energy", "potential_energy", "dissipation"):
            settle(self, energy, as_expression(getattr(self, energy)))

    @property
    def time(self) -> sp.Symbol:
        """The symbol of time, taken from the coordinates."""
        return self.coordinates[0].args[0]

    @cached_property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """dq/dt for every coordinate."""
        return tuple(map(velocity_of, self.coordinates))

    @property
    def servo_inputs(self) -> tuple[sp.Expr, ...]:
        """The inputs that hold servo constraints, in the order of the constraints."""
        return tuple(dict.fromkeys(u for c in self.constraints if isinstance(c, Servo) for u in c.through))

    @property
    def free_inputs(self) -> tuple[sp.Expr, ...]:
        """The inputs for which a law or a value must be given."""
        return tuple(u for u in self.inputs if u not in self.servo_inputs)

    @cached_property
    def nodes(self) -> SystemNodes:
        """The description in the expression graph."""
        return SystemNodes.of(self)

    def __repr__(self) -> str:
        holonomic = sum(isinstance(c, Holonomic) for c in self.constraints)
        rows = {
            "coordinates": listed(self.coordinates),
            "constraints": ", ".join(c.name for c in self.constraints) or "none",
            "degrees of freedom": _freedom(len(self.coordinates), holonomic, len(self.constraints)),
            "inputs": listed(self.inputs) or "none",
            "parameters": ", ".join(f"{p} = {v:.6g}" for p, v in self.parameters.items()) or "none",
        }
        return labelled_rows(f'System "{self.name}"', rows)

    _repr_html_ = html


def _freedom(coordinates: int, holonomic: int, constraints: int) -> str:
    """Degrees of freedom of position, and of velocity if nonholonomic constraints remove more."""
    position, velocity = coordinates - holonomic, coordinates - constraints
    return str(position) if position == velocity else f"{velocity} (velocity), {position} (position)"


@dataclass(frozen=True)
class SystemNodes:
    """A `System` in the expression graph, n coordinates and m constraints."""

    time: Node
    q: tuple[Node, ...]  # (n)
    v: tuple[Node, ...]  # (n)
    parameters: tuple[Node, ...]
    inputs: tuple[Node, ...]
    energies: tuple[sp.Expr, sp.Expr]  # T, V
    dissipation: Node
    forces: tuple[Node, ...]  # (n)
    constraints: tuple[Node, ...]  # (m)

    @cached_property
    def kinetic(self) -> Node:
        """T, converted on first use: the recursions of a tree of bodies do not need it."""
        return from_sympy(self.energies[0])

    @cached_property
    def potential(self) -> Node:
        """V, converted on first use."""
        return from_sympy(self.energies[1])

    @classmethod
    def of(cls, system: System) -> SystemNodes:
        """Convert a system; common subexpressions are converted once."""
        convert = Converter()
        return cls(
            time=symbol(system.time),
            q=tuple(symbol(q) for q in system.coordinates),
            v=tuple(symbol(v) for v in system.velocities),
            parameters=tuple(symbol(p) for p in system.parameters),
            inputs=tuple(symbol(u) for u in system.inputs),
            energies=(system.kinetic_energy, system.potential_energy),
            dissipation=convert(system.dissipation),
            forces=tuple(convert(system.forces.get(q, 0)) for q in system.coordinates),
            constraints=tuple(convert(c.expression) for c in system.constraints),
        )
