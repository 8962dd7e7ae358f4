"""Isolated singular positions: a smooth motion crosses them, and says so; where it is not smooth, the run ends."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from benchmarks.loops import four_bars, start

x, y, s, phi = dynamicsymbols("x y s phi")


def folding(form="multipliers") -> vn.EquationsOfMotion:
    """Two equal bars, the end of the second on a line through the pivot of the first."""
    along = vn.Holonomic(sp.cos(x) + sp.cos(y) - s, name="along")
    across = vn.Holonomic(sp.sin(x) + sp.sin(y), name="across")
    kinetic = x.diff() ** 2 + y.diff() ** 2 + s.diff() ** 2
    return vn.derive(vn.System([x, y, s], kinetic, constraints=[along, across], name="crank"), form)


def crossings(motion: vn.Trajectory) -> list[vn.simulation.Happened]:
    return [event for event in motion.events if event.name.startswith("singular position")]


@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
@pytest.mark.parametrize("stabilization", [None, "none", "projection"])
def test_folded_bars_continue_smoothly(form, stabilization):
    """Folded onto each other they may go on as one bar or part again; without a jump of velocities they part."""
    begin = {x: 1.0, y: -1.0, s: 2 * np.cos(1.0), x.diff(): -1.0}
    motion = vn.simulate(folding(form), begin, (0, 5), fixed=[x, x.diff()], stabilization=stabilization)
    assert motion.outcome.kind == "finished"
    assert "crossed" in motion.outcome.reason
    assert [event.name for event in crossings(motion)] == ["singular position of across"] * len(crossings(motion))
    assert motion[x][-1] < -np.pi / 2
    np.testing.assert_allclose(motion[x], -motion[y], atol=1e-7)
    assert motion.energy_error < 1e-7
    assert max(motion.largest_residuals.values()) < 1e-9


def test_a_constraint_whose_gradient_vanishes_is_crossed_straight():
    """x y = 0 is two lines: a point on one of them stays on it."""
    lines = vn.System([x, y], x.diff() ** 2 + y.diff() ** 2, constraints=[vn.Holonomic(x * y, name="cross")])
    motion = vn.simulate(vn.derive(lines), {x: 1.0, y: 0.0, x.diff(): -1.0}, (0, 5))
    assert motion.outcome
    assert [event.name for event in crossings(motion)] == ["singular position of cross"]
    assert crossings(motion)[0].time == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(motion[x], 1 - motion.t, atol=1e-9)
    np.testing.assert_allclose(motion[y], 0, atol=1e-9)


def test_a_cusp_is_not_crossed():
    """On y² = x³ the velocity turns around at the origin: nothing smooth continues."""
    cusp = vn.Holonomic(y**2 - x**3, name="cusp")
    equations = vn.derive(vn.System([x, y], x.diff() ** 2 + y.diff() ** 2, constraints=[cusp]))
    motion = vn.simulate(equations, {x: 1.0, y: 1.0, x.diff(): -1.0}, (0, 5), fixed=[x, x.diff()])
    assert not motion.outcome
    assert motion.events == ()
    assert motion[x][-1] < 1e-2


@pytest.mark.parametrize("bars", [2, 5, 40])
def test_a_chain_of_four_bars_passes_its_singular_positions(bars):
    """IFToMM benchmark A02: all cranks stay parallel, as one pendulum with the same energies."""
    motion = vn.simulate(vn.derive(four_bars(bars)), start(bars), (0, 10))
    inertia, weight = sp.Rational(bars + 1, 3) + bars, sp.Rational(981, 100) * (sp.Rational(bars + 1, 2) + bars)
    pendulum = vn.System([phi], inertia * phi.diff() ** 2 / 2, weight * sp.sin(phi))
    exact = vn.simulate(vn.derive(pendulum), {phi: np.pi / 2, phi.diff(): -1.0}, motion.t)
    cranks, couplers = (dynamicsymbols(f"{name}{first}:{bars + 1}") for name, first in (("phi", 0), ("psi", 1)))
    assert motion.outcome.kind == "finished"
    assert len(crossings(motion)) == np.sum(np.diff(np.sign(np.sin(exact[phi]))) != 0)
    for crank in cranks:
        np.testing.assert_allclose(motion[crank], exact[phi], atol=1e-6)
    for coupler in couplers:
        np.testing.assert_allclose(motion[coupler], 0, atol=1e-7)
    assert motion.energy_error < 1e-7
    assert max(motion.largest_residuals.values()) < 1e-9


def test_a_motion_backwards_crosses_the_same_position():
    """Reversed velocities retrace a conservative motion; so does reversed time."""
    equations, begin = vn.derive(four_bars(2)), start(2)
    there = vn.simulate(equations, begin, (0, 1))
    back = vn.simulate(equations, there, (1, 0))
    assert len(crossings(there)) == len(crossings(back)) == 1
    assert crossings(back)[0].time == pytest.approx(crossings(there)[0].time, abs=1e-6)
    for key, value in begin.items():
        assert back[key][-1] == pytest.approx(value, abs=1e-7)


def test_dense_output_goes_over_the_position():
    motion = vn.simulate(vn.derive(four_bars(2)), start(2), (0, 1), dense=True)
    (crossing,) = crossings(motion)
    near = crossing.time + np.linspace(-0.02, 0.02, 41)
    angles = motion.at(near)
    np.testing.assert_allclose(np.diff(angles["phi0"], 3), 0, atol=1e-6)  # no jump
    np.testing.assert_allclose(angles["phi0"], angles["phi2"], atol=1e-9)
