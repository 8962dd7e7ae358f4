"""The recursions of one hinge with symbols in place of its numbers: one piece of code for all similar hinges.

For a large tree straight-line code takes long to compile and overflows the processor's cache. Here a sweep is a loop
over the hinges, and this module traces its body. Hinges with the same steps from parent to child share a `Pattern`
and differ in a row of numbers. A sweep reads and writes these places (`Place`):

| place      | what                                                                                       |
|------------|--------------------------------------------------------------------------------------------|
| table      | the numbers of the hinge                                                                   |
| own        | its memory: motion of its frame, articulated inertia, cosine and sine, what is carried on  |
| parent     | the same of its parent                                                                     |
| q, v, u, o | coordinates, velocities, the given forces (or accelerations) and the result                |
| d, e, f    | of `tangent`: a direction (δθ, δν, δν̇) along which inverse dynamics is differentiated      |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vinculum.derivation.bodies.articulated import Swept, accelerate, articulated, join, pass_inwards, sweep_hinge
from vinculum.derivation.bodies.hinges import Hinge
from vinculum.derivation.bodies.newton_euler import Frame, advance_frame, carry_inwards, hinge_force, inertial_wrench
from vinculum.describe.bodies.joints import Elementary
from vinculum.describe.bodies.transforms import (
    UPPER,
    Articulated,
    Matrix,
    Screw,
    Shift,
    Six,
    Stage,
    Turn,
    acceleration_matrix,
    flat,
    of_stage,
)
from vinculum.graph import ZERO, Node, along, lift, select, substitute, symbol
from vinculum.graph.node import compare
from vinculum.graph.vectors import Vector, dot, plus

Place = tuple[str, int]
Step = list[tuple[Place, Node]]  # what is stored where

_FRAME, _BODY, COSINE, SINE, _INVERSE, _LEFT, _ACCELERATION, SLOTS = 0, 18, 45, 46, 47, 53, 56, 62
_TANGENT, _WRENCH = SLOTS, _BODY + 21  # behind its memory: the rates of frame and force along a direction
TANGENT_SLOTS = SLOTS + 24
_FULL = [(i, j) for i in range(3) for j in range(3)]


@dataclass(frozen=True)
class Pattern:
    """What hinges must have in common to share their code."""

    joint: type[Elementary]
    steps: tuple[str, ...]  # constant steps: shift, z, x, turn
    inertia: tuple[bool, ...]  # which of m, h, Σ there are
    rotor: bool
    passive: bool  # springs, dampers, friction


def pattern(hinge: Hinge, inertia: tuple[bool, ...], rotor: bool, passive: bool) -> Pattern:
    """The pattern of a hinge."""
    names = {2: "z", 0: "x"}
    steps = [
        "shift" if isinstance(s, Shift) else "turn" if isinstance(s, Turn) else names[s.k] for s in hinge.stages[:-1]
    ]
    return Pattern(type(hinge.joint), tuple(steps), inertia, rotor, passive and hinge.joint.axial)


def numbers(hinge: Hinge, kind: Pattern, passive: Sequence[Node], norm: Node) -> list[Node]:
    """The row of a hinge, in the order in which `model` takes it; the angle at q = 0 comes first."""
    row = hinge.joint.numbers(hinge.stages[-1], hinge.q)
    for stage in hinge.stages[:-1]:
        row += of_stage(stage)
    row += [x for x, there in zip(flat(hinge.inertia), kind.inertia, strict=True) if there]
    row += [hinge.rotor] if kind.rotor else []
    row += [norm] if kind.joint.normalized else []
    return row + (list(passive) if kind.passive else [])


@dataclass(frozen=True, eq=False)
class Model:
    """A hinge made of symbols."""

    hinge: Hinge
    passive: tuple[Node, ...]  # damping, stiffness, position at rest, friction forwards and backwards
    norm: Node

    @property
    def rates(self) -> Vector:
        """ν of q̇."""
        return self.hinge.joint.velocities(self.hinge.q, self.hinge.v)

    @property
    def resistance(self) -> Node:
        """The force of spring, damper and friction."""
        if not self.passive:
            return ZERO
        (q,), (v,) = self.hinge.q, self.hinge.v
        damping, stiffness, rest, forward, backward = self.passive
        dry = select(compare("less", ZERO, v), forward, select(compare("less", v, ZERO), -backward, ZERO))
        return -(stiffness * (q - rest)) - damping * v - dry


def model(kind: Pattern) -> Model:
    """The hinge of a pattern, its numbers being those of the table."""
    table = _places("table")
    q, v = (tuple(_at(name, i) for i in range(kind.joint.size)) for name in "qv")
    joint, last = kind.joint.from_table(q, table, _angle)
    stages = [_step(name, table) for name in kind.steps]
    ten = [next(table) if there else ZERO for there in kind.inertia]
    inertia = (ten[0], tuple(ten[1:4]), _symmetric(ten[4:]))
    rotor = next(table) if kind.rotor else ZERO
    norm = next(table) if kind.joint.normalized else ZERO
    hinge = Hinge(joint, 0, (*stages, last), inertia, rotor, q, v)
    return Model(hinge, tuple(next(table) for _ in range(5)) if kind.passive else (), norm)


def _angle() -> tuple[Node, Node]:
    """Cosine and sine of the joint's angle, computed before the sweeps."""
    return _at("own", COSINE), _at("own", SINE)


