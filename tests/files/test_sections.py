"""Each section of a model file gives the record it would be in Python."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from files.small import ARM, refusal
from vinculum.model.examine import equations_of, motion_of

x, y, theta, s, phi = dynamicsymbols("x y theta s phi")
u, v = sp.symbols("u v")

POINT = """
[system]
coordinates = ["x", "y"]
inputs = ["u", "v"]
kinetic_energy = "(dot(x)^2 + dot(y)^2)/2"
forces = { x = "u", y = "v" }
"""
SLEIGH = """
[system]
coordinates = ["x", "y", "theta"]
kinetic_energy = "(dot(x)^2 + dot(y)^2 + dot(theta)^2)/2"
[constraints.knife]
nonholonomic = "-dot(x)*sin(theta) + dot(y)*cos(theta)"
"""
CIRCLE = """
[affine]
states = ["x", "y"]
inputs = ["u", "v"]
rates = { x = "u", y = "v - x" }
[constraints]
circle = "x^2 + y^2 - 1"
"""


def problems(text):
    return str(refusal(text))


# -- mechanisms --------------------------------------------------------------------------------------------------


def test_servo_constraints_name_their_inputs():
    model = vn.model.loads(POINT + '[constraints.path]\nservo = "x - sin(t)"\nthrough = ["u"]\n')
    assert model.system.constraints == (vn.Servo(x - sp.sin(sp.Symbol("t")), [u], "path"),)
    assert "not an input" in problems(POINT + '[constraints.path]\nservo = "x"\nthrough = ["w"]\n')


def test_release_makes_reactions_inputs():
    released = vn.model.loads(
        SLEIGH + '[release]\ncharacteristics = { e1 = "dot(theta)", e2 = "dot(x)" }\nmetric = "kinetic"\n'
    )
    assert {str(u) for u in released.system.inputs} == {"mu_e1", "mu_e2", "lambda_knife"}
    exact = vn.model.loads(SLEIGH + '[release]\ncharacteristics = { e1 = "dot(theta)", e2 = "dot(x)" }\nexact = true\n')
    assert [c.name for c in exact.system.constraints] == ["knife"]


def test_motors_take_the_place_of_inputs():
    text = POINT + "[motors.u]\ntorque_constant = 0.1\nresistance = 2\ninductance = 1e-3\ngear = 5\n"
    plain = vn.model.loads(POINT + "[simulation]\ntimes = [0, 1]\ninputs = { u = 1, v = 0 }\n").system
    driven = vn.motors.motorize(plain, {u: vn.motors.DCMotor(0.1, 2.0, 1e-3, gear=5.0)})
    model = vn.model.loads(text)
    assert model.system.coordinates == driven.coordinates
    assert dict(model.system.forces) == dict(driven.forces)
    assert "resistance is -2" in problems(text.replace("resistance = 2", "resistance = -2"))


def test_rates_of_an_affine_system_are_split():
    system = vn.model.loads(CIRCLE).system
    assert system.drift == (0, -x)
    assert system.input_matrix == ((1, 0), (0, 1))
    assert "not linear" in problems(CIRCLE.replace('x = "u"', 'x = "u^2"'))
    assert "is missing" in problems(CIRCLE.replace('x = "u", ', ""))


def test_rolling_sliding_and_rotations():
    text = """
[tree.bodies.ball]
joint = "free"
mass = 1
inertia = 0.4
rotation = { roll = "90 deg" }
[[tree.rolling]]
body = "ball"
radius = 1
[[tree.sliding]]
body = "ball"
across = [0, 1, 0]
name = "edge"
"""
    model = vn.model.loads(text)
    names = [constraint.name for constraint in model.system.constraints]
    assert names == ["ball norm", "ball rolling height", "ball rolling u", "ball rolling v", "edge"]
    np.testing.assert_allclose(model.tree.body("ball").turned, vn.bodies.rotation_rpy(roll=np.pi / 2), atol=1e-15)


def test_a_base_that_moves():
    text = ARM.replace("[tree.bodies.upper]", '[tree]\nbase_velocity = ["sin(3*t)", 0, 0]\n[tree.bodies.upper]', 1)
    model = vn.model.loads(text)
    assert model.tree.base.moves
    assert model.tree.base.velocity[0] == sp.sin(3 * sp.Symbol("t"))


def test_a_base_that_moves_with_a_frequency_among_the_parameters():
    text = ARM.replace("[tree.bodies.upper]", '[tree]\nbase_velocity = ["a*cos(w*t)", 0, 0]\n[tree.bodies.upper]', 1)
    model = vn.model.loads("[parameters]\na = 2.0\nw = 3.0\n" + text)
    a, w, t = sp.symbols("a w t")
    assert sp.simplify(model.tree.base.position[0] - a * sp.sin(w * t) / w) == 0


def test_a_urdf_file_beside_the_model(tmp_path):
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="{{}}"><inertial><mass value="1"/>{inertia}</inertial></link>'
    joint = '<joint name="hinge" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{link.format("a")}{link.format("b")}{joint}</robot>')
    path = tmp_path / "model.toml"
    path.write_text(
        '[tree]\nurdf = "robot.urdf"\nactuated = true\n[simulation]\ntimes = [0, 1]\ninputs = { tau_hinge = 0 }\n'
    )
    model = vn.load(path)
    assert [str(u) for u in model.system.inputs] == ["tau_hinge"]
    assert model.tree is not None
    path.write_text("""
