"""Inverse dynamics by the recursion of Newton and Euler (Luh, Walker, Paul 1980), in the frames of the hinges.

    outwards  ω, ω̇, v̇ of every frame;   U = [ω̇]× + [ω]×[ω]×
    there     f = m v̇ + U h,  n = ∫ρ×(Uρ)dm + [h, v̇]
    inwards   forces added up; the force of a hinge is the component along its axis

Gravity and the motion of the base enter as its accelerations: V̇_1 - g, Ω_0, Ω̇_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vinculum.derivation.bodies.hinges import Hinge
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.kinematics import nodes_of
from vinculum.describe.bodies.transforms import Matrix, Six, acceleration_matrix, moment
from vinculum.graph import ZERO, Node, lift
from vinculum.graph.vectors import Vector, cross, plus, times, transposed

Joints = Sequence[Sequence[Any]]  # for every hinge one number, for a ball joint three


@dataclass(frozen=True)
class Support:
    """Angular velocity, angular acceleration and acceleration less gravity of the base, in its axes."""

    omega: Vector
    alpha: Vector
    a: Vector


def support(tree: BodyTree, gravity: bool = True) -> Support:
    """The base of a tree."""
    base = tree.base
    inward = transposed([nodes_of(base.rotation.row(i)) for i in range(3)])
    g = nodes_of(tree.gravity) if gravity else (ZERO, ZERO, ZERO)
    acceleration = tuple(a - x for a, x in zip(nodes_of(base.acceleration), g, strict=True))
    omega, alpha = nodes_of(base.angular_velocity), nodes_of(base.angular_acceleration)
    return Support(times(inward, omega), times(inward, alpha), times(inward, acceleration))


@dataclass(frozen=True)
class Frame:
    """The motion of a hinge's frame."""

    omega: Vector
    alpha: Vector
    a: Vector
    U: Matrix


def inverse(hinges: Sequence[Hinge], rates: Joints, accelerations: Joints, base: Support) -> list[Vector]:
    """The hinge forces that give these accelerations: M ν̇ + h."""
    felt = wrenches(hinges, rates, accelerations, base)
    forces: list[Vector] = [()] * len(hinges)
    for i in reversed(range(len(hinges))):
        hinge = hinges[i]
        forces[i] = hinge_force(hinge, felt[i], accelerations[i])
        if hinge.parent >= 0:
            n, f = carry_inwards(hinge, felt[i])
            felt[hinge.parent] = plus(felt[hinge.parent][0], n), plus(felt[hinge.parent][1], f)
    return forces


def wrenches(hinges: Sequence[Hinge], rates: Joints, accelerations: Joints, base: Support) -> list[Six]:
    """The force and moment that each body needs for its own motion."""
    frames = outwards(hinges, rates, accelerations, base)
    return [inertial_wrench(hinge, frame) for hinge, frame in zip(hinges, frames, strict=True)]


def hinge_force(hinge: Hinge, wrench: Six, acceleration: Sequence[Any]) -> Vector:
    """The force that the hinge itself must exert, its rotor included."""
    force = hinge.joint.component(wrench)
    return force if hinge.rotor is ZERO else (force[0] + hinge.rotor * acceleration[0],)


def carry_inwards(hinge: Hinge, wrench: Six) -> Six:
    """A force on the hinge's frame, seen from the parent's."""
    for stage in reversed(hinge.stages):
        wrench = stage.force(wrench)
    return wrench


def outwards(hinges: Sequence[Hinge], rates: Joints, accelerations: Joints, base: Support) -> list[Frame]:
    """The motion of every hinge's frame."""
    ground = Frame(base.omega, base.alpha, base.a, acceleration_matrix(base.omega, base.alpha))
    frames: list[Frame] = []
    for hinge, rate, acceleration in zip(hinges, rates, accelerations, strict=True):
        parent = frames[hinge.parent] if hinge.parent >= 0 else ground
        frames.append(advance_frame(hinge, parent, rate, acceleration))
    return frames


def advance_frame(hinge: Hinge, parent: Frame, rate: Sequence[Any], acceleration: Sequence[Any]) -> Frame:
    """The motion of a hinge's frame from that of its parent's."""
    omega, alpha, a = parent.omega, parent.alpha, plus(parent.a, times(parent.U, _place(hinge)))
    for stage in hinge.stages:
        omega, alpha, a = stage.outwards(omega), stage.outwards(alpha), stage.outwards(a)
    omega, alpha, a = hinge.joint.advance(omega, alpha, a, rate, acceleration)
    return Frame(omega, alpha, a, acceleration_matrix(omega, alpha))


def _place(hinge: Hinge) -> Vector:
    """The origin of the hinge's frame in the parent's."""
    r: Vector = (0, 0, 0)
    for stage in reversed(hinge.stages):
        r = plus(stage.r, stage.inwards(r))
    return r


def inertial_wrench(hinge: Hinge, frame: Frame) -> Six:
    """(n, f) of a body that moves as its frame does."""
    m, h, S = hinge.inertia
    f = plus(tuple(m * x for x in frame.a), times(frame.U, h))
    n = plus(moment(S, frame.U), cross(h, frame.a))
    return tuple(lift(x) for x in n), tuple(lift(x) for x in f)


def zeros(hinges: Sequence[Hinge]) -> list[tuple[Node, ...]]:
    """Zero for every hinge."""
    return [(ZERO,) * hinge.joint.width for hinge in hinges]
