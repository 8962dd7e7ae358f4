"""A notebook exported to HTML and read without a network: curves, animations, equations and results are all there."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

import browser

ROOT = Path(__file__).parents[2]
CELLS = [
    """\
import sympy as sp, vinculum as vn
from sympy.physics.mechanics import dynamicsymbols
theta = dynamicsymbols("theta")
m, l, g = sp.symbols("m l g")
pendulum = vn.System({theta: "rad"}, m * l**2 * theta.diff() ** 2 / 2, -m * g * l * sp.cos(theta),
                     parameters={m: "1 kg", l: "50 cm", g: "9.81 m/s^2"}, name="pendulum")
equations = vn.derive(pendulum)
motion = vn.simulate(equations, {theta: "60 deg"}, (0, 4))
equations""",
    "motion.plot(theta, theta.diff())",
    "motion.animate([(0, 0), (0.5 * sp.sin(theta), -0.5 * sp.cos(theta))], frames=41)",
    "vn.examine(vn.load('src/vinculum/model/library/cartesian_pendulum.toml'))",
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory, running):
    """The exported notebook in a browser without a network, and what it did."""
    folder = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(folder))
        patch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
        cells = new_notebook(cells=[new_code_cell(source) for source in CELLS])
        done = NotebookClient(cells, timeout=120, kernel_name="python3", resources={"metadata": {"path": ROOT}})
        page, _ = HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(done.execute())
    (folder / "notebook.html").write_text(page)
    context = running.new_context(viewport={"width": 1000, "height": 900}, offline=True)
    opened, seen, address = context.new_page(), browser.Seen(), (folder / "notebook.html").as_uri()
    browser.watch(opened, address, seen)
    opened.goto(address)
    yield opened, seen
    context.close()


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_nothing_is_fetched(exported):
    page, seen = exported
    page.wait_for_timeout(300)
    own = [address for address in seen.fetched if "notebook.html" not in address and address != "about:srcdoc"]
    assert not own


def test_dots_are_above_their_letters(exported):
    page, _ = exported
    letter, dots = page.locator(".vinculum mover").first.locator("> *").all()
    above, below = dots.bounding_box(), letter.bounding_box()
    assert above["width"] >= 4
    assert above["y"] < below["y"] + below["height"] / 2


def test_curves_are_a_picture(exported):
    page, _ = exported
    assert page.locator("svg g#line2d_1, svg g[id^=line2d]").count() > 2
    assert page.locator("text=theta").count()


def test_the_mechanism_moves(exported):
    page, _ = exported
    bar = "document.querySelector('svg[role=img] polyline animate').parentNode"
    page.evaluate(f"{bar}.ownerSVGElement.pauseAnimations()")
    places = []
    for time in (0, 2):
        page.evaluate(f"{bar}.ownerSVGElement.setCurrentTime({time})")
        last = f"{bar}.animatedPoints[1]"
        places.append([page.evaluate(f"{last}.x"), page.evaluate(f"{last}.y")])
    stated = page.evaluate(f"{bar}.querySelector('animate').getAttribute('values')").split(";")
    for place, values in zip(places, (stated[0], stated[20]), strict=True):
        assert place == pytest.approx([float(x) for x in values.split(" ")[1].split(",")], abs=0.2)
    assert places[0] != places[1]


def test_results_show_the_page_of_the_report(exported):
    page, _ = exported
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "Pendulum in Cartesian coordinates"
    assert frame.locator("#equations math").count() > 2
