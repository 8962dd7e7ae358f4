"""What can be wrong with an affine system, all of it found at once, in the user's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.describe.check import _about_value
from vinculum.errors import VinculumError
from vinculum.graph import Node, from_sympy, symbols
from vinculum.names import listed, name_of, suggestion

if TYPE_CHECKING:
    from vinculum.describe.affine import AffineSystem


def findings(system: AffineSystem) -> list[str]:
    """Every finding about a system. The symbols can be looked at only when the shapes are right."""
    first = [*_about_states(system), *_about_shapes(system), *_about_declarations(system)]
    return first or list(_about_symbols(system))


def _about_states(system: AffineSystem) -> Iterator[str]:
    if not len(system.states):
        yield "there are no states. Pass states=[x, ...] with x = dynamicsymbols('x')."
    times = set()
    for x in system.states:
        if isinstance(x, sp.Derivative) and isinstance(x.expr, AppliedUndef):
            times.add(x.variables[0])
        elif isinstance(x, AppliedUndef) and len(x.args) == 1 and isinstance(x.args[0], sp.Symbol):
            times.add(x.args[0])
        else:
            yield f"the state {x} is not a function of time. Make it with dynamicsymbols('{x}')."
    if len(times) > 1:
        yield f"the states are functions of different times: {listed(times)}. Use one."


def _about_shapes(system: AffineSystem) -> Iterator[str]:
    n, s = len(system.states), len(system.inputs)
    if len(system.drift) != n:
        yield f"the drift has {len(system.drift)} entries for {n} states. Give one for each, 0 for none."
    matrix = system.input_matrix
    shape = matrix.shape if hasattr(matrix, "shape") else (len(matrix), *{len(row) for row in matrix})
    if s and tuple(shape) != (n, s):
        yield f"the input matrix has the shape {tuple(shape)}; it needs {n} rows (states) and {s} columns (inputs)."
    if not s and len(matrix):
        yield "there is an input matrix but there are no inputs. Pass inputs=[...], one symbol for each column."


def _about_declarations(system: AffineSystem) -> Iterator[str]:
    groups = (system.states, system.inputs, system.parameters)
    for name, times in Counter(name_of(key) for group in groups for key in group).items():
        if times > 1:
            yield f"{name} is declared {times} times among states, inputs and parameters. Keep one."
    for u in system.inputs:
        if not isinstance(u, (sp.Symbol, AppliedUndef)):
            yield f"the input {u} is not a symbol. Make it with sympy.symbols."
    for key, value in system.parameters.items():
        yield from _about_value(key, value)


def _labelled(system: AffineSystem) -> Iterator[tuple[str, object]]:
    from vinculum.describe.affine import named, rows

    for x, entry in zip(system.states, system.drift, strict=True):
        yield f"drift of {name_of(x)}", entry
    for x, row in zip(system.states, rows(system.input_matrix, len(system.states), len(system.inputs)), strict=True):
        for u, entry in zip(system.inputs, row, strict=True):
            yield f"coefficient of {name_of(u)} in the rate of {name_of(x)}", entry
    for name, f in named(system.constraints).items():
        yield f"constraint {name}", f
    if system.energy is not None:
        yield "energy", system.energy
    yield "power", system.power


def _about_symbols(system: AffineSystem) -> Iterator[str]:
    time = system.time
    states, inputs = set(system.states), set(system.inputs)
    declared = {*states, *system.parameters, time}
    for label, expression in _labelled(system):
        try:
            found = _leaves(expression)
        except (VinculumError, ZeroDivisionError, TypeError, sp.SympifyError) as error:
            yield f"the {label} cannot be used: {error}"
            continue
        entering = found & inputs
        if entering and label != "power":
            yield f"the {label} contains the input {listed(entering)}; the system must be linear in its inputs, with " \
                  "everything else free of them. Move the term into input_matrix."  # fmt: skip
        for leaf in sorted(found - declared - inputs, key=name_of):
            yield _undeclared(leaf, label, [*declared, *inputs])
        if label.startswith("constraint") and not found & states:
            yield f"the {label} contains no state: {expression} = 0."


def _leaves(expression: object) -> set:
    node = expression if isinstance(expression, Node) else from_sympy(sp.sympify(expression))
    return {leaf.value for leaf in symbols([node])}


def _undeclared(leaf: object, label: str, declared: Sequence[object]) -> str:
    name = name_of(leaf)
    near = suggestion(name, map(name_of, declared))
    if isinstance(leaf, (AppliedUndef, sp.Derivative)):
        return f"{name} in the {label} is no state.{near} Add it to states, with its rate in drift."
    return f"{name} in the {label} has no value.{near} Write parameters={{{name}: number}}."
