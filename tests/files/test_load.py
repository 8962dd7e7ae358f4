"""A model file becomes the same records as in Python; everything wrong is reported at once, with its place."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from files.small import PENDULUM, changed, refusal
from vinculum.model.examine import equations_of, motion_of

x, theta = dynamicsymbols("x theta")
m, g, l, u = sp.symbols("m g l u")


def problems_of(text, **options):
    return refusal(text, file="pendulum.toml", **options).problems


def test_a_system_is_what_it_would_be_in_python():
    system = vn.model.loads(PENDULUM).system
    assert system.coordinates == (x, theta)
    assert system.potential_energy == -m * g * l * sp.cos(theta)
    assert dict(system.forces) == {x: u}
    assert dict(system.parameters) == {m: 1.0, g: 9.81, l: 0.5}
    assert system.constraints == (vn.Holonomic(x, name="track"),)


def test_questions_are_arguments_of_their_verbs():
    model = vn.model.loads(PENDULUM)
    assert model.simulation == {"times": (0.0, 1.0), "initial": {theta: 0.5}, "inputs": {u: 0}}
    motion = vn.simulate(vn.derive(model.system, **model.derivation), **model.simulation)
    assert motion.outcome.kind == "finished"


def test_both_signs_of_a_power_and_greek_letters():
    text = PENDULUM.replace("^2", "**2").replace("{ theta =", '{ "θ" =').replace("theta", "θ")
    assert vn.model.loads(text).system.kinetic_energy == vn.model.loads(PENDULUM).system.kinetic_energy


def test_everything_wrong_is_said_at_once():
    text = changed("-m*g*l*cos(theta)", "-m*g*L*cos(theta)").replace("holonomic =", "holonomc =")
    text = text.replace("theta = 0.5", "thta = 0.5").replace("times =", "tmes =")
    found = problems_of(text)
    assert {problem.key for problem in found} >= {
        "system.potential_energy",
        "constraints.track.holonomc",
        "simulation.tmes",
        "simulation",
    }


def test_a_problem_shows_file_line_expression_and_caret():
    problem = problems_of(changed("-m*g*l*cos(theta)", "-m*g*l*cos(thta)"))[0]
    line = (
        changed("-m*g*l*cos(theta)", "-m*g*l*cos(thta)").split("\n").index('potential_energy = "-m*g*l*cos(thta)"') + 1
    )
    assert problem.shown("pendulum.toml") == (
        f"pendulum.toml, line {line}, system.potential_energy: thta is not known. Did you mean theta?\n"
        "    -m*g*l*cos(thta)\n"
        "               ^^^^"
    )


def test_a_problem_in_a_long_string_shows_its_own_line():
    text = changed('"-m*g*l*cos(theta)"', '"""-m*g*l\n   *cos(thta)"""')
    problem = problems_of(text)[0]
    assert text.split("\n")[problem.line - 1].strip() == '*cos(thta)"""'
    assert problem.excerpt[problem.start : problem.end] == "thta"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("coordinates = [", "coordinats = [", "Did you mean coordinates?"),
        ("holonomic =", "holonomc =", "Did you mean holonomic?"),
        ("m = 1.0", 'm = "1.0 kk"', "unknown unit kk"),
        ("m = 1.0", "m = true", "a number"),
        ("m = 1.0", "m = inf", "larger than 1e+300"),
        ("m = 1.0", "lambda = 1.0", "Use lamda"),
        ("m = 1.0", "sin = 1.0", "is a reserved name"),
        ("m = 1.0", 'm = 1.0\n"θ" = 1.0', "declared twice"),
        ("theta = 0.5", "dot(theta) = 0.5", 'must be in quotes: "dot(theta)"'),
        ("m = 1.0", "μ = 1.0", 'must be in quotes: "μ"'),
        ('forces = { x = "u" }', 'forces = { y = "u" }', "y is not a coordinate"),
        ("theta = 0.5", '"dot(thta)" = 0.5', "Did you mean dot(theta)?"),
        ("theta = 0.5", 'theta = "x"', "Use numbers and parameters only"),
        ("times = [0, 1]", "times = [1]", "start and end"),
        ("inputs = { u = 0 }", 'inputs = { u = 0 }\nmethod = "rk5"', "rk4"),
        ("cos(theta)", "cos theta", "a * is missing"),
        ('holonomic = "x"', 'holonomic = "dot(x)"', 'State it as nonholonomic = "..."'),
        ('holonomic = "x"', 'holonomic = "x"\nservo = "x"', "exactly one of"),
        (
            "[constraints.track]",
            "[affine]\nstates = []\nrates = {}\n[constraints.track]",
            "system and affine were found",
        ),
    ],
)
def test_advice(old, new, said):
    text = PENDULUM.replace(old, new, 1)
    assert text != PENDULUM
    assert any(said in problem.message for problem in problems_of(text)), [p.message for p in problems_of(text)]


def test_what_system_refuses_is_placed_at_its_key():
    problem = problems_of(changed('"-m*g*l*cos(theta)"', '"-m*g*l*dot(theta)"'))[0]
    assert problem.key == "system.potential_energy"
    assert "velocity" in problem.message


def test_parameters_may_be_formulas_of_those_above_and_be_set_from_outside():
    text = changed("l = 0.5", 'l = "m/2"')
    assert vn.model.loads(text).system.parameters[l] == 0.5
    assert vn.model.loads(text, {"m": 3}).system.parameters[l] == 1.5
    assert "not a parameter" in problems_of(PENDULUM, parameters={"q": 1})[0].message


def test_definitions_with_and_without_arguments():
    text = PENDULUM + '[definitions]\nheight = "-l*cos(theta)"\n"twice(a)" = "2*a"\n'
    text = text.replace('"-m*g*l*cos(theta)"', '"m*g*twice(height)/2"')
    assert vn.model.loads(text).system.potential_energy == vn.model.loads(PENDULUM).system.potential_energy


