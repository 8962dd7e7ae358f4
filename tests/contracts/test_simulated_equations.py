"""What a simulation asks of equations: one contract for mechanical motion and for affine systems."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from examples import levitated_ball, production_program, program_on_an_ellipse, wheel_in_gutter, wheel_with_reactions
from vinculum.derivation.interface import Equations, linear_feedback
from vinculum.graph import ZERO, along, evaluate, substitute, symbol, symbols

CASES = {
    "multipliers": lambda: vn.derive(wheel_in_gutter.system()),
    "lyapunov": lambda: vn.derive(_pendulum(), "lyapunov"),
    "shulgin": lambda: vn.derive(_pendulum(), "shulgin"),
    "wheel as a program": lambda: wheel_with_reactions.program(None),
    "converted system": lambda: vn.derive(wheel_in_gutter.system(), form="program"),
    "ellipse": lambda: vn.derive(program_on_an_ellipse.system(), form="program"),
    "relative degree 3": lambda: vn.derive(levitated_ball.system(), form="program", at=levitated_ball.NEAR),
    "two programs": lambda: vn.derive(production_program.system(), form="program",
                                      at={production_program.K: 4.0, production_program.S: 10.0}),
}  # fmt: skip


def _pendulum() -> vn.System:
    from simulate.models import cartesian_system

    return cartesian_system()


@pytest.fixture(scope="module", params=CASES)
def equations(request) -> Equations:
    return CASES[request.param]()


def consistent_values(equations: Equations) -> dict:
    """Numbers of all symbols at a state on the constraints."""
    points = equations.points if hasattr(equations, "points") else equations.samples
    return dict(points[0])


def test_there_is_a_chain_and_a_correction_for_every_constraint(equations):
    assert len(equations.chains) == len(equations.corrections) == len(equations.constraint_names) > 0
    assert all(len(chain) >= 1 for chain in equations.chains)


def test_every_chain_is_among_the_residuals(equations):
    watched = {residual.node for residual in equations.residuals}
    assert {y for chain in equations.chains for y in chain} <= watched
    assert {residual.constraint for residual in equations.residuals} == set(equations.constraint_names)


def test_residuals_vanish_at_consistent_states(equations):
    values = consistent_values(equations)
    for residual in equations.residuals:
        assert abs(evaluate([residual.node], values)[0]) < 1e-10


def test_a_chain_ends_in_its_correction(equations):
    """dy_{r-1}/dt = -c_i for arbitrary corrections c."""
    values = consistent_values(equations)
    explicit = equations.explicit(values)
    x = [symbol(key) for key in equations.states]
    flow = dict(zip(x, explicit.rates, strict=True)) | {symbol(equations.time): symbol("one")}
    last = equations.lifted(explicit, [chain[-1] for chain in equations.chains])
    slopes = substitute(along(last, flow), {symbol("one"): ZERO + 1})
    given = {c: 0.1 + 0.2 * k for k, c in enumerate(equations.corrections)}
    found = evaluate(slopes, values | given)
    np.testing.assert_allclose(found, [-c for c in given.values()], atol=1e-9)


def test_rates_and_reactions_contain_nothing_unknown(equations):
    explicit = equations.explicit()
    keys = (*equations.states, *equations.parameters, *equations.inputs)
    known = {*map(symbol, keys), *equations.corrections, symbol(equations.time)}
    assert symbols([*explicit.rates, *explicit.reactions, *explicit.pivots]) <= known
    assert len(explicit.rates) == len(equations.states)
    assert len(explicit.reactions) == len(equations.reaction_symbols)


def test_states_can_be_read_from_the_user_s_symbols(equations):
    values = consistent_values(equations)
    found = equations.state_values(values)
    assert len(found) == len(equations.states)
    assert set(equations.shown) <= set(equations.user_symbols)


def test_the_start_solves_every_chain(equations):
    solved = {node for level in equations.start_levels for _, node in level.residuals}
    assert {chain[0] for chain in equations.chains} <= solved
    assert {key for level in equations.start_levels for key in level.movable} <= set(equations.user_symbols)


def test_consistent_states_are_not_refused_and_not_singular(equations):
    values = consistent_values(equations)
    equations.refuse_start(values)
    assert equations.singular_at(values) == ""


def test_gains_are_symbols_with_numbers(equations):
    law = linear_feedback(equations.chains, [[1.0 + j for j in range(len(chain))] for chain in equations.chains])
    assert len(law.gains) == sum(map(len, equations.chains))
    assert set(law.gains) <= symbols(law.corrections)