parameters = { k = 3 }
[tree]
urdf = "robot.urdf"
base_velocity = [0, 0, "t"]
forces = { hinge = "-k*hinge" }
[constraints]
still = "hinge - sin(t)"
""")
    more = vn.load(path)
    hinge = more.system.coordinates[0]
    assert more.tree.base.moves
    assert more.system.forces[hinge] == -sp.Symbol("k") * hinge
    assert [c.name for c in more.system.constraints] == ["still"]


# -- forms -------------------------------------------------------------------------------------------------------


def test_perturbations_by_matrix_and_by_functions():
    linear = vn.model.loads(CIRCLE + "[form]\nperturbation = { matrix = [[-3]] }\n").derivation["rates"]
    assert isinstance(linear, vn.program.LinearPerturbation)
    general = vn.model.loads(CIRCLE + '[form.perturbation.functions]\ncircle = "-residual(circle)^3"\n').derivation[
        "rates"
    ]
    assert general.functions == {"circle": -(vn.program.residual("circle") ** 3)}
    assert "different lengths" in problems(CIRCLE + "[form]\nperturbation = { matrix = [[1], [1, 2]] }\n")


def test_what_inputs_should_approach():
    model = vn.model.loads(CIRCLE + '[form]\nrates = 1\nfree = { u = "x*y" }\nweights = { v = 4 }\n')
    assert model.derivation == {"form": "program", "rates": 1.0, "free": {u: x * y}, "weights": {v: 4.0}}
    assert equations_of(model).degrees == {"circle": 1}
    assert "can only have the form program" in problems(CIRCLE + '[form]\nname = "shulgin"\n')


def test_quasi_velocities_can_be_used_below():
    text = SLEIGH + '[form]\nname = "hamel"\ncharacteristics = { e1 = "dot(theta)", e2 = "dot(x)*cos(theta)" }\n'
    model = vn.model.loads(text + "[simulation]\ntimes = [0, 0.1]\ninitial = { e1 = 1, e2 = 2 }\n")
    e1, e2 = dynamicsymbols("e1 e2")
    assert model.simulation["initial"] == {e1: 1.0, e2: 2.0}
    assert motion_of(model, equations_of(model)).outcome.kind == "finished"


# -- motion ------------------------------------------------------------------------------------------------------

RUN = "[simulation]\ntimes = [0, 1]\ninputs = { u = 0, v = 0 }\n"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"projection"', "projection"),
        ('{ kind = "baumgarte", rate = 5 }', vn.Baumgarte(rate=5.0)),
        ('{ kind = "baumgarte", alpha = { track = 3 }, beta = 2 }', vn.Baumgarte(alpha={"track": 3.0}, beta=2.0)),
        ('{ kind = "sampled", rate = "2*pi" }', vn.Sampled(rate=2 * np.pi)),
        ('{ kind = "guaranteed", epsilon = 1e-6, sampled = true }', vn.Guaranteed(1e-6, True)),
    ],
)
def test_stabilization(written, meant):
    text = f'{POINT}[constraints]\ntrack = "x - y"\n{RUN}stabilization = {written}\n'
    assert vn.model.loads(text).simulation["stabilization"] == meant


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{ kind = "sampled", alpha = 5 }', "has no option alpha. Its option is rate"),
        ('{ kind = "guaranteed" }', "guaranteed needs epsilon. The guaranteed accuracy. Write epsilon = ..."),
        ('{ kind = "baumgarte", rate = { trck = 3 } }', "Did you mean track?"),
    ],
)
def test_stabilization_that_makes_no_sense(written, said):
    assert said in problems(f'{POINT}[constraints]\ntrack = "x - y"\n{RUN}stabilization = {written}\n')


def test_times_and_samples():
    text = POINT + RUN
    assert vn.model.loads(text).simulation["times"] == (0.0, 1.0)
    np.testing.assert_allclose(vn.model.loads(text + "samples = 11\n").simulation["times"], np.linspace(0, 1, 11))
    assert vn.model.loads(text.replace("[0, 1]", "[0, 0.5, 2]")).simulation["times"] == (0.0, 0.5, 2.0)
    assert vn.model.loads(text.replace("[0, 1]", "[1, 0]")).simulation["times"] == (1.0, 0.0)
    assert "increasing order" in problems(text.replace("[0, 1]", "[0, 2, 1]"))


def test_events_with_reactions():
    events = "events = [{ expression = \"reaction('the track') - 1\", terminal = true }]\n"
    event = vn.model.loads(f'{POINT}[constraints]\n"the track" = "x - y"\n{RUN}{events}').simulation["events"][0]
    assert event == vn.Event(vn.reaction("the track") - 1, terminal=True)


def test_torques_that_follow_a_path_or_carry_the_weight():
    path = """
