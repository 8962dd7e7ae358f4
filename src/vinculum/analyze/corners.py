"""Corners of force laws at a point: abs, sign, min, max and cases whose switch is exactly there."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.analyze.descriptor import Descriptor
from vinculum.errors import DomainError, ModelError
from vinculum.graph import Node, evaluate, order, to_sympy
from vinculum.text_printer import plain

_SWITCHES = frozenset(("abs", "sign", "less", "less_equal", "equal"))


def corners(form: Descriptor, values: Mapping[Node, float]) -> list[Node]:
    """Expressions that switch the equations at the point: zero there, and not constant."""
    found = []
    for node in order([*form.rates, *form.balance, *form.residuals]):
        if node.op in _SWITCHES:
            switch = node.args[0] if len(node.args) == 1 else node.args[0] - node.args[1]
            if _is_zero(switch, values):
                found.append(switch)
    return list(dict.fromkeys(found))


def _is_zero(switch: Node, values: Mapping[Node, float]) -> bool:
    try:
        return evaluate([switch], values)[0] == 0.0
    except (DomainError, KeyError):
        return False


def refuse_corners(form: Descriptor, values: Mapping[Node, float]) -> None:
    """Raise where the equations have a corner: there is no first approximation."""
    found = corners(form, values)
    if found:
        names = ", ".join(plain(to_sympy(node)) for node in found)
        raise ModelError(
            f"The equations of {form.name!r} have a corner at this point",
            [f"They switch where {names} = 0, so they have no derivative and no linear model there."],
        )
