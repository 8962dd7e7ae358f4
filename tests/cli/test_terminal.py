"""Control characters of a file never reach the terminal."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import vinculum as vn
from files.small import changed
from vinculum.cli import terminal
from vinculum.cli.app import app
from vinculum.visible import visible

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
IN_TOML = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202E"
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def hostile() -> dict[str, str]:
    """Model files with control characters in every kind of place; the first ones are valid."""
    valid = changed("-m*g*l*cos(theta)", "-m*g*l*cos(theta)")
    return {
        "name": re.sub(r'^name = ".*"', lambda _: f'name = "{IN_TOML}"', valid, flags=re.M),
        "unknown key": f'"{IN_TOML}" = 1\n' + valid,
        "formula": changed("-m*g*l*cos(theta)", f"m*g*{IN_TOML}"),
        "parameter": valid + f'\n["{IN_TOML}"]\nx = 1\n',
        "unit": changed("-m*g*l*cos(theta)", f"m*(1 {IN_TOML})"),
        "raw": valid.replace("cos", f"c{ESCAPE}os"),
        "comment": valid + f"\n# {ESCAPE}\n= 1\n",
    }


@pytest.mark.parametrize("command", ["check", "derive", "simulate", "equilibrium", "stability"])
@pytest.mark.parametrize("kind", hostile())
def test_no_command_prints_control_characters(kind, command, tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(hostile()[kind], encoding="utf-8")
    for further in ([], ["--json"]):
        done = CliRunner().invoke(app, [command, str(path), *further])
        assert done.output
        assert not UNSEEN.search(done.output), repr(done.output)
        if further and done.exit_code == 0:
            json.loads(done.stdout)


def test_names_keep_their_meaning_in_json(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(hostile()["name"], encoding="utf-8")
    done = CliRunner().invoke(app, ["simulate", str(path), "--json"])
    assert json.loads(done.stdout)["name"] == ESCAPE


@pytest.mark.parametrize("kind", hostile())
def test_errors_and_records_in_python(kind):
    try:
        model = vn.model.loads(hostile()[kind])
        shown = repr(model.system) + repr(vn.derive(model.system))
    except vn.model.ModelFileError as error:
        shown = str(error)
    assert not UNSEEN.search(shown)


def test_the_caret_stays_below_its_place():
    with pytest.raises(vn.model.ModelFileError) as refused:
        vn.model.loads(hostile()["formula"])
    excerpt, caret = str(refused.value).splitlines()[-2:]
    assert len(visible(ESCAPE)) == len(ESCAPE)
    assert excerpt[caret.index("^")] in visible(ESCAPE)


def test_a_long_step_is_told_in_lines_where_no_bar_is_drawn(capsys):
    now = iter([0.0, 0.0, 10.0, 20.0, 30.0, 45.0, 50.0, 50.0])
    lines = terminal._Lines(lambda: next(now))
    for share in (0.0, 0.1, 0.25, 0.3, 0.5):
        lines("study", share)
    lines("feedback", 0.5)
    assert capsys.readouterr().err.splitlines() == [
        "study: 25% after 20 s, about 60 s left",
        "study: 50% after 45 s, about 45 s left",
    ]
