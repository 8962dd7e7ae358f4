"""Equations of motion in quasi-velocities (Khusanov 2020, (7) and (8) with corrections).

With T̃(q, e, t) = T(q, q̇(q, e, t), t), Q̃ = KᵀQ and a = 1..n, of Chaplygin's type (7) and of Voronets' and Hamel's
type (8):

    L_a = d/dt ∂T̃/∂e_a - ∂T̃/∂π_a - Σ_i ∂T/∂q̇_i (d/dt K_ia - ∂q̇_i/∂π_a)
        = d/dt ∂T̃/∂e_a - ∂T̃/∂π_a + Σ_τ ∂T̃/∂e_τ W_a^τ,     W_a^τ = Σ_i K_ia (d/dt ∂e_τ/∂q̇_i - ∂e_τ/∂q_i)
        = Σ_i K_ia (M q̈ + h)_i   (Maggi: Lagrange's equations projected)
    L_ν = Q̃_ν  (ν ≤ k),   L_{k+s} = Q̃_{k+s} + λ_s

The first k give ė for e_{k+s} = ξ_s = 0, the last give the reactions. A servo's input u replaces λ_s, with
Kᵀ ∂Q/∂u. Where its relative degree is above two, ξ̇_s = 0 does not contain the input: ξ_s becomes a state, and the last
of the conditions hidden in the path gives the missing equation, ∂z_s/∂e ė + ∂z_s/∂q q̇ + ∂z_s/∂t = 0.

The forms "hamel", "maggi", "voronets" and "chaplygin" differ in their characteristics and in how they write L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.mechanics.explicit import Explicit, explain_singular, solved
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.lagrange import Mechanics, product
from vinculum.derivation.mechanics.sample_states import Samples, stacked
from vinculum.derivation.mechanics.servo_index_reduction import servo_limits
from vinculum.derivation.printing import Line
from vinculum.derivation.quasi.chart import Characteristics, Chart, chart, chart_limits, identity
from vinculum.derivation.variables import Variables, position_feedback, position_projections, pulls
from vinculum.describe import Servo
from vinculum.graph import (
    ZERO,
    Elimination,
    Node,
    SingularMatrix,
    gradient,
    jacobian,
    solve,
    substitute,
    symbol,
    vector,
)

LeftSide = Callable[[Mechanics, Chart], np.ndarray]  # (n) L_a


def quasi_variables(mechanics: Mechanics, of: Characteristics) -> Variables:
    """The state (q, e), with ξ where a constraint is approached or deep, and q̇ where Newton inverts e."""
    system = mechanics.system
    kept = tuple(of.names[i] for i in state_places(mechanics, of))
    held = [symbol(name) for name in of.names if name not in kept]
    named = zip(of.names, of.functions, strict=True)
    return Variables(
        states=(*system.coordinates, *kept, *(system.velocities if of.by_newton else ())),
        dimension=len(system.coordinates) + len(kept),
        feedback=position_feedback(mechanics),
        projections=position_projections(mechanics, kept),
        characteristics=of,
        definitions={name: f for name, f in named if name in kept and symbol(name) is not f},
        conditions=(*chart_limits(of, held), *servo_limits(mechanics)),
    )


def chaplygin_type(mechanics: Mechanics, at: Chart) -> np.ndarray:
    """(7): L_a = d/dt T̃_e - ∂T̃/∂π - Σ_i T_q̇i (d/dt K_ia - ∂q̇_i/∂π_a)."""
    nodes = mechanics.system.nodes
    T = at.seen([nodes.kinetic])[0]
    momenta = at.seen(gradient(nodes.kinetic, nodes.v))
    change = at.rate(at.K) - np.array([at.by_pi(velocity) for velocity in at.velocities])
    return at.rate(at.by_e(T)) - at.by_pi(T) - product(change.T, momenta)


def hamel_type(mechanics: Mechanics, at: Chart) -> np.ndarray:
    """(8): L_a = d/dt T̃_e - ∂T̃/∂π + Σ_τ T̃_eτ W_a^τ."""
    T = at.seen([mechanics.system.nodes.kinetic])[0]
    slopes = at.by_e(T)
    return at.rate(slopes) - at.by_pi(T) + product(coefficients(at), slopes)


def coefficients(at: Chart) -> np.ndarray:
    """(n, n) W_a^τ, the row being a: Σ_i K_ia (d/dt ∂e_τ/∂q̇_i - ∂e_τ/∂q_i)."""
    functions, nodes = at.of.functions, at.of.system.nodes
    change = at.rate(at.seen(jacobian(functions, nodes.v))) - at.seen(jacobian(functions, nodes.q))
    return np.array([product(at.K.T, row) for row in change]).T


def eliminate_quasi(mechanics: Mechanics, of: Characteristics, left: LeftSide, samples: Samples) -> Explicit:
    """ė, q̈ and the reactions from L = Q̃ + reactions, L as the form writes it."""
    at = chart(of, samples)
    velocities, rates = kinematics(mechanics, at)
    motion = unknowns(mechanics, at, left, samples)
    moving = [of.rates[i] for i in moving_places(mechanics, at)]
    pulled = pulled_rates(mechanics, at)
    known = dict(zip(pulled, constrained(mechanics, at, vector(list(pulled.values()))), strict=True))
    known |= dict(zip(moving, motion.solution[:, 0], strict=False))
    accelerations = substitute(list(constrained(mechanics, at, at.rate(at.velocities))), known)
    own = [known[of.rates[i]] for i in state_places(mechanics, of)]
    predicted = accelerations if of.by_newton else []
    return Explicit(
        rates=(*rates, *own, *predicted),
        velocities=tuple(velocities),
        accelerations=tuple(accelerations),
        reactions=tuple(motion.solution[len(moving) :, 0]),
        pivots=(*at.pivots, *motion.pivots),
    )


def moving_places(mechanics: Mechanics, at: Chart) -> list[int]:
    """The characteristics whose rates come from the equations of motion: e_ν, and ξ_s of deep servo constraints."""
    return [*range(at.of.free), *(at.of.free + s for s in mechanics.deep)]


def state_places(mechanics: Mechanics, of: Characteristics) -> list[int]:
    """The characteristics that are integrated: e_ν, and ξ_s where a constraint is approached or deep."""
    kept = [
        s for s, c in enumerate(mechanics.system.constraints) if c.name in mechanics.approach or s in mechanics.deep
    ]
    return [*range(of.free), *(of.free + s for s in kept)]


def kinematics(mechanics: Mechanics, at: Chart) -> tuple[np.ndarray, np.ndarray]:
    """q̇(q, e, t), and the rates of q with the feedback: ḟ = -c for holonomic constraints."""
    velocities = constrained(mechanics, at, at.velocities)
    pull = vector([ZERO] * len(velocities))
    kept = state_places(mechanics, at.of)
    for s, f in enumerate(mechanics.position):
        if f is not None and at.of.free + s not in kept:
            pull = pull + constrained(mechanics, at, at.K[:, at.of.free + s]) * mechanics.corrections[s]
    return velocities, velocities - pull


def balance(mechanics: Mechanics, at: Chart, left: LeftSide) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """m, f and R of  m ė = f + R λ: L = m ė - (f - Q̃), R the directions of the reactions, all n rows."""
    rates = at.of.rates
    L = left(mechanics, at)
    rest = vector(substitute(list(L), dict.fromkeys(rates, ZERO)))
    forces = product(at.K.T, at.seen(mechanics.Q))
    mass = jacobian(list(L), rates)
    given = pulled_rates(mechanics, at)
    moving = product(mass, vector([given.get(rate, ZERO) for rate in rates]))
    return mass, forces - rest - moving, reaction_directions(mechanics, at)


def reaction_directions(mechanics: Mechanics, at: Chart) -> np.ndarray:
    """(n, m) Kᵀψ_q̇ᵀ = (0; E) for ideal constraints, Kᵀ ∂Q/∂u for servos."""
    R = identity(len(at.K))[:, at.of.free :]
    for s, constraint in enumerate(mechanics.system.constraints):
        if isinstance(constraint, Servo):
            R[:, s] = product(at.K.T, at.seen(mechanics.directions[:, s]))
    return R


def pulled_rates(mechanics: Mechanics, at: Chart) -> dict[Node, Node]:
    """ξ̇_s = -κ ξ_s ... of the constraints that are only approached, by its symbol, in the variables of the chart."""
    names = [c.name for c in mechanics.system.constraints]
    places = {name: names.index(name) for name in mechanics.approach}
    rates = {
        at.of.rates[at.of.free + places[name]]: -pull
        for name, pull in pulls(mechanics).items()
        if places[name] not in mechanics.deep
    }
    return dict(zip(rates, at.seen(vector(list(rates.values()))), strict=True))


def hidden_rates(mechanics: Mechanics, at: Chart) -> tuple[np.ndarray, np.ndarray]:
    """S and g of  S ė = g  for deep servo constraints: ż_s = -c_s, z_s the last condition hidden in the path."""
    last = vector([mechanics.chains[s][-1] for s in mechanics.deep])
    rate = at.rate(at.seen(last))
    rest = vector(substitute(list(rate), dict.fromkeys(at.of.rates, ZERO)))
    S = jacobian(list(rate), at.of.rates)
    given, pull = pulled_rates(mechanics, at), pulls(mechanics)
    names = [mechanics.system.constraints[s].name for s in mechanics.deep]
    approach = at.seen(vector([pull.get(name, ZERO) for name in names]))
    moving = product(S, vector([given.get(rate, ZERO) for rate in at.of.rates]))
    return S, -rest - moving - approach - mechanics.corrections[list(mechanics.deep)]


def constrained(mechanics: Mechanics, at: Chart, nodes: np.ndarray) -> np.ndarray:
    """Nodes of the chart as functions of what is integrated: ξ = ξ̇ = 0 where a constraint holds exactly."""
    states = state_places(mechanics, at.of)
    held = [i for i in range(len(at.of.e)) if i not in states]
    zeros = {node: ZERO for i in held for node in (at.of.e[i], at.of.rates[i])}
    settled = at.settled(nodes)
    return vector(substitute(list(settled.ravel()), zeros)).reshape(settled.shape)


def unknowns(mechanics: Mechanics, at: Chart, left: LeftSide, samples: Samples) -> Elimination:
    """ė_ν, ξ̇ of deep constraints, then the reactions: the first k rows alone, then λ, where no servo couples them."""
    mass, forcing, R = (constrained(mechanics, at, part) for part in balance(mechanics, at, left))
    k = at.of.free
    if mechanics.actuators is not None:
        return with_inputs(mechanics, at, mass, forcing, R, samples)
    motion = solved(mechanics, mass[:k, :k], forcing[:k, None], samples)
    reactions = product(mass[k:, :k], motion.solution[:, 0]) - forcing[k:]
    return replace(motion, solution=np.concatenate([motion.solution, reactions[:, None]]))


def with_inputs(
    mechanics: Mechanics, at: Chart, mass: np.ndarray, forcing: np.ndarray, R: np.ndarray, samples: Samples
) -> Elimination:
    """[m -R; S 0] (ė, λ) = (f, g): servo inputs couple all rows, and deep constraints add theirs."""
    S, g = (constrained(mechanics, at, part) for part in hidden_rates(mechanics, at))
    places, m = moving_places(mechanics, at), R.shape[1]
    below = np.full((len(g), m), ZERO, dtype=object)
    A = np.block([[mass[:, places], -R], [S[:, places].reshape(len(g), len(places)), below]])
    try:
        return solve(A, np.concatenate([forcing, g])[:, None], stacked(A, samples))
    except SingularMatrix:
        explain_singular(mechanics, samples[0])
        raise


def quasi_lines(equations: EquationsOfMotion, left: LeftSide) -> list[Line]:
    """q̇ = q̇(q, e, t) where the inverse is closed, the n equations with the potential forces on the left, and what is
    hidden in the path of deep servo constraints.
    """
    mechanics, of = equations.mechanics, equations.variables.chart
    at = chart(of, [reference_state(equations)])
    L = left(mechanics, at) - product(at.K.T, at.seen(mechanics.Q - mechanics.applied))
    reactions = product(reaction_directions(mechanics, at), mechanics.printed_reactions)
    right = product(at.K.T, at.seen(mechanics.applied)) + reactions
    hidden = [(z, ZERO) for z in at.seen([z for _, z in mechanics.hidden])]
    balance = [*zip(L, right, strict=True), *hidden]
    if of.by_newton:
        return [*zip(of.e, of.functions, strict=True), *balance]
    kinematic = zip(map(symbol, equations.system.velocities), at.velocities, strict=True)
    sides = [side for line in (*kinematic, *balance) for side in line]
    held = on_the_path(mechanics, at, list(constrained(mechanics, at, vector(sides))))
    return list(zip(held[::2], held[1::2], strict=True))


def on_the_path(mechanics: Mechanics, at: Chart, nodes: list[Node]) -> list[Node]:
    """Nodes with ξ = ξ̇ = 0 of deep servo constraints too, which are states only to be stabilized."""
    exact = [s for s in mechanics.deep if mechanics.system.constraints[s].name not in mechanics.approach]
    places = [at.of.free + s for s in exact]
    return substitute(nodes, {node: ZERO for i in places for node in (at.of.e[i], at.of.rates[i])})
