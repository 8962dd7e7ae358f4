"""Derivatives of random motions and of their measures, on two other roads than the variational equations.

Motions: Lagrange's equations in SymPy with complex steps. Measures: differences of sixth order of the measures that
`vn.study` finds in lanes.
"""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from laws.random_systems import residuals
from study.complex_runs import ComplexRuns
from study.random_motions import KINDS
from vinculum import measure
from vinculum.ensembles import sensitivity

MOTIONS = [*((kind, seed) for kind in KINDS for seed in range(3)), ("anything", 5)]
ROUNDING = 3e-11  # the largest error, also where the motion amplifies errors more
STEP = 2e-3  # of differences, relative
FOURTH, SIXTH = np.array([0, 1, -8, 8, -1, 0]) / 12, np.array([-1, 9, -45, 45, -9, 1]) / 60


@pytest.mark.parametrize(("kind", "seed"), MOTIONS)
def test_derivatives_of_random_motions_are_those_of_complex_steps(kind, seed):
    """States, accelerations and reactions; and d/dθ of f(q(t; θ), t; θ) = 0 and of its rate, which is zero.

    The error is that expected of the runs with complex steps: the motion with its derivatives is at least as exact.
    """
    motion = KINDS[kind](seed)
    system, times = motion.system, np.linspace(0, motion.end, 7)
    found = sensitivity(system, times=times, by=motion.by, **motion.call)
    accelerations = [q.diff(system.time, 2) for q in system.coordinates]
    reactions = [vn.reaction(constraint.name) for constraint in system.constraints]
    wanted = [*system.coordinates, *system.velocities, *accelerations, *reactions]
    conditions = [condition for level in residuals(system) for condition in level]
    outputs = found.variational.outputs([*wanted, *conditions])
    slopes = outputs.at(found.values, found.t, found.states, found.slopes)[1].transpose(1, 2, 0)
    other, start = ComplexRuns(system, motion.by, motion.inputs), (motion.initial, motion.guess, times)
    _, expected = other.run(*start)
    scale = np.maximum(1.0, np.abs(expected).max(axis=2, keepdims=True))
    limit = min(ROUNDING, other.expected_error(*start, expected, scale))
    assert np.abs((slopes[: len(wanted)] - expected) / scale).max() < limit
    assert np.abs(slopes[len(wanted) :]).max(initial=0.0) < limit


def test_a_motion_under_a_homogeneous_constraint_ends_where_it_comes_to_rest():
    """Why `anything` ends at t = 1: 2 a(q)·v = p |v| allows two rays of velocities (v₁, v₄), and at v = 0 their tip.

    Seed 5 comes to rest at t = 1.10526. All velocities vanish together there, a = -v/(t* - t), and going back along
    its ray would break the constraint: |v| has no derivative by v at the tip. Its neighbors, at which differences of
    measures are taken, come to rest from 1.0987 on.
    """
    motion = KINDS["anything"](5)
    times = [0.0, 1.1, 1.1052]
    found = vn.simulate(motion.system, times=times, **motion.call)
    v, t = motion.system.velocities, motion.system.time
    rests = [found.t[-1] - found[speed][-1] / found[speed.diff(t)][-1] for speed in v]
    np.testing.assert_allclose(rests, 1.10525884556, rtol=0, atol=1e-7)
    forward, back = ({key: sign * found[key][-1] for key in v} for sign in (1, -1))
    rolls = next(c for c in motion.system.constraints if c.name == "rolls4")
    place = {q: found[q][-1] for q in motion.system.coordinates} | dict(motion.system.parameters)
    lost, held = (float(rolls.expression.subs(speeds).subs(place)) for speeds in (back, forward))
    assert abs(held) < 1e-12
    assert lost < -1e-7


def measures_of(y, t, q):
    """Measures of a coordinate: a level that it passes on its way to its farthest sample, a band around its end."""
    far = y[np.argmax(np.abs(y - y[0]))]
    level, band = 0.5 * (y[0] + far), 0.4 * np.abs(y - y[-1]).max()
    return {
        "largest": measure.maximum(q),
        "smallest": measure.minimum(q.diff(t)),
        "way": measure.integral(q.diff(t) ** 2),
        "end": measure.final(q * q.diff(t)),
        "passing": measure.first_time(q - level),
        "settling": measure.settling_time(q, band, y[-1]),
    }


@pytest.mark.parametrize(("kind", "seed"), MOTIONS)
def test_derivatives_of_random_measures_are_differences_of_studies(kind, seed):
    """A difference of sixth order is better than its distance from that of fourth order.

    The instant of an extreme is where samples differ by rounding, so it has an error of about 1e-9.
    """
    motion = KINDS[kind](seed)
    equations, times, q = vn.derive(motion.system), np.linspace(0, motion.end, 61), motion.system.coordinates[0]
    samples = vn.simulate(equations, times=times, **motion.call)[q]
    call = dict(times=times, measure=measures_of(samples, equations.time, q)) | motion.call
    found = sensitivity(equations, by=motion.by, **call)
    for by in (motion.by[0], motion.by[2]):  # a parameter and a start
        known = {**motion.system.parameters, **motion.initial}[by]
        shifts = STEP * max(abs(known), 0.1) * np.array([-3, -2, -1, 1, 2, 3])
        others = {key: value for key, value in motion.initial.items() if key != by}
        runs = vn.study(equations, over={by: known + shifts}, **call | {"initial": others})
        for name in call["measure"]:
            fourth, sixth = (float(runs[name].values @ weights) / shifts[3] for weights in (FOURTH, SIXTH))
            rounding = (1e-8 if call["measure"][name].is_extreme else 1e-10) * max(1.0, abs(sixth))
            assert abs(found.derivative(name, by) - sixth) < abs(fourth - sixth) + rounding, (name, by)
            assert abs(fourth - sixth) < 1e-3 * max(1.0, abs(sixth)), (name, by)  # the comparison says something
