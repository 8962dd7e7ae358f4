"""The published numbers of the PUMA 560, and what its recursions cost."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from examples.puma560 import NOMINAL, q, tree
from vinculum.derivation.bodies import recursion
from vinculum.graph import operations, symbol

QN = list(NOMINAL.values())
POSES = {"qz": [0.0] * 6, "qs": [0, 0, -np.pi / 2, 0, 0, 0], "qr": [0, np.pi / 2, -np.pi / 2, 0, 0, 0], "qn": QN}
GRAVITY = {
    "qz": (0, 37.48366665, 0.24892875, 0, 0, 0),
    "qs": (0, 46.006938, 8.7722001, 0, 0.0282528, 0),
    "qr": (0, -0.77523525, 0.24892875, 0, 0, 0),
    "qn": (0, 31.639880378357, 6.035138023011, 0, 0.0282528, 0),
}
MASS = [
    [3.659375412153, -0.404361246042, 0.100613647780, -0.002516955828, 0, 0],
    [-0.404361246042, 4.413741933636, 0.350890664956, 0, 0.002359513068, 0],
    [0.100613647780, 0.350890664956, 0.937841575215, 0, 0.001480166389, 0],
    [-0.002516955828, 0, 0, 0.192531706124, 0, 0.000028284271],
    [0, 0.002359513068, 0.001480166389, 0, 0.171348451657, 0],
    [0, 0, 0, 0.000028284271, 0, 0.194104505668],
]
CORIOLIS = (-4.634421763308, 8.725711224581, -1.926810160888, 0.002255789315, 0.019052433368, 0.000364852814)
RATES, TORQUES = (0.1, 0.2, 0.8, 0.2, 0.5, 1), (1, 3.2, 1.8, 0.1, 0.7, 4.6)
ACCELERATIONS = {
    True: (-7.410223163686, -9.843224581568, -10.969398445087, -4.431428751376, -0.988141072399, 21.022781949287),
    False: (-0.354047568621, -6.398926283237, -2.068494247467, 0.511243538557, 4.021223156468, 23.698454065203),
}


@pytest.mark.parametrize("pose", POSES)
def test_gravity_load(pose):
    found = vn.bodies.dynamics(tree()).bias(POSES[pose], np.zeros(6))
    assert np.allclose(found, GRAVITY[pose], rtol=0, atol=1e-12)


def test_mass_matrix_and_coriolis_forces():
    arm = vn.bodies.dynamics(tree())
    assert np.allclose(arm.mass_matrix(QN), MASS, rtol=0, atol=1e-12)
    forces = arm.bias(QN, (1, 2, 3, 1, 2, 3)) - arm.bias(QN, np.zeros(6))
    assert np.allclose(forces, CORIOLIS, rtol=0, atol=1e-12)


@pytest.mark.parametrize("friction", [True, False])
def test_accelerations(friction):
    found = vn.bodies.dynamics(tree(friction)).forward(QN, RATES, TORQUES)
    assert np.allclose(found, ACCELERATIONS[friction], rtol=0, atol=1e-11)


def test_free_fall_for_a_second():
    motion = vn.simulate(vn.derive(tree().system()), initial=NOMINAL, times=(0, 1))
    assert motion.energy_error < 1e-11
    end = [motion[x][-1] for x in q]
    expected = (0.432108466, -2.62982262, 5.25027137, -1.01441425e-3, 0.757544155, 9.24625195e-5)
    assert np.allclose(end, expected, rtol=1e-8, atol=1e-12)


def test_operations_stay_few():
    """Composite bodies below articulated ones for six joints; regrouping saves a tenth."""
    torques = [symbol(("tau", i)) for i in range(6)]
    plain, regrouped = (recursion(tree(), regroup) for regroup in (False, True))

    def count(steps, method):
        return operations(steps.accelerations(torques, {}, method)[0]).total()

    assert count(regrouped, "composite") <= 670
    assert count(regrouped, "articulated") <= 815
    assert count(plain, "composite") > 1.1 * count(regrouped, "composite")
