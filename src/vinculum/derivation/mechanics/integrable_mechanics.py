"""Equations of motion at a state: the choice of pivots and partition, the `Integrable` record, a consistent start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from vinculum.derivation.integrable import (
    WORK,
    Energy,
    Held,
    Integrable,
    Residual,
    Roles,
    StartLevel,
    servo_work,
    with_definitions,
)
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.partition import Partition, conditioning
from vinculum.derivation.mechanics.sample_states import Values, refuse_unmet
from vinculum.derivation.quasi.chart import refuse_outside, watch_limits
from vinculum.describe import Servo
from vinculum.errors import ConstraintError, Finding, Word, call
from vinculum.graph import ZERO, Converter, Node, evaluate, substitute, symbol
from vinculum.names import listed, name_of, reaction

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion


def reference_state(equations: EquationsOfMotion) -> Values:
    """The state at which ranks and pivots are chosen: ``at`` of the form, otherwise the first sample."""
    if equations.form.at is not None:
        return equations.values(equations.form.at)
    if not equations.samples:
        refuse_unmet(equations.mechanics)
    return equations.samples[0]


def choose_elimination(equations: EquationsOfMotion, *values: Values) -> Explicit:
    """A new elimination with pivots that are good at all the given states."""
    samples, limits = [*values, *equations.samples], equations.conditions
    refuse_outside(limits, samples[0])
    explicit = equations.form.eliminate(equations.mechanics, equations.variables, samples)
    return watch_limits(explicit, limits, samples[0])


def change_partition(
    equations: EquationsOfMotion, partition: Partition, values: Values | None = None
) -> EquationsOfMotion:
    """The same form with another partition, eliminated at a state (default: the reference state)."""
    variables = equations.form.divide(equations.mechanics, partition)
    other = replace(equations, variables=variables, elimination=None)
    at = reference_state(other) if values is None else values
    return replace(other, elimination=choose_elimination(other, at))


def adapt_partition(equations: EquationsOfMotion, values: Values) -> EquationsOfMotion:
    """The same form with the best partition at a state, if Vinculum chose the old one and it has become bad."""
    mechanics, partition = equations.mechanics, equations.partition
    if partition is None or not partition.chosen:
        return equations
    best = equations.form.best_partition(mechanics, [values, *equations.samples])
    now, then = (conditioning(mechanics, p, values) for p in (partition, best))
    return change_partition(equations, best, values) if now < 0.1 * then else equations


def integrable_mechanics(equations: EquationsOfMotion, explicit: Explicit) -> Integrable:
    """The record of equations of motion with an elimination."""
    system, mechanics, variables = equations.system, equations.mechanics, equations.variables
    outputs = _outputs(equations, explicit)
    kinematics = {v: outputs[v] for v in system.nodes.v if outputs[v] is not v}

    def lift(nodes: list[Node]) -> list[Node]:
        """Nodes of q and q̇ as nodes of the state, where some velocities are functions of it."""
        return substitute(nodes, kinematics)

    residuals = lift([r.node for r in equations.residuals])
    chains = [tuple(y for y in chain if y is not None) for chain in variables.feedback]
    powers = _powers(equations, explicit)
    stored, kinetic = lift([mechanics.energy, system.nodes.kinetic])
    return Integrable(
        equations=equations,
        states=tuple(map(symbol, (*variables.states, *equations.extra))),
        rates=(*explicit.rates, *lift([Converter()(rate) for rate in equations.extra.values()])),
        outputs=outputs,
        constraints=tuple(map(Held, equations.constraint_names, mechanics.corrections, chains)),
        residuals=tuple(
            Residual(r.constraint, r.level, f) for r, f in zip(equations.residuals, residuals, strict=True)
        ),
        projections=tuple((tuple(lift(list(zeros))), moved) for zeros, moved in variables.projections),
        pivots=explicit.pivots,
        roles=_roles(equations),
        energy=Energy(stored, dict(zip(powers, lift(list(powers.values())), strict=True)), kinetic),
        conditions=variables.conditions,
    )


def _outputs(equations: EquationsOfMotion, explicit: Explicit) -> dict[Node, Node]:
    """Coordinates, velocities, accelerations, reactions and the inputs of servos on the exact motion."""
    system, mechanics = equations.system, equations.mechanics
    velocities = dict(zip(system.nodes.v, mechanics.without_corrections(explicit.velocities), strict=True))
    kinematics = {v: node for v, node in velocities.items() if node is not v}
    keys = [symbol(a) for a in equations.acceleration_symbols]
    keys += [symbol(reaction(name)) for name in equations.constraint_names]
    keys += [symbol(u) for u in system.servo_inputs]
    servos = [r for c, r in zip(system.constraints, explicit.reactions, strict=True) if isinstance(c, Servo)]
    nodes = mechanics.without_corrections([*explicit.accelerations, *explicit.reactions, *servos])
    return {q: q for q in system.nodes.q} | velocities | dict(zip(keys, substitute(nodes, kinematics), strict=True))


def _powers(equations: EquationsOfMotion, explicit: Explicit) -> dict[Node, Node]:
    """dE/dt by forces, moving constraints and explicit time, and its part u b·q̇ of every servo."""
    system, mechanics = equations.system, equations.mechanics
    reactions = mechanics.without_corrections(explicit.reactions)
    power = mechanics.power(reactions)
    if power is ZERO:
        return {}
    pairs = zip(system.constraints, reactions, mechanics.virtual_rates, strict=True)
    parts = [force * rate for c, force, rate in pairs if isinstance(c, Servo)]
    return {WORK: power, **dict(zip(map(servo_work, system.servo_inputs), parts, strict=True))}


def _roles(equations: EquationsOfMotion) -> Roles:
    """Coordinates are shown; the input of a servo constraint stands in place of its reaction."""
    system = equations.system
    return Roles(
        symbols=(*system.nodes.q, *system.nodes.v),
        shown=system.nodes.q,
        reactions={name: symbol(reaction(name)) for name in equations.constraint_names},
        holding={name: symbol(u) for name, u in equations.holding.items()},
        servos=tuple(map(symbol, system.servo_inputs)),
    )


def start_levels(
    equations: EquationsOfMotion, initial: Mapping[sp.Expr, float], values: dict[Node, float]
) -> tuple[StartLevel, ...]:
    """The equations of a consistent start, level by level; may improve the first guesses in ``values``.

    A ball joint or free body starts at the identity unless the user gives something else.
    """
    home = equations.system.bodies.home if equations.system.bodies is not None else {}
    values.update({symbol(q): x for q, x in home.items() if x and q not in initial})
    approach, q, v = equations.mechanics.approach, tuple(equations.system.coordinates), equations.system.velocities
    met = [r for r in equations.residuals if r.constraint not in approach]
    position, velocity = (tuple((r.constraint, r.node) for r in met if r.level == level)
                          for level in ("position", "velocity"))  # fmt: skip
    hidden = tuple((name, z) for name, z in equations.mechanics.hidden if name not in approach)
    chosen = _start_conditions(equations, initial, values)
    levels = (StartLevel("coordinates", position, q), StartLevel("velocities", (*velocity, *chosen), v))
    if not hidden:
        return levels
    return (*levels, StartLevel("coordinates and velocities", position + velocity + hidden, (*q, *v)))


def _start_conditions(
    equations: EquationsOfMotion, initial: Mapping[sp.Expr, float], values: dict[Node, float]
) -> list[tuple[str, Node]]:
    """Conditions from states that the user gave in place of velocities: definition(q, q̇, t) - value = 0.

    The first guess of the unknown velocities is what the form computes from these states (exact if all of them are
    given), or a state in general position, since a definition may be singular at rest.
    """
    given = {key: float(initial[key]) for key in equations.definitions if key in initial}
    if not given:
        return []
    v = equations.system.nodes.v
    start = {node: reference_state(equations)[node] for node in v}
    if len(given) == len(equations.definitions):
        known = {**reference_state(equations), **values, **{symbol(key): x for key, x in given.items()}}
        guess = {node: x for node, x in start.items() if node.value not in initial}
        exact = equations.mechanics.without_corrections(equations.explicit(known | guess).velocities)
        start = dict(zip(v, evaluate(exact, known | guess), strict=True))
    values.update({node: x for node, x in start.items() if node.value not in initial})
    return [(name_of(key), equations.definitions[key] - value) for key, value in given.items()]


def refuse_other_branch(equations: EquationsOfMotion, given: Values) -> None:
    """Raise where the states give other velocities than those they came from: that is another branch of the chart."""
    values = with_definitions(equations.definitions, given)
    found = evaluate(equations.mechanics.without_corrections(equations.explicit(values).velocities), values)
    pairs = zip(equations.system.velocities, found, strict=True)
    wrong = [v for v, x in pairs if abs(x - values[symbol(v)]) > 1e-8 * (1 + abs(x))]
    if wrong:
        limits = "; ".join(condition.meaning for condition in equations.conditions)
        raise ConstraintError(
            Finding(
                f"The initial state is outside the chart: the states of the form give another value of "
                f"{listed(wrong)} ({limits}).",
                [
                    "Start on the other side, or give a state there: ",
                    call("derive", at={Word("coordinate"): Word("value")}),
                    ".",
                ],
            )
        )
