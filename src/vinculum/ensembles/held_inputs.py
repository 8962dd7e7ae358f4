"""Inputs that are constant during a run and vary from run to run: they become parameters of the equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from vinculum.derivation import EquationsOfMotion, derive
from vinculum.derivation.integrable import Equations
from vinculum.ensembles.vary import Variation
from vinculum.errors import ModelError
from vinculum.names import name_of


def hold_inputs(
    equations: Equations, variation: Variation, laws: Mapping[sp.Expr, Any]
) -> tuple[Equations, Variation, dict[sp.Expr, Any]]:
    """The equations, the variation and the laws, with every varied input u replaced by a parameter of the same name."""
    varied = [key for key in variation.columns if key in getattr(equations, "system", equations).inputs]
    if not varied or not isinstance(equations, EquationsOfMotion):
        return equations, variation, dict(laws)
    taken = [f"{name_of(u)} varies, but it has a law already. Leave one of them out."
             for u in varied if u in laws or u in equations.laws]  # fmt: skip
    if taken:
        raise ModelError("Invalid study", taken)
    values = {u: sp.Dummy(name_of(u)) for u in varied}
    first = {values[u]: float(variation.columns[u][0]) for u in varied}
    held = derive(replace(equations.system, parameters={**equations.parameters, **first}), equations.form)
    columns = {values.get(key, key): column for key, column in variation.columns.items()}
    along = {values.get(key, key): dimension for key, dimension in variation.along.items()}
    changed = Variation(variation.dimensions, columns, along)
    return replace(held, laws=equations.laws, extra=equations.extra), changed, {**laws, **values}
