"""reaction(constraint) and residual(constraint, level) in a formula."""

from __future__ import annotations

import ast

from vinculum.model.expressions.scope import Scope
from vinculum.model.expressions.value import Refused, Value
from vinculum.names import reaction, residual, suggestion


def multiplier(node: ast.Call, name: str, scope: Scope) -> Value:
    """reaction(rod), residual(rod, 1): the constraint by its name, quoted where it is not one word."""
    if name == "residual" and not scope.residuals:
        raise Refused("residual(...) is for the functions of a perturbation only.")
    first = node.args[0] if node.args else None
    known = scope.constraints
    label = first.id if isinstance(first, ast.Name) else first.value if isinstance(first, ast.Constant) else None
    if not isinstance(label, str) or len(node.args) > (2 if name == "residual" else 1):
        raise Refused(f"write {name}(constraint), with the name of a constraint.")
    if label not in known:
        near = suggestion(label, known) or (f" The constraints are {', '.join(known)}." if known else "")
        raise Refused(f"there is no constraint {label[:40]} whose {name} could be used here.{near}")
    if name == "reaction":
        return Value(reaction(label))
    level = node.args[1].value if len(node.args) == 2 and isinstance(node.args[1], ast.Constant) else 0
    if not isinstance(level, int) or not 0 <= level < 10:
        raise Refused("the level of a residual is 0, 1, ...")
    return Value(residual(label, level))
