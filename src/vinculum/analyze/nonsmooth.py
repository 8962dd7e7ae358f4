"""Verdicts at a rest where force laws have corners: dry friction, unilateral springs, cases.

There is no first approximation, and Lyapunov's theorems on it are void: they call a pendulum unstable that friction
holds upside down. With slips γ = W'v and friction forces -W λ, λ_i ∈ κ_i Sign(γ_i), the rests form a set: the smooth
forces are balanced by some λ₀ with |λ₀_i| ≤ κ_i. Such a rest is stable if

    D1  friction acts on every velocity (rank P'W = number of independent velocities), some λ₀ lies strictly inside;
    D2  the slips are W'q̇ with constant W and κ, and V + λ₀·W'q meets the conditions of Lagrange and Dirichlet;
    D3  V of every smooth piece meets these conditions at the point (corners of the potential).

None of these rests is asymptotically stable where friction acts: neighboring points of the set are rests too.
Everything else is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from vinculum.analyze.corners import corners
from vinculum.analyze.decision import CORNER, STABLE, UNDECIDED, Decision
from vinculum.analyze.descriptor import Analyzed, Descriptor, descriptor
from vinculum.analyze.energy import energy_test
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linearize import linearize, point, point_values
from vinculum.analyze.reduction import velocity_rows
from vinculum.derivation import EquationsOfMotion, derive
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.describe import System
from vinculum.errors import Finding, VinculumError, call
from vinculum.expressions import as_expression
from vinculum.graph import ZERO, Node, constant, jacobian, order, substitute, symbols
from vinculum.graph.evaluate import magnitudes
from vinculum.names import listed, name_of

_ROUGH = (sp.Abs, sp.sign, sp.Max, sp.Min, sp.Piecewise, sp.Heaviside)
_PIECES = 40  # nearby points at which smooth pieces are collected


@dataclass(frozen=True, eq=False)
class Friction:
    """Slips at a rest: force -κ w sign(γ) each."""

    slips: tuple[Node, ...]  # γ
    W: np.ndarray  # (n, slips) ∂γ/∂v
    limits: np.ndarray  # (slips) κ
    constant: bool  # whether W and κ do not depend on the state


def at_corner(equations: Analyzed, at: Mapping[sp.Expr, float]) -> bool:
    """Whether the equations have a corner at the point, and therefore no linear model."""
    form = descriptor(equations)
    return bool(corners(form, point_values(form, at)))


def held_by_friction(equations: Analyzed, at: Equilibrium) -> Equilibrium | None:
    """The rest at the given coordinates and inputs with its reactions, if dry friction acts there; else None.

    A rest that friction cannot hold is an error.
    """
    form = descriptor(equations)
    asked = [x for x in (*form.states[: form.coordinates], *form.inputs) if x not in form.ignored]
    if not isinstance(equations, EquationsOfMotion) or any(x.value not in at for x in asked):
        return None
    values = point_values(form, at)
    friction = _friction(form, values, corners(form, values))
    if friction is None or not friction.slips or not _feasible(form, values):
        return None
    force, P = _smooth_force(form, values)
    held = _balance(P.T @ force, P.T @ friction.W, friction.limits)
    if held is None:
        raise VinculumError(_slides(form, force, P, friction))
    reactions = _reactions(form, values, force - friction.W @ held[0])
    shown = {x.value: values[x] for x in (*form.states, *form.inputs)}
    return Equilibrium(shown, reactions, 0.0, at.parameters)


def _feasible(form: Descriptor, values: Mapping[Node, float]) -> bool:
    """Whether the constraints hold but for rounding of their terms."""
    return all(abs(value) <= 1e-12 * size for value, size in magnitudes(list(form.residuals), values))


def _reactions(form: Descriptor, values: Mapping[Node, float], force: np.ndarray) -> dict[str, float]:
    """λ with b λ = force, the force that the reactions balance."""
    n = form.coordinates
    b = numbers(jacobian(form.balance[:n], form.algebraic[n:]), values)
    found = dict(zip(form.algebraic[n:], np.linalg.lstsq(b, force, rcond=None)[0], strict=True)) if b.size else {}
    return {name: float(found[node]) for name, node in form.reactions.items()}


def nonsmooth(equations: Analyzed, at: Mapping[sp.Expr, float]) -> Decision | None:
    """The verdict at a corner; None if the equations are smooth at the point."""
    form = descriptor(equations)
    values = point_values(form, at)
    switches = corners(form, values)
    if not switches:
        return None
    if not isinstance(equations, EquationsOfMotion) or any(values[v] for v in form.velocities) or form.laws:
        return _undecided("the equations have a corner here, which no theorem covers")
    friction = _friction(form, values, switches)
    if friction is None:
        return _undecided("the forces switch with a velocity in another way than dry friction")
    if not friction.slips:
        return _pieces(equations, at)
    return _with_friction(equations, at, form, values, friction)


def _undecided(reason: str) -> Decision:
    return Decision(UNDECIDED, CORNER, reason)


# -- dry friction --------------------------------------------------------------------------------------------------


def _friction(form: Descriptor, values: Mapping[Node, float], switches: list[Node]) -> Friction | None:
    """The slips among the switches; None if a switch of velocities is not dry friction."""
    n, v = form.coordinates, set(form.velocities)
    moving = [s for s in switches if symbols([s]) & v]
    signs = [node for node in order(list(form.balance)) if node.op == "sign" and node.args[0] in moving]
    sizes = [node for node in order(list(form.balance)) if node.op == "abs" and node.args[0] in moving]
    if {node.args[0] for node in (*signs, *sizes)} != set(moving):
        return None
    columns, limits = [], []
    still = dict.fromkeys(form.algebraic, ZERO)
    for sign in signs:
        on, off = (substitute(list(form.balance[:n]), {sign: constant(c)}) for c in (1, 0))
        force = -(numbers(substitute(on, still), values) - numbers(substitute(off, still), values))
        w = numbers(jacobian([sign.args[0]], form.velocities), values)[0]
        limit = -(force @ w) / (w @ w) if np.any(w) else 0.0
        if np.any(np.abs(force + limit * w) > 1e-9 * np.abs(force).max(initial=0.0)):
            return None
        columns.append(w)
        limits.append(limit)
    if any(limit < 0 for limit in limits):
        return None
    slopes = [entry for s in signs for entry in jacobian([s.args[0]], form.velocities).ravel()]
    fixed = not symbols(slopes) & set(form.states)
    return Friction(tuple(s.args[0] for s in signs), np.array(columns).T, np.array(limits), fixed)


def _with_friction(
    equations: EquationsOfMotion,
    at: Mapping[sp.Expr, float],
    form: Descriptor,
    values: Mapping[Node, float],
    friction: Friction,
) -> Decision:
    force, P = _smooth_force(form, values)
    held = _balance(P.T @ force, P.T @ friction.W, friction.limits)
    if held is None:
        raise VinculumError(_slides(form, force, P, friction))
    load, margin = held
    names = listed(_named(form, friction))
    if np.linalg.matrix_rank(P.T @ friction.W) == P.shape[1] and margin > 1e-9:
        return Decision(
            STABLE,
            "dry friction on every velocity",
            f"friction holds the rest with a margin of {margin:.3g} of its limit, and every motion nearby stops in "
            "finite time; not asymptotically: neighboring points are rests too",
        )
    smooth = _without_friction(equations, at, friction, load)
    if smooth is None:
        return _undecided(f"friction on {names} does not act on every velocity, and the rest is on its border")
    found = _pieces(smooth, at)
    if found.kind == STABLE:
        return replace(found, explanation=f"{found.explanation}; friction on {names} only takes energy away")
    return _undecided(f"friction on {names} does not act on every velocity; without it {found.explanation}")


def _smooth_force(form: Descriptor, values: Mapping[Node, float]) -> tuple[np.ndarray, np.ndarray]:
    """Q - h without friction at rest, and a basis of the velocities that the constraints allow."""
    import scipy.linalg

    n = form.coordinates
    still = {**values, **dict.fromkeys(form.algebraic, 0.0)}
    rows = velocity_rows(form)
    J = numbers(jacobian(rows, form.velocities), values) if rows else np.zeros((0, n))
    return -numbers(form.balance[:n], still), scipy.linalg.null_space(J) if len(J) else np.eye(n)


def _balance(force: np.ndarray, W: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, float] | None:
    """λ₀ with W λ₀ = force and the largest margin 1 - max|λ₀_i|/κ_i; None if friction cannot hold the force."""
    from scipy.optimize import linprog

    k = len(limits)
    size = max(float(np.abs(force).max(initial=0.0)), float((np.abs(W) * limits).max(initial=0.0)), 1e-300)
    scale = np.where(limits > 0, limits, 1.0)
    A = np.column_stack([W * scale / size, np.zeros(len(force))])
    bounds = np.vstack([np.column_stack([sign * np.eye(k), np.ones(k)]) for sign in (1, -1)])
    limit = [(-1.0, 1.0) if c > 0 else (0.0, 0.0) for c in limits]
    found = linprog([0.0] * k + [-1.0], bounds, np.ones(2 * k), A, force / size, bounds=[*limit, (0.0, 1.0)])
    return (found.x[:k] * limits, float(found.x[k])) if found.status == 0 else None


def _slides(form: Descriptor, force: np.ndarray, P: np.ndarray, friction: Friction) -> Finding:
    pushed = [q for q, f in zip(form.states, P @ (P.T @ force), strict=False) if abs(f) > 1e-9 * np.abs(force).max()]
    holds = ", ".join(
        f"{name_of(s)} by {limit:.6g}" for s, limit in zip(_named(form, friction), friction.limits, strict=True)
    )
    return Finding(
        f"The point is not an equilibrium of {form.name!r}: friction (at most on {holds}) cannot balance the force on "
        f"{listed(q.value for q in pushed)}.",
        ["Give values at which it can, or leave a coordinate free in ", call("equilibrium"), "."],
    )


def _named(form: Descriptor, friction: Friction) -> list[sp.Expr]:
    """The coordinates whose velocities slip."""
    felt = np.any(friction.W != 0, axis=1)
    return [q.value for q, part in zip(form.states, felt, strict=False) if part]


def _without_friction(
    equations: EquationsOfMotion, at: Mapping[sp.Expr, float], friction: Friction, load: np.ndarray
) -> EquationsOfMotion | None:
    """The system without friction, its constant load -W λ₀ in its place."""
    if np.any(load) and not friction.constant:
        return None
    system = equations.system
    rest = _point(system, at)

    def slips(e: sp.Expr) -> bool:
        return isinstance(e, (sp.Abs, sp.sign)) and bool(e.atoms(sp.Derivative)) and float(e.args[0].subs(rest)) == 0.0

    def smooth(expression: sp.Expr) -> sp.Expr:
        return as_expression(expression).replace(slips, lambda e: sp.S.Zero)

    held = zip(system.coordinates, friction.W @ load, strict=True)
    forces = {q: smooth(system.forces.get(q, 0)) - sp.Float(f) for q, f in held}
    return derive(replace(system, forces=forces, dissipation=smooth(system.dissipation)))


# -- corners of the potential --------------------------------------------------------------------------------------


def _pieces(equations: EquationsOfMotion, at: Mapping[sp.Expr, float]) -> Decision:
    """Stable if every smooth piece of the system meets the conditions of Lagrange and Dirichlet at the point."""
    count = 0
    for system in _smooth_systems(equations.system, at):
        piece = derive(system)
        try:
            where = point(piece, at)
        except VinculumError:
            return _undecided("the potential has a kink: on one side the point is not an equilibrium")
        linear = linearize(piece, at)
        found = energy_test(linear, where, np.zeros((len(linear.states), 0)))
        count += 1
        if not found.stable:
            return _undecided(f"on one side of the corner {found.reason}")
    which = (
        "the potential has a strict minimum" if count == 1 else f"each of {count} smooth pieces has a strict minimum"
    )
    return Decision(STABLE, "the Lagrange-Dirichlet theorem", f"the energy never increases, and {which} there")


def _smooth_systems(system: System, at: Mapping[sp.Expr, float]) -> Iterator[System]:
    """The systems that hold on the sides of the corners, collected at random points nearby."""
    rest, random, seen = _point(system, at), np.random.default_rng(11), set()
    moving = [*system.coordinates, *system.velocities]
    for _ in range(_PIECES):
        near = {x: rest[x] + 1e-4 * (1 + abs(rest[x])) * random.normal() for x in moving}
        parts = [_on_side(e, {**rest, **near}) for e in (system.potential_energy, system.dissipation)]
        forces = {q: _on_side(f, {**rest, **near}) for q, f in system.forces.items()}
        key = (*parts, *forces.values())
        if key not in seen:
            seen.add(key)
            yield replace(system, potential_energy=parts[0], dissipation=parts[1], forces=forces)


def _on_side(expression: sp.Expr, near: Mapping[sp.Expr, float]) -> sp.Expr:
    """Abs, sign, Max, Min and cases replaced by what they are at a point."""

    def taken(e: sp.Expr) -> sp.Expr:
        if isinstance(e, sp.Piecewise):
            return next(value for value, condition in e.args if condition == True or condition.subs(near) == True)  # noqa: E712  # SymPy's true
        if isinstance(e, (sp.Max, sp.Min)):
            return (max if isinstance(e, sp.Max) else min)(e.args, key=lambda a: float(a.subs(near)))
        sign = sp.Integer(1 if float(e.args[0].subs(near)) > 0 else -1)
        if isinstance(e, sp.Heaviside):
            return (1 + sign) / 2
        return sign * e.args[0] if isinstance(e, sp.Abs) else sign

    return as_expression(expression).replace(lambda e: isinstance(e, _ROUGH), taken)


def _point(system: System, at: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
    """Values for substitution: derivatives first, because they contain the coordinates."""
    velocities = {v: float(at.get(v, 0.0)) for v in system.velocities}
    others = {key: float(value) for key, value in at.items() if key not in velocities}
    return {**velocities, **dict.fromkeys(system.coordinates, 0.0), **others, **dict(system.parameters)}
