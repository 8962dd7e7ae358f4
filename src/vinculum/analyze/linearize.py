"""The linear model of equations at an equilibrium or steady motion. Any other point is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from vinculum.analyze.corners import refuse_corners
from vinculum.analyze.descriptor import (
    Analyzed,
    Descriptor,
    descriptor,
    reaction_symbols,
    reference,
    servo_inputs,
)
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.frames import Frame, framed
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.reduction import ClosedSet, closed_set, influences, velocity_rows, with_resting
from vinculum.analyze.steady_search import refuse_time
from vinculum.analyze.tangent import Tangent, algebraic_scales, speeds, tangent, term_sizes
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.derivation.mechanics.singular import refuse_negative_inertia
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import Finding, ModelError, VinculumError, call
from vinculum.graph import Node, jacobian, symbol
from vinculum.names import listed, name_of
from vinculum.units.given import numbers_in_si

_TOLERANCE = 1e-7  # relative error of the values of a point that is accepted as an equilibrium
_EPS_RATE = 1e-12  # of the terms of an acceleration that cancel


@dataclass(frozen=True, eq=False)
class Point:
    """An equilibrium or steady motion with everything known there."""

    form: Descriptor
    values: dict[Node, float]  # of states, algebraic variables, inputs, parameters and time
    tangent: Tangent
    closed: ClosedSet | None  # in a steady motion


def linearize(equations: Analyzed, at: Mapping[sp.Expr, float], *, drop: Sequence[sp.Expr] = ()) -> LinearModel:
    """The first approximation on the constraints at an equilibrium or steady motion.

    ``at`` is an `Equilibrium`, or values of all coordinates and inputs (and of the velocities that do not vanish). A
    point that violates the constraints or is not an equilibrium is an error that lists the residual of each equation.
    At rest every coordinate is a state. ``drop`` names ignorable coordinates to leave out; those in ``system.ignored``
    (charges of motors) are always left out.
    """
    if not isinstance(at, Equilibrium):
        at = numbers_in_si(at, dimensions_of(equations), "Invalid point")
    where = point(equations, at)
    refuse_corners(where.form, where.values)
    form, found = where.form, where.tangent
    left_out = _left_out(where, drop)
    kept = [k for k, i in enumerate(found.chart) if form.states[i] not in left_out]
    if where.closed is not None:
        kept = [k for k in kept if form.states[found.chart[k]] in where.closed.states]
    states = tuple(form.states[found.chart[k]].value for k in kept)
    whole = at if isinstance(at, Equilibrium) else _record(where, at)
    model = LinearModel(
        equations=equations,
        at=whole,
        states=states,
        inputs=tuple(u.value for u in form.inputs),
        system_matrix=found.A[np.ix_(kept, kept)],
        input_matrix=found.H[kept],
        measured=_measured(where, kept),
        outputs=_outputs(where, kept),
        errors=found.errors[np.ix_(kept, kept)],
        dropped=tuple(x.value for x in left_out),
        definitions={} if form.frame is None else form.frame.definitions,
    )
    model.__dict__["point"] = where
    return model


def point(equations: Analyzed, at: Mapping[sp.Expr, float]) -> Point:
    """Check a point and compute the first approximation there."""
    form = descriptor(equations)
    if isinstance(at, Equilibrium) and at.frame:
        form = framed(form, Frame(*at.frame))
    values = point_values(form, at)
    moves = any(values[v] for v in form.velocities if v not in form.currents)
    timed = form.time in form.present
    closed = closed_set(form, _generic(equations, form, values), at=values) if moves or timed else None
    if closed is not None:
        refuse_time(form, closed)
        closed = closed if _runs(form, closed, values) else with_resting(closed, form, values)
    if form.mechanics is not None:
        refuse_negative_inertia(form.mechanics, values, {p: values[p] for p in form.parameters})
    dependent = equations.partition.s if isinstance(equations, EquationsOfMotion) and equations.partition else None
    outside = [] if closed is None else [i for i, x in enumerate(form.states) if x not in closed.states]
    found = tangent(form, values, dependent, outside)
    _refuse_wrong_point(form, values, found, closed)
    return Point(form, values, found, closed)


def _runs(form: Descriptor, closed: ClosedSet, values: Mapping[Node, float]) -> bool:
    """Whether something moves that no constraint prescribes."""
    return any(values[x] for x in closed.rates if x in form.velocities and x not in form.currents)


def _generic(equations: Analyzed, form: Descriptor, values: Mapping[Node, float]) -> dict[Node, float]:
    """A state in general position, with the parameters of the point."""
    sample = dict(reference(equations) or {})
    return {**values, **{key: x for key, x in sample.items() if key not in form.parameters}}


def point_values(form: Descriptor, at: Mapping[sp.Expr, float]) -> dict[Node, float]:
    """Values of all symbols: velocities are zero unless given or prescribed, w follows from g = 0."""
    parameters = at.parameters if isinstance(at, Equilibrium) else {}
    given = {symbol(key): float(value) for key, value in (*parameters.items(), *at.items())}
    idle = [q for q in form.states[: form.coordinates] if q not in form.present]
    values = {form.time: 0.0, **form.parameters, **dict.fromkeys((*form.velocities, *idle), 0.0), **given}
    missing = [x.value for x in (*form.states, *form.inputs) if x not in values]
    if missing:
        finding = Finding(f"No value for {listed(missing)}.", ["Find the point with ", call("equilibrium"), "."])
        raise ModelError("Invalid point at=", [finding])
    values |= _prescribed_velocities(form, values, given)
    return values | algebraic(form, values)


def _prescribed_velocities(
    form: Descriptor, values: Mapping[Node, float], given: Mapping[Node, float]
) -> dict[Node, float]:
    """Velocities that moving constraints prescribe and that were not given: the smallest ones."""
    rows = velocity_rows(form)
    open_ones = [v for v in form.velocities if v not in given]
    if not rows or not open_ones or not np.any(numbers(rows, values)):
        return {}
    step = np.linalg.lstsq(numbers(jacobian(rows, open_ones), values), numbers(rows, values), rcond=1e-10)[0]
    return {v: values[v] - d for v, d in zip(open_ones, step, strict=True)}


def algebraic(form: Descriptor, values: Mapping[Node, float]) -> dict[Node, float]:
    """w from g(x, w, u) = 0, which is linear in w."""
    if not form.algebraic:
        return {}
    still = {**values, **dict.fromkeys(form.algebraic, 0.0)}
    found, n = form.balance_levels.numbers(still), len(form.algebraic)
    matrix, right = found[: -len(form.balance)].reshape(-1, n), found[-len(form.balance) :]
    R, C = algebraic_scales(form, matrix, values)
    S, f = R[:, None] * matrix * C, -R * right
    square = S.shape[0] == S.shape[1] and np.linalg.cond(S) < 1e12
    w = C * (np.linalg.solve(S, f) if square else np.linalg.lstsq(S, f, rcond=1e-12)[0])
    return dict(zip(form.algebraic, map(float, w), strict=True))


def _refuse_wrong_point(
    form: Descriptor, values: Mapping[Node, float], found: Tangent, closed: ClosedSet | None
) -> None:
    """Raise unless the constraints hold and the constant states have no rate.

    A residual counts as zero if changing each value of the point by a relative 10⁻⁷ could remove it: this does not
    depend on units.
    """
    constant = [x for x in form.states if (x in closed.states if closed is not None else x not in form.ignored)]
    rows = [form.states.index(x) for x in constant]
    rates = numbers([form.rates[i] for i in rows], values)
    here = np.abs([*(values[x] for x in form.states), *(values[u] for u in form.inputs)])
    slack = np.abs(np.hstack([found.F, found.F_u])[rows]) @ here
    off = numbers(form.residuals, values)
    room = np.abs(found.Z) @ (here[: len(form.states)] + _EPS_RATE / _TOLERANCE * speeds(form, values))
    moving = np.abs(rates) > _TOLERANCE * slack + _EPS_RATE * np.abs(found.F_terms[rows])
    broken = np.abs(off) > _TOLERANCE * room + _EPS_RATE * term_sizes(form.residuals, values)
    if np.any(moving) or np.any(broken):
        refuse_corners(form, values)  # friction may hold the point
        raise VinculumError(_complaint(form, values, off, broken, closed))


def _complaint(
    form: Descriptor, values: Mapping[Node, float], off: np.ndarray, broken: np.ndarray, closed: ClosedSet | None
) -> Finding:
    labels = form.labels[len(form.balance) :]
    wrong = [f"{name}: {x:.6g}" for name, x, bad in zip(labels, off, broken, strict=True) if bad]
    what = "equilibrium" if closed is None else "steady motion"
    wrong = [*_forces(form, values), *wrong]
    return Finding(
        f"The point is not {'an' if what == 'equilibrium' else 'a'} {what} of {form.name!r}. "
        f"Residuals: {', '.join(wrong)}.",
        ["Find one with ", call("equilibrium" if closed is None else "steady"), "."],
    )


def _forces(form: Descriptor, values: Mapping[Node, float]) -> list[str]:
    """The forces that no reaction balances, by coordinate; of a first-order system the rates."""
    n = form.coordinates
    if not n:
        return [
            f"rate of {name_of(x.value)}: {r:.6g}"
            for x, r in zip(form.states, numbers(form.rates, values), strict=True)
            if r
        ]
    still = {**values, **dict.fromkeys(form.algebraic, 0.0)}
    force = numbers(form.balance[:n], still)
    b = numbers(jacobian(form.balance[:n], form.algebraic[n:]), still)
    rest = force - b @ np.linalg.lstsq(b, force, rcond=1e-10)[0] if b.size else force
    rows = dependent_rows(b)
    if len(rows):
        rest = force - b @ np.linalg.solve(b[rows], force[rows])
    size = np.abs(force).max(initial=0.0)
    return [f"{form.labels[i]}: {x:.6g}" for i, x in enumerate(rest) if abs(x) > 1e-9 * size]


def dependent_rows(b: np.ndarray) -> list[int]:
    """Rows of full rank, the last ones first: their coordinates take the reactions."""
    import scipy.linalg

    if not b.size or np.linalg.matrix_rank(b) < b.shape[1]:
        return []
    order = scipy.linalg.qr(b.T / np.maximum(np.abs(b).max(axis=0)[:, None], 1e-300), mode="r", pivoting=True)[-1]
    return sorted(int(i) for i in order[: b.shape[1]])


def _left_out(where: Point, drop: Sequence[sp.Expr]) -> set[Node]:
    """The coordinates to leave out; those that influence others are refused."""
    form = where.form
    coordinates = form.states[: form.coordinates] or form.states
    unknown = [q for q in drop if symbol(q) not in coordinates]
    if unknown:
        raise ModelError("Invalid drop", [f"{listed(unknown)} is not a coordinate."])
    asked = {*map(symbol, drop), *form.ignored}
    felt = {q: found for q in asked if (found := influences(form, where.values, q) - asked)}
    if felt:
        raise ModelError(
            "Invalid drop",
            [
                f"{name_of(q.value)} influences {listed(x.value for x in form.states if x in others)}, so it must stay "
                "a state."
                for q, others in felt.items()
            ],
        )
    return asked


def _measured(where: Point, kept: list[int]) -> dict[sp.Expr, np.ndarray]:
    """Each coordinate and velocity to first order as a row of η, where it depends on nothing that was left out."""
    N = where.tangent.N
    others = [k for k in range(N.shape[1]) if k not in kept]
    rows = zip(where.form.states, N, strict=True)
    return {x.value: row[kept] for x, row in rows if not np.any(row[others])}


def _outputs(where: Point, kept: list[int]) -> dict[sp.Expr, tuple[np.ndarray, np.ndarray]]:
    """Accelerations, reactions and inputs of servos to first order: rows of η and of u."""
    form, found = where.form, where.tangent
    names: dict[sp.Expr, Node] = {a.value: a for a in form.algebraic[: form.coordinates]}
    names |= reaction_symbols(form) | servo_inputs(form)
    place = {w: i for i, w in enumerate(form.algebraic)}
    others = [k for k in range(found.W.shape[1]) if k not in kept]
    rows = {key: place[node] for key, node in names.items() if node in place}
    return {
        key: (found.W[i][kept], found.W_u[i]) for key, i in rows.items() if np.all(np.abs(found.W[i][others]) < 1e-12)
    }


def _record(where: Point, at: Mapping[sp.Expr, float]) -> Equilibrium:
    """A point given as a dictionary as a complete record."""
    form = where.form
    values = {x.value: where.values[x] for x in (*form.states, *form.inputs)}
    values |= {u: where.values[node] for u, node in servo_inputs(form).items()}
    reactions = {name: where.values[node] for name, node in form.reactions.items()}
    parameters = {p.value: where.values[p] for p in form.parameters}
    found = Equilibrium({**values, **dict(at)}, reactions, 0.0, parameters)
    if where.closed is None:
        return found
    inside, outside = where.closed.states, where.closed.ignorable(form)
    return replace(
        found,
        constant=tuple(x.value for x in form.states if x in inside),
        ignorable=tuple(x.value for x in outside),
    )
