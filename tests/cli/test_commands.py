"""The commands: what they print, write and refuse, and the exit codes that scripts trust."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from click.testing import CliRunner

import vinculum as vn
from files.small import TRACK
from vinculum.cli import terminal
from vinculum.cli.app import app
from vinculum.cli.completion import LINES
from vinculum.cli.files import examples, folder

HEAVY = ("sympy", "numpy", "scipy", "heyoka", "numba", "llvmlite", "xarray", "plotly", "pint", "rich", "control",
         "pydantic")  # fmt: skip
FLOW = ("derive", "simulate", "equilibrium", "stability", "stabilize")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; its result."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def run(line, code=0):
        result = runner.invoke(app, line.split(), catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def model(run, tmp_path):
    """The file that `vinculum new` writes."""
    run("new model.toml")
    return tmp_path / "model.toml"


def test_help_imports_nothing_heavy():
    lines = (
        "import sys",
        "from vinculum.cli.app import app",
        "try: app(['--help'])",
        "except SystemExit: pass",
        f"print([m for m in {HEAVY} if m in sys.modules])",
    )
    code = "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
    assert "stabilize" in done.stdout


def test_a_simulation_imports_only_what_it_uses(model):
    """Each of these packages takes a tenth of a second to import, or more."""
    unused = ("scipy", "numba", "xarray", "pandas", "plotly", "pint", "rich", "control", "numpy.ma", "sympy.physics",
              "pydantic")  # fmt: skip
    lines = (
        "import sys",
        "from vinculum.cli.app import app",
        f"try: app(['simulate', {str(model)!r}])",
        "except SystemExit: pass",
        f"print([m for m in {unused} if m in sys.modules])",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert "energy error" in done.stdout
    assert done.stdout.rstrip().endswith("[]")


def test_tables_align_wide_characters_and_continue_long_values(capsys):
    terminal.table("title", {"é": "a " * 120, "角": 1.5})
    terminal.grid("title", ["角", "long name"], [["x", 1.0], ["yyy", -0.25]])
    first, second = "  é   " + "a " * 96 + "a", "      " + "a " * 22 + "a"
    grid = ["  角   long name", "  x            1", "  yyy      -0.25"]
    assert capsys.readouterr().out.splitlines() == ["title", first, second, "  角  1.5", "title", *grid]


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "vinculum", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"vinculum {vn.__version__}\n"


def test_every_command_has_help_with_an_example(run):
    commands = list(app.commands)
    assert set(commands) >= {*FLOW, "report", "new", "check", "demo"}
    for command in commands:
        printed = run(f"{command} --help").output
        assert "Example" in printed
        assert f"vinculum {command}" in printed


def test_completion_is_offered():
    environment = {**os.environ, "_VINCULUM_COMPLETE": "bash_complete", "COMP_WORDS": "vinculum st", "COMP_CWORD": "1"}
    code = "from vinculum.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["plain,stability", "plain,stabilize", "plain,study"]


@pytest.mark.parametrize("shell", LINES)
def test_completion_is_installed_once(run, tmp_path, monkeypatch, shell):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    place, line = LINES[shell]
    run("--install-completion")
    assert line in run("--install-completion").output
    assert (tmp_path / place).read_text(encoding="utf-8") == f"\n{line}\n"


def test_completion_is_refused_for_another_shell(run, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/csh")
    assert "csh; completion needs one of bash, zsh, fish" in run("--install-completion", code=2).stderr


# -- new and check -----------------------------------------------------------------------------------------------


def test_a_new_file_has_no_problems_and_names_the_schema(model, run):
    assert "no problems found" in run("check model.toml").output
    first = model.read_text(encoding="utf-8").split("\n")[0]
    assert first.startswith("#:schema file://")
    assert first.endswith("schema.json")
    assert Path(url2pathname(urlsplit(first.removeprefix("#:schema ")).path)).is_file()


def test_nothing_is_overwritten_unasked(model, run):
    before = model.read_text(encoding="utf-8")
    model.write_text("mine", encoding="utf-8")
    assert "--force" in run("new model.toml", code=2).stderr
    assert model.read_text(encoding="utf-8") == "mine"
    run("new model.toml --force")
    assert model.read_text(encoding="utf-8") == before


def test_examples_are_listed_and_copied(run, tmp_path):
    assert "ball_and_beam" in run("new --list").output
    run("new ball.toml --like ball_and_beam")
    copied = (tmp_path / "ball.toml").read_text(encoding="utf-8")
    assert copied.endswith((folder() / "ball_and_beam.toml").read_text(encoding="utf-8"))
    assert "Did you mean ball_and_beam?" in run("new x.toml --like bal_and_beam", code=2).stderr
    assert len(examples()) >= 5


def test_check_says_everything_at_once(model, run):
    text = model.read_text(encoding="utf-8").replace("dot(x)^2/2", "dot(y)^2/2").replace("times", "tmes")
    model.write_text(text, encoding="utf-8")
    said = run("check model.toml", code=2).stderr
    assert "y is not known" in said
    assert "tmes is not a key" in said
    found = json.loads(run("check model.toml --json", code=2).stdout)
    assert len(found["problems"]) >= 4
    assert {"line", "column", "key", "message"} <= set(found["problems"][0])


# -- the flow ----------------------------------------------------------------------------------------------------


def test_derive_prints_and_writes(model, run, tmp_path):
    assert "dot(dot(theta))" in run("derive model.toml").output
    for name, mark in (("e.tex", "\\ddot{\\theta}"), ("e.md", "```math"), ("e.txt", "dot(dot(theta))")):
        run(f"derive model.toml -o {name}")
        assert mark in (tmp_path / name).read_text(encoding="utf-8")
    data = json.loads(run("derive model.toml --form lyapunov --json").stdout)
    assert data["form"] == "lyapunov"
    assert data["states"] == ["x", "theta", "dot(x)", "dot(theta)"]


def test_simulate_writes_what_can_be_read_again(model, run, tmp_path):
    data = json.loads(run("simulate model.toml -o motion.nc --end 0.5 --json").stdout)
    motion = vn.read_trajectory(tmp_path / "motion.nc")
    assert data["outcome"]["kind"] == "finished"
    assert data["outcome"]["time"] == motion.t[-1] == 0.5
    assert data["final"]["theta"] == motion["theta"][-1]
    run("simulate model.toml -o motion.csv --end 0.5")
    rows = (tmp_path / "motion.csv").read_text(encoding="utf-8").split("\n")
    assert "theta" in rows[0].split(",")
    assert len(rows) == len(motion.t) + 2


def test_parameters_and_method_are_changed_on_the_command_line(model, run):
    def final(options):
        return json.loads(run(f"simulate model.toml --end 0.2 --json {options}").stdout)["final"]["theta"]

    assert final("--set m=0.5") != final("")
    assert final("--set m=0.2") == final("")
    assert final("--method rk4 --step 1e-4") == pytest.approx(final(""), rel=1e-9)


def test_stability_and_its_strict_exit_code(model, run):
    data = json.loads(run("stability model.toml --json").stdout)
    assert data["stability"]["kind"] == "unstable"
    assert max(root["re"] for root in data["stability"]["roots"]) == pytest.approx(4.59961, rel=1e-5)
    assert "unstable" in run("stability model.toml --strict", code=1).output
    assert len(json.loads(run("equilibrium model.toml --json").stdout)["equilibria"]) == 2


FREE_SHAFT = """
[system]
coordinates = ["theta", "phi"]
kinetic_energy = "(dot(theta)^2 + (1 + sin(theta)^2)*dot(phi)^2)/2"
potential_energy = "-9.81*cos(theta)"
[equilibrium]
"""


def test_a_steady_motion_is_called_so(run, tmp_path):
    steady = FREE_SHAFT + 'given = { "dot(phi)" = 4 }\nnear = { theta = 1 }\n'
    (tmp_path / "turning.toml").write_text(steady, encoding="utf-8")
    printed = run("stability turning.toml --strict").output
    assert "turning, steady motion" in printed
    assert "1 (family in theta, dot(phi))" in printed
    assert "0+4.38524i" in printed  # a real part of rounding errors is shown as zero
    data = json.loads(run("equilibrium turning.toml --json").stdout)["equilibria"][0]
    assert data["kind"] == "steady motion"
    assert (data["ignorable"], data["constant"]) == (["phi"], ["theta", "dot(theta)", "dot(phi)"])


def test_drift_is_named_and_not_stable(run, tmp_path):
    (tmp_path / "rest.toml").write_text(FREE_SHAFT + "given = { phi = 0 }\n", encoding="utf-8")
    assert "drifting" in run("stability rest.toml").output
    data = json.loads(run("stability rest.toml --strict --json", code=1).stdout)["stability"]
    assert data["drifting"] == ["phi"]
    assert data["structural_zeros"] == {"free position of phi": 1, "conserved momenta in dot(phi)": 1}
    assert data["structural_zero_roots"] == 2
    (tmp_path / "rest.toml").write_text(FREE_SHAFT + 'given = { phi = 0 }\ndrop = ["phi"]\n', encoding="utf-8")
    run("stability rest.toml --strict")


def test_a_corner_has_a_verdict_without_roots(run, tmp_path):
    text = '[system]\ncoordinates = ["x"]\nkinetic_energy = "dot(x)^2/2"\npotential_energy = "{}"\n[equilibrium]\n'
    (tmp_path / "stops.toml").write_text(text.format("x^2 + 3*max(0, x)^2"), encoding="utf-8")
    printed = run("stability stops.toml --strict").output
    assert "Lagrange-Dirichlet" in printed
    assert "damping ratio" not in printed
    (tmp_path / "open.toml").write_text(text.format("max(0, x)^2") + "given = { x = 0 }\n", encoding="utf-8")
    assert "would decide" in run("stability open.toml --strict", code=1).output


def test_stabilize_gives_gains_and_a_closed_loop_that_comes_to_rest(model, run, tmp_path):
    run("stabilize model.toml -o gains.json")
    data = json.loads((tmp_path / "gains.json").read_text(encoding="utf-8"))
    assert data["closed_loop"]["stable"]
    assert all(root["re"] < 0 for root in data["closed_loop"]["roots"])
    assert abs(data["motion"]["final"]["theta"]) < 1e-4
    assert len(data["gain"][0]) == len(data["states"]) == 4


@pytest.mark.slow
def test_report_writes_one_page_beside_the_model(model, run, tmp_path):
    assert "model.html" in run("report model.toml").stderr
    page = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert "pendulum on a cart" in page
    assert "--force" in run("report model.toml", code=2).stderr


def test_demo_writes_where_it_is_told(run, tmp_path, monkeypatch):
    def written(*args, **options):
        path = next(argument for argument in args if hasattr(argument, "write_text"))
        path.write_text("page", encoding="utf-8")
        return path

    monkeypatch.setattr("vinculum.present.report.write_report", written)
    for command, path in (("demo", "ball_and_beam.html"), ("demo -o d.html", "d.html")):
        run(command)
        assert (tmp_path / path).exists()
    assert "--force" in run("demo", code=2).stderr


def test_stabilize_saves_the_closed_loop_with_its_inputs(model, run, tmp_path):
    data = json.loads(run("stabilize model.toml -o loop.nc --json").stdout)
    motion = vn.read_trajectory(tmp_path / "loop.nc")
    gain = dict(zip(data["states"], data["gain"][0], strict=True))
    assert data["law"] == "u = u0 + K (x - x0)"
    rest = data["equilibrium"]["values"]
    columns = {name: motion[name.removeprefix("dot(").replace(")", "_dot")] for name in data["states"]}
    law = rest["u"] + sum(k * (columns[name] - rest[name]) for name, k in gain.items())
    assert motion["u"] == pytest.approx(law, abs=1e-9)
    assert data["arrival"]["came_to_the_equilibrium"]
    bare = model.read_text(encoding="utf-8").split("[closed_loop]")[0]
    (tmp_path / "bare.toml").write_text(bare, encoding="utf-8")
    assert "[closed_loop]" in run("stabilize bare.toml -o other.nc", code=2).stderr


@pytest.fixture
def weak(model):
    """A closed loop whose force is too small to keep the pendulum up."""
    text = model.read_text(encoding="utf-8").replace("[closed_loop]", '[closed_loop]\nlimits = { u = "0.1 N" }')
    model.write_text(text, encoding="utf-8")


def test_a_closed_loop_that_fails_is_a_no(weak, run):
    told = json.loads(run("stabilize model.toml --json", code=1).stdout)
    arrival = told["arrival"]
    assert told["closed_loop"]["stable"]  # by its first approximation
    assert not arrival["came_to_the_equilibrium"]
    assert arrival["distance_at_the_end"] > arrival["distance_at_the_start"]
    assert 0.9 * arrival["lasted"] < arrival["limits"]["u"]["time_at_limit"] <= arrival["lasted"]
    assert re.search("converged to the equilibrium +no", run("stabilize model.toml", code=1).stdout)


def test_a_report_says_that_the_closed_loop_fails(weak, run, tmp_path):
    assert "did not converge to its equilibrium" in run("report model.toml", code=1).stderr
    assert "did not converge to its equilibrium" in (tmp_path / "model.html").read_text(encoding="utf-8")


def test_a_report_says_that_a_motion_broke_down(model, run, tmp_path):
    _breaks_down(model)
    assert "did not reach its end" in run("report model.toml", code=1).stderr
    assert (tmp_path / "model.html").exists()


def test_a_report_says_that_a_motion_was_refused(model, run, tmp_path):
    text = model.read_text(encoding="utf-8").replace("inputs = { u = 0 }", 'inputs = { u = "k*l*log(sin(theta) - 2)" }')
    model.write_text(text, encoding="utf-8")
    run("simulate model.toml", code=3)
    assert "Not done: motion" in run("report model.toml", code=3).stderr
    assert (tmp_path / "model.html").exists()


def test_an_interrupted_report_is_written_and_says_so(model, run, tmp_path, monkeypatch):
    """A real SIGINT during the motion, as in a simulation."""
    text = model.read_text(encoding="utf-8").replace("times = [0, 5]", "times = [0, 1e7]", 1)
    model.write_text(text, encoding="utf-8")
    alarm = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    @contextmanager
    def set_once():
        yield lambda step, share: alarm.start() if step == "motion" and 1 > share > 2e-3 and alarm.ident is None else 0

    monkeypatch.setattr(terminal, "steps", set_once)
    try:
        assert "interrupted" in run("report model.toml", code=130).stderr
    finally:
        alarm.cancel()
    assert (tmp_path / "model.html").exists()


def test_a_report_that_is_interrupted_between_motions_is_written_too(model, run, tmp_path, monkeypatch):
    def pressed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("vinculum.model.examine.steps.rest_of", pressed)
    assert "Not done: equilibria. The step was interrupted" in run("report model.toml", code=130).stderr
    assert "interrupted with Ctrl-C" in (tmp_path / "model.html").read_text(encoding="utf-8")


def test_all_events_are_told(model, run, tmp_path):
    events = 'events = [{ name = "swing", expression = "dot(theta)" }, { name = "far", expression = "x - 99*l" }]'
    text = model.read_text(encoding="utf-8").replace("[simulation]", f"[simulation]\n{events}")
    model.write_text(text, encoding="utf-8")
    times = json.loads(run("simulate model.toml --end 30 --json").stdout)["event_times"]
    assert times["far"] == []
    assert len(times["swing"]) > 3
    told = run("simulate model.toml --end 30").stdout
    assert re.search("event far +none", told)
    assert re.search(f"event swing .* and {len(times['swing']) - 3} more", told)


def test_a_curve_used_beyond_its_points_is_told(run, tmp_path):
    (tmp_path / "track.toml").write_text(TRACK.replace("-30 cm", "-65 cm"), encoding="utf-8")
    told = run("simulate track.toml").stdout
    assert "height was used from -0.66" in told
    (beyond,) = json.loads(run("simulate track.toml --json").stdout)["beyond"]
    assert (beyond["name"], beyond["points"]) == ("height", [-0.6, 0.6])
    run("report track.toml -o page.html")
    assert "Warning: height was used from -0.66" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_refusals_at_run_time_speak_of_the_file(run, tmp_path):
    text = """
