"""The equations of motion of a mechanism as one `Integrable` record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vinculum.derivation.integrable import WORK, Held, Integrable, Pivot, Residual, Roles, servo_work
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.describe import Servo
from vinculum.graph import ZERO, Converter, Node, evaluate, substitute, symbol
from vinculum.names import reaction

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion


def integrable_mechanics(equations: EquationsOfMotion, explicit: Explicit, values: Values) -> Integrable:
    """The record of equations of motion with an elimination whose pivots are good at a state."""
    system, mechanics, variables = equations.system, equations.mechanics, equations.variables
    outputs = _outputs(equations, explicit)
    kinematics = {v: outputs[v] for v in system.nodes.v if outputs[v] is not v}

    def lift(nodes: list[Node]) -> list[Node]:
        """Nodes of q and q̇ as nodes of the state, where some velocities are functions of it."""
        return substitute(nodes, kinematics)

    residuals = lift([r.node for r in equations.residuals])
    chains = [tuple(y for y in chain if y is not None) for chain in variables.feedback]
    powers = _powers(equations, explicit)
    return Integrable(
        equations=equations,
        time=symbol(system.time),
        states=tuple(map(symbol, (*variables.states, *equations.extra))),
        rates=(*explicit.rates, *lift([Converter()(rate) for rate in equations.extra.values()])),
        parameters={symbol(p): value for p, value in system.parameters.items()},
        inputs=tuple(map(symbol, system.free_inputs)),
        outputs=outputs,
        definitions={symbol(key): node for key, node in variables.definitions.items()},
        constraints=tuple(map(Held, equations.constraint_names, mechanics.corrections, chains)),
        residuals=tuple(
            Residual(r.constraint, r.level, f) for r, f in zip(equations.residuals, residuals, strict=True)
        ),
        projections=tuple((tuple(lift(list(zeros))), moved) for zeros, moved in variables.projections),
        pivots=tuple(map(Pivot, explicit.pivots, evaluate(explicit.pivots, values))),
        roles=_roles(equations),
        energy=lift([mechanics.energy])[0],
        powers=dict(zip(powers, lift(list(powers.values())), strict=True)),
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
