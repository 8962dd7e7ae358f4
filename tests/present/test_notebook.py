"""Records in Jupyter: formulas and tables in a real kernel, and nothing that was not escaped."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
import sympy as sp
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.present.notebook import Formula, Grid, cell, table

ROOT = Path(__file__).parents[2]
PLOTLY = "application/vnd.plotly.v1+json"
EVIL = '<img src="x" onerror="alert(1)">'

# what the last lines of the example notebook show, in order
SHOWN = ["html", "html", "html", "html", "html", "html", "html", "html", "plotly", "plotly"]

# the records that the example notebook does not show
OTHERS = """
import sympy as sp, numpy as np, vinculum as vn
from sympy.physics.mechanics import dynamicsymbols
from examples import delta_robot, overhead_crane, planar_arms, program_on_an_ellipse, walker, watt_governor
affine = program_on_an_ellipse.system()
program = program_on_an_ellipse.program(8.0)
start = dict(zip(affine.states, (2.2, 0.0)))  # off the ellipse
motion = vn.simulate(program, start, times=(0, 1), method="euler", step=1e-3, stabilization="baumgarte")
tree = planar_arms.tree()
crane = overhead_crane.system()
governor = vn.derive(watt_governor.system())
x = dynamicsymbols("x")
k, c, u = sp.symbols("k c u")
spring = vn.System([x], x.diff()**2 / 2, k * x**2 / 2, forces={x: u}, dissipation=c * x.diff()**2 / 2,
                   parameters={k: 1.0, c: 0.2}, inputs=[u])
swing = vn.derive(spring)
rest = vn.equilibrium(swing, {u: 0})
linear = vn.linearize(swing, at=rest)
law = vn.stabilize(linear)
closed = vn.close_loop(swing, law)
from pathlib import Path
model = vn.load("src/vinculum/model/library/cartesian_pendulum.toml")
found = vn.examine(model)
"""
SHOW = {
    "affine": "html",
    "program": "latex",
    "motion": "html",
    "motion.outcome": "html",
    "vn.simulation.decay_bound(motion)": "html",
    "tree": "html",
    "tree.bodies[0]": "html",
    "vn.bodies.tree_figure(tree)": "plotly",
    "vn.bodies.closed_form_kinetic_energy(tree)": "latex",
    "vn.bodies.dynamics(tree)": "html",
    "vn.derive(walker.system())": "html",
    "vn.servo.realizability(crane)": "html",
    "vn.servo.internal_dynamics(swing, at=rest)": "html",
    "vn.hurwitz.stability_region(swing, {u: 0}, {k: [1.0, 2.0], c: [-0.1, 0.1]})": "html",
    "vn.hurwitz.stability_region(swing, {u: 0}, {k: [1.0, 2.0], c: [-0.1, 0.1]}).plot()": "plotly",
    "vn.feedback.region_of_attraction(closed, rest, {x: [0.1, 0.2]}, time=20.0)": "html",
    "vn.linear.controllability(linear)[0]": "html",
    "vn.program.helmholtz([x.diff().diff() + sp.sin(x)], [x])": "html",
    "vn.Holonomic(x**2 - 1, name='stop')": "html",
    "vn.Guaranteed(1e-3)": "html",
    "model": "html",
    "found": "html",
    "found.point": "html",
    "found.motion.animate(model)": "plotly",
    "vn.simulate(vn.derive(tree.system()), {}, (0, 0.1)).animate(frames=4)": "plotly",
}
MIME = {"html": "text/html", "latex": "text/latex", "plotly": PLOTLY}


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """The kernel keeps its files, and a history, in a home of its own."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")


def executed(notebook):
    """A notebook after a real kernel ran it; an error in a cell is raised here."""
    return NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": ROOT}}
    ).execute()


def results(notebook):
    """{MIME type: data} of the value that each cell shows."""
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    assert not [o for c in cells for o in c.outputs if o.output_type in ("error", "stream")]
    kinds = ("execute_result", "display_data")
    return [o.data for c in cells for o in c.outputs if o.output_type in kinds]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_example_notebook_shows_every_record():
    notebook = nbformat.read(ROOT / "examples" / "ball_and_beam.ipynb", as_version=4)
    assert all(not c.get("outputs") and c.get("execution_count") is None for c in notebook.cells), "strip the outputs"
    shown = results(executed(notebook))
    assert [next(k for k in ("plotly", "html", "latex") if MIME[k] in data) for data in shown] == SHOWN
    film = shown[-1][PLOTLY]
    assert len(film["frames"]) == 80
    assert "unstable" in shown[4]["text/html"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_all_other_records_show_themselves():
    code = [new_code_cell(OTHERS), *map(new_code_cell, SHOW)]
    for source, data in zip(SHOW, results(executed(new_notebook(cells=code))), strict=True):
        assert MIME[SHOW[source]] in data, f"{source} shows {list(data)}"
        if SHOW[source] != "plotly":
            assert well_formed(data.get("text/html", "<p/>")), source


def well_formed(html: str) -> bool:
    ElementTree.fromstring(html)
    return True


def test_every_public_record_has_a_notebook_form():
    parts = (vn, vn.bodies, vn.motors, vn.servo, vn.program, vn.quasi, vn.linear, vn.hurwitz, vn.feedback)
    names = [getattr(part, name) for part in (*parts, vn.simulation) for name in part.__all__]
    records = {value for value in names if inspect.isclass(value)}
    records = [r for r in records if dataclasses.is_dataclass(r) or r is vn.bodies.Dynamics]
    assert len(records) > 30
    for record in records:
        assert hasattr(record, "_repr_html_") or hasattr(record, "_repr_latex_"), record.__name__


@pytest.mark.parametrize(
    "value",
    [
        EVIL,
        (EVIL,),
        {EVIL: EVIL},
        Grid([EVIL], {EVIL: [EVIL]}),
        Formula(EVIL),
        Formula(rf"\text{{{EVIL}}}"),
        sp.Symbol(EVIL),
    ],
    ids=["text", "list", "mapping", "grid", "formula", "text in a formula", "symbol"],
)
def test_nothing_becomes_a_tag(value):
    assert "<img" not in cell(value)
    assert "<img" not in table(EVIL, {EVIL: value})


def test_names_of_a_system_are_escaped():
    x = dynamicsymbols("x")
    system = vn.System([x], x.diff() ** 2 / 2, constraints=[vn.Holonomic(x, name=EVIL)], name=EVIL)
    assert "<img" not in system._repr_html_()


def test_numbers_of_a_matrix_stand_in_their_places():
    shown = cell(np.array([[1.0, 2.5], [3.0, -4e-9]]))
    rows = ElementTree.fromstring(shown).findall("tr")
    assert [[float(entry.text) for entry in row] for row in rows] == [[1.0, 2.5], [3.0, -4e-9]]


def test_a_formula_that_cannot_be_set_is_shown_as_it_is():
    assert cell(Formula(r"\frac{")) == r"<code>\frac{</code>"