[system]
coordinates = ["x", "y"]
kinetic_energy = "dot(x)^2 + dot(y)^2"
[constraints]
one = "x"
two = "2*x"
[simulation]
times = [0, 1]
"""
    (tmp_path / "twice.toml").write_text(text, encoding="utf-8")
    said = run("simulate twice.toml", code=3).stderr
    assert 'use redundant = "least_squares" in [form]' in said
    run("report twice.toml -o page.html", code=3)
    assert "redundant = &quot;least_squares&quot;" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_new_does_not_speak_of_an_option_it_lacks(model, run):
    assert "-o" not in run("new model.toml", code=2).stderr


# -- exit codes --------------------------------------------------------------------------------------------------


def _breaks_down(model):
    """A motion that leaves the domain of its input's law."""
    text = model.read_text(encoding="utf-8").replace("inputs = { u = 0 }", 'inputs = { u = "push*log((l_0 - x)/l_0)" }')
    model.write_text(text.replace("[parameters]", '[parameters]\nl_0 = "1 mm"\npush = "1 N"'), encoding="utf-8")


def test_a_run_that_ends_early_is_a_no(model, run):
    _breaks_down(model)
    data = json.loads(run("simulate model.toml --json", code=1).stdout)
    assert data["outcome"]["kind"] == "non-finite"
    assert data["outcome"]["time"] < 5
    assert data["outcome"]["cause"] == "refused"
    (part,) = data["outcome"]["about"]
    assert part["kind"] == "expression"
    assert part["name"].startswith("log(")
    assert part["name"] in data["outcome"]["reason"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("simulate", 2),
        ("simulate nothing.toml", 2),
        ("simulate model.toml --set m", 2),
        ("simulate model.toml --set nothing=1", 2),
        ("simulate model.toml -o motion.xyz", 2),
        ("simulate model.toml -o nowhere/motion.nc", 2),
        ("derive model.toml --form nothing", 2),
        ("simulate model.toml --method rk4", 3),
        ("simulate model.toml --nothing", 2),
    ],
)
def test_exit_codes(model, run, line, code):
    assert run(line, code).stderr.strip()


