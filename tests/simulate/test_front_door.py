"""What `simulate` accepts because it can mean only one thing, and what it refuses in our words."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from examples import program_on_an_ellipse
from simulate.models import angle_pendulum, cartesian_system, difference, hanging, pendulum, run, theta, x, y

TIMES = np.linspace(0, 1, 11)


def refused(said: str, *args: object, **options: object) -> None:
    with pytest.raises(vn.VinculumError, match=said):
        vn.simulate(*args, **options)


def test_a_system_is_derived_in_its_default_form():
    motion = run(cartesian_system(), hanging(), TIMES)
    assert difference(motion, run(vn.derive(cartesian_system()), hanging(), TIMES)) == 0


def test_an_affine_system_is_derived_as_a_program():
    system = program_on_an_ellipse.system()
    start = vn.consistent_state(vn.derive(system, "program"), {}, guess=dict.fromkeys(system.states, 1.0))
    motion, same = (run(equations, start, TIMES) for equations in (system, vn.derive(system, "program")))
    assert all(np.array_equal(motion[key], same[key]) for key in system.states)


@pytest.mark.parametrize("equations", [None, "pendulum", 3.0, vn.Event(x)])
def test_what_has_no_equations_is_refused(equations):
    refused(r"Equations of motion are needed, as in derive\(system, form\)", equations, {}, (0, 1))


def test_names_stand_for_symbols_in_every_argument():
    push, gain = sp.symbols("push gain", real=True)
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, gain * x**2, forces={y: push}, inputs=[push],
                       parameters={gain: 1.0})  # fmt: skip
    named = vn.simulate(
        system, {"x": 0.5}, TIMES, inputs={"push": x}, parameters={"gain": 3}, guess={"y": 1}, fixed=["x", "x"]
    )
    same = vn.simulate(system, {x: 0.5}, TIMES, inputs={push: x}, parameters={gain: 3}, guess={y: 1}, fixed=[x])
    assert difference(named, same) == 0
    state = vn.consistent_state(system, {x: 0.5, y.diff(): 1}, fixed=["y_dot", "dot(y)"], parameters={"gain": 2})
    assert state[y.diff()] == 1
    given = {"inputs": {"push": x}, "parameters": {"gain": 3}, "fixed": ["y_dot"]}
    runs = vn.study(system, {"y_dot": 1}, (0, 1), over={"x": [0.5, 1]}, **given)
    alone = vn.simulate(system, {x: 0.5, y.diff(): 1}, (0, 1), inputs={push: x}, parameters={gain: 3})
    assert float(runs.y[0]) == pytest.approx(alone[y][-1], rel=1e-13)
    refused("push is twice in inputs=", system, {}, TIMES, inputs={push: 0, "push": 1})
    refused("gain is twice in parameters=", system, {}, TIMES, inputs={push: 0}, parameters={gain: 0, "gain": 1})
    refused(
        r"gian is not a parameter. Did you mean gain\?", system, {}, TIMES, inputs={push: 0}, parameters={"gian": 1}
    )
    refused(r"puch is not an input. Did you mean push\?", system, {}, TIMES, inputs={"puch": 0})
    refused("y_dt in fixed is not a coordinate or velocity. Did you mean y_dot", system, {}, TIMES, inputs={push: 0},
            fixed=["y_dt"])  # fmt: skip


@pytest.mark.parametrize("fixed", [[[x]], [3], [None], [{}]])
def test_what_stays_fixed_is_a_list_of_states(fixed):
    said = "in fixed is not a coordinate or velocity. Give a list of them; they are x, y"
    refused(said, cartesian_system(), hanging(), TIMES, fixed=fixed)


def test_names_stand_for_the_symbols_of_the_states():
    names = {"x": 0.6, "y": -0.8, "dot(x)": 0.8, "y_dot": 0.6}
    symbols = {x: 0.6, y: -0.8, x.diff(): 0.8, y.diff(): 0.6}
    assert difference(run(pendulum(), names, TIMES), run(pendulum(), symbols, TIMES)) == 0
    assert vn.consistent_state(pendulum(), names) == vn.consistent_state(pendulum(), symbols)


def test_an_unknown_name_is_refused():
    refused(r"thata is not a coordinate or velocity. Did you mean theta\?", angle_pendulum(), {"thata": 1.0}, (0, 1))


def test_a_trajectory_is_gone_on_from_where_it_ended(tmp_path):
    """Half and half make the whole; from a file too."""
    first = run(pendulum(), hanging(), (0, 1))
    second = run(pendulum(), first, (1, 2))
    whole = run(pendulum(), hanging(), (0, 2))
    assert second[x][-1] == pytest.approx(whole[x][-1], abs=1e-12)
    first.save(tmp_path / "first.nc")
    again = run(pendulum(), vn.read_trajectory(tmp_path / "first.nc"), (1, 2))
    assert difference(again, second) == 0


def test_a_trajectory_of_another_system_is_refused():
    motion = run(angle_pendulum(), {theta: 1.0}, (0, 1))
    refused("has no x, y, x_dot, y_dot; it is the motion of another system", pendulum(), motion, (0, 1))


@pytest.mark.parametrize("initial", [np.zeros(4), [0.6, -0.8], "x = 0.6", None, 1.0])
def test_numbers_without_names_are_refused(initial):
    refused(r"initial must be \{coordinate or velocity: value\}.*x, y, dot\(x\), dot\(y\)", pendulum(), initial, (0, 1))


@pytest.mark.parametrize("value", [None, [1.0, 2.0], 1j, theta])
def test_a_value_that_is_not_a_number_is_refused(value):
    refused("theta is .*. Give it a finite", angle_pendulum(), {theta: value}, (0, 1))


def test_text_that_is_not_a_number_is_refused():
    refused("theta: it is the text 'one'. Write a number", angle_pendulum(), {theta: "one"}, (0, 1))


@pytest.mark.parametrize("times", [10.0, None, "0 to 10", {0: 1}, [], [[0, 1]], (0, None), (0, float("nan"))])
def test_times_that_are_not_instants_are_refused(times):
    refused(r"times must be \(start, end\) or an array", angle_pendulum(), {theta: 1.0}, times)


@pytest.mark.parametrize("events", [x, "x", 3, [x], [vn.Event(x), "x"], {"x": x}, None])
def test_events_that_are_not_events_are_refused(events):
    refused(r"events must be a list of Event\(expression, ...\)", pendulum(), hanging(), (0, 1), events=events)


@pytest.mark.parametrize("inputs", [x, "u", [1.0], 0.0, np.zeros(1)])
def test_inputs_that_are_not_laws_are_refused(inputs):
    refused(r"inputs must be laws \{input: expression", pendulum(), hanging(), (0, 1), inputs=inputs)


@pytest.mark.parametrize("law", ["sin(t)", None, [1.0], object()])
def test_a_law_that_is_no_expression_is_refused(law):
    u = sp.Symbol("u")
    driven = vn.derive(vn.System([x], x.diff() ** 2 / 2, 0, {x: u}, inputs=[u]))
    refused("the law of u is .*SymPy expression", driven, {x: 0.0}, (0, 1), inputs={u: law})


@pytest.mark.parametrize("parameters", [3.0, "m", [1.0]])
def test_parameters_that_are_not_a_mapping_are_refused(parameters):
    refused(r"parameters must be \{symbol: number\}", pendulum(), hanging(), (0, 1), parameters=parameters)
