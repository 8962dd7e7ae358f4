"""Names of symbols in messages, tables and files: ``theta``, ``dot(theta)``, ``ddot(theta)``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache

import sympy as sp


def name_of(key: object) -> str:
    """The user's name of a SymPy symbol, a function of time or one of its derivatives."""
    if isinstance(key, sp.Derivative):
        times = sum(count for _, count in key.variable_count)
        return f"{'d' * (times - 1)}dot({name_of(key.expr)})"
    if isinstance(key, sp.core.function.AppliedUndef):
        return key.func.__name__
    return str(key)


def variable_name(key: object) -> str:
    """The same name as an identifier for tables and files: ``theta``, ``theta_dot``, ``theta_ddot``."""
    if isinstance(key, sp.Derivative):
        times = sum(count for _, count in key.variable_count)
        return f"{variable_name(key.expr)}_{'d' * (times - 1)}dot"
    return name_of(key)


def listed(keys: Iterable[object]) -> str:
    """Names separated by commas: ``x, y, theta``."""
    return ", ".join(name_of(key) for key in keys)


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` Did you mean theta?`` if a known name is similar, otherwise an empty string."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def reaction(constraint: str) -> sp.Symbol:
    """The multiplier of a constraint as a symbol, for use in events and in ``motion[...]``."""
    return sp.Symbol(f"reaction({constraint})", real=True)


def residual(constraint: str, level: int = 0) -> sp.Symbol:
    """The residual y_level of a constraint as a symbol, for `Perturbation`."""
    return sp.Symbol(f"residual({constraint}, {level})", real=True)


TIME = sp.Symbol("t")  # the time of ``dynamicsymbols``


@lru_cache(maxsize=1 << 12)
def velocity_of(q: sp.Expr, times: int = 1) -> sp.Expr:
    """dq/dt of a function of time, or with ``times=2`` its acceleration.

    It equals ``q.diff(t, times)`` but is built without SymPy's checks, which take a hundred times as long.
    """
    if isinstance(q, sp.core.function.AppliedUndef) and len(q.args) == 1 and q.args[0].is_Symbol:
        return sp.Expr.__new__(sp.Derivative, q, sp.Tuple(q.args[0], times))
    return q.diff(q.args[0], times)


def function_of_time(name: str) -> sp.Expr:
    """The same as ``dynamicsymbols(name)``, without importing it, which takes a quarter of a second."""
    return sp.Function(name)(TIME)


def gain_symbol(u: sp.Expr, state: sp.Expr) -> sp.Symbol:
    """The parameter K_u_x that multiplies the deviation of a state in the law of an input."""
    return sp.Symbol(f"K_{variable_name(u)}_{variable_name(state)}")