def _step(name: str, table: Iterator[Node]) -> Stage:
    if name == "shift":
        return Shift(tuple(next(table) for _ in range(3)))
    if name == "turn":
        return Turn(tuple(tuple(next(table) for _ in range(3)) for _ in range(3)))
    return Screw(2 if name == "z" else 0, next(table), next(table), next(table))


def _places(where: str) -> Iterator[Node]:
    i = 0
    while True:
        yield _at(where, i)
        i += 1


def _at(where: str, i: int) -> Node:
    return symbol(("looped", where, i))


def _symmetric(six: Sequence[Any]) -> Matrix:
    by = dict(zip(UPPER, six, strict=True))
    return tuple(tuple(by[min(i, j), max(i, j)] for j in range(3)) for i in range(3))


def _frame(where: str) -> Frame:
    x = [_at(where, _FRAME + i) for i in range(18)]
    return Frame(tuple(x[:3]), tuple(x[3:6]), tuple(x[6:9]), tuple(tuple(x[9 + 3 * i : 12 + 3 * i]) for i in range(3)))


def _stored_frame(frame: Frame) -> Step:
    values = (*frame.omega, *frame.alpha, *frame.a, *(x for row in frame.U for x in row))
    return [(("own", _FRAME + i), lift(x)) for i, x in enumerate(values)]


def _body(where: str) -> tuple[Articulated, Six]:
    x = [_at(where, _BODY + i) for i in range(27)]
    B = tuple(tuple(x[6 + 3 * i : 9 + 3 * i]) for i in range(3))
    return (_symmetric(x[:6]), B, _symmetric(x[15:21])), (tuple(x[21:24]), tuple(x[24:27]))


def _stored_body(where: str, body: Articulated, wrench: Six) -> Step:
    A, B, C = body
    values = [*(A[i][j] for i, j in UPPER), *(B[i][j] for i, j in _FULL), *(C[i][j] for i, j in UPPER)]
    return [((where, _BODY + i), lift(x)) for i, x in enumerate([*values, *wrench[0], *wrench[1]])]


# -- forward dynamics ----------------------------------------------------------------------------------------


def ground() -> Step:
    """The base from Ω_0, dΩ_0/dt and the acceleration less gravity, given as u."""
    x = [_at("u", i) for i in range(9)]
    frame = Frame(tuple(x[:3]), tuple(x[3:6]), tuple(x[6:]), acceleration_matrix(tuple(x[:3]), tuple(x[3:6])))
    rest = [("own", i) for i in (*range(_BODY, _BODY + 27), *range(_ACCELERATION, TANGENT_SLOTS))]
    return [*_stored_frame(frame), *((place, ZERO) for place in rest)]


