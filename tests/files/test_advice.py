"""Messages about common mistakes: one for each, at its place, with what to write in the file."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

import vinculum as vn
from files.small import ARM, PENDULUM, TRACK, changed, refusal
from vinculum.errors import About, Finding, Formula, Word, call
from vinculum.model.text.file_words import in_file_words
from vinculum.model.text.problems import Problem
from vinculum.names import function_of_time

x = function_of_time("x")

MOTOR = "[motors.u]\ntorque_constant = 1\nresistance = 1\ninductance = 1\n"
DRIVEN = (
    changed("inputs = { u = 0 }", "inputs = { e_u = 0 }")
    + "[equilibrium]\ngiven = { e_u = 0 }\n[closed_loop]\nlimits = { e_u = 24 }\n"
    + MOTOR
)


def only(text):
    """The one problem of a file."""
    problems = refusal(text).problems
    assert len(problems) == 1, [problem.message for problem in problems]
    return problems[0]


def track(old, new):
    assert TRACK.count(old) == 1, old
    return TRACK.replace(old, new)


# -- splines -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('"-60 cm", "-40 cm"', '"-40 cm", "-60 cm"', "points[2]", "point 2 is -60 cm, after -40 cm"),
        ('0, "20 cm"', '0, "0 cm"', "points[5]", "point 5 is 0 cm again"),
        ('"40 cm", "60 cm"]', '"40 N", "60 cm"]', "points[6]", "kg·m·s⁻², but the points before it are in m"),
        ('"4 cm", "9 cm"]', '"4 cm"]', "", "there are 7 points and 6 values"),
    ],
)
def test_the_first_odd_point_of_a_spline_is_named(old, new, key, words):
    problem = only(track(old, new))
    assert problem.key == "splines.height" + (f".{key}" if key else "")
    assert words in problem.message


def test_too_few_points_suggest_a_degree_that_works():
    few = 'points = [0, "20 cm", "40 cm"]\nvalues = [0, "1 cm", "4 cm"]\n'
    start, end = TRACK.index("points = "), TRACK.index("degree = 5")
    text = TRACK[:start] + few + TRACK[end:]
    assert "Write degree = 2" in only(text).message
    vn.model.loads(text.replace("degree = 5", "degree = 2"))


# -- runs --------------------------------------------------------------------------------------------------------


def test_a_missing_law_is_found_at_load():
    problem = only(changed("inputs = { u = 0 }\n", ""))
    assert problem.key == "simulation"
    assert 'Write inputs = { u = "..." } in [simulation]' in problem.message
    assert "e_u has no law" in only(DRIVEN.replace("inputs = { e_u = 0 }\n", "", 1)).message


def test_what_a_servo_or_a_program_sets_needs_no_law():
    free = changed("inputs = { u = 0 }\n", "").replace('holonomic = "x"', 'servo = "x - sin(t)"\nthrough = ["u"]')
    vn.model.loads(free)
    law = free.replace("times = [0, 1]", "times = [0, 1]\ninputs = { u = 0 }")
    assert "holds a servo constraint" in only(law).message
    vn.model.loads(free.replace('servo = "x - sin(t)"\nthrough = ["u"]', 'program = "x - sin(t)"'))


@pytest.mark.parametrize(
    ("options", "key", "words"),
    [
        ('method = "rk4"', "method", "Write step = 1e-3"),
        ('method = "rk4"\nstep = 0.1\ntolerance = 1e-9', "tolerance", "no tolerance"),
        ('method = "rk4"\nstep = -0.1', "step", "must be positive"),
        ("step = 0.1", "step", "chooses its own steps"),
    ],
)
def test_steps_belong_to_methods_with_a_fixed_one(options, key, words):
    problem = only(PENDULUM + options + "\n")
    assert problem.key == f"simulation.{key}"
    assert words in problem.message


def test_a_guarantee_finds_the_step_by_itself():
    vn.model.loads(PENDULUM + 'method = "euler"\nstabilization = { kind = "guaranteed", epsilon = 1e-3 }\n')


@pytest.mark.parametrize(
    ("section", "key", "words"),
    [
        ("[control]\ninput_weights = -0.1", "control.input_weights", "-0.1; it must be a positive number"),
        ("[control]\ninput_weights = 0", "control.input_weights", "a positive number"),
        ("[control]\nstate_weights = { theta = -1 }", "control.state_weights.theta", "zero or more"),
        ("[control]\nstate_weights = [1, -1]", "control.state_weights[2]", "zero or more"),
        ('[observer]\noutputs = ["x"]\noutput_noise = [0]', "observer.output_noise[1]", "a positive number"),
    ],
)
def test_signs_of_weights_are_looked_at_in_the_file(section, key, words):
    problem = only(PENDULUM + "[equilibrium]\n" + section + "\n")
    assert problem.key == key
    assert words in problem.message


def test_a_weight_of_a_state_may_be_zero():
    vn.model.loads(PENDULUM + "[equilibrium]\n[control]\nstate_weights = { theta = 0, x = 1 }\ninput_weights = 0.1\n")


# -- bodies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ('[tree.path]\nbody = "hand"\nposition = { x = 1, z = 0 }\n', "tree.path.body"),
        ('[[tree.loops]]\nfirst = "lower"\nsecond = "hand"\n', "tree.loops[1].second"),
        ('[[tree.rolling]]\nbody = "hand"\nradius = 1\n', "tree.rolling[1].body"),
        (
            '[simulation]\ntimes = [0, 1]\ninitial = { s = 1, phi = 1 }\n[simulation.task_path]\nbody = "hand"\n'
            "position = { x = 1, z = 0 }\n",
            "simulation.task_path.body",
        ),
    ],
)
def test_an_unknown_body_is_named_at_its_own_line(more, key):
    problem = only(ARM + more)
    assert (problem.key, problem.line) == (key, (ARM + more)[: (ARM + more).index("hand")].count("\n") + 1)
    assert problem.message == "hand is not a body of the tree. The bodies are upper, lower."


# -- formulas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed("m = 1.0", 'm = "12,5 kg"'), "Write 12.5 kg."),
        (changed("m = 1.0", 'm = "12,5"'), "Write 12.5."),
        (changed("{ u = 0 }", '{ u = "piecewise(t < 0.2 s, 1, 0)" }'), 'as T1 = "0.2 s", and write T1 here'),
        (TRACK.replace("x < gap, push, 0)", "x < gap, push + 3, 0)"), 'as p1 = "3 N"'),
        (changed("{ u = 0 }", '{ u = "3 N/mm*x" }'), 'as p1 = "3 N/mm"'),
        (changed("{ u = 0 }", '{ u = "2 m*x" }'), "a * is missing here. Write 2*m*x"),
        (
            track("x > gap,", "x > 0.4,"),
            "m and 1 cannot be compared. Give a number with a unit a name among",
        ),
        (track('"z = height(x)"', '"z - 0.5 = height(x)"'), 'as l1 = "0.5 m"'),
        (changed('holonomic = "x"', 'holonomic = "x == 0"'), "Write = for ==."),
        (changed("m*(dot(x)^2", "m*(x_dot^2"), "x_dot is not known. Write dot(x)."),
        (changed("m*(dot(x)^2", "m*(thetaddot"), "Write dot(dot(theta))."),
        (changed("{ u = 0 }", '{ u = "piecewise(t > 0 && t < 1, 1, 0)" }'), "&& is not allowed here. Write and."),
        (changed("{ u = 0 }", '{ u = "piecewise(t > 0 || t < 1, 1, 0)" }'), "|| is not allowed here. Write or."),
        (changed("{ u = 0 }", '{ u = "3,5*x" }'), "Write decimal numbers with a point"),
        (changed("-m*g*l*cos(theta)", "m g*l^2*cos(theta)"), "Write m*g*l^2*cos(theta)"),
    ],
)
def test_what_to_write_instead(text, words):
    assert words in refusal(text).problems[0].message


def test_a_missing_product_in_a_long_formula_is_shown_by_whole_words():
    long = " + ".join(["theta^2"] * 12) + " + velocity theta^2 + " + " + ".join(["theta^2"] * 12)
    said = only(changed("{ u = 0 }", f'{{ u = "{long}" }}')).message
    assert said.endswith("Write velocity*theta^2")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("m = 1.0", "m = 12 kg", 'A number with a unit must be in quotes: m = "12 kg"'),
        ("m = 1.0", "m = 1.0\nm = 2.0", "the key m appears twice in this table."),
        ("[simulation]", "[system]", "the table [system] appears twice."),
    ],
)
def test_what_is_not_toml(old, new, words):
    assert words in only(changed(old, new)).message


# -- one mistake, one message ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (DRIVEN.replace("inductance = 1\n", ""), "motors.u"),
        (DRIVEN.replace("[motors.u]", "[motors.w]"), "motors.w"),
        (DRIVEN.replace("resistance = 1", 'resistance = "1 H"'), "motors.u.resistance"),
        (changed("m = 1.0", 'm = "1 Nt"') + '[equilibrium]\ngiven = { u = "m*g" }\n', "parameters.m"),
        (
            ARM + "[simulation]\ntimes = [0, 1]\ninitial = { elbow = 1 }\n[simulation.task_path]\nbody = 'lower'\n"
            "position = { x = 1, z = 0 }\n",
            "simulation.initial.elbow",
        ),
    ],
)
def test_one_mistake_gives_one_message(text, key):
    assert only(text).key == key


def test_an_input_that_a_motor_replaced():
    assert "the input is now its voltage e_u" in only(DRIVEN.replace("limits = { e_u", "limits = { u")).message


def test_a_file_is_named_as_it_was_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "one.toml").write_text("[system]\n")
    with pytest.raises(vn.model.ModelFileError, match=r"bad/one\.toml, line 1"):
        vn.load("bad/one.toml")
    with pytest.raises(vn.model.ModelFileError, match=r"\nbad/none\.toml: there is no such file"):
        vn.load("bad/none.toml")


@pytest.mark.parametrize(
    ("asked", "in_python", "in_a_file"),
    [
        (
            call("derive", at={Word("x"): Word("value")}),
            "derive(..., at={x: value})",
            "at = { x = value } in [form]",
        ),
        (
            call("derive", redundant="least_squares"),
            "derive(..., redundant='least_squares')",
            'redundant = "least_squares" in [form]',
        ),
        (call("simulate", step=1e-3), "simulate(..., step=0.001)", "step = 0.001 in [simulation]"),
        (call("derive", form="multipliers"), "derive(..., form='multipliers')", 'name = "multipliers" in [form]'),
        (
            call("simulate", guess={x: 0.2, x.diff(): 1.0}),
            "simulate(..., guess={x: 0.2, x.diff(): 1})",
            'guess = { x = 0.2, "dot(x)" = 1 } in [simulation]',
        ),
        (call("simulate", fixed=[x]), "simulate(..., fixed=[x])", 'fixed = ["x"] in [simulation]'),
        (call("System", parameters={Word("m"): Word("number")}), "System(..., parameters={m: number})",
         "m = number in [parameters]"),
        (call("Servo", through=[Formula("u")]), "Servo(..., through=[u])", 'through = ["u"]'),
        (call("from_urdf", floating=True), "from_urdf(..., floating=True)", "floating = true"),
        (call("bodies.Loop"), "vn.bodies.Loop(...)", "[[tree.loops]]"),
        (call("equilibrium"), "equilibrium(...)", "[equilibrium]"),
        (call("steady", near={x: 0.2}), "steady(..., near={x: 0.2})", "near = { x = 0.2 } in [equilibrium]"),
        (call("BodyTree", base_rotation=[...]), "BodyTree(..., base_rotation=[...])", "base_rotation = [...]"),
    ],
)  # fmt: skip
def test_one_advice_is_written_in_python_and_in_the_words_of_a_file(asked, in_python, in_a_file):
    finding = Finding("Something is wrong.", ["Use ", asked, "."])
    assert str(finding) == f"Something is wrong. Use {in_python}."
    assert in_file_words(vn.VinculumError(finding)) == f"Something is wrong. Use {in_a_file}."


ERRORS = [
    vn.VinculumError("plain words"),
    vn.errors.ConstraintError(Finding("They are dependent.", ["Use ", call("derive", redundant="least_squares"), "."])),
    vn.errors.SingularError(Finding("The start is off.", ["Use ", call("simulate", guess={x: Word("value")}), "."])),
    vn.ModelError("Invalid system 'a'", ["plain words", Finding("more", ["to do"], About("constraint", "rod"))]),
    vn.model.ModelFileError("a.toml", [Problem("no number", "system.kinetic_energy", 3, 4, "x +", 1, 2)]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("send", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_the_way_to_another_process(error, send):
    arrived = send(error)
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert arrived.findings == error.findings
    assert [finding.about for finding in arrived.findings] == [finding.about for finding in error.findings]


def test_a_refusal_of_a_worker_does_not_break_its_pool():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(vn.model.ModelFileError, match="line 1"):
            pool.submit(vn.model.loads, "name = 3").result(timeout=120)
        assert pool.submit(abs, -1).result(timeout=120) == 1
