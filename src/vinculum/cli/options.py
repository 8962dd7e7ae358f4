"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as model.toml.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result to a file.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file if it is there.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", "-s", metavar="NAME=VALUE", help="Change a parameter, as m=0.3 or l='20 cm'.", show_default=False
    ),
]
Form = Annotated[
    str | None, typer.Option("--form", metavar="FORM", help="Another form of the equations.", show_default=False)
]