@pytest.mark.parametrize("command", ["simulate", "equilibrium", "stability", "stabilize"])
def test_a_question_that_the_file_does_not_ask(command, run, tmp_path):
    (tmp_path / "bare.toml").write_text('[system]\ncoordinates = ["x"]\nkinetic_energy = "dot(x)^2/2"\n')
    assert "Add [" in run(f"{command} bare.toml", code=2).stderr


def test_an_interrupted_run_keeps_what_was_computed(model, run, tmp_path, monkeypatch):
    """A real SIGINT, half a second after the first samples, which are 1e4 apart."""
    alarm = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    @contextmanager
    def set_once(task):
        yield lambda share: alarm.start() if share > 2e-3 and alarm.ident is None else None

    monkeypatch.setattr(terminal, "bar", set_once)
    try:
        run("simulate model.toml -o motion.nc --end 1e7", code=130)
    finally:
        alarm.cancel()
    motion = vn.read_trajectory(tmp_path / "motion.nc")
    assert motion.outcome.kind == "interrupted"
    assert 0 < motion.t[-1] < 1e7


def test_an_interruption_elsewhere_is_said(model, run, monkeypatch):
    def pressed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("vinculum.model.examine.equations_of", pressed)
    assert "Interrupted" in run("derive model.toml", code=130).stderr


def test_regions_are_in_tables_and_data():
    """Every start converges or does not, and every pair of parameters is stable or not."""
    path = folder() / "start.toml"
    done = CliRunner().invoke(app, ["stabilize", str(path), "--json"])
    data = json.loads(done.stdout)
    assert data["attraction"]["starts"] == 15 * 13
    assert 0 < data["attraction"]["converged"] < data["attraction"]["starts"]
    assert set(data["attraction"]["lyapunov_set"]) == {"x", "theta", "dot(x)", "dot(theta)"}
    found = data["stability_map"]
    assert found["stable"] + found["unstable"] == found["pairs"] == 121
    shown = CliRunner().invoke(app, ["stabilize", str(path)]).stdout
    assert "region of attraction" in shown
    assert "stable over  m 0.05 to 1.5, l 0.1 to 0.8" in shown
