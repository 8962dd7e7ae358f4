"""The wheel with a pendulum in a gutter (Pesterev, Matrosov, Morozov): 256-bit numbers and a second formulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from sympy import Symbol, cos, sin, sqrt
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples.wheel_in_gutter import GUESS, KNOWN, M, alpha, g, gutter, l, m, phi, r, system, theta, x, z

# Taylor series with 256-bit numbers; two formulations agree to 1e-55.
REFERENCE = {
    0.1: {
        x: 0.602481725075088991526088807702,
        x.diff(): 0.858525087457582433021106617528,
        z: -0.405621897901504378692994621758,
        z.diff(): 0.684187727396717369905963194021,
        theta: -0.594717044217891540008987125884,
        theta.diff(): -6.27317755531182635669817723798,
        phi: 2.11425900218553500669896509443,
        phi.diff(): -16.6158722331105046407045990881,
        alpha: -0.897927769377103317168542992538,
    },
    0.5: {
        x: 0.635512558740753159410569502351,
        x.diff(): -0.139992479401469893504542099192,
        z: -0.373630363957086404187829794555,
        z.diff(): -0.159122479084338271526447339055,
        theta: -0.857817814693258093042104316518,
        theta.diff(): 1.21107619725451701907686887506,
        phi: -5.68300337462879369605800607028,
        phi.diff(): -23.6852772859015060532979818206,
        alpha: -0.721529805844463616172647057647,
    },
    1.0: {
        x: -0.0388164993169273107733780071411,
        x.diff(): -1.3465702558219806610260453977,
        z: -0.320099975504575810405626808997,
        z.diff(): 0.103977171080374293144444010427,
        theta: 3.18859296038698987355539212529,
        theta.diff(): 7.71759231984680752715773602961,
        phi: -5.42593702189745014729962016773,
        phi.diff(): 10.7164613693869006915100529719,
        alpha: -1.64785970845319496305555134812,
    },
    2.0: {
        x: -0.669711984644959507441501262009,
        x.diff(): 0.70110356470187798018838137672,
        z: -0.256120067530760152513438894186,
        z.diff(): -0.795321830277489630530457765145,
        theta: 6.9441931908811219694200825143,
        theta.diff(): -6.05844466375583533985439543065,
        phi: -5.66446543825066655802302455111,
        phi.diff(): 0.411859482072833418093677248213,
        alpha: -2.41907370881372101338530240893,
    },
}
LIFT_OFF = vn.Event(vn.reaction("contact"), name="lift-off", direction="falling")


@pytest.fixture(scope="module")
def equations():
    return vn.derive(system())


def moved(equations, times, method="taylor", **how):
    return vn.simulate(equations, KNOWN | GUESS, times, method, fixed=KNOWN, **how)


def first_lift_off(motion):
    return next(event.time for event in motion.events if event.name == "lift-off")


@pytest.mark.parametrize(("method", "step"), [("taylor", None), ("rk4", 1e-4)])
def test_reference_states(equations, method, step):
    motion = moved(equations, [0, *REFERENCE], method, step=step)
    for i, state in enumerate(REFERENCE.values(), start=1):
        for quantity, value in state.items():
            assert motion[quantity][i] == pytest.approx(value, rel=1e-10), (motion.t[i], quantity)


def test_consistent_start(equations):
    """The angle, height and velocities the paper leaves to be solved."""
    start = vn.consistent_state(equations, KNOWN | GUESS, fixed=KNOWN)
    solved = {alpha: -1.603284891332913, z: -0.4363423487239312, z.diff(): -0.034125, theta.diff(): -6.00316791369357}
    for quantity, value in solved.items():
        assert start[quantity] == pytest.approx(value, rel=1e-12)


def test_two_hundred_seconds(equations):
    """The paper's run: its scheme reaches 2e-8 in energy and 5e-10 in the constraints."""
    motion = moved(equations, (0, 200))
    assert motion.outcome.kind == "finished"
    assert motion.t[-1] == 200
    assert motion.energy_error < 1e-10
    assert max(motion.largest_residuals.values()) < 1e-12
    assert motion[x].min() > -0.7415  # energy lets the axle go from -0.7415 to 0.7610
    assert motion[x].max() < 0.7610


