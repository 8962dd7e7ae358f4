"""Equilibria and steady motions (relative equilibria) of systems with constraints of every kind.

In an equilibrium all velocities vanish, except those that constraints prescribe. In a steady motion the states of the
closed set S (see `reduction`) are constant: the ignorable coordinates run uniformly. Both solve

    g(x, w, u) = 0,    z(x) = 0,    rates of the constant states = 0

for the coordinates, velocities and inputs that are not given, with accelerations and reactions w as further unknowns
(Krasinskiy 2025, (17); Routh). Servo constraints are equations like the others, with their inputs as unknowns. Newton's
method runs from several starts; every solution found is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from vinculum.analyze.descriptor import Analyzed
from vinculum.describe.quantities import dimensions_of
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, number
from vinculum.units.given import numbers_in_si

_ROUNDING, _NOTHING = 1e-14, 1e-16  # relative and absolute; smaller values are displayed as zero


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Mapping):
    """An equilibrium or steady motion: values of coordinates, velocities and inputs, by symbol.

    ``reactions`` are λ by constraint name; ``others`` are the other solutions found. In a steady motion the states
    ``constant`` do not change and the coordinates ``ignorable`` run without influence on them.
    """

    values_by_symbol: Mapping[sp.Expr, float]
    reactions: Mapping[str, float]
    residual: float  # largest residual of the equations, relative to the terms of its row
    parameters: Mapping[sp.Symbol, float] = field(default_factory=dict)
    others: tuple[Equilibrium, ...] = ()
    constant: tuple[sp.Expr, ...] = ()  # of a steady motion
    ignorable: tuple[sp.Expr, ...] = ()  # of a steady motion
    frame: tuple[sp.Expr, ...] = ()  # (x, y, heading) if the speeds of a steady motion are along and across a heading

    def __getitem__(self, key: sp.Expr) -> float:
        return self.values_by_symbol[key]

    def __iter__(self) -> Iterator[sp.Expr]:
        return iter(self.values_by_symbol)

    def __len__(self) -> int:
        return len(self.values_by_symbol)

    @property
    def steady(self) -> bool:
        """Whether this is a steady motion rather than a rest."""
        return bool(self.constant)

    @property
    def kind(self) -> str:
        """Its name: "equilibrium" or "steady motion"."""
        return "steady motion" if self.steady else "equilibrium"

    @property
    def shown(self) -> dict[str, float]:
        """Values by name for display: rounding errors as zero, velocities only if nonzero."""
        values = {key: self.clean(value) for key, value in self.items() if key not in self.ignorable}
        return {name_of(k): value for k, value in values.items() if value or not isinstance(k, sp.Derivative)}

    def clean(self, value: float) -> float:
        """A value or a reaction for display: zero if it is a rounding error relative to the largest one."""
        largest = max(map(abs, (*self.values(), *self.reactions.values())), default=0.0)
        return 0.0 if abs(value) <= max(_ROUNDING * largest, _NOTHING) else float(value)

    def __repr__(self) -> str:
        rows = [(name, number(value, 10)) for name, value in self.shown.items()]
        rows += [(name, f"{number(self.clean(value), 10)}  (reaction)") for name, value in self.reactions.items()]
        found = f", {len(self.others)} more found" if self.others else ""
        return labelled_rows(f"{self.kind.capitalize()}{found}", rows)

    _repr_html_ = html


def equilibrium(
    equations: Analyzed,
    given: Mapping[sp.Expr, float] | None = None,
    *,
    near: Mapping[sp.Expr, float] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    starts: int = 40,
) -> Equilibrium:
    """Find the equilibrium with the given coordinates or inputs.

    Given coordinates determine the holding inputs; given inputs determine the coordinates. Velocities are zero, except
    those that constraints prescribe; a given velocity or momentum asks for a steady motion (see `steady`). The search
    starts at ``near`` (default: zero), then at random points. It is an error if the given values leave a variable
    undetermined, or if the equations depend on time explicitly. Under dry friction the rests form a set: give all
    coordinates and inputs, and friction must be able to hold them.
    """
    from vinculum.analyze.nonsmooth import held_by_friction
    from vinculum.analyze.steady_search import Search

    given, near, parameters = (_in_si(equations, values) for values in (given, near, parameters))
    currents = {q.diff() for q in _ignored(equations)}
    moves = any((isinstance(key, sp.Derivative) and key not in currents) or key in _momenta(equations)
                for key in given)  # fmt: skip
    search = Search(equations, given, parameters, moving=() if not moves else None, near=near)
    held = None if moves else held_by_friction(equations, Equilibrium(given, {}, 0.0, search.parameters))
    return held or search.run(starts)


def steady(
    equations: Analyzed,
    given: Mapping[sp.Expr, float] | None = None,
    *,
    near: Mapping[sp.Expr, float] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    moving: Sequence[sp.Expr] | None = None,
    starts: int = 40,
) -> Equilibrium:
    """Find the steady motion with the given coordinates, velocities, momenta or inputs.

    The coordinates that may run uniformly are the ignorable ones, or those of them named in ``moving``. As many values
    must be given as the family of steady motions has dimensions; otherwise the error names what can still change.
    """
    from vinculum.analyze.steady_search import Search

    given, near, parameters = (_in_si(equations, values) for values in (given, near, parameters))
    search = Search(equations, given, parameters, moving=moving, near=near)
    return search.run(starts)


def _in_si(equations: Analyzed, values: Mapping[sp.Expr, Any] | None) -> dict[sp.Expr, float]:
    """Values by symbol in SI; the symbols are checked by the search."""
    return numbers_in_si(values or {}, dimensions_of(equations), "Invalid values")


def _ignored(equations: Analyzed) -> Sequence[sp.Expr]:
    return getattr(getattr(equations, "system", None), "ignored", ())


def _momenta(equations: Analyzed) -> Mapping[sp.Expr, object]:
    return getattr(equations, "definitions", {})
