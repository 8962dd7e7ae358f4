"""Checks of an affine system; all problems are reported at once, with the user's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.describe import findings as shared
from vinculum.describe.findings import label
from vinculum.describe.homogeneous import Stated
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import About, Finding, Formula, VinculumError, call
from vinculum.graph import Node
from vinculum.names import listed, name_of, suggestion
from vinculum.units.dimensions import ENERGY, TIME, Dimension, over
from vinculum.units.given import known_dimension

if TYPE_CHECKING:
    from vinculum.describe.affine import AffineSystem


Entry: TypeAlias = "sp.Expr | Node | float"  # converted systems hold nodes, to keep their size linear


def matrix_rows(
    matrix: Sequence[Sequence[Entry]] | sp.Matrix | np.ndarray, n: int, s: int
) -> tuple[tuple[Entry, ...], ...]:
    """B as n rows of s entries; without inputs the rows are empty."""
    if s == 0:
        return ((),) * n
    entries = matrix.tolist() if isinstance(matrix, sp.MatrixBase) else matrix
    return tuple(tuple(row) for row in entries)


def by_name(constraints: Mapping[str, Entry] | Sequence[Entry]) -> dict[str, Entry]:
    """Constraints by name: their own, or constraint_1, constraint_2, ..."""
    if isinstance(constraints, Mapping):
        return dict(constraints)
    return {f"constraint_{i}": f for i, f in enumerate(constraints, start=1)}


def findings(system: AffineSystem) -> list[Finding]:
    """All findings about a system. The symbols are checked only if the shapes are right."""
    first = [*_check_states(system), *_check_shapes(system), *_check_declarations(system)]
    return first or list(_check_symbols(system))


def _check_states(system: AffineSystem) -> Iterator[Finding]:
    if not len(system.states):
        advice = ("Use ", call("AffineSystem", states=[Formula("x")]), ".")
        yield Finding("there are no states.", advice, About("state"))
    times: dict[object, None] = {}
    for x in system.states:
        if isinstance(x, sp.Derivative) and isinstance(x.expr, AppliedUndef):
            times[x.variables[0]] = None
        elif shared.is_function_of_time(x):
            times[x.args[0]] = None
        else:
            yield shared.not_a_function_of_time("state", x)
    yield from shared.different_times("state", times)


def _check_shapes(system: AffineSystem) -> Iterator[Finding]:
    n, s = len(system.states), len(system.inputs)
    if len(system.drift) != n:
        yield Finding(f"the drift has {len(system.drift)} entries for {n} states.", ["Give one for each, 0 for none."])
    matrix = system.input_matrix
    shape = matrix.shape if hasattr(matrix, "shape") else (len(matrix), *{len(row) for row in matrix})
    if s and tuple(shape) != (n, s):
        yield Finding(
            f"the input matrix has the shape {tuple(shape)}; it needs {n} rows (states) and {s} columns (inputs)."
        )
    if not s and len(matrix):
        advice = ("Use ", call("AffineSystem", inputs=[Formula("u")]), ", one symbol for each column.")
        yield Finding("there is an input matrix but there are no inputs.", advice)


def _check_declarations(system: AffineSystem) -> Iterator[Finding]:
    groups = (system.states, system.inputs, system.parameters)
    yield from shared.repeated_declarations("states, inputs and parameters", *groups)
    for u in system.inputs:
        if not isinstance(u, (sp.Symbol, AppliedUndef, sp.Derivative)):
            yield shared.not_a_symbol(u)
    for key, value in system.parameters.items():
        yield from shared.parameter_findings(key, value, "AffineSystem")


def _parts(system: AffineSystem) -> Iterator[tuple[About, str, object]]:
    """Every expression of the description, with a name for messages."""
    matrix = matrix_rows(system.input_matrix, len(system.states), len(system.inputs))
    for x, drift, row in zip(system.states, system.drift, matrix, strict=True):
        about = About("drift", name_of(x))
        yield about, label(about), drift
        for u, entry in zip(system.inputs, row, strict=True):
            yield about, f"coefficient of {name_of(u)} in the rate of {name_of(x)}", entry
    for name, f in by_name(system.constraints).items():
        yield About("constraint", name), f"constraint {name}", f
    if system.energy is not None:
        yield About("energy", "energy"), "energy", system.energy
    yield About("energy", "power"), "power", system.power


def parts_with_dimensions(system: AffineSystem) -> Iterator[Stated]:
    """Every expression of the description, with the dimension it needs if that is known."""
    known = dimensions_of(system)
    needed: dict[About, Dimension] = {About("energy", "energy"): ENERGY, About("energy", "power"): over(ENERGY, TIME)}
    for x in system.states:
        own = known_dimension(x, known)
        needed |= {} if own is None else {About("drift", name_of(x)): over(own, TIME)}
    for about, words, expression in _parts(system):
        is_column = words.startswith("coefficient")  # its dimension is that of the rate over that of the input
        yield about, words, expression, None if is_column else needed.get(about)


def _check_symbols(system: AffineSystem) -> Iterator[Finding]:
    states, inputs = set(system.states), set(system.inputs)
    declared = {*states, *system.parameters, system.time}
    for about, words, expression in _parts(system):
        try:
            found = shared.leaves_of(expression)
        except (VinculumError, ZeroDivisionError, TypeError, sp.SympifyError) as error:
            yield shared.unusable(words, error, about)
            continue
        entering = found & inputs
        if entering and about.name != "power":
            text = f"the {words} contains the input {listed(entering)}; the system must be linear in its inputs."
            yield Finding(text, ["Move the term into input_matrix."], about)
        for leaf in sorted(found - declared - inputs, key=name_of):
            yield _undeclared(leaf, words, about, [*declared, *inputs])
        if about.kind == "constraint" and not found & states:
            yield Finding(f"the {words} contains no state: {expression} = 0.", about=about)


def _undeclared(leaf: object, words: str, about: About, declared: list) -> Finding:
    if isinstance(leaf, (AppliedUndef, sp.Derivative)):
        near = suggestion(name_of(leaf), map(name_of, declared))
        advice = ["Add it to states, with its rate in drift."]
        return Finding(f"{name_of(leaf)} in the {words} is not a state.{near}", advice, about)
    return shared.no_value(leaf, words, declared, "AffineSystem", about)
