"""Records as text: labels and values stand apart, however long the names are."""

from __future__ import annotations

import re

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols
from sympy.physics.vector import vlatex as sympy_vlatex

import vinculum as vn
from vinculum.text_printer import labelled_rows, number, vlatex

LONG = "wrist_1_joint_of_the_second_arm"


@pytest.fixture(scope="module")
def records():
    q, x = dynamicsymbols(f"{LONG} x")
    u = dynamicsymbols(f"torque_of_{LONG}")
    system = vn.System(
        coordinates=[q, x],
        kinetic_energy=(q.diff() ** 2 + x.diff() ** 2) / 2,
        potential_energy=-sp.cos(q),
        forces={q: u},
        constraints=[vn.Holonomic(x - q, name=f"coupling_of_{LONG}")],
        inputs=[u],
    )
    equations = vn.derive(system, "shulgin", dependent=[x])
    rest = vn.equilibrium(equations, {q: 1.0})
    linear = vn.linearize(equations, rest)
    law = vn.stabilize(linear)
    motion = vn.simulate(equations, initial={q: 0.1}, times=(0, 0.1), inputs={u: 0})
    observer = vn.observe(linear, [q])
    return {type(r).__name__: r for r in (system, equations, rest, linear, law, observer, motion)}


@pytest.mark.parametrize(
    "kind", ["System", "EquationsOfMotion", "Equilibrium", "LinearModel", "FeedbackLaw", "Estimator", "Trajectory"]
)
def test_labels_and_values_stand_apart_and_values_are_aligned(records, kind):
    _, *rows = repr(records[kind]).split("\n")
    assert rows
    starts = [re.match(r"  \S+(?: \S+)*  +", row) for row in rows]
    assert all(starts), rows
    assert len({found.end() for found in starts}) == 1, rows


def test_a_long_name_is_apart_from_its_value(records):
    text = repr(records["Equilibrium"])
    assert re.search(rf"  {LONG} +1$", text, re.MULTILINE), text
    assert re.search(rf"gains of torque_of_{LONG}  +-\d", repr(records["FeedbackLaw"])), repr(records["FeedbackLaw"])


def test_numbers():
    assert number(-0.0) == "0"
    assert number(complex(-1.0, 2.5)) == "-1+2.5i"
    assert number(1 / 3, 3) == "0.333"


def test_rows_with_the_same_label_are_all_shown():
    assert labelled_rows("T", [("x", 1), ("x", 2)]) == "T\n  x  1\n  x  2"
    assert labelled_rows("nothing to say", {}) == "nothing to say"


def test_formulas_are_written_as_sympy_writes_those_of_mechanics():
    q, x_1, alpha_dot = dynamicsymbols("q x_1 alpha_dot")
    m, t, y = sp.Symbol("m"), dynamicsymbols._t, sp.Symbol("y")
    f = sp.Function("f")
    written = [
        m * q.diff() ** 2 / 2 + sp.sin(q) ** 2, x_1.diff(t, 2) ** 3, x_1**2 * sp.sqrt(q), alpha_dot.diff(),
        *(x_1.diff(t, times) for times in range(1, 6)), f(y).diff(y), f(q, y) ** 2, f(y) ** 3, sp.Abs(q.diff()),
        sp.Derivative(m * q, t), sp.Derivative(q * q.diff(), t) + 1, sp.cos(q - x_1) / (1 + q**2), sp.exp(-q), 2**q,
        sp.Piecewise((q, q > 0), (-q, True)), sp.Matrix([[q, q.diff()], [m, 1]]), sp.atan2(q, x_1), sp.sign(q.diff()),
    ]  # fmt: skip
    for expression in written:
        assert vlatex(expression) == sympy_vlatex(expression)
