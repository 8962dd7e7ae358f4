"""Direct-current motors in place of torques, on independent and on dependent coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam
from examples.ball_and_beam import MOTOR, alpha, r, theta, u

K, R, L, N = MOTOR.torque_constant, MOTOR.resistance, MOTOR.inductance, MOTOR.gear


def test_the_circuit_equation():
    """L di/dt + R i + k_e n ω = e and the torque n k_t i, at a random state."""
    q, torque, J = dynamicsymbols("q"), sp.Symbol("tau"), 0.3
    motor = vn.motors.DCMotor(torque_constant=0.2, resistance=1.5, inductance=0.02, gear=10, back_emf=0.25)
    plant = vn.motors.motorize(
        vn.System([q], J * q.diff() ** 2 / 2, forces={q: torque}, inputs=[torque]), {torque: motor}
    )
    charge, e = vn.motors.charge_of(plant, torque), vn.motors.voltage_of(torque)
    state = {q: 0.1, charge: 0.0, q.diff(): 0.7, charge.diff(): 1.3, e: 4.0}
    found = vn.derive(plant).accelerations(state)
    assert found[q.diff().diff()] == pytest.approx(10 * 0.2 * 1.3 / J, rel=1e-14)
    assert found[charge.diff().diff()] == pytest.approx((4.0 - 1.5 * 1.3 - 0.25 * 10 * 0.7) / 0.02, rel=1e-14)


@pytest.mark.parametrize("dependent", [alpha, theta], ids=["on independent", "on dependent"])
@pytest.mark.parametrize("number", [0, 1], ids=["E1", "E2"])
def test_the_matrix_with_motors(dependent, number):
    """P_e = [[0, E, 0], [a + hB, b, V k], [0, -k_e S/L, -R/L]] with S a row of (E; B) (38, corrected)."""
    bare = vn.derive(ball_and_beam.system(), "shulgin", dependent=[dependent])
    rest = vn.equilibrium(bare, {r: 0.2})
    rest = [rest, *rest.others][number]
    torque = vn.linearize(bare, at=rest)
    plant = vn.derive(vn.motors.motorize(ball_and_beam.system(), {u: MOTOR}), "shulgin", dependent=[dependent])
    held = vn.equilibrium(plant, {r: 0.2}, near={theta: rest[theta]}, starts=0)
    linear = vn.linearize(plant, at=held)
    S = torque.measured[theta.diff()][2:]
    expected = np.zeros((5, 5))
    expected[:4, :4] = torque.system_matrix
    expected[:4, 4:] = torque.input_matrix * N * K
    expected[4, 2:4] = -N * K * S / L
    expected[4, 4] = -R / L
    np.testing.assert_allclose(linear.system_matrix, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(linear.input_matrix.ravel(), [0, 0, 0, 0, 1 / L], atol=1e-12)
    assert held[vn.motors.charge_of(plant.system, u).diff()] == pytest.approx(rest[u] / (N * K), rel=1e-10)
    assert held[vn.motors.voltage_of(u)] == pytest.approx(R * rest[u] / (N * K), rel=1e-10)


def test_the_energy_of_a_motor_balances():
    """Voltage times charge = energy of inductance and motion + heat, which the run keeps account of."""
    plant = vn.derive(vn.motors.motorize(ball_and_beam.system(), {u: MOTOR}), "shulgin", dependent=[alpha])
    start = {r: 0.1, theta: 0.1, r.diff(): 0, theta.diff(): 0}
    motion = vn.simulate(plant, start, (0, 1), guess={alpha: 0}, inputs={vn.motors.voltage_of(u): 3.0})
    assert motion.energy_error < 1e-11
    assert np.ptp(motion.energy) > 1e-3


@pytest.mark.parametrize(
    ("values", "complaint"),
    [({"resistance": 0.0}, "its resistance is 0.0; it must be positive"),
     ({"inductance": -1.0}, "its inductance is -1.0; it must be positive"),
     ({"gear": 0.0}, "its gear is 0.0; it must be finite and not zero"),
     ({"torque_constant": float("nan")}, "its torque_constant is nan")],
    ids=["resistance", "inductance", "gear", "nan"],
)  # fmt: skip
def test_impossible_motors_are_refused(values, complaint):
    with pytest.raises(vn.ModelError, match=complaint):
        vn.motors.DCMotor(**({"torque_constant": 0.1, "resistance": 1.0, "inductance": 0.01} | values))


def test_motors_need_inputs_of_the_system():
    system = ball_and_beam.system()
    with pytest.raises(vn.ModelError, match="v is not an input"):
        vn.motors.motorize(system, {sp.Symbol("v"): MOTOR})
    with pytest.raises(vn.ModelError, match="is not a motor"):
        vn.motors.motorize(system, {u: 3.0})
    squared = vn.System([r], r.diff() ** 2 / 2, forces={r: u**2}, inputs=[u])
    with pytest.raises(vn.ModelError, match="not linear in u"):
        vn.motors.motorize(squared, {u: MOTOR})