def outwards(kind: Pattern) -> Step:
    """Motion of the frame at zero acceleration, force on the body, its inertia as the start of the articulated one."""
    m = model(kind)
    frame = advance_frame(m.hinge, _frame("parent"), m.rates, (ZERO,) * len(m.rates))
    return _stored_frame(frame) + _stored_body("own", articulated(m.hinge.inertia), inertial_wrench(m.hinge, frame))


def inwards(kind: Pattern) -> Step:
    """Store D⁻¹ and τ - Sᵀp; add the hinge's inertia and force to the parent's."""
    m = model(kind)
    body, p = _body("own")
    at, _ = sweep_hinge(m.hinge, body, p, _forces(m))
    parent, felt = _body("parent")
    added, (n, f) = pass_inwards(m.hinge, body, p, at)
    inverse = [at.inverse[i][j] for i, j in UPPER] if kind.joint.width == 3 else [at.inverse[0][0]]
    kept = [(("own", _INVERSE + i), x) for i, x in enumerate(inverse)]
    kept += [(("own", _LEFT + i), lift(x)) for i, x in enumerate(at.left)]
    return kept + _stored_body("parent", join(parent, added), (plus(felt[0], n), plus(felt[1], f)))


def _forces(m: Model) -> Vector:
    """τ of the hinge from forces in the user's coordinates."""
    if m.hinge.joint.axial:
        return (_at("u", 0) + m.resistance,)
    return m.hinge.joint.forces(m.hinge.q, [_at("u", i) for i in range(m.hinge.joint.size)])


def accelerations(kind: Pattern) -> Step:
    """q̈ of the hinge, and the acceleration of its frame."""
    m = model(kind)
    a = [_at("parent", _ACCELERATION + i) for i in range(6)]
    rates, (alpha, v) = accelerate(m.hinge, _kept(m.hinge), (tuple(a[:3]), tuple(a[3:])))
    result = rates
    if kind.joint.normalized:
        stretch = dot(m.hinge.v, m.hinge.v)
        turned = m.hinge.joint.displacement(m.hinge.q, rates)
        result = tuple(x - stretch * q for x, q in zip(turned, m.hinge.q, strict=True))
    moving = [(("own", _ACCELERATION + i), lift(x)) for i, x in enumerate((*alpha, *v))]
    return [*moving, *((("o", i), lift(x)) for i, x in enumerate(result))]


def _kept(hinge: Hinge) -> Swept:
    body, _ = _body("own")
    if hinge.joint.width == 3:
        inverse = _symmetric([_at("own", _INVERSE + i) for i in range(6)])
        return Swept(hinge.joint.columns(body), inverse, tuple(_at("own", _LEFT + i) for i in range(3)))
    return Swept(hinge.joint.columns(body), ((_at("own", _INVERSE),),), (_at("own", _LEFT),))


# -- inverse dynamics ----------------------------------------------------------------------------------------


def carried_along(kind: Pattern) -> Step:
    """Motion of the frame with the given accelerations (u), and the force on the body."""
    m = model(kind)
    frame = advance_frame(m.hinge, _frame("parent"), m.rates, _given_accelerations(m))
    n, f = inertial_wrench(m.hinge, frame)
    return _stored_frame(frame) + [(("own", _WRENCH + i), x) for i, x in enumerate((*n, *f))]


def _given_accelerations(m: Model) -> Vector:
    """ν̇ of the given q̈."""
    given = [_at("u", i) for i in range(m.hinge.joint.size)]
    return m.hinge.joint.velocities(m.hinge.q, given)


