"""What pyproject.toml promises: dependencies that the package uses, lowest versions that are tried, no strays."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROMISED = dict(line.lower().split(">=") for line in PROJECT["dependencies"])
OPTIONAL = {  # imported where they are needed; an error says what to install
    re.split(r"[>\[]", line)[0].lower()
    for extra in ("study", "plots", "video", "workshop")
    for line in PROJECT["optional-dependencies"].get(extra, ())
}
UNSEEN = {"netcdf4"}  # xarray imports it, by the name of its engine


def imported(folder: str) -> set[str]:
    """The top-level modules that a folder imports anywhere, inside functions too."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def test_the_package_imports_its_dependencies_and_nothing_else():
    distributions = packages_distributions()
    outside = imported("src") - set(sys.stdlib_module_names) - {"vinculum"}
    used = {distributions[name][0].lower() for name in outside}
    assert used | UNSEEN | OPTIONAL == set(PROMISED) | OPTIONAL


def test_papers_and_tests_stay_outside_the_package():
    """They are beside it: `packages` of the wheel has the sources alone."""
    assert not imported("src") & {"papers", "examples", "tests", "browser", "playwright"}
    assert not imported("papers") & {"tests", "browser"}


def pinned(name: str) -> dict[str, str]:
    """{package: version} of a file of constraints."""
    lines = (ROOT / name).read_text(encoding="utf-8").lower().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_the_lowest_versions_are_those_that_are_tried():
    lowest = pinned("constraints-lowest.txt")
    for name, version in PROMISED.items():
        assert re.fullmatch(rf"{re.escape(version)}(\.0)*", lowest[name]), f"{name}: {version} is not {lowest[name]}"


def test_every_dependency_is_pinned():
    versions = {name.replace("_", "-") for name in pinned("constraints.txt")}
    developers = [re.split(r"[>\[]", line)[0].lower() for line in PROJECT["optional-dependencies"]["dev"]]
    assert {*PROMISED, *developers} <= versions
