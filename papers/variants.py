"""Mechanisms of examples/ with other numbers: the papers' variants of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

import vinculum as vn


def with_numbers(system: vn.System, numbers: Mapping[sp.Symbol, float] | None = None, **changes: Any) -> vn.System:
    """A system with ``changes`` of its fields, and numbers (its own, or others) in place of its parameters."""
    changed = replace(system, **changes) if changes else system
    known = dict(system.parameters) | dict(numbers or {})
    return replace(
        changed,
        kinetic_energy=sp.sympify(changed.kinetic_energy).subs(known),
        potential_energy=sp.sympify(changed.potential_energy).subs(known),
        forces={q: sp.sympify(force).subs(known) for q, force in changed.forces.items()},
        constraints=[replace(c, expression=c.expression.subs(known)) for c in changed.constraints],
        parameters={},
    )
