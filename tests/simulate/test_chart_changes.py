"""Voronets' and Chaplygin's forms change their dependent velocities along a motion, as Shulgin's form does."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, phi = dynamicsymbols("x y phi")
m, moment, spring = sp.symbols("m I c")
SPEED, TURN = 0.7, 1.3


def skate(potential: sp.Expr = sp.S.Zero) -> vn.System:
    """A skate on ice: it runs along its blade, x = v/ω sin ωt, y = v/ω (1 - cos ωt) without forces."""
    return vn.System(
        [x, y, phi],
        m * (x.diff() ** 2 + y.diff() ** 2) / 2 + moment * phi.diff() ** 2 / 2,
        potential,
        constraints=[vn.Nonholonomic(x.diff() * sp.sin(phi) - y.diff() * sp.cos(phi), name="blade")],
        parameters={m: 2.0, moment: 0.3, spring: 1.0},
        name="skate",
    )


def start(angle: float = 0.0) -> dict:
    speed = {x.diff(): SPEED * np.cos(angle), y.diff(): SPEED * np.sin(angle)}
    return {x: 0.0, y: 0.0, phi: angle, phi.diff(): TURN, **speed}


@pytest.mark.parametrize("form", ["voronets", "chaplygin"])
@pytest.mark.parametrize(("method", "step"), [("taylor", None), ("rk4", 1e-3)])
def test_a_skate_turns_through_every_direction(form, method, step):
    """Neither ẋ nor ẏ determines the other along a full turn."""
    motion = vn.simulate(vn.derive(skate(), form), start(), (0, 8), method=method, step=step)
    assert motion.outcome, motion.outcome.reason
    tolerance = 1e-11 if method == "taylor" else 1e-9
    np.testing.assert_allclose(motion[x], SPEED / TURN * np.sin(TURN * motion.t), rtol=0, atol=tolerance)
    np.testing.assert_allclose(motion[y], SPEED / TURN * (1 - np.cos(TURN * motion.t)), rtol=0, atol=tolerance)
    assert motion.energy_error < 1e-9


@pytest.mark.parametrize("form", ["voronets", "chaplygin"])
@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi, 0.7])
def test_the_chart_is_chosen_at_the_start_that_is_used(form, angle):
    motion = vn.simulate(vn.derive(skate(), form), start(angle), (0, 0.1))
    assert motion.outcome, motion.outcome.reason
    np.testing.assert_allclose(motion[x.diff()], SPEED * np.cos(angle + TURN * motion.t), rtol=0, atol=1e-12)


def test_velocities_that_the_user_named_stay_and_the_run_ends_where_they_fail():
    motion = vn.simulate(vn.derive(skate(), "voronets", dependent=[y]), start(), (0, 8))
    assert not motion.outcome
    assert motion.outcome.kind == "chart left"
    assert motion.outcome.time == pytest.approx(np.pi / 2 / TURN, abs=1e-2)


def test_chaplygin_chooses_coordinates_that_appear_nowhere():
    """With a spring on x only y may be dependent, wherever x is better conditioned; that chart ends at φ = π/2."""
    system = skate(spring * x**2 / 2)
    equations = vn.derive(system, "chaplygin", at=start(1.2))
    assert "y" in repr(equations)
    assert [str(v) for v in equations.states[3:]] == ["Derivative(x(t), t)", "Derivative(phi(t), t)"]
    motion = vn.simulate(equations, start(), (0, 8))
    assert not motion.outcome
    assert "allows no others. Use the form 'voronets'" in motion.outcome.reason
    assert "leave dependent out" not in motion.outcome.reason
    assert vn.simulate(vn.derive(system, "voronets"), start(), (0, 8)).outcome
    with pytest.raises(vn.ModelError, match="contains the dependent coordinate x"):
        vn.derive(system, "chaplygin", dependent=[x])