def test_a_definition_may_differentiate_its_argument():
    text = PENDULUM + '[definitions]\n"energy(mass, place)" = "mass*dot(place)^2/2"\n'
    text = text.replace('kinetic_energy = "m*', 'kinetic_energy = "energy(m, x) + m*')
    more = vn.model.loads(text).system.kinetic_energy - vn.model.loads(PENDULUM).system.kinetic_energy
    assert sp.expand(more - sp.Symbol("m") * x.diff() ** 2 / 2) == 0


def test_a_definition_that_differentiates_a_constant_is_refused_where_it_is_used():
    text = PENDULUM + '[definitions]\n"rate(place)" = "dot(place)"\n'
    with pytest.raises(vn.model.ModelFileError, match="in the definition of rate: this is constant in time"):
        vn.model.loads(text.replace('kinetic_energy = "m*', 'kinetic_energy = "rate(l)*m*'))


FLAT = (
    PENDULUM
    + """[drawing]
points = { pivot = ["x", 0, 0], bob = ["x + l*sin(theta)", 0, "-l*cos(theta)"] }
segments = [["pivot", "bob"]]
"""
)


def test_a_drawing_in_a_coordinate_plane_has_two_coordinates():
    assert vn.model.loads(FLAT).drawing.points["bob"] == (x + l * sp.sin(theta), -l * sp.cos(theta))


@pytest.mark.parametrize(
    "more",
    [
        'circles = [{ center = "bob", radius = 0.1 }]',
        'circles = [{ center = "bob", radius = 0.1, normal = [0, 1, 0] }]',
    ],
)
def test_a_drawing_with_circles_in_other_planes_stays_in_space(more):
    assert len(vn.model.loads(FLAT + more).drawing.points["bob"]) == 3


CURVE = """[drawing]
points = { bob = ["x + l*sin(theta)", "-l*cos(theta)"] }
curves = [{ points = ["s*x", "s^2"], along = "s", from = 0, to = 2, count = 5, name = "path" }]
"""


def test_a_curve_is_a_line_through_points_of_its_own():
    drawing = vn.model.loads(PENDULUM + CURVE).drawing
    (line,) = drawing.segments
    assert line.scenery
    assert line.name == "path"
    places = [tuple(float(c.subs(x, 3)) for c in drawing.points[name]) for name in line.points]
    assert places == [(3 * s, s**2) for s in (0, 0.5, 1, 1.5, 2)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('along = "s"', 'along = "theta"', "theta is declared twice"),
        ('"s^2"', '"sqrt(s - 1)"', "sqrt(-1) is not a finite number of moderate size"),
        ('"s*x", "s^2"', '"s"', "two or three coordinates; found 1"),
        ('"s*x", "s^2"', '"s*x", "s^2", "0"', "some points have two coordinates and some three"),
        ("to = 2", 'to = "x"', "a number is needed here"),
        ("count = 5", "count = 5000", "from 2 to 200"),
    ],
)
def test_a_curve_that_cannot_be_drawn(old, new, said):
    assert CURVE.count(old) == 1
    problems = problems_of(PENDULUM + CURVE.replace(old, new))
    assert any(said in problem.message for problem in problems), problems


def test_an_equation_is_left_minus_right():
    text = changed('holonomic = "x"', 'holonomic = "x = l*sin(theta)"')
    assert vn.model.loads(text).system.constraints[0].expression == x - l * sp.sin(theta)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(vn.model.ModelFileError, match=r"vinculum new .*nothing\.toml"):
        vn.load(tmp_path / "nothing.toml")


def test_text_that_is_not_toml_has_a_place():
    problem = problems_of(changed('"-m*g*l*cos(theta)"', "-m*g*l*cos(theta)"))[0]
    assert "invalid TOML" in problem.message
    assert 'potential_energy = "-m*g*l*cos(theta)"' in problem.message


LIBRARY = sorted(
    (path for path in (files("vinculum") / "model" / "library").iterdir() if str(path).endswith("toml")), key=str
)


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_a_model_can_be_pickled_and_copied(path):
    model = vn.load(str(path))
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert repr(twin.system) == repr(model.system)
        assert twin.units == model.units
        assert twin.derivation == model.derivation
        if isinstance(model.system, vn.System):
            assert twin.system.nodes == model.system.nodes  # the graph is shared: equal nodes are one node


def test_a_model_gives_the_same_motion_in_another_process():
    model = vn.load(str(LIBRARY[0]))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(final_state, model).result(timeout=300)
    assert there == final_state(model)


def final_state(model):
    motion = motion_of(model, equations_of(model))
    return [float(motion[key][-1]) for key in model.system.coordinates]


COMPILERS = ("llvmlite", "numba", "heyoka")
READ_ALL = """
import sys
from importlib.resources import files
import vinculum as vn
for path in sorted((files("vinculum") / "model" / "library").iterdir(), key=str):
    if path.name.endswith(".toml"):
        vn.load(str(path))
print(*[name for name in {names} if name in sys.modules])
"""


def test_reading_a_file_compiles_nothing():
    """Every model of the library is read in a fresh process, and no compiler is even imported."""
    done = subprocess.run([sys.executable, "-c", READ_ALL.format(names=COMPILERS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_laws_of_joint_torques_are_derived_when_they_are_used():
    model = vn.load(str(files("vinculum") / "model" / "library" / "puma560_on_a_swaying_base.toml"))
    laws = model.simulation["inputs"]
    assert "derived" not in vars(laws)
    assert tuple(laws) == model.system.inputs
    assert all(isinstance(law, sp.Expr) for law in laws.values())
