"""Servo constraints of any relative degree: differentiated until their inputs appear.

With q̈ = a + Y u and z the residuals of the servo constraints at velocity level, ż = α + D u, D = z_q̇ Y. Where D is
regular the inputs hold the constraints (realizability). Otherwise conditions on the state are hidden in the path:
`relative_degree` finds them with the flow q̇ = v, v̇ = a + Y u. The last z_i replace the constraints in J q̈ + γ = 0.

The input contains the r-th time derivative of the path. A jump in any lower derivative would need an impulse, so paths
with such corners are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Condition
from vinculum.derivation.mechanics.explicit import independent_rows, solved
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.relative_degree import (
    Chain,
    Flow,
    Outputs,
    acts,
    begin_chain,
    relative_degrees,
    row_at,
)
from vinculum.derivation.mechanics.sample_states import Samples, Values, cancels, consistent_states, numbers
from vinculum.describe import Servo, System
from vinculum.errors import About, ConstraintError, Finding, Formula, call
from vinculum.expressions import as_expression
from vinculum.graph import ONE, ZERO, along, jacobian, symbol, vector
from vinculum.graph.splines import Spline
from vinculum.names import listed

_ROUGH = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min)
_BESIDE = sp.Rational(1, 10**6)


def reduce_index(mechanics: Mechanics, samples: Samples) -> Mechanics:
    """The mechanics with every servo constraint differentiated until its input appears; raises if it never does."""
    servos = [i for i, c in enumerate(mechanics.system.constraints) if isinstance(c, Servo)]
    if servos and samples and len(independent_rows([grip(mechanics, values) for values in samples])) < len(servos):
        mechanics = differentiate_servos(mechanics, servos, samples)
    if servos:
        refuse_corners(mechanics.system, servo_degrees(mechanics))
    return mechanics


def named_first(samples: Samples, at: Mapping[sp.Expr, float] | None) -> Samples:
    """The sample states, and before them the state that the user named."""
    if at is None or not samples:
        return samples
    return [{**samples[0], **{symbol(key): float(value) for key, value in at.items()}}, *samples]


def grip(mechanics: Mechanics, values: Values) -> np.ndarray:
    """D = z_q̇ Y at a state: the effect of the inputs on the servo constraints while the ideal constraints hold.

    Rows and columns are scaled by |z_q̇| and |b| in the metric of the kinetic energy: the entries are cosines. A row is
    zero where the velocities cancel in z and leave rounding errors.
    """
    D, rows, columns = effect(mechanics, values)
    servos = [i for i, c in enumerate(mechanics.system.constraints) if isinstance(c, Servo)]
    zero = np.all(cancels(mechanics.J[servos], values), axis=1, keepdims=True)
    D = np.where(zero, 0.0, D)
    return D / np.outer(np.where(rows > 0, rows, 1.0), np.where(columns > 0, columns, 1.0))


def effect(mechanics: Mechanics, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D at a state, without scaling, and the lengths of its rows and columns in the kinetic metric."""
    M, J, R = (numbers(part, values) for part in (mechanics.M, mechanics.J, mechanics.directions))
    servo = np.array([isinstance(c, Servo) for c in mechanics.system.constraints])
    ideal, m = J[~servo], int(np.sum(~servo))
    bordered = np.block([[M, -ideal.T], [ideal, np.zeros((m, m))]])
    right = np.column_stack([R[:, servo], J[servo].T])
    Y = np.linalg.solve(bordered, np.vstack([right, np.zeros((m, right.shape[1]))]))[: len(M)]
    p = int(servo.sum())
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", right, Y), 0.0))
    return J[servo] @ Y[:, :p], lengths[p:], lengths[:p]


@dataclass(frozen=True, eq=False)
class ServoOutputs(Outputs):
    """The residuals of the servo constraints."""

    mechanics: Mechanics
    servos: Sequence[int]
    samples: Samples
    flow: Flow
    combine = True

    def points(self, chains: Sequence[Chain]) -> Samples:
        """The same states in every round."""
        return self.samples

    def held(self, chains: Sequence[Chain], samples: Samples) -> list[int]:
        """The constraints on which the inputs act independently at every sample."""
        now = with_chains(self.mechanics, dict(zip(self.servos, chains, strict=True)))
        return independent_rows([self._acting(chains, values) * grip(now, values) for values in samples])

    def _acting(self, chains: Sequence[Chain], values: Values) -> np.ndarray:
        return np.array([acts(self.flow, chain, values) * (row_at(chain.p, values) != 0) for chain in chains])

    def refuse(self, chain: Chain) -> NoReturn:
        """Raise an error that names the servo constraint on which no input acts."""
        inputs = listed(self.mechanics.system.servo_inputs)
        raise ConstraintError(
            Finding(
                f"The servo constraint `{chain.name}` cannot be held through {inputs}: its time derivatives up to "
                f"order {chain.degree} do not contain the input, and neither will any other (the realizability "
                "determinant det(psi_qdot M^-1 b) is zero). The input acts in a direction that has no effect on the "
                "constraint.",
                ["Use another actuator: ", call("Servo", through=[Formula("input")]), "."],
                About("constraint", chain.name),
            )
        )


