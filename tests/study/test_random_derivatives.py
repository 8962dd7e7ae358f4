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

MOTIONS = [(kind, seed) for kind in KINDS for seed in range(3)]
ROUNDING = 3e-11  # of derivatives, relative; the runs with complex steps have a tolerance of 1e-13
STEP = 2e-3  # of differences, relative
FOURTH, SIXTH = np.array([0, 1, -8, 8, -1, 0]) / 12, np.array([-1, 9, -45, 45, -9, 1]) / 60


@pytest.mark.parametrize(("kind", "seed"), MOTIONS)
def test_derivatives_of_random_motions_are_those_of_complex_steps(kind, seed):
    """States, accelerations and reactions; and d/dθ of f(q(t; θ), t; θ) = 0 and of its rate, which is zero."""
    motion = KINDS[kind](seed)
    system, times = motion.system, np.linspace(0, motion.end, 7)
    found = sensitivity(system, times=times, by=motion.by, **motion.call)
    accelerations = [q.diff(system.time, 2) for q in system.coordinates]
    reactions = [vn.reaction(constraint.name) for constraint in system.constraints]
    wanted = [*system.coordinates, *system.velocities, *accelerations, *reactions]
    conditions = [condition for level in residuals(system) for condition in level]
    outputs = found.variational.outputs([*wanted, *conditions])
    slopes = outputs.at(found.values, found.t, found.states, found.slopes)[1].transpose(1, 2, 0)
    _, expected = ComplexRuns(system, motion.by, motion.inputs).run(motion.initial, motion.guess, times)
    scale = np.maximum(1.0, np.abs(expected).max(axis=2, keepdims=True))
    assert np.abs((slopes[: len(wanted)] - expected) / scale).max() < ROUNDING
    assert np.abs(slopes[len(wanted) :]).max(initial=0.0) < ROUNDING


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
