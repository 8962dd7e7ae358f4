"""``vinculum new | check | schema``: model files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vinculum.cli.options import FORCE, JSON, MODEL, OUTPUT, PATH, SET
from vinculum.cli.terminal import DONE, WRONG, Wrong, say

if TYPE_CHECKING:
    from vinculum.model.text.problems import Problem

NEW_FILE = click.argument("file", metavar="[FILE]", type=PATH, required=False)
LIKE = click.option("--like", metavar="EXAMPLE", help="Copy an example.")
LIST = click.option("--list", "listing", is_flag=True, help="List the examples that can be copied.")


@NEW_FILE
@LIKE
@FORCE
@LIST
def new(file: Path | None, like: str | None, force: bool, listing: bool) -> int:
    """Write a model file to start from, or a copy of an example.

    \b
    Examples:
      vinculum new model.toml
      vinculum new ball.toml --like ball_and_beam
      vinculum new --list
    """
    from vinculum.cli.terminal import free_place, written

    if listing:
        for name, about in examples().items():
            say(f"{name:<28}{about}")
        return DONE
    if file is None:
        raise Wrong("No file name was given. Type vinculum new model.toml, or vinculum new --list.")
    free_place(file, force, (".toml",), how="")
    written(file, _with_schema(_source(like).read_text(encoding="utf-8")))
    return DONE


def folder() -> Path:
    """The folder of the examples."""
    return Path(__file__).parents[1] / "model" / "library"


def examples() -> dict[str, str]:
    """Names of the examples, and the title of each."""
    import tomllib

    found = sorted(path for path in folder().glob("*.toml") if path.stem != "start")
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")).get("name", "") for path in found}


def _source(like: str | None) -> Path:
    path = folder() / f"{like or 'start'}.toml"
    known = [found.stem for found in folder().glob("*.toml")]
    if like is not None and like not in known:
        from vinculum.names import suggestion

        hint = suggestion(like, known) or " List them with vinculum new --list."
        raise Wrong(f"There is no example {like!r}.{hint}")
    return path


def _with_schema(text: str) -> str:
    """The text with a first line that tells editors where the schema is."""
    schema = Path(__file__).parents[1] / "model" / "schema" / "schema.json"
    return f"#:schema {schema.as_uri()}\n{text}"


@MODEL
@SET
@JSON
def check(model: Path, settings: tuple[str, ...], json: bool) -> int:
    """List all problems of a model file.

    \b
    Example:
      vinculum check model.toml
    """
    from vinculum.cli.options import opened
    from vinculum.cli.terminal import as_json
    from vinculum.model.text.problems import ModelFileError

    try:
        found = opened(model, settings)
    except ModelFileError as error:
        if not json:
            raise
        say(as_json(_problem_data(model, error.problems)))
        return WRONG
    say(as_json(_problem_data(model, ())) if json else f"{model}: no problems found.\n{found.system}")
    return DONE


def _problem_data(path: Path, problems: Sequence[Problem]) -> dict[str, Any]:
    keys = ("line", "column", "key", "message", "excerpt", "start", "end")
    return {"file": str(path), "problems": [{key: getattr(problem, key) for key in keys} for problem in problems]}


@OUTPUT
@FORCE
def schema(output: Path | None, force: bool) -> int:
    """Print the JSON schema of model files, for editors.

    \b
    Example:
      vinculum schema -o vinculum.schema.json
    """
    from vinculum.cli.terminal import free_place, written
    from vinculum.model.schema.schema import schema_text

    free_place(output, force, (".json",))
    if output is None:
        print(schema_text(), end="")
    else:
        written(output, schema_text())
    return DONE
