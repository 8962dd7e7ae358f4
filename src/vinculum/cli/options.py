"""Arguments and options shared by several commands, and loading of the model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vinculum.cli.terminal import Wrong

if TYPE_CHECKING:
    from vinculum.model.model import Model

PATH = click.Path(path_type=Path)
MODEL = click.argument("model", metavar="MODEL", type=PATH)
JSON = click.option("--json", is_flag=True, help="Print JSON instead of tables.")
OUTPUT = click.option("-o", "--output", metavar="FILE", type=PATH, help="Write the result to a file.")
FORCE = click.option("-f", "--force", is_flag=True, help="Overwrite the file if it exists.")
SET = click.option(
    "-s",
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a parameter, for example m=0.3 or l='20 cm'.",
)
FORM = click.option("--form", metavar="FORM", help="Another form of the equations.")
AT_SAMPLES = click.option(
    "--digital", "at_samples", is_flag=True, help="Write the motion with the law of [digital] to the file."
)


def opened(path: Path, settings: Sequence[str] = (), form: str | None = None) -> Model:
    """The model in a file; ``settings`` are NAME=VALUE."""
    from vinculum.model import load

    model = load(path, _changes(settings))
    if form is None:
        return model
    _refuse_unknown(form)
    return replace(model, derivation=_in_form(model, form))


_SECTIONS = {
    "simulation": "[simulation] with times = [0, 10]",
    "equilibrium": "[equilibrium] with given = {...} where inputs or coordinates are known",
    "control": "[control] with state_weights and input_weights",
    "closed_loop": "[closed_loop] with initial and times",
    "study": "[study] with over = { x = [0.1, 0.2] }",
}


def refuse_unasked(model: Model, path: Path, *sections: str) -> None:
    """Raise an error with what to add if the file lacks the section that a command needs."""
    for section in sections:
        if getattr(model, section) is None:
            raise Wrong(f"{path} has no [{section}], which this command needs. Add {_SECTIONS[section]}.")


def _refuse_unknown(form: str) -> None:
    from vinculum.derivation import form_names
    from vinculum.names import suggestion

    if form not in form_names():
        near = suggestion(form, form_names())
        raise Wrong(f"There is no form {form!r}.{near} The forms are {', '.join(form_names())}.")


def _changes(settings: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise Wrong(f"--set {setting!r} cannot be read. Write --set m=0.3, or --set l='20 cm'.")
        found[name.strip()] = _number(value.strip())
    return found


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _in_form(model: Model, form: str) -> dict[str, Any]:
    """The options of the file that also apply to another form."""
    from vinculum.derivation.forms.form import find_form

    options = find_form(form).options()
    kept = {key: value for key, value in model.derivation.items() if key in options}
    return {**kept, "form": form}
