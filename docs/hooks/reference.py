"""The reference: a page for every stage of the flow, with the public names of that stage and their docstrings."""

import inspect
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import places, public_names
from navigation import put_into

STAGES = {
    "describe": "Describe: systems and constraints",
    "derivation": "Derive: equations of motion",
    "compile": "Compile: symbols into machine code",
    "simulation": "Simulate: motions",
    "analyze": "Analyze: equilibria and stability",
    "control": "Control: feedback and observers",
    "model": "Model files: load and examine",
    "present": "Present: pictures and pages",
    "names": "Names and errors",
}


def on_files(files, config, **_):
    """Called by MkDocs when it has collected its files."""
    pages = []
    for stage, names in by_stage().items():
        files.append(File.generated(config, f"reference/{stage}.md", content=page(stage, names)))
        pages.append(f"reference/{stage}.md")
    put_into(config.nav, "reference/", pages)
    return files


def by_stage() -> dict[str, list[str]]:
    """The public names of each stage, in the order of the package file."""
    found: dict[str, list[str]] = {stage: [] for stage in STAGES}
    for name, value in public_names().items():
        if name in places():  # tables such as METHODS have no docstring
            found[stage_of(value)].append(name)
    return {stage: names for stage, names in found.items() if names}


def stage_of(value: object) -> str:
    """The folder of the package a public name comes from; the files next to the folders are one page."""
    module = inspect.getmodule(value)
    parts = (module.__name__ if module else "vinculum").split(".")
    return parts[1] if len(parts) > 1 and parts[1] in STAGES else "names"


def page(stage: str, names: list[str]) -> str:
    """All names of a stage."""
    blocks = [f"::: {places()[name]}" for name in names]
    return "\n\n".join([f"# {STAGES[stage]}", *blocks])