[simulation]
times = [0, 0.2]
[simulation.computed_torque]
path = { s = "sin(t)", phi = "0.5*t^2" }
frequency = 20
"""
    model = vn.model.loads(ARM + path)
    motion = motion_of(model, equations_of(model))
    assert set(model.simulation["inputs"]) == {u, v}
    errors = np.abs(motion[s] - np.sin(motion.t)).max()
    assert errors < 0.05
    held = vn.model.loads(ARM + "[simulation]\ntimes = [0, 0.2]\ngravity_compensation = true\ninitial = { s = 0.3 }\n")
    assert np.ptp(motion_of(held, equations_of(held))[s]) < 1e-9
    assert "needs a tree of bodies" in problems(POINT + "[simulation]\ntimes = [0, 1]\ngravity_compensation = true\n")


LED = """
[tree]
gravity = [0, 0, 0]
[tree.path]
body = "lower"
point = [1, 0, 0]
position = { x = "1 + 0.2*cos(t)", z = "-1 + 0.2*sin(t)" }
"""


def tip_error(model, motion):
    place = model.tree.position("lower", (1, 0, 0))
    wanted = 1 + 0.2 * np.cos(motion.t), -1 + 0.2 * np.sin(motion.t)
    return np.hypot(motion[place[0]] - wanted[0], motion[place[2]] - wanted[1])


def test_servo_constraints_lead_a_point_along_a_path():
    """The tip stays on its circle, and the torques are those of the same constraints in Python."""
    run = "[simulation]\ntimes = [0, 2]\ninitial = {}\nguess = { s = 0.1, phi = 1.4 }\n"
    model = vn.model.loads(ARM + LED + run)
    t = sp.Symbol("t")
    held = vn.bodies.servo_path(model.tree, "lower", (1 + 0.2 * sp.cos(t), None, -1 + 0.2 * sp.sin(t)), (1, 0, 0))
    assert [c.name for c in model.system.constraints] == [c.name for c in held]
    assert all(c.through == (u, v) for c in model.system.constraints)
    motion = motion_of(model, equations_of(model))
    assert tip_error(model, motion).max() < 1e-9
    twin = vn.simulate(vn.derive(model.tree.system(constraints=held)), **model.simulation)
    assert np.abs(motion[u] - twin[u]).max() < 1e-9


def test_laws_bring_a_point_to_a_path():
    path = LED.split("[tree.path]\n")[1]
    run = f"[simulation]\ntimes = [0, 4]\ninitial = {{ s = 0.1, phi = 1.4 }}\n[simulation.task_path]\n{path}"
    model = vn.model.loads(ARM + run + "frequency = 8\n")
    error = tip_error(model, motion_of(model, equations_of(model)))
    assert error[0] > 0.01
    assert error[-1] < 1e-6 * error[0]
    elsewhere = vn.model.loads(ARM + run + "frequency = 8\nat = { s = 0.2, phi = 1.2 }\n")
    assert tip_error(elsewhere, motion_of(elsewhere, equations_of(elsewhere)))[-1] < 1e-6 * error[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (', z = "-1 + 0.2*sin(t)"', "", "1 components of the path"),
        ('body = "lower"', 'body = "hand"', "hand"),
        ('z = "-1', 'w = "-1', "w is not a key"),
        ("position =", 'joints = { q = "t" }\nposition =', "q is not a coordinate"),
        ('"1 + 0.2*cos(t)"', '"1 + 0.2*cos(tt)"', "tt is not known"),
    ],
)
def test_a_path_that_cannot_be_followed(old, new, said):
    assert said in problems(ARM + LED.replace(old, new, 1))


def test_a_path_by_laws_needs_a_configuration_and_a_tree():
    path = LED.split("[tree.path]\n")[1]
    run = f"[simulation]\ntimes = [0, 4]\n[simulation.task_path]\n{path}"
    assert "s is missing. Add it to at" in problems(ARM + run)
    assert "needs a tree of bodies" in problems(POINT + run + "at = { x = 1, y = 0 }\n")
    both = run.replace("[simulation.task_path]", "gravity_compensation = true\n[simulation.task_path]")
    assert "both set the joint torques" in problems(ARM + both + "at = { s = 0.1, phi = 1.4 }\n")


# -- control and drawing -----------------------------------------------------------------------------------------

CONTROL = """
[equilibrium]
given = { x = 0, y = 0 }
[control]
state_weights = { x = 2 }
input_weights = [1, 2]
[observer]
outputs = ["x", "dot(y)"]
state_noise = [[1, 0], [0, 1]]
[closed_loop]
limits = { u = 5 }
initial = { x = 1 }
times = [0, 1]
"""


def test_control_observer_and_limits():
    model = vn.model.loads(POINT + CONTROL)
    assert model.control == {"state_weights": {x: 2.0}, "input_weights": [1.0, 2.0]}
    assert model.observer == {"outputs": [x, y.diff()], "state_noise": [[1.0, 0.0], [0.0, 1.0]]}
    assert model.closed_loop == {"limits": {u: 5.0}, "initial": {x: 1.0}, "times": (0.0, 1.0)}
    assert model.equilibrium == {"given": {x: 0.0, y: 0.0}}
    assert "not an input" in problems(POINT + CONTROL.replace("limits = { u", "limits = { x"))


def test_weights_by_name_are_those_of_the_diagonal():
    theta_ = dynamicsymbols("theta")
    system = vn.System([theta_], theta_.diff() ** 2 / 2, sp.cos(theta_), {theta_: u}, inputs=[u])
    equations = vn.derive(system)
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {theta_: 0}))
    by_name = vn.stabilize(linear, {theta_: 3.0}, {u: 0.5})
    np.testing.assert_allclose(by_name.gain, vn.stabilize(linear, [3.0, 0.0], 0.5).gain)
    with pytest.raises(vn.ModelError, match="is not among"):
        vn.stabilize(linear, {x: 1.0})


def test_drawing():
    text = (
        POINT
        + """
