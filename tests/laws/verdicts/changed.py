"""The same systems side by side, renamed, in mixed coordinates, in other units, spelled otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import sympy as sp

import vinculum as vn
from laws.verdicts.cases import (
    BORDER,
    REFUSED,
    STABLE,
    UNSTABLE,
    Case,
    Draw,
    by_roots,
    companion,
    coordinates,
    t,
    worst,
    x,
    y,
    z,
)
from laws.verdicts.critical import critical
from laws.verdicts.drifting import drifting
from laws.verdicts.feedback import feedback
from laws.verdicts.holonomic import holonomic
from laws.verdicts.nonholonomic import nonholonomic
from laws.verdicts.servo import servo
from laws.verdicts.steady import steady
from laws.verdicts.timed import timed

MIXABLE: dict[str, Callable[[int], Case]] = {
    "holonomic": holonomic,
    "drifting": drifting,
    "feedback": feedback,
    "steady": steady,
    "nonholonomic": nonholonomic,
    "critical": critical,
    "servo": servo,
    "timed": timed,
}


def mixed(seed: int) -> Case:
    draw = Draw(seed, "mixed")
    if seed % 4 == 3:
        return _redundant(draw)
    names = sorted(MIXABLE)
    parts = [MIXABLE[names[draw.whole(0, len(names) - 1)]](draw.whole(0, 500)) for _ in range(2)]
    if not all(_plain(part) for part in parts):
        return mixed(seed + 1000)
    joined = side_by_side(*parts)
    return mixed_coordinates(joined, draw) if seed % 2 else joined


def _plain(case: Case) -> bool:
    """Whether a case is a mechanical system at rest that can be joined with another."""
    system = case.system
    return (
        isinstance(system, vn.System)
        and not system.ignored
        and not case.drop
        and case.given is None
        and case.truth != BORDER
        and not case.weaker
        and len(system.coordinates) <= 3
        and not any(isinstance(key, sp.Derivative) and value for key, value in case.point.items())
    )


def side_by_side(one: Case, two: Case) -> Case:
    """Two systems without any connection."""
    first, second = renamed(one, "_1"), renamed(two, "_2")
    A, B = first.system, second.system
    system = vn.System(
        [*A.coordinates, *B.coordinates],
        A.kinetic_energy + B.kinetic_energy,
        A.potential_energy + B.potential_energy,
        forces={**A.forces, **B.forces},
        dissipation=A.dissipation + B.dissipation,
        constraints=[*A.constraints, *B.constraints],
        parameters={**A.parameters, **B.parameters},
    )
    truth = worst(one.truth, two.truth)
    return Case(f"{one.what} beside {two.what}", system, truth, {**first.point, **second.point})


def renamed(case: Case, suffix: str) -> Case:
    """The same system with other names."""
    system = case.system
    names = {q: sp.Function(q.func.__name__ + suffix)(t) for q in system.coordinates}
    letters = {p: sp.Symbol(p.name + suffix, positive=True) for p in system.parameters}
    return substituted(case, names, letters)


def substituted(case: Case, names: Mapping, letters: Mapping) -> Case:
    system = case.system

    def new(expression):
        return sp.sympify(expression).subs(names).doit().subs(letters)

    constraints = [
        replace(h, expression=new(h.expression), name=h.name + str(next(iter(names.values()))))
        for h in system.constraints
    ]
    other = vn.System(
        [names[q] for q in system.coordinates],
        new(system.kinetic_energy),
        new(system.potential_energy),
        forces={names[q]: new(f) for q, f in system.forces.items()},
        dissipation=new(system.dissipation),
        constraints=constraints,
        parameters={letters[p]: value for p, value in system.parameters.items()},
    )
    return replace(case, system=other, at={new(key): value for key, value in case.point.items()})


def mixed_coordinates(case: Case, draw: Draw) -> Case:
    """The same system in coordinates q = S y with a unimodular integer matrix S (all coordinates are states)."""
    system = case.system
    n = len(system.coordinates)
    S = sp.eye(n)
    for _ in range(n):
        i, j = draw.random.choice(n, 2, replace=False) if n > 1 else (0, 0)
        if i != j:
            S[int(i), :] = S[int(i), :] + draw.whole(-1, 1) * S[int(j), :]
    y = coordinates(n, "mixed")
    names = dict(zip(system.coordinates, S * sp.Matrix(y), strict=True))

    def new(expression):
        return sp.sympify(expression).subs(names).doit()

    old_forces = sp.Matrix([system.forces.get(q, 0) for q in system.coordinates])
    forces = S.T * old_forces.applyfunc(new)
    values = S.inv() * sp.Matrix([case.point[q] for q in system.coordinates])
    other = vn.System(
        y,
        new(system.kinetic_energy),
        new(system.potential_energy),
        forces=dict(zip(y, forces, strict=True)),
        dissipation=new(system.dissipation),
        constraints=[replace(h, expression=new(h.expression)) for h in system.constraints],
        parameters=system.parameters,
    )
    return replace(case, what=f"{case.what}, mixed", system=other, at=dict(zip(y, map(float, values), strict=True)))


def _redundant(draw: Draw) -> Case:
    """A pendulum in Cartesian coordinates with a rod, and a spring to a second mass."""
    length, mass, load, stiffness = (draw.number() for _ in range(4))
    up, damped, tied = draw.chance(0.3), draw.chance(), draw.chance()
    rod = vn.Holonomic((x**2 + y**2 - length**2) / 2, name="rod")
    T = mass * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + load * z.diff(t) ** 2 / 2
    V = mass * 9.81 * y + stiffness * (z - x) ** 2 / 2 + (stiffness * z**2 / 2 if tied else 0)
    D = 0.4 * (z - x).diff(t) ** 2 / 2 if damped else 0
    # up: hanging upside down the spring may hold it: m g/l against the stiffness
    at = {x: 0.0, y: length if up else -length, z: 0.0}
    side = -1 if up else 1
    K = np.array([[side * mass * 9.81 / length + stiffness, -stiffness], [-stiffness, (2 if tied else 1) * stiffness]])
    C = (0.4 if damped else 0.0) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    truth = by_roots(companion(np.diag([mass, load]), C, K), STABLE if np.linalg.eigvalsh(K).min() > 0.01 else UNSTABLE)
    return Case(
        "pendulum with a rod and a spring", vn.System([x, y, z], T, V, dissipation=D, constraints=[rod]), truth, at
    )


def units(seed: int) -> Case:
    """Any of the cases at rest, in other units of length (each coordinate), time and mass."""
    draw = Draw(seed, "units")
    names = sorted(MIXABLE)
    case = MIXABLE[names[seed % len(names)]](draw.whole(0, 500))
    if not isinstance(case.system, vn.System) or case.drop or case.system.ignored or case.given is not None:
        return units(seed + 1000)
    if any(sp.sympify(e).has(t) and sp.sympify(e).subs(dict.fromkeys(case.system.coordinates, 1)).doit().has(t)
           for e in (case.system.kinetic_energy, *case.system.forces.values(), case.system.potential_energy,
                     *(h.expression for h in case.system.constraints))):  # fmt: skip
        return units(seed + 1000)
    exact = draw.chance()  # powers of two change no digit

    def unit() -> float:
        return float(
            2.0 ** draw.random.choice([-30, -10, 0, 10, 30]) if exact else 10.0 ** draw.random.choice([-9, -3, 3, 9])
        )

    energy, time, length = unit(), unit(), unit()
    angles = [q for q in case.system.coordinates if _angle(q, case.system)]
    lengths = {q: length if angles else unit() for q in case.system.coordinates}
    lengths |= dict.fromkeys(angles, 1.0)
    return rescaled(case, lengths, float(time), float(energy))


def _angle(q: sp.Expr, system: vn.System) -> bool:
    """Whether a coordinate stands in a sine or cosine: radians have no other unit."""
    parts = (system.kinetic_energy, system.potential_energy, *(h.expression for h in system.constraints))
    return any(f.has(q) for e in parts for f in sp.sympify(e).atoms(sp.sin, sp.cos))


def rescaled(case: Case, lengths: Mapping[sp.Expr, float], time: float, energy: float) -> Case:
    """q = L q̃, t = τ t̃, energies times ε: T̃ = ε T(L q̃, (L/τ) q̃'), Ṽ = ε V, D̃ = ε D/τ · τ, Q̃ = ε L Q."""
    system = case.system
    marks = {q: sp.Symbol(f"mark_{i}") for i, q in enumerate(system.coordinates)}
    speeds = {q.diff(t): sp.Symbol(f"speed_{i}") for i, q in enumerate(system.coordinates)}
    back = {marks[q]: sp.Float(lengths[q]) * q for q in marks}
    back |= {speeds[q.diff(t)]: sp.Float(lengths[q] / time) * q.diff(t) for q in marks}

    def new(expression, factor=1.0):
        return sp.Float(factor) * sp.sympify(expression).doit().subs(speeds).subs(marks).subs(back)

    other = vn.System(
        system.coordinates,
        new(system.kinetic_energy, energy),
        new(system.potential_energy, energy),
        forces={q: new(f, energy * lengths[q]) for q, f in system.forces.items()},
        dissipation=new(system.dissipation, energy * time),
        constraints=[replace(h, expression=new(h.expression)) for h in system.constraints],
        parameters=system.parameters,
        inputs=system.inputs,
        name="in other units",
    )
    at = {key: _rescaled_value(key, value, lengths, time) for key, value in case.point.items()}
    return replace(case, what=f"{case.what}, other units", system=other, at=at)


def _rescaled_value(key: sp.Expr, value: float, lengths: Mapping[sp.Expr, float], time: float) -> float:
    if isinstance(key, sp.Derivative):
        return value / lengths[key.args[0]] * time
    return value / lengths.get(key, 1.0)


def spelled(seed: int) -> Case:
    """Any of the cases with energies expanded or in half angles, or in mixed coordinates."""
    draw = Draw(seed, "spelled")
    names = sorted(MIXABLE)
    case = MIXABLE[names[seed % len(names)]](draw.whole(0, 500))
    if not isinstance(case.system, vn.System) or len(case.system.coordinates) > 3:
        return spelled(seed + 1000)
    way = draw.whole(0, 2)
    if way == 2 and _plain(case) and case.truth != REFUSED:
        return mixed_coordinates(case, draw)
    change = (sp.expand, lambda e: sp.expand(sp.expand_trig(e)))[way % 2]
    system = replace(
        case.system,
        kinetic_energy=change(case.system.kinetic_energy.doit()),
        potential_energy=change(case.system.potential_energy),
    )
    return replace(case, what=f"{case.what}, spelled otherwise", system=system)
