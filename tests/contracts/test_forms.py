"""What every form offers: options, refused where they do not belong; a place in every list; a copy of itself."""

from __future__ import annotations

import copy
import html
import importlib
import json
import pickle
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sympy as sp
from click.testing import CliRunner
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import cartesian_pendulum
from vinculum.cli.app import app
from vinculum.derivation import FORMS, form_names
from vinculum.derivation.forms.form import MechanicalForm, build_form, register
from vinculum.derivation.forms.multipliers import eliminate_multipliers
from vinculum.derivation.printing import balance_lines, constraint_lines
from vinculum.derivation.variables import full_state
from vinculum.model import ModelFileError, loads
from vinculum.model.schema.schema import schema
from vinculum.options import KINDS, option

x, y, e1 = dynamicsymbols("x y e1")
m, g, l = sp.symbols("m g l")
STATE = {x: 0.6, y: -0.8, x.diff(): 0.8, y.diff(): 0.6}
FILE = """
name = "pendulum"
[system]
coordinates = ["x", "y"]
kinetic_energy = "(dot(x)^2 + dot(y)^2)/2"
potential_energy = "10*y"
[constraints]
rod = "(x^2 + y^2 - 1)/2"
"""


def pendulum() -> vn.System:
    return replace(cartesian_pendulum.system(), parameters={m: 1, g: 10, l: 1}, name="pendulum")


def turning() -> vn.System:
    """A point in a plane, whose angle is cyclic."""
    return vn.System([x, y], m * (x.diff() ** 2 + x**2 * y.diff() ** 2) / 2, -1 / x, parameters={m: 1})


def example(name: str) -> vn.EquationsOfMotion:
    """Equations in each form."""
    if name == "routh":
        return vn.derive(turning(), name)
    quasi = {"characteristics": {e1: x * y.diff() - y * x.diff()}, "release": {"rod": dynamicsymbols("slip")}}
    if name == "chaplygin":
        knife = vn.Nonholonomic(y.diff() - 2 * x.diff(), name="slope")
        return vn.derive(vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, constraints=[knife]), name)
    return vn.derive(pendulum(), name, **(quasi if "characteristics" in FORMS[name].options() else {}))


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_of_other_forms_are_refused_with_those_that_the_form_has():
    with pytest.raises(vn.VinculumError) as caught:
        vn.derive(pendulum(), "multipliers", kind="nonsense", characteristics={e1: x.diff()}, release={"nope": e1})
    assert "has no option kind, characteristics, release" in str(caught.value)
    assert "redundant, rates" in str(caught.value)


@pytest.mark.parametrize("form", form_names())
def test_an_option_that_no_form_has_is_refused(form):
    with pytest.raises(vn.VinculumError, match=f"'{form}' has no option flavor"):
        build_form(form, {"flavor": "mild"})


def test_a_misspelled_option_is_suggested():
    with pytest.raises(vn.VinculumError, match="Did you mean dependent"):
        vn.derive(pendulum(), "shulgin", dependant=[y])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: vn.Shulgin(dependant=[y]), "'shulgin' has no option dependant. Did you mean dependent. Its options"),
        (lambda: vn.Shulgin([y], {}), "got 2 values without a name; it takes only dependent"),
        (lambda: vn.Shulgin([y], dependent=[y]), "got dependent twice"),
    ],
)
def test_a_form_is_not_built_with_an_option_that_it_does_not_have(build, said):
    with pytest.raises(vn.VinculumError, match=said):
        build()


@pytest.mark.parametrize("form", form_names())
def test_no_form_is_built_with_an_unknown_option(form):
    with pytest.raises(vn.VinculumError, match=f"'{form}' has no option flavor"):
        FORMS[form](flavor="mild")


def test_options_do_not_stand_next_to_a_form_object():
    with pytest.raises(vn.VinculumError, match=r"Shulgin\(dependent=\.\.\.\)"):
        vn.derive(pendulum(), vn.Shulgin(), dependent=[y])


@pytest.mark.parametrize(
    ("form", "options", "message"),
    [
        ("hamel", {"kind": "nonsense"}, "kind='nonsense'.*'voronets-hamel' or 'chaplygin-type'"),
        ("hamel", {"kind": "chaplygin"}, "Did you mean chaplygin-type"),
        ("multipliers", {"redundant": "maybe"}, "redundant='maybe'.*'refuse' or 'least_squares'"),
        ("multipliers", {"rates": {"nope": 1.0}}, "no constraint 'nope'"),
        ("multipliers", {"rates": "fast"}, "rates: it is the text 'fast'"),
        ("hamel", {"characteristics": {e1: x.diff()}, "release": {"rood": e1}}, "no constraint 'rood'.*rod"),
        ("hamel", {"characteristics": {e1: x.diff()}, "release": {"rod": m}}, "not a function of time"),
        ("maggi", {"characteristics": {e1: x.diff()}, "release": {"nope": e1}}, "no constraint 'nope'"),
    ],
)
def test_a_wrong_value_is_refused(form, options, message):
    with pytest.raises(vn.VinculumError, match=message):
        vn.derive(pendulum(), form, **options)


def test_an_unknown_form_is_refused_with_all_forms():
    with pytest.raises(vn.VinculumError, match=r"Did you mean shulgin.*'hamel'.*'voronets'"):
        vn.derive(pendulum(), "shulgn")