def differentiate_servos(mechanics: Mechanics, servos: list[int], samples: Samples) -> Mechanics:
    """The mechanics with the conditions that are hidden in the paths of its servo constraints."""
    found = _differentiated(mechanics, servos, samples)
    closer = _on_the_paths(found, samples) if len(servos) > 1 else []
    return _differentiated(mechanics, servos, closer) if closer else found


def _differentiated(mechanics: Mechanics, servos: list[int], samples: Samples) -> Mechanics:
    flow = free_motion(mechanics, servos, samples)
    begun = [begin_chain(flow, mechanics.system.constraints[i].name, *mechanics.chains[i]) for i in servos]
    found, _ = relative_degrees(ServoOutputs(mechanics, servos, samples, flow), flow, begun)
    return with_chains(mechanics, dict(zip(servos, found, strict=True)))


def _on_the_paths(mechanics: Mechanics, samples: Samples) -> Samples:
    """The samples moved onto the hidden conditions: where inputs act there decides which constraints are combined."""
    nodes = mechanics.system.nodes
    residuals = [y for chain in mechanics.chains for y in chain]
    return consistent_states(map(dict, samples), ((residuals, (*nodes.q, *nodes.v)),), len(samples))


def free_motion(mechanics: Mechanics, servos: list[int], samples: Samples) -> Flow:
    """q̇ = v, v̇ = a + Y u, while the ideal constraints hold."""
    ideal = [i for i in range(len(mechanics.J)) if i not in servos]
    n, m = len(mechanics.M), len(ideal)
    A = np.full((n + m, n + m), ZERO, dtype=object)
    A[:n, :n], A[:n, n:], A[n:, :n] = mechanics.M, mechanics.J[ideal].T, mechanics.J[ideal]
    right = np.full((n + m, 1 + len(servos)), ZERO, dtype=object)
    right[:n, 0], right[:n, 1:] = mechanics.Q - mechanics.h, mechanics.directions[:, servos]
    right[n:, 0] = -mechanics.gamma[ideal]
    found = solved(mechanics, A, right, samples).solution[:n]
    nodes, still = mechanics.system.nodes, np.full((n, len(servos)), ZERO, dtype=object)
    F, B = np.concatenate([vector(nodes.v), found[:, 0]]), np.vstack([still, found[:, 1:]])
    return Flow((*nodes.q, *nodes.v), nodes.time, F, B)


def with_chains(mechanics: Mechanics, found: Mapping[int, Chain]) -> Mechanics:
    """The mechanics with the last of every chain in J q̈ + γ = 0; ``found`` are the chains of servo constraints."""
    nodes, before = mechanics.system.nodes, mechanics.chains
    chains = tuple(found[i].y if i in found else chain for i, chain in enumerate(before))
    hidden = tuple((chain.name, z) for i, chain in found.items() for z in chain.y[len(before[i]) :])
    last = [chain[-1] for chain in chains]
    gamma = vector(along(last, {**dict(zip(nodes.q, nodes.v, strict=True)), nodes.time: ONE}))
    return replace(mechanics, J=jacobian(last, nodes.v), gamma=gamma, chains=chains, hidden=hidden)


def servo_degrees(mechanics: Mechanics) -> dict[str, int]:
    """The relative degree of each servo constraint."""
    return {
        c.name: len(chain)
        for c, chain in zip(mechanics.system.constraints, mechanics.chains, strict=True)
        if isinstance(c, Servo)
    }


def determinant_at(mechanics: Mechanics, values: Values) -> float:
    """det D, the realizability determinant, at a state; without inertia, that of the bordered matrix [M b; J 0]."""
    try:
        return float(np.linalg.det(effect(mechanics, values)[0]))
    except np.linalg.LinAlgError:
        M, J, R = (numbers(part, values) for part in (mechanics.M, mechanics.J, mechanics.directions))
        return float(np.linalg.det(np.block([[M, R], [J, np.zeros((len(J), len(J)))]])))


# -- where the inputs have no effect ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ServoLimit(Condition):
    """det(ψ_q̇ M⁻¹ b), a number computed at a state."""

    mechanics: Mechanics | None = None

    def value(self, values: Values) -> float:
        """The determinant at a state."""
        assert self.mechanics is not None
        return determinant_at(self.mechanics, values)

    def reason(self, values: Values) -> str:
        """Which input has next to no effect at a state, and which constraint needs it."""
        assert self.mechanics is not None
        return _infinite(*powerless(self.mechanics, values))


