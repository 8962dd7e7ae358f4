"""The graph as heyoka expressions, from which heyoka compiles a Taylor integrator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from vinculum.compile.code_cache import heyoka
from vinculum.graph.node import Node, Number
from vinculum.graph.targets import ARITHMETIC, Target

COMPACT_FROM = 100  # operations; above this, heyoka's compact mode compiles in a fraction of the time


@cache
def _table() -> dict[str, Callable[..., Any]]:
    """The table of operations; all other functions have the same name in heyoka."""
    hy = heyoka()

    return {
        **ARITHMETIC,
        "less": hy.lt,
        "less_equal": hy.lte,
        "equal": hy.eq,
        "both": lambda a, b: hy.logical_and([a, b]),
        "either": lambda a, b: hy.logical_or([a, b]),
        "select": hy.select,
        "abs": lambda a: hy.select(hy.gte(a, 0.0), a, -a),
        "sign": lambda a: hy.select(hy.gt(a, 0.0), 1.0, hy.select(hy.lt(a, 0.0), -1.0, 0.0)),
    }


class HeyokaTarget(Target[Any]):
    """The graph as heyoka expressions, with truth values 1 and 0."""

    def constant(self, value: Number) -> Any:
        """A double-precision number."""
        hy = heyoka()

        return hy.expression(float(value))

    def symbol(self, node: Node) -> Any:
        """A symbol, which must be known in advance."""
        raise KeyError(f"{node!r} is not the time, a state or a parameter of these equations")

    def operation(self, node: Node, args: Sequence[Any]) -> Any:
        """heyoka's operators and functions."""
        hy = heyoka()

        return (_table().get(node.op) or getattr(hy, node.op))(*args)


def expressions(
    time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]
) -> tuple[list[Any], list[Any]]:
    """heyoka's state variables and the outputs as heyoka expressions; parameters become ``par[i]``."""
    hy = heyoka()

    variables = hy.make_vars(*(f"x{i}" for i in range(len(state))))
    variables = [variables] if len(state) == 1 else list(variables)
    known: dict[Node, Any] = {time: hy.time}
    known.update(zip(state, variables, strict=True))
    known.update((p, hy.par[i]) for i, p in enumerate(parameters))
    target = HeyokaTarget(known)
    return variables, [target.value(output) for output in target.prepare(outputs)]