def test_a_name_with_options_builds_the_object():
    assert build_form("shulgin", {"dependent": [y]}) == vn.Shulgin(dependent=[y])
    by_name = vn.derive(pendulum(), "shulgin", dependent=[y])
    by_object = vn.derive(pendulum(), vn.Shulgin([y]))
    assert by_name.form == by_object.form
    assert by_name.recover(STATE) == by_object.recover(STATE)


@pytest.mark.parametrize("form", form_names())
def test_every_form_describes_itself(form):
    described = FORMS[form]
    assert described.name == form
    assert described.summary.endswith(".")
    assert described.__doc__
    for chosen in described.options().values():
        assert chosen.kind in KINDS
        assert chosen.about.endswith(".")


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", form_names())
def test_equations_survive_pickle_and_deepcopy(form):
    equations = example(form)
    state = {key: 0.3 + 0.1 * i for i, key in enumerate(equations.states)}
    if form not in ("routh", "chaplygin", "program"):
        state = STATE
    for twin in (pickle.loads(pickle.dumps(equations)), copy.deepcopy(equations)):
        assert twin.form == equations.form
        assert twin.recover(state) == equations.recover(state)
        assert twin.latex() == equations.latex()


# -- a form added at run time ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain(MechanicalForm):
    """Lagrange's equations of the first kind once more, with a number that nothing uses."""

    name = "plain"
    summary = "Lagrange's equations, plain."

    weight: float = option("number", "A number.", default=1.0)

    def variables(self, mechanics, samples):
        return full_state(mechanics, multipliers=len(mechanics.system.constraints))

    def eliminate(self, mechanics, variables, samples):
        return eliminate_multipliers(mechanics, samples)

    def lines(self, equations):
        return [*balance_lines(equations), *constraint_lines(equations)]


@pytest.fixture
def plain():
    register(Plain)
    yield Plain
    del FORMS["plain"]


def test_a_new_form_is_known_to_python(plain):
    expected = vn.derive(pendulum())
    for equations in (vn.derive(pendulum(), "plain", weight=2.0), vn.derive(pendulum(), Plain(weight=2.0))):
        assert equations.form == Plain(weight=2.0)
        assert equations.recover(STATE) == expected.recover(STATE)
        assert equations.latex() == expected.latex()
    motion = vn.simulate(equations, {x: 0.6}, (0, 1), guess={y: -0.8})
    assert motion.energy_error < 1e-12


def test_a_new_form_is_known_to_model_files_and_their_schema(plain):
    model = loads(FILE + '[form]\nname = "plain"\nweight = 3\n')
    assert vn.derive(model.system, **model.derivation).form == Plain(weight=3.0)
    keys = schema()["properties"]["form"]["properties"]
    assert "plain" in keys["name"]["enum"]
    assert keys["weight"]["description"].startswith("A number.")
    with pytest.raises(ModelFileError, match="plain has no kind"):
        loads(FILE + '[form]\nname = "plain"\nkind = "voronets-hamel"\n')


def test_a_new_form_is_known_to_the_command_line_and_to_latex(plain, tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(FILE, encoding="utf-8")
    said = CliRunner().invoke(app, ["derive", str(path), "--form", "plain", "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert found["form"] == "plain"
    assert r"\lambda_{rod}" in found["latex"]


def test_a_new_form_is_known_to_the_report(plain, tmp_path):
    results = vn.examine(loads(FILE + '[form]\nname = "plain"\n'))
    page = tmp_path / "page.html"
    vn.write_report(results, page)
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert "Lagrange's equations, plain." in text


def test_without_registration_a_form_is_unknown():
    with pytest.raises(ModelFileError, match="plain"):
        loads(FILE + '[form]\nname = "plain"\n')


def test_a_form_without_a_name_is_refused():
    @dataclass(frozen=True)
    class Nameless(Plain):
        name = None

    with pytest.raises(vn.VinculumError, match="Nameless needs the class attribute name"):
        register(Nameless)


def test_a_taken_name_is_refused_but_a_class_may_be_defined_again(plain):
    @dataclass(frozen=True)
    class Other(Plain):
        name = "multipliers"

    with pytest.raises(vn.VinculumError, match=r"'multipliers' already exists \(Multipliers\)"):
        register(Other)
    assert register(Plain) is Plain


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('name = "multipliers"\nkind = "voronets-hamel"', "the form multipliers has no kind"),
        ('dependent = ["x"]', "the form multipliers has no dependent"),
        ('name = "shulgin"\nredundant = "least_squares"', "the form shulgin has no redundant"),
        ('name = "hamel"\nkind = "maggi"', "'maggi' is not one of voronets-hamel, chaplygin-type"),
    ],
)
def test_a_file_with_an_option_of_another_form_is_refused(lines, message):
    with pytest.raises(ModelFileError, match=message):
        loads(f"{FILE}[form]\n{lines}\n")


def test_the_documentation_lists_every_form_with_its_options(monkeypatch, plain):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs" / "hooks")
    table = importlib.import_module("forms").table()
    assert len(table.splitlines()) == 2 + len(FORMS)
    assert '| `"plain"` | `Plain` | Lagrange\'s equations, plain. | `at`, `weight` |' in table