def servo_limits(mechanics: Mechanics) -> tuple[Condition, ...]:
    """The condition for the servo constraints of a system; none without servo constraints."""
    if mechanics.actuators is None:
        return ()
    servos = ", ".join(f"`{c.name}`" for c in mechanics.system.constraints if isinstance(c, Servo))
    meaning = _infinite(servos, mechanics.system.servo_inputs)
    advice = "Choose a path or an actuator that avoids this."
    return (ServoLimit(None, meaning, "singular", advice, mechanics=mechanics),)


def _infinite(servos: str, inputs: Sequence[sp.Expr]) -> str:
    return (
        f"the servo constraint {servos} asks for an infinite input: {listed(inputs)} can hold it only where the "
        "realizability determinant is not zero"
    )


def powerless(mechanics: Mechanics, values: Values) -> tuple[str, tuple[sp.Expr, ...]]:
    """The inputs that have next to no effect on the servo constraints at a state, and the constraints they hold."""
    system = mechanics.system
    D, rows, _ = effect(mechanics, values)
    weakest = np.abs(np.linalg.svd(D / np.where(rows > 0, rows, 1.0)[:, None])[2][-1])
    idle = tuple(u for u, part in zip(system.servo_inputs, weakest, strict=True) if part > 0.3 * weakest.max())
    held = [c.name for c in system.constraints if isinstance(c, Servo) and set(c.through) & set(idle)]
    return ", ".join(f"`{name}`" for name in held), idle


def refuse_corners(system: System, degrees: Mapping[str, int]) -> None:
    """Raise a `ConstraintError` that names the instant and the derivative that jumps."""
    for servo in (c for c in system.constraints if isinstance(c, Servo)):
        r = degrees[servo.name]
        for instant, order, jump in corners(system, servo.expression, r):
            raise ConstraintError(
                f"The servo constraint `{servo.name}` asks for an infinite input at {system.time} = "
                f"{float(instant):.6g}: "
                f"the time derivative of order {order} of its path jumps by {jump:.4g} there, but the input appears in "
                f"the derivative of order {r}, so all lower ones must be continuous. Use a smoother path, for "
                f"instance a polynomial whose derivatives up to order {r - 1} vanish at its ends."
            )


def corners(system: System, expression: sp.Expr, r: int) -> Iterator[tuple[sp.Expr, int, float]]:
    """(instant, order, jump) of every derivative of order below r that jumps."""
    t = sp.Dummy("t", real=True)
    still = _still(system, as_expression(expression)).xreplace({system.time: t})
    curves = {
        curve for curve in still.atoms(Spline) if curve.args[1].degree < r
    }  # splines of a higher degree are smooth enough
    rough = [part for part in still.atoms(*_ROUGH) | curves if part.free_symbols <= {t} and t in part.free_symbols]
    still = still.xreplace({part: part.rewrite(sp.Piecewise) for part in rough})
    pieces = [p for p in still.atoms(sp.Piecewise) if p.free_symbols <= {t}]
    for instant in sorted({root for piece in pieces for root in _breaks(piece, t)}, key=float):
        before, after = (
            still.xreplace({p: _branch(p, t, instant + side) for p in pieces}) for side in (-_BESIDE, _BESIDE)
        )
        for order in range(r):
            jump = (after - before).diff(t, order).subs(t, instant)
            if abs(complex(sp.N(jump))) > 1e-9:
                yield instant, order, float(jump)


def _still(system: System, expression: sp.Expr) -> sp.Expr:
    """The expression with numbers for parameters and, since only jumps matter, a fixed state."""
    functions = expression.atoms(sp.Derivative) | expression.atoms(sp.core.function.AppliedUndef)
    states = {key: sp.Rational(3 + 2 * i, 7) for i, key in enumerate(sorted(functions, key=str))}
    return expression.xreplace(states).xreplace({p: sp.nsimplify(x) for p, x in system.parameters.items()})


def _breaks(piece: sp.Piecewise, t: sp.Symbol) -> set[sp.Expr]:
    """The instants at which conditions of a piecewise function change."""
    relations = {r for _, condition in piece.args for r in condition.atoms(sp.core.relational.Relational)}
    roots = {root for r in relations for root in sp.solve(r.lhs - r.rhs, t)}
    return {root for root in roots if root.is_real}


def _branch(piece: sp.Piecewise, t: sp.Symbol, instant: sp.Expr) -> sp.Expr:
    """The branch that holds at an instant."""
    return next(value for value, condition in piece.args if condition.subs(t, instant) == True)  # noqa: E712  # SymPy's true