[drawing]
points = { a = [0, 0], b = ["x", "y"] }
segments = [["a", "b"], { points = ["b", "a", "b"], closed = true, name = "rod" }]
circles = [{ center = "b", radius = 0.1, angle = "x" }]
traces = ["b"]
"""
    )
    drawing = vn.model.loads(text).drawing
    assert drawing.points["b"] == (x, y)
    assert drawing.segments[1].closed
    assert drawing.circles[0].angle == x
    assert "not a point" in problems(text.replace('center = "b"', 'center = "c"'))
    assert "two coordinates and some three" in problems(text.replace("a = [0, 0]", "a = [0, 0, 0]"))


def test_points_of_bodies():
    model = vn.model.loads(
        ARM + '[drawing]\npoints = { tip = { body = "lower", point = [1, 0, 0] } }\ntraces = ["tip"]\n'
    )
    place = model.drawing.points["tip"]
    assert [float(sp.sympify(p).subs({s: 0, phi: 0})) for p in place] == [2.0, 0.0]  # in its plane


def test_points_of_bodies_that_have_problems_are_not_blamed():
    text = ARM.replace("mass = 1", "mass = -1", 1) + '[drawing]\npoints = { tip = { body = "lower" } }\n'
    assert "(1 problem)" in problems(text)
    assert "mass" in problems(text)
    without = '[drawing]\npoints = { tip = { body = "lower" } }\n'
    assert "this file has no tree of bodies" in problems(POINT + without)


def test_meanings_and_units_of_symbols():
    text = POINT.replace('["x", "y"]', '{ x = "m", y = "m" }').replace('"(dot', '"m*(dot')
    text += '[parameters]\nm = "1 kg"\n[meanings]\nx = "to the right"\n'
    model = vn.model.loads(text)
    assert model.meanings == {x: "to the right"}
    assert model.units[x] == "m"
    assert "Did you mean x?" in problems(text + 'xx = "?"\n')