# The second formulation: rolling in a plane is integrable, so the abscissa of the contact point and the angle of the
# pendulum are enough. The axle is at the distance r from the gutter along its normal; the rim rolls, so T = M v².

xi = dynamicsymbols("xi")
_s = Symbol("s")
SLOPE = gutter(_s).diff(_s).subs(_s, xi)
AXLE = (xi - r * SLOPE / sqrt(1 + SLOPE**2), gutter(xi) + r / sqrt(1 + SLOPE**2))
BOB = (AXLE[0] + l * sin(phi), AXLE[1] - l * cos(phi))


@pytest.fixture(scope="module")
def minimal():
    velocity_squared = [sum(p.diff(t) ** 2 for p in point) for point in (AXLE, BOB)]
    return vn.derive(
        vn.System(
            coordinates=[xi, phi],
            kinetic_energy=M * velocity_squared[0] + m * velocity_squared[1] / 2,
            potential_energy=M * g * AXLE[1] + m * g * BOB[1],
            parameters=system().parameters,
            name="wheel in a gutter, two coordinates",
        )
    )


START = {xi: 0.5, xi.diff(): 1.802848115771218, phi: KNOWN[phi], phi.diff(): KNOWN[phi.diff()]}


def test_two_formulations_agree(equations, minimal):
    full, short = moved(equations, (0, 2)), vn.simulate(minimal, START, (0, 2))
    for quantity, same in [(x, AXLE[0]), (z, AXLE[1]), (phi, phi), (phi.diff(), phi.diff())]:
        np.testing.assert_allclose(full[quantity], short[same], rtol=0, atol=1e-9)
    np.testing.assert_allclose(full[x + r * cos(alpha)], short[xi], rtol=0, atol=1e-9)
    np.testing.assert_allclose(full.energy, short.energy, rtol=0, atol=1e-11)


def test_reaction_is_what_newton_says(equations, minimal):
    """M a + m a_bob = weight + reaction, along the normal of the gutter; λ is the reaction's vertical component."""
    full, short = moved(equations, (0, 2)), vn.simulate(minimal, START, (0, 2))
    force = [M * a.diff(t, 2) + m * b.diff(t, 2) for a, b in zip(AXLE, BOB, strict=True)]
    normal = (force[1] + (M + m) * g - SLOPE * force[0]) / (1 + SLOPE**2)
    np.testing.assert_allclose(full.reactions["contact"], short[normal], rtol=0, atol=1e-9)
    np.testing.assert_allclose(full.reactions["tangency"], 0, rtol=0, atol=1e-11)  # α has no inertia


def test_lift_off(equations):
    """Where the gutter would have to pull: the same instant from both methods, and as a root of the reaction."""
    by_taylor = first_lift_off(moved(equations, (0, 0.5), events=[LIFT_OFF]))
    by_steps = first_lift_off(moved(equations, (0, 0.5), "rk4", step=1e-4, events=[LIFT_OFF]))
    root = brentq(lambda end: moved(equations, (0, end)).reactions["contact"][-1], 0.23, 0.25, xtol=1e-13)
    assert by_taylor == pytest.approx(0.239176, abs=1e-6)
    assert by_taylor == pytest.approx(root, abs=1e-11)
    assert by_steps == pytest.approx(root, abs=1e-9)


def test_terminal_lift_off(equations):
    terminal = vn.Event(LIFT_OFF.expression, name="lift-off", direction="falling", terminal=True)
    motion = moved(equations, (0, 2), events=[terminal])
    assert motion.outcome.kind == "event"
    assert "lift-off" in motion.outcome.reason
    assert motion.t[-1] == pytest.approx(0.239176, abs=1e-6)
    assert motion.reactions["contact"][-1] == pytest.approx(0, abs=1e-10)
