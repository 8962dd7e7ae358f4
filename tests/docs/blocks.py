"""The fenced blocks of a page, and how each kind is run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import jsonschema

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = ("text", "math")  # what stands at once below a block that prints
TITLE = re.compile(r'title="([^"]+)"')
CODE = re.compile(r"#\s*exit code (\d+)\s*$")  # a command that is meant to fail says so
HARMLESS = ("cat", "ls", "mkdir", "cp", "cd", "head")


class Block(NamedTuple):
    """A fenced block: its language, what else its first line says, the line of the page it begins at, its text."""

    language: str
    options: str
    line: int
    text: str

    @property
    def end(self) -> int:
        """The line after its closing fence."""
        return self.line + self.text.count("\n") + 1


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, _, options = match[1].strip().partition(" ")
        found.append(Block(language, options, text.count("\n", 0, match.start(2)) + 1, match[2]))
    return found


def run_python(block: Block, page: Path, names: dict) -> str:
    """What a block prints; a failure names the line of the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True), names)
    return printed.getvalue()


def commands(block: Block) -> list[tuple[str, str]]:
    """(command, what it prints by the page) of a shell block; in ``console`` blocks commands begin with ``$``."""
    if block.language == "bash":
        return [(line, "") for line in block.text.splitlines() if line.strip() and not line.startswith("#")]
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def run_command(command: str, folder: Path) -> str:
    """What a command prints. ``make`` and the examples run elsewhere: here their target or file must be there."""
    word, *rest = shlex.split(command, comments=True)
    if word == "source":
        assert rest == [".venv/bin/activate"], command
        return ""
    if word == "pip":  # `.ci/run` installs the wheel
        assert rest == ["install", "."], command
        return ""
    if word == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert all(name in targets for name in rest if "=" not in name and not name.startswith("-")), command
        return ""
    if word in ("python", ".venv/bin/python") and rest[0].startswith("examples/"):
        assert (ROOT / rest[0]).exists(), command
        return ""
    assert word == "vinculum" or word in HARMLESS, f"no test runs {command!r}"
    return _run(command, folder)


def _run(command: str, folder: Path) -> str:
    (tools := folder / ".tools").mkdir(exist_ok=True)
    (tools / "vinculum").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vinculum "$@"\n')
    (tools / "vinculum").chmod(0o755)
    settings = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    settings |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=settings, capture_output=True, text=True, timeout=300, check=False
    )
    expected = int(found[1]) if (found := CODE.search(command)) else 0
    assert done.returncode == expected, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + (done.stderr if expected else "")


def keep_file(block: Block, folder: Path) -> None:
    """A file of the page, under the name its first line gives it, as ``toml title="pendulum.toml"``, or a part of one.

    All its keys must be known; that a named file is used by a command or a Python block says `test_files_are_used`.
    """
    schema = json.loads((ROOT / "src/vinculum/model/schema/schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(tomllib.loads(block.text), {key: part for key, part in schema.items() if key != "oneOf"})
    if found := TITLE.search(block.options):
        (folder / found[1]).write_text(block.text, encoding="utf-8")
