"""Parts of a report without a browser: numbers in words, peaks that are kept, sizes."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import browser
import vinculum as vn
from report import mechanisms
from vinculum.model.examine.examination import examined
from vinculum.model.model import Model
from vinculum.present.animation import scene_of
from vinculum.present.html import Html, counted, number, pairs, root, sentence, table, tag, text
from vinculum.present.mathml import formula, prose, terms
from vinculum.present.report import charts, page, write_report
from vinculum.present.report.charts import figure, root_map
from vinculum.present.report.formulas import rounded, unit_of
from vinculum.present.report.page import _data
from vinculum.present.report.tables import packed, packed_table
from vinculum.present.thinning import followed
from vinculum.text_printer import vlatex


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (-2.5, "\u22122.5"),
        (1.2e-7, "1.2\u00a0×\u00a010<sup>\u22127</sup>"),
        (-3e20, "\u22123\u00a0×\u00a010<sup>20</sup>"),
        (float("nan"), "not finite"),
        (float("inf"), "not finite"),
    ],
)
def test_numbers(value, words):
    assert number(value) == words


def test_words():
    found = [counted(n, "equilibrium", "equilibria") for n in (0, 1, 2)]
    assert found == ["no equilibria", "1 equilibrium", "2 equilibria"]
    assert sentence("all is well") == "All is well."
    assert root(-1 + 2j) == "\u22121\u00a0±\u00a02\u00a0i"
    assert pairs([-1 + 2j, -1 - 2j, -3 + 0j]) == [-1 + 2j, -3 + 0j]


@given(st.text())
def test_text_is_never_markup(words):
    for made in (text(words), tag("p", words, title=words), table([words], [[words]])):
        assert isinstance(made, Html)
        inside = made.replace("<p title=", "").replace("</p>", "")
        assert "<script" not in inside
    assert set("<>\"'") & set(text(words)) == set()


@given(st.text(max_size=30))
def test_any_name_becomes_formula_or_text(name):
    for made in (formula(name), terms(name)):
        assert "<script" not in made
        assert "href" not in made.replace(text(name), "")


def test_a_sum_may_be_broken_between_its_terms():
    assert terms(r"a + b - \frac{c + d}{e}").count("<math") == 3
    assert terms(r"\left(a + b\right) c").count("<math") == 1


def test_a_long_bracket_may_be_broken_too():
    """Nothing is lost or changed in order, no piece is longer than a line, and no sign is alone."""
    x = sp.symbols("x_1:41")
    inner = sum(sp.sin(a) * b for a, b in pairwise(x))
    long = x[0] - (2 + x[3] * inner - x[5]) * sp.cos(x[7]) + (x[1] - x[2]) * x[3]
    latex = sp.latex(long)
    pieces = re.findall(r"<math.*?</math>", terms(latex))
    texts = [re.sub(r"<[^>]*>", "", piece) for piece in pieces]
    assert "".join(texts) == re.sub(r"<[^>]*>", "", formula(latex))
    assert len(texts) > 40
    assert 2 <= min(map(len, texts)) <= max(map(len, texts)) <= 40
    assert all(text[0] in "+\N{MINUS SIGN}" for text in texts[1:])


@given(st.text())
def test_data_never_ends_its_script(words):
    written = _data({"name": words, "nothing": float("nan")})
    assert "<" not in written
    assert json.loads(written) == {"name": words, "nothing": None}


def test_no_peak_is_lost():
    t, y = np.linspace(0, 1, 100_001), np.zeros(100_001)
    y[54_321] = -7.0
    x, size = charts.envelope(t, y)
    assert len(x) <= 400
    assert size.max() == 7.0
    assert x[size.argmax()] == pytest.approx(0.54321, abs=3e-3)


def test_the_rows_of_a_table_follow_its_columns():
    """A pulse of a thousandth of the run, an oscillation, a constant and a gap: lines through the rows miss nothing."""
    t = np.linspace(0, 10, 5001)
    columns = [np.exp(-(((t - 3) / 0.01) ** 2)), np.sin(8 * t), np.ones(5001), np.where(t > 9, np.nan, t)]
    rows = followed(t, columns)
    assert len(rows) < 1500
    for y in columns[:3]:
        assert np.abs(np.interp(t, t[rows], y[rows]) - y).max() <= 1e-3 * max(np.ptp(y), 1e-9)
    assert columns[0][rows].max() == 1.0
    assert len(followed(t, columns, most=100)) < 200


def test_numbers_survive_packing():
    x = np.array([1.5, -2e-30, np.nan, 3e10])
    found = np.frombuffer(base64.b64decode(packed(x)), "<f4")
    np.testing.assert_allclose(found, x, rtol=1e-7)
    table = packed_table(np.linspace(0, 1, 4), {"x": x, "l": np.full(4, 0.25)})
    assert table["columns"]["l"] == 0.25
    assert np.frombuffer(base64.b64decode(table["times"]), "<f8")[1] == 1 / 3


def test_slow_and_fast_roots_are_both_seen():
    marks = root_map([("open", np.array([-1000.0, -1.0, 0.5]).astype(complex))]).parts[0]
    gaps = np.diff(sorted(marks.x))
    assert gaps.min() > 0.05 * gaps.sum()
    plain = root_map([("open", np.array([-2.0, 1.0]).astype(complex))]).parts[0]
    assert list(plain.x) == [-2.0, 1.0]


def test_a_long_run_makes_no_large_page(tmp_path):
    model = mechanisms.hostile()
    theta = model.system.coordinates[0]
    short, long = (
        write_report(
            replace(model, simulation={"initial": {theta: 1.0}, "times": times}), tmp_path / f"{len(times)}.html"
        )
        for times in (np.linspace(0, 5, 2_000), np.linspace(0, 5, 200_000))
    )
    assert long.bytes < 1.05 * short.bytes
    assert long.bytes < 5e5


def test_numbers_that_are_not_finite_are_told():
    motion = vn.simulate(vn.derive(mechanisms.hostile().system), {dynamicsymbols("theta"): 1.0}, (0, 1))
    assert np.isnan(charts.envelope(motion.t, np.where(motion.t > 0.5, np.nan, 1.0))[1]).any()
    found = vn.examine(replace(mechanisms.hostile(), control=None))
    broken = replace(found, points=tuple(replace(p, rest=replace_value(p.rest)) for p in found.points))
    assert "not finite" in page(broken)


def replace_value(rest: vn.linear.Equilibrium) -> vn.linear.Equilibrium:
    return vn.linear.Equilibrium({key: float("nan") for key in rest}, {}, 0.0)


def test_a_report_says_where_it_is_and_how_large(tmp_path):
    done = write_report(mechanisms.promised(), tmp_path / "report.html")
    assert done.bytes == (tmp_path / "report.html").stat().st_size
    assert str(tmp_path / "report.html") in str(done)
    assert "kB" in str(done)


def test_nothing_to_draw_is_said(tmp_path):
    model = replace(mechanisms.promised(), drawing=None)
    assert "nothing to draw. Write motion.animate" in page(vn.examine(model))
    assert "Nothing was simulated" in page(vn.examine(replace(model, simulation=None)))


def test_a_page_before_its_motion_says_so():
    model = mechanisms.promised()
    first, *_, last = [page(results) for results in examined(model)]
    assert "The motion is still being computed" in first
    assert "The motion is still being computed" not in last


def test_a_missing_browser_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    with pytest.raises(browser.NoBrowserError, match="make browser"):
        browser.find()


ARM = """
name = "arm"
[parameters]
l = "1 m"
m = "2 kg"
k = "0.5 N*m*s"
[tree.bodies.link]
axis = [0, 1, 0]
mass = "m"
center_of_mass = ["l/2", 0, 0]
inertia = [0, 0.1, 0.1]
torque = "u"
"""


def test_inputs_are_shown_with_their_laws():
    simulation = '[simulation]\ntimes = [0, 1]\ninputs = { u = "-k*dot(link)" }\n'
    results = vn.examine(vn.model.loads(ARM + simulation))
    shown = page(results)
    assert 'id="inputs"' in shown
    link, k = results.model.system.coordinates[0], sp.Symbol("k")
    assert formula(vlatex(-k * link.diff())) in shown
    assert 'id="reactions"' not in shown


def test_what_holds_a_servo_constraint_is_no_reaction():
    path = '[tree.path]\nbody = "link"\njoints = { link = "sin(t/(1*t_0))" }\n[simulation]\ntimes = [0, 1]\n'
    results = vn.examine(vn.model.loads(ARM.replace('l = "1 m"', 'l = "1 m"\nt_0 = "1 s"') + path))
    assert results.motion is not None
    assert set(results.motion.inputs) == {"u"}
    shown = page(results)
    assert 'id="inputs"' in shown
    assert "holds the servo constraint link path" in shown
    assert 'id="reactions"' not in shown


def test_every_event_is_told():
    events = 'events = [{ name = "turn", expression = "dot(link)" }, { name = "never", expression = "link - 99" }]'
    simulation = f"[simulation]\ntimes = [0, 9]\ninputs = {{ u = 0 }}\n{events}\n"
    results = vn.examine(vn.model.loads(ARM + simulation))
    assert results.motion is not None
    count = len(results.motion.event_times["turn"])
    assert count > 4
    shown = page(results)
    assert f"and {count - 3} more" in shown
    assert "<dt>event never</dt><dd>none</dd>" in shown


def test_a_moved_start_is_told():
    """The start belongs to the first equilibrium; at the second it is another one."""
    found = vn.examine(vn.load(mechanisms.MODELS / "start.toml"))
    assert len(found.points) == 2
    told = page(found).count("shifted from equilibrium 1 to this equilibrium")
    assert told == 1


MOTORED = """
name = "cart"
[parameters]
m = "2 kg"
r = "2 cm"
[splines.bump]
points = ["-2 cm", "-1 cm", "0 cm", "1 cm", "2 cm", "3 cm"]
values = ["-5 N", "-2 N", "0 N", "2 N", "5 N", "14 N"]
[system]
coordinates = { s = "m" }
inputs = { u = "N*m" }
kinetic_energy = "m*dot(s)^2/2"
forces = { s = "u/r - bump(s)" }
[motors.u]
torque_constant = "0.05 N*m/A"
resistance = "1.25 ohm"
inductance = "0.5 mH"
"""


def test_motors_and_measured_curves_are_shown_with_their_numbers():
    model = vn.model.loads(MOTORED)
    shown = page(vn.examine(model))
    assert "resistance Ω" in shown
    assert '<td class="number">1.25</td>' in shown
    assert "6 points from \u22120.02 to 0.03 m" in shown
    assert '<td class="number">14</td>' in shown
    charge, voltage = model.system.coordinates[-1], model.system.inputs[-1]
    assert [unit_of(model, key) for key in (charge, charge.diff(), voltage)] == ["A s", "A", "V"]


def test_an_arm_is_drawn_to_the_point_that_is_led():
    asked = '[simulation.task_path]\nbody = "link"\npoint = ["l", 0, 0]\nposition = { x = "l*cos(t/t_0)" }\n'
    simulation = "[simulation]\ntimes = [0, 1]\ninitial = { link = 0.5 }\n"
    model = vn.model.loads(ARM.replace('l = "1 m"', 'l = "1 m"\nt_0 = "1 s"') + simulation + asked)
    motion = vn.examine(model).motion
    assert motion is not None
    drawn = scene_of(motion, [model])
    (path,) = drawn.paths.values()
    assert np.linalg.norm(path, axis=1) == pytest.approx(1.0)  # its center of mass is half as far
    assert max(np.linalg.norm(s.places, axis=-1).max() for s in drawn.strokes) == pytest.approx(1.0)


def test_rounding_is_shown_as_zero():
    x, y = dynamicsymbols("x y")
    rest = vn.linear.Equilibrium({x: 0.3, y: -4.6e-33, x.diff(): 1e-17}, {"rod": 2e-15}, 0.0)
    assert rest.shown == {"x": 0.3, "y": 0.0}
    assert rest.clean(rest.reactions["rod"]) == 0.0
    assert vn.linear.Equilibrium({x: 3e-9}, {}, 0.0).shown == {"x": 3e-9}


def test_descriptions_may_contain_formulas():
    assert prose("for $J = m r^2$ only").count("<math") == 1
    assert prose("it costs 5$ and 6$.") == "it costs 5$ and 6$."
    assert "<script" not in prose("$<script>$ and <script>")


def test_what_does_not_move_has_no_chart():
    tree = vn.BodyTree([vn.Body("slider", None, joint="free", mass=1, inertia=(1, 2, 3))], gravity=(0, 0, 0))
    x = tree.coordinates[0]
    model = Model(tree.system(), tree=tree, simulation={"initial": {**tree.home, x.diff(): 1.0}, "times": (0, 1)})
    shown = page(vn.examine(model))
    assert "Constant: " in shown
    moving = [s["key"] for c in json.loads(described(shown))["charts"] for s in c["series"]]
    assert "slider_x" in moving
    assert "slider_y" not in moving


def described(shown: str) -> str:
    return shown.split('id="description">')[1].split("</script>")[0]


def test_numbers_in_formulas_are_short():
    lines = [(r"0.138666666666667 z_{1}", r"4.0 \cdot 10^{-5} + 123456789.123456 + 0.5 + 1.000000000001")]
    assert rounded(lines) == [(r"0.138667 z_{1}", r"4.0 \cdot 10^{-5} + 123457000 + 0.5 + 1")]


def test_the_name_of_a_constraint_is_no_formula():
    tree = vn.BodyTree([vn.Body("top", None, joint="spherical", mass=1, inertia=(1, 1, 2), center_of_mass=(0, 0, 1))])
    text_of = vn.derive(tree.system()).latex(named=True)
    assert r"\lambda_{\text{top norm}}" in text_of
    assert r"\left\|" not in text_of


def test_a_response_is_shown_while_it_moves():
    t = np.linspace(0, 20, 2001)
    assert charts.settled(t, [np.exp(-t), np.zeros(2001)]) == pytest.approx(2 * np.log(100), abs=0.02)
    assert charts.settled(t, [np.sin(t)]) == 20
    assert charts.settled(t, [np.ones(2001)]) == 20


def test_a_motion_with_feedback_alone_is_examined_too():
    x, u, k = dynamicsymbols("x"), *sp.symbols("u k")
    cart = vn.System([x], x.diff() ** 2 / 2, -k * x**2 / 2, {x: u}, inputs=[u], parameters={k: 1}, name="cart")
    model = Model(cart, equilibrium={"given": {u: 0}}, control={}, closed_loop={"initial": {x: 1}, "times": (0, 5)})
    content = page(vn.examine(model))
    assert "Response with feedback" in content
    assert 'id="energy"' in content


@pytest.mark.parametrize("name", sorted(path.stem for path in mechanisms.MODELS.glob("*.toml")))
def test_every_model_of_the_package_has_its_report(name, tmp_path):
    done = write_report(vn.load(mechanisms.MODELS / f"{name}.toml"), tmp_path / f"{name}.html")
    assert done.results.refusals == {}
    assert done.bytes < (1.7e6 if name == "walker" else 1.5e6), "the walker has a megabyte of formulas"
    assert 'id="play"' in done.path.read_text(), "each says what to draw"


CONTROLLED = """
[system]
coordinates = ["theta"]
inputs = ["u"]
kinetic_energy = "dot(theta)^2/2"
potential_energy = "4*cos(theta)"
forces = { theta = "u" }
[equilibrium]
given = { theta = 0 }
[control]
"""


def test_a_designed_controller_is_shown_with_its_margins():
    content = page(vn.examine(vn.model.loads(CONTROLLED + "poles = [[-1, 2]]\n")))
    assert "the gains give the closed loop the poles of the model" in content
    assert ">Margins<" in content
    assert "no limit" in content, "a gain may grow without limit"
    assert "phase of " in content


def test_a_pid_is_shown_with_its_states():
    text = CONTROLLED + 'pid = { output = "theta", input = "u", kp = 9, ki = 1, kd = 2, filter = 0.01 }\n'
    content = page(vn.examine(vn.model.loads(text)))
    assert "States and outputs of the controller" in content
    assert "integral_theta" in content


def test_a_loop_that_is_not_stable_has_no_margins():
    content = page(vn.examine(vn.model.loads(CONTROLLED + "gain = { u = { theta = 1 } }\n")))
    assert ">Margins<" not in content
    assert "unstable" in content


# -- steady motions and verdicts -----------------------------------------------------------------------------------

theta_, phi_ = dynamicsymbols("theta phi")


def shaft(**equilibrium):
    """The page of a pendulum on a shaft that turns freely."""
    T = (theta_.diff() ** 2 + (1 + sp.sin(theta_) ** 2) * phi_.diff() ** 2) / 2
    return page(vn.examine(Model(vn.System([theta_, phi_], T, -9.81 * sp.cos(theta_)), equilibrium=equilibrium)))


def test_a_steady_motion_in_the_report():
    made = shaft(given={phi_.diff(): 4.0}, near={theta_: 1.0})
    assert "Steady motions" in made
    assert "steady motion 1" in made
    assert "In a steady motion these quantities are constant" in made
    assert "1 zero root (family in theta, dot(phi))" in made


def test_drift_in_the_report():
    made = shaft(given={phi_: 0.0})
    assert "Equilibria" in made
    assert "1 zero root (free position of phi), 1 zero root (conserved momenta in dot(phi))" in made
    assert "Drifting: " in made


def test_a_report_tells_what_would_decide():
    system = vn.System([theta_], theta_.diff() ** 2 / 2, sp.Max(0, theta_) ** 2)
    made = page(vn.examine(Model(system, equilibrium={"given": {theta_: 0.0}})))
    assert "undecided" in made
    assert "Simulate small perturbations" in made


def test_a_root_map_has_another_shape_on_a_telephone():
    """Both have the same roots; the entries of the narrow legend are one below the other, above the picture."""
    sets = [("without feedback", np.array([-1.0, 2.0 + 1j])), ("with feedback", np.array([-3.0, -2.0 + 1j]))]
    broad, narrow = str(figure(root_map(sets))).split("<svg")[1:]
    assert 'class="plot broad"' in broad
    assert 'class="plot narrow"' in narrow
    titles = [re.findall("<title>(.*?)</title>", text) for text in (broad, narrow)]
    assert titles[0] == titles[1]
    places = [float(y) for y in re.findall(r'<text x="29.0" y="([-\d.]+)"', narrow)]
    assert len(places) == 2
    assert places[0] < places[1] < 4
