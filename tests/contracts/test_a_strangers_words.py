"""What a newcomer types first, and the answer that lets him go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.model import loads

x, phi, theta = dynamicsymbols("x phi theta")
M, m, l, R, g, u = sp.symbols("M m l R g u")


@pytest.fixture(scope="module")
def cart():
    """A pendulum standing on a cart that a belt moves: φ follows from x."""
    across, up = x.diff() + l * sp.cos(theta) * theta.diff(), -l * sp.sin(theta) * theta.diff()
    system = vn.System(
        coordinates={x: "m", phi: "rad", theta: "rad"},
        kinetic_energy=M * x.diff() ** 2 / 2 + m * (across**2 + up**2) / 2,
        potential_energy=m * g * l * sp.cos(theta),
        constraints=[vn.Holonomic(x - R * phi, name="belt")],
        forces={phi: u},
        inputs={u: "N*m"},
        parameters={M: "800 g", m: "120 g", l: "30 cm", R: "18 mm", g: "9.81 m/s^2"},
    )
    equations = vn.derive(system)
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {x: 0, theta: 0}))
    return equations, linear


def test_weight_of_a_dependent_coordinate_is_a_weight_of_an_output(cart):
    _, linear = cart
    (dependent,) = {x, phi} - set(linear.states)
    with pytest.raises(vn.ModelError, match=r"follows from the states .* outputs=\["):
        vn.stabilize(linear, {dependent: 10, theta: 100})
    law = vn.stabilize(linear, {dependent: 10, theta: 100}, outputs=[dependent, theta])
    assert vn.stability(vn.feedback.closed_model(law)).kind == "asymptotically stable"


def test_limits_have_units(cart):
    equations, linear = cart
    law = vn.stabilize(linear)
    start = {x: 0, theta: "5 deg"}
    with_units, plain = (
        vn.simulate(vn.close_loop(equations, law, limits={u: limit}), start, (0, 2)) for limit in ("30 mN*m", 0.03)
    )
    assert abs(with_units[u]).max() == pytest.approx(0.03, rel=1e-12)
    assert (with_units[theta] == plain[theta]).all()
    with pytest.raises(vn.ModelError, match="u: its unit is kg·m·s⁻², but kg·m²·s⁻² is needed"):
        vn.close_loop(equations, law, limits={u: "3 N"})


def test_records_name_what_their_numbers_belong_to(cart):
    equations, linear = cart
    law = vn.stabilize(linear)
    assert ", ".join(map(str, ["states"])) in repr(law)
    assert "theta, " in repr(law).split("states")[1]
    assert "inputs by laws  u" in repr(vn.close_loop(equations, law))
    assert "laws" not in repr(equations)


def test_unknown_names_come_with_the_known_ones(cart):
    with pytest.raises(
        vn.ModelError, match=r"b is not a coordinate or velocity\. The coordinates and velocities are x, phi"
    ):
        vn.simulate(cart[0], {sp.Symbol("b"): 0.1}, (0, 1), inputs={u: 0})


@pytest.mark.parametrize(("number", "missing"), [(2, "one"), (3, "2")])
def test_undetermined_equilibrium_says_how_many_values_are_missing(number, missing):
    """Several forces hold one weight: all but one must be given."""
    forces = sp.symbols(f"f1:{number + 1}")
    hung = vn.System(
        [x], m * x.diff() ** 2 / 2, m * g * x, forces={x: sum(forces)}, inputs=forces, parameters={m: 1, g: 9}
    )
    with pytest.raises(vn.ModelError, match=rf"f1, f2.* Specify {missing} of them, as in .*given={{f1: value"):
        vn.equilibrium(vn.derive(hung), {x: 0})


@pytest.mark.parametrize(
    ("unit", "instead"),
    [("mN*m", r"N\*m"), ("deg", "rad"), ("mm", "m"), ("rpm", "rad/s"), ("km/h", "m/s"), ("mV", "V")],
)
def test_si_unit_to_write_is_the_usual_one(unit, instead):
    with pytest.raises(vn.ModelError, match=f"Write {instead}\\."):
        vn.System({x: unit}, x.diff() ** 2 / 2)


@pytest.mark.parametrize("before", ["", 'm = "1 kg"\n'])
def test_power_of_a_unit_without_its_sign(before):
    """m/s2: where m is a parameter too, the text could have been a formula."""
    text = f'[parameters]\n{before}g = "9.81 m/s2"\n[system]\ncoordinates = ["x"]\nkinetic_energy = "dot(x)^2/2"\n'
    with pytest.raises(vn.VinculumError, match=r"s\^2"):
        vn.model.loads(text)


def test_figure_is_one_line_in_a_terminal(cart):
    pytest.importorskip("plotly")
    motion = vn.simulate(cart[0], {x: 0, theta: 0.1}, (0, 1), inputs={u: 0})
    assert len(repr(motion.animate([(0, 0), (x, 0)])).splitlines()) == 1


def test_address_of_the_workshop_reaches_a_pipe(tmp_path):
    """Without a terminal, output is kept back unless it is flushed."""
    pytest.importorskip("uvicorn")
    quiet = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "vinculum", "open", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=quiet) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("The workshop is at http://127.0.0.1:")
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 130


def test_derive_takes_a_tree_of_bodies_and_says_what_else_it_takes():
    tree = vn.BodyTree([vn.Body("arm", axis=(0, 1, 0), mass=1, center_of_mass=(0, 0, -1), inertia=0.1)])
    state = dict(zip((*tree.coordinates, *tree.velocities), (0.3, 0.2), strict=True))
    assert vn.derive(tree).accelerations(state) == vn.derive(tree.system()).accelerations(state)
    with pytest.raises(vn.VinculumError, match=r"derive\(model.system, \*\*model.derivation\)"):
        vn.derive(loads('[system]\ncoordinates = ["x"]\nkinetic_energy = "dot(x)^2/2"\n'))
    with pytest.raises(vn.VinculumError, match="got str"):
        vn.derive("pendulum")


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (x.subs(x.args[0], x.args[0] - 1), "at another time"),
        (sp.Derivative(sp.sin(x), x), r"Use \.doit\(\)"),
        (x.diff() + phi.diff(), "phi is not a coordinate"),
    ],
)
def test_terms_that_are_not_a_force_at_this_time(force, words):
    with pytest.raises(vn.ModelError, match=words):
        vn.System([x], x.diff() ** 2 / 2, forces={x: force})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"form": "hamel", "characteristics": 5}, "Write characteristics={new function of time"),
        ({"form": "shulgin", "dependent": x}, r"Write dependent=\[coordinate"),
        ({"form": "shulgin", "dependent": "x"}, r"Write dependent=\[coordinate"),
        ({"at": [1, 2]}, "Write at={coordinate or velocity"),
    ],
)
def test_options_of_a_wrong_shape(cart, options, words):
    with pytest.raises(vn.VinculumError, match=words):
        vn.derive(cart[0].system, **options)


def test_a_matrix_is_not_one_expression(cart):
    with pytest.raises(vn.VinculumError, match="is not one expression"):
        vn.Event(sp.Matrix([x]))
    motion = vn.simulate(cart[0], {x: 0, theta: 0.1}, (0, 0.1), inputs={u: 0})
    with pytest.raises(vn.VinculumError, match="is not one expression"):
        motion[sp.Matrix([x])]
