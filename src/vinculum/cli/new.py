"""``vinculum new``: a commented model file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vinculum.cli.codes import DONE, Wrong
from vinculum.cli.options import Force

NewFile = Annotated[Path | None, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)]
Like = Annotated[str | None, typer.Option("--like", metavar="EXAMPLE", help="Copy an example.", show_default=False)]
List = Annotated[bool, typer.Option("--list", help="List the examples that can be copied.")]


def new(file: NewFile = None, like: Like = None, force: Force = False, listing: List = False) -> int:
    """Write a model file to start from, or a copy of an example.

    \b
    Examples:
      vinculum new model.toml
      vinculum new ball.toml --like ball_and_beam
      vinculum new --list
    """
    from vinculum.cli.output import free_place, written

    if listing:
        for name, about in examples().items():
            print(f"{name:<28}{about}")
        return DONE
    if file is None:
        raise Wrong("The file is missing. Write vinculum new model.toml, or vinculum new --list.")
    free_place(file, force, (".toml",), how="")
    written(file, _with_schema(_source(like).read_text(encoding="utf-8")))
    return DONE


def folder() -> Path:
    """Where the examples are."""
    return Path(__file__).parents[1] / "model" / "library"


def examples() -> dict[str, str]:
    """Names of the examples, and what each is called in its file."""
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
    """The line by which editors find the schema, in front."""
    schema = Path(__file__).parents[1] / "model" / "schema" / "schema.json"
    return f"#:schema {schema.as_uri()}\n{text}"
