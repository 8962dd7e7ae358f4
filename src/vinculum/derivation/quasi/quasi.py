"""Builds equations of motion in quasi-velocities: "hamel" and "maggi", "voronets" and "chaplygin"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.chaplygin import refuse_unless_chaplygin
from vinculum.derivation.forms.hamel import KINDS, hamel, state_places
from vinculum.derivation.forms.voronets import independent_velocities
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.residuals import position_feedback, position_projections
from vinculum.derivation.mechanics.sample_states import generic_states
from vinculum.derivation.quasi.chart import Characteristics
from vinculum.derivation.quasi.chart_inverse import Inverse, branch_state, inverted
from vinculum.derivation.quasi.chart_limits import (
    conditions,
    grip_conditions,
    refuse_dependent_characteristics,
    watching,
)
from vinculum.derivation.quasi.quasi_printing import lines
from vinculum.describe import System
from vinculum.errors import Finding, Formula, ModelError, Word, call
from vinculum.graph import Converter, Node, symbol, symbols
from vinculum.names import listed, name_of, suggestion


@dataclass(frozen=True)
class QuasiChoices:
    """What a user may choose for these forms."""

    characteristics: Mapping[sp.Expr, sp.Expr] | None = None
    dependent: Sequence[sp.Expr] | None = None
    inverse: Inverse = None
    kind: str = "voronets-hamel"
    release: Mapping[str, sp.Expr] | None = None  # the user's symbols of the release parameters
    at: Mapping[sp.Expr, float] | None = None


def in_quasi_velocities(mechanics: Mechanics, choices: QuasiChoices, form: str = "hamel") -> EquationsOfMotion:
    """Equations for characteristics e(q, q̇, t) of the user's choice."""
    kind = "maggi" if form == "maggi" else choices.kind
    if kind not in KINDS:
        raise ModelError(
            "the kind of equations is not known", [f"{kind!r}.{suggestion(kind, KINDS)} Use {', '.join(KINDS)}."]
        )
    return equations(mechanics, characteristics_of(mechanics, choices), form, kind, choices.at)


def characteristics_of(mechanics: Mechanics, choices: QuasiChoices) -> Characteristics:
    """The user's characteristics and the release parameters, independent, with their inverse."""
    system = mechanics.system
    given = checked(system, choices.characteristics)
    names = (*given, *release_parameters(system, choices.release))
    of = Characteristics(system, names, (*given.values(), *mechanics.velocity), len(given))
    reference = generic_states(mechanics, wanted=1)
    deciding = branch_state(of, choices.at)
    refuse_dependent_characteristics(of, reference[0] if reference and choices.at is None else deciding)
    return inverted(of, choices.inverse, deciding)


def by_voronets(mechanics: Mechanics, choices: QuasiChoices, form: str = "voronets") -> EquationsOfMotion:
    """Voronets' equations: the velocities of the independent coordinates are the characteristics."""
    system = mechanics.system
    given = independent_velocities(mechanics, choices.dependent, choices.at)
    if form == "chaplygin":
        refuse_unless_chaplygin(mechanics, [q for q in system.coordinates if q.diff(system.time) not in given])
    names = (*given, *release_parameters(system, None))
    of = Characteristics(system, names, (*(symbol(v) for v in given), *mechanics.velocity), len(given))
    return equations(mechanics, of, form, "chaplygin", choices.at)


def equations(
    mechanics: Mechanics, of: Characteristics, form: str, kind: str, at: Mapping[sp.Expr, float] | None
) -> EquationsOfMotion:
    """The record of equations for given characteristics."""
    system = mechanics.system
    kept = tuple(of.names[i] for i in state_places(mechanics, of))
    limits = (*conditions(of, [symbol(name) for name in of.names if name not in kept]), *grip_conditions(mechanics))
    predicted = system.velocities if of.by_newton else ()
    return EquationsOfMotion(
        system=system,
        form=form,
        mechanics=mechanics,
        states=(*system.coordinates, *kept, *predicted),
        eliminate=watching(hamel(of, kind), limits),
        feedback=position_feedback(mechanics),
        projections=position_projections(mechanics, kept),
        counted=len(system.coordinates) + len(kept),
        at=at,
        definitions={name: f for name, f in zip(of.names, of.functions, strict=True)
                     if name in kept and symbol(name) is not f},
        conditions=limits,
        lines=lambda record: lines(record, of, kind),
    )  # fmt: skip


def checked(system: System, given: Mapping[sp.Expr, sp.Expr] | None) -> dict[sp.Expr, Node]:
    """The user's characteristics as nodes, as many as the constraints leave free."""
    k = len(system.coordinates) - len(system.constraints)
    if given is None:
        formula = Formula("expression of q and dot(q)")
        raise ModelError(
            "the form needs kinematic characteristics",
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
            f"characteristics "
            f"to choose, but {len(given)} are given: {listed(given)}."
        )
    if problems:
        raise ModelError("the characteristics are not usable", problems)
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
    return tuple(
        (asked or {}).get(
            c.name, sp.Function("xi_" + "".join(ch if ch.isalnum() else "_" for ch in c.name))(system.time)
        )
        for c in system.constraints
    )