def forces(kind: Pattern) -> Step:
    """The generalized forces of the hinge; its force handed on to the parent."""
    m = model(kind)
    _, wrench = _body("own")
    own = hinge_force(m.hinge, wrench, _given_accelerations(m))
    _, felt = _body("parent")
    n, f = carry_inwards(m.hinge, wrench)
    passed = [(("parent", _WRENCH + i), x) for i, x in enumerate((*plus(felt[0], n), *plus(felt[1], f)))]
    if kind.joint.normalized:
        size = m.norm * dot(m.hinge.v, m.hinge.v)
        generalized = m.hinge.joint.generalized(m.hinge.q, own)
        own = tuple(x + size * q for x, q in zip(generalized, m.hinge.q, strict=True))
    else:
        own = (own[0] - m.resistance,)
    return [*passed, *((("o", i), lift(x)) for i, x in enumerate(own))]


# -- derivatives of inverse dynamics -------------------------------------------------------------------------


def _free(m: Model) -> tuple[Vector, Vector, dict[Node, Node], dict[Node, Node]]:
    """ν and ν̇ as symbols of their own, what they are in coordinates, and a direction (δθ, δν, δν̇) of everything."""
    joint, width = m.hinge.joint, m.hinge.joint.width
    nu, rates = (tuple(_at(name, i) for i in range(width)) for name in ("nu", "rate"))
    d, e, f = ([_at(name, i) for i in range(width)] for name in "def")
    along_q = [lift(x) for x in joint.displacement(m.hinge.q, d)]
    direction = dict(zip((*m.hinge.q, *nu, *rates), (*along_q, *e, *f), strict=True))
    if width == 1:
        direction |= {_at("own", COSINE): -(_at("own", SINE) * d[0]), _at("own", SINE): _at("own", COSINE) * d[0]}
        direction |= {m.hinge.v[0]: e[0]}
    meaning = dict(zip((*nu, *rates), (*m.rates, *_given_accelerations(m)), strict=True))
    return nu, rates, meaning, direction


def _rates_at(where: str, first: int, count: int, into: int) -> dict[Node, Node]:
    """The direction of what was stored: its rates stand behind the memory of the hinge."""
    return {_at(where, first + i): _at(where, _TANGENT + into + i) for i in range(count)}


def tangent_outwards(kind: Pattern) -> Step:
    """`carried_along`, and its derivative along the direction."""
    m = model(kind)
    nu, rates, meaning, direction = _free(m)
    frame = advance_frame(m.hinge, _frame("parent"), nu, rates)
    n, f = inertial_wrench(m.hinge, frame)
    step = _stored_frame(frame) + [(("own", _WRENCH + i), x) for i, x in enumerate((*n, *f))]
    slopes = along([node for _, node in step], direction | _rates_at("parent", _FRAME, 18, 0))
    step += [(("own", _TANGENT + i), x) for i, x in enumerate(slopes)]
    return _meant(step, meaning)


def tangent_forces(kind: Pattern) -> Step:
    """The derivative of the hinge forces; force and derivative handed on to the parent."""
    m = model(kind)
    _, rates, meaning, direction = _free(m)
    _, wrench = _body("own")
    own = [lift(x) for x in hinge_force(m.hinge, wrench, rates)]
    own[0] = own[0] - m.resistance
    n, f = carry_inwards(m.hinge, wrench)
    values = [*own, *(lift(x) for x in (*n, *f))]
    slopes = along(values, direction | _rates_at("own", _WRENCH, 6, 18))
    step: Step = [(("parent", _WRENCH + i), _at("parent", _WRENCH + i) + x) for i, x in enumerate(values[len(own) :])]
    place = _TANGENT + 18
    step += [(("parent", place + i), _at("parent", place + i) + x) for i, x in enumerate(slopes[len(own) :])]
    return _meant(step + [(("o", i), x) for i, x in enumerate(slopes[: len(own)])], meaning)


def _meant(step: Step, meaning: dict[Node, Node]) -> Step:
    nodes = substitute([node for _, node in step], {key: lift(x) for key, x in meaning.items()})
    return [(place, node) for (place, _), node in zip(step, nodes, strict=True)]


FORWARD = (("out", outwards), ("in", inwards), ("out", accelerations))
INVERSE = (("out", carried_along), ("in", forces))
TANGENT = (("out", tangent_outwards), ("in", tangent_forces))
