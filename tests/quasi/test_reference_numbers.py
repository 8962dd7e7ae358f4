"""The sleigh of Khusanov (2020), ideal (Chetaev) and with a steering torque (Beghin), to the digits of another run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import cumulative_simpson, simpson

import vinculum as vn
from examples import sleigh_with_servo as sleigh
from examples import snakeboard

FORMS = [("multipliers", {}), *(("hamel", {"characteristics": sleigh.characteristics(), "kind": kind})
                                for kind in ("voronets-hamel", "chaplygin-type")),
         ("hamel", {"characteristics": sleigh.characteristics(), "inverse": "newton"})]  # fmt: skip
EXACT = {"chetaev": (8.42108039, 3.33609233, 0.41269429), "beghin": (8.87339885, 1.30274714, 0.15053785)}
RELEASED = {"chetaev": (8.3501685, 1.55665895, 0.20374682), "beghin": (8.66180448, -0.62807245, -0.07503826)}


def system(which: str) -> vn.System:
    return sleigh.system() if which == "beghin" else vn.servo.idealized(sleigh.system())


def end(motion: vn.Trajectory) -> list[float]:
    return [motion[q][-1] for q in (sleigh.xi, sleigh.eta, sleigh.phi)]


@pytest.mark.parametrize(("form", "choices"), FORMS, ids=["multipliers", "(8)", "(7)", "newton"])
@pytest.mark.parametrize("which", EXACT)
def test_motion_on_the_constraint(which, form, choices):
    start = {sleigh.phi.diff(): 0.9, sleigh.xi.diff(): 1.6}
    motion = vn.simulate(vn.derive(system(which), form, **choices), initial=start, times=(0, 5))
    assert end(motion) == pytest.approx(EXACT[which], abs=6e-9)
    assert motion.energy[0] == pytest.approx(2.191085, abs=1e-12)
    assert motion.energy[-1] == pytest.approx({"chetaev": 2.191085, "beghin": 2.106845}[which], abs=1e-12)
    assert motion.reactions["knife"][0] == pytest.approx({"chetaev": -1.332864, "beghin": -1.110720}[which], abs=1e-12)
    assert motion.largest_residuals["knife", "velocity"] < 1e-15


@pytest.mark.parametrize(("form", "choices"), FORMS[:2] + FORMS[3:], ids=["multipliers", "(8)", "newton"])
@pytest.mark.parametrize("which", RELEASED)
def test_motion_that_approaches_the_constraint(which, form, choices):
    """ξ = 0.4 at the start, ξ̇ = -3 ξ."""
    start = {sleigh.phi.diff(): 0.9, sleigh.xi.diff(): np.sqrt(1.6**2 - 0.4**2), sleigh.eta.diff(): -0.4}
    equations = vn.derive(system(which), form, rates={"knife": 3.0}, **choices)
    motion = vn.simulate(equations, initial=start, times=(0, 5))
    assert end(motion) == pytest.approx(RELEASED[which], abs=6e-9)
    assert motion[sleigh.slip][-1] == pytest.approx(1.2236e-7, abs=5e-12)
    assert motion.energy_error < 1e-13


def test_work_of_the_servo_is_the_energy_it_takes():
    """Its power is τ φ̇; the sum over time is the change of energy."""
    motion = vn.simulate(vn.derive(sleigh.system()), {sleigh.phi.diff(): 0.9, sleigh.xi.diff(): 1.6}, (0, 5))
    power = motion[vn.servo.servo_power(sleigh.system())]
    np.testing.assert_allclose(power, motion[sleigh.tau] * motion[sleigh.phi.diff()], rtol=1e-14)
    assert motion.work[-1] == pytest.approx(2.106845 - 2.191085, abs=1e-12)
    assert simpson(power, x=motion.t) == pytest.approx(motion.work[-1], abs=1e-7)
    np.testing.assert_allclose(motion.servo_work["tau"], motion.work, rtol=0, atol=1e-15)
    assert "work of tau      -0.08424" in repr(motion)


@pytest.mark.parametrize(("method", "step"), [("taylor", None), ("rk4", 1e-3), ("bdf", None)])
def test_the_work_of_each_servo_is_separated_from_other_work(method, step, tmp_path):
    """A braked snakeboard: ΔE = work of rotor and trucks + work of the brake, the latter -∫ c v² dt."""
    board, c = snakeboard.system(), sp.Symbol("c")
    friction = c * (snakeboard.x.diff() ** 2 + snakeboard.y.diff() ** 2) / 2
    braked = replace(board, dissipation=friction, parameters=dict(board.parameters) | {c: 0.5})
    equations = vn.derive(braked, "hamel", characteristics=snakeboard.characteristics())
    motion = vn.simulate(equations, {snakeboard.v: 0.3}, np.linspace(0, 4, 4001), method=method, step=step)
    assert set(motion.servo_work) == {"torque_r", "torque_w"}
    change, servos = motion.energy - motion.energy[0], sum(motion.servo_work.values())
    accuracy = 1e-10 if method != "bdf" else 1e-6
    np.testing.assert_allclose(change, servos + motion.other_work, rtol=0, atol=accuracy)
    speed = motion[snakeboard.v]
    lost = cumulative_simpson(-0.5 * speed**2, x=motion.t, initial=0)
    np.testing.assert_allclose(motion.other_work, lost, rtol=0, atol=accuracy)
    turning = motion[snakeboard.torque_r] * motion[snakeboard.psi.diff()]
    rotor = cumulative_simpson(turning, x=motion.t, initial=0)
    np.testing.assert_allclose(motion.servo_work["torque_r"], rotor, rtol=0, atol=accuracy)
    motion.save(tmp_path / "board.nc")
    again = vn.read_trajectory(tmp_path / "board.nc")
    np.testing.assert_array_equal(again.servo_work["torque_w"], motion.servo_work["torque_w"])
    np.testing.assert_array_equal(again.other_work, motion.other_work)
