"""The user's kinematic characteristics, checked, and the release parameters that complete them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.quasi.chart import Characteristics
from vinculum.derivation.quasi.chart_inverse import Inverse, branch_state, inverted
from vinculum.derivation.quasi.chart_limits import refuse_dependent_characteristics
from vinculum.describe import System
from vinculum.errors import Finding, Formula, ModelError, Word, call
from vinculum.graph import Converter, Node, symbols
from vinculum.names import listed, name_of, suggestion


def build_characteristics(
    mechanics: Mechanics,
    characteristics: Mapping[sp.Expr, sp.Expr] | None,
    release: Mapping[str, sp.Expr] | None,
    inverse: Inverse,
    at: Mapping[sp.Expr, float] | None,
    samples: Samples,
) -> Characteristics:
    """The user's characteristics and the release parameters, independent, with their inverse."""
    system = mechanics.system
    given = check_characteristics(system, characteristics)
    names = (*given, *release_parameters(system, release))
    of = Characteristics(system, names, (*given.values(), *mechanics.velocity), len(given))
    deciding = branch_state(of, at)
    refuse_dependent_characteristics(of, samples[0] if samples and at is None else deciding)
    return inverted(of, inverse, deciding)


def check_characteristics(system: System, given: Mapping[sp.Expr, sp.Expr] | None) -> dict[sp.Expr, Node]:
    """The user's characteristics as nodes, as many as the constraints leave free."""
    k = len(system.coordinates) - len(system.constraints)
    if given is None:
        formula = Formula("expression of q and dot(q)")
        raise ModelError(
            "This form needs kinematic characteristics",
            [
                Finding(
                    f"{k} of them are needed.",
                    ["Use ", call("derive", form="hamel", characteristics={Word("e1"): formula}), "."],
                )
            ],
        )
    problems = [finding for name, expression in given.items() for finding in _about(system, name, expression)]
    if len(given) != k:
        problems.append(
            f"{len(system.coordinates)} coordinates and {len(system.constraints)} constraints leave {k} "
            f"characteristics to choose, but {len(given)} are given: {listed(given)}."
        )
    if problems:
        raise ModelError("Invalid characteristics", problems)
    convert = Converter()
    return {name: convert(expression) for name, expression in given.items()}


def _about(system: System, name: Any, expression: sp.Expr) -> list[str]:
    if not isinstance(name, AppliedUndef) or name.args != (system.time,):
        return [f"{name} is not a function of time. Make it with dynamicsymbols('{name}')."]
    if name in system.coordinates:
        return [f"{name_of(name)} is a coordinate. Give the characteristic a name of its own."]
    known = {*system.nodes.q, *system.nodes.v, *system.nodes.parameters, system.nodes.time}
    found = symbols([Converter()(expression)])
    strangers = [s.value for s in found - known]
    problems = [f"{name_of(name)} contains {listed(strangers)}, which has no value."] if strangers else []
    if not found & set(system.nodes.v):
        problems.append(f"{name_of(name)} contains no velocity, so it cannot stand for one.")
    return problems


def release_parameters(system: System, asked: Mapping[str, sp.Expr] | None) -> tuple[sp.Expr, ...]:
    """The symbols ξ_s = e_{k+s}: the user's, or xi_<constraint>."""
    names = [c.name for c in system.constraints]
    problems = [
        f"there is no constraint {name!r}.{suggestion(str(name), names)}" for name in asked or () if name not in names
    ]
    problems += [
        f"the release parameter of {name} is {xi}, not a function of time. Make it with dynamicsymbols('{xi}')."
        for name, xi in (asked or {}).items()
        if not isinstance(xi, AppliedUndef) or xi.args != (system.time,)
    ]
    if problems:
        raise ModelError("Invalid release parameters", problems)
    return tuple((asked or {}).get(name, _release_parameter(system, name)) for name in names)


def _release_parameter(system: System, constraint: str) -> sp.Expr:
    """xi_<constraint> as a function of time, with letters and digits alone."""
    return sp.Function("xi_" + "".join(ch if ch.isalnum() else "_" for ch in constraint))(system.time)
