"""What a simulation asks of equations: one contract for mechanical motion and for affine systems."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import fields

import numpy as np
import pytest

import vinculum as vn
from examples import levitated_ball, production_program, program_on_an_ellipse, wheel_in_gutter, wheel_with_reactions
from vinculum.derivation.integrable import WORK, Equations, Integrable, linear_feedback
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


@pytest.fixture(scope="module")
def record(equations) -> Integrable:
    return equations.integrable(consistent_values(equations))


def consistent_values(equations: Equations) -> dict:
    """Numbers of all symbols at a state on the constraints."""
    points = equations.points if hasattr(equations, "points") else equations.samples
    return dict(points[0])


def test_there_is_a_chain_and_a_correction_for_every_constraint(equations, record):
    assert tuple(constraint.name for constraint in record.constraints) == equations.constraint_names
    assert len(record.constraints) > 0
    assert all(len(chain) >= 1 for chain in record.chains)


def test_every_chain_is_among_the_residuals(equations, record):
    watched = {residual.node for residual in record.residuals}
    assert {y for chain in record.chains for y in record.lifted(chain)} <= watched
    assert {residual.constraint for residual in record.residuals} == set(equations.constraint_names)


def test_residuals_vanish_at_consistent_states(equations, record):
    values = consistent_values(equations)
    for residual in record.residuals:
        assert abs(evaluate([residual.node], values)[0]) < 1e-10


def test_a_chain_ends_in_its_correction(equations, record):
    """dy_{r-1}/dt = -c_i for arbitrary corrections c."""
    values = consistent_values(equations)
    flow = dict(zip(record.states, record.rates, strict=True)) | {record.time: symbol("one")}
    last = record.lifted([chain[-1] for chain in record.chains])
    slopes = substitute(along(last, flow), {symbol("one"): ZERO + 1})
    given = {c: 0.1 + 0.2 * k for k, c in enumerate(record.corrections)}
    found = evaluate(slopes, values | given)
    np.testing.assert_allclose(found, [-c for c in given.values()], atol=1e-9)


def test_the_record_contains_nothing_unknown(record):
    """Rates, inputs and powers contain time, states, parameters, inputs and corrections; residuals no corrections."""
    known = {record.time, *record.states, *record.parameters, *record.inputs}
    powers = record.energy.powers.values() if record.energy else ()
    assert symbols([*record.rates, *record.outputs.values(), *powers]) <= known | {*record.corrections}
    assert symbols([residual.node for residual in record.residuals]) <= known
    assert symbols([pivot.node for pivot in record.pivots]) <= known
    assert len(record.rates) == len(record.states)
    assert {*record.roles.symbols, *record.roles.reactions.values()} <= {*record.outputs}


def test_energy_changes_by_the_powers_alone(equations, record):
    """dE/dt = power on the exact motion."""
    if record.energy is None:
        return
    values = consistent_values(equations) | dict.fromkeys(record.corrections, 0.0)
    flow = dict(zip(record.states, record.rates, strict=True)) | {record.time: symbol("one")}
    slope = substitute(along([record.energy.stored], flow), {symbol("one"): ZERO + 1})
    power = record.energy.powers.get(WORK, ZERO)
    rate, given = evaluate([*slope, power], values)
    assert rate == pytest.approx(given, rel=1e-9, abs=1e-9)


def test_pivots_have_their_values_at_the_state(equations, record):
    values = consistent_values(equations)
    found = evaluate([pivot.node for pivot in record.pivots], values)
    np.testing.assert_allclose(found, [pivot.value for pivot in record.pivots], rtol=1e-12)


def test_states_can_be_read_from_the_user_s_symbols(equations, record):
    found = record.state_values(consistent_values(equations))
    assert len(found) == len(record.states)
    assert set(record.roles.shown) <= set(record.roles.symbols)


def test_the_start_solves_every_chain(equations, record):
    levels = equations.start_levels({}, consistent_values(equations))
    solved = {node for level in levels for _, node in level.residuals}
    assert {chain[0] for chain in record.chains} <= solved
    assert {key for level in levels for key in level.movable} <= set(equations.user_symbols)


def test_consistent_states_are_not_refused_and_not_singular(equations):
    values = consistent_values(equations)
    equations.refuse_start(values)
    assert equations.singular_at(values) == ""


def test_gains_are_symbols_with_numbers(record):
    law = linear_feedback(record.chains, [[1.0 + j for j in range(len(chain))] for chain in record.chains])
    assert len(law.gains) == sum(map(len, record.chains))
    assert set(law.gains) <= symbols(law.corrections)


def test_the_record_is_copied_and_sent(equations, record):
    """In this process the nodes of a copy are the same nodes."""
    for twin in (deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert twin.rates == record.rates
        assert dict(twin.outputs) == dict(record.outputs)
        assert twin.equations.integrable(consistent_values(equations)).rates == record.rates


def test_the_record_stays_thin():
    """About a dozen fields: what follows from the equations or from other fields is a property."""
    assert len(fields(Integrable)) <= 12
