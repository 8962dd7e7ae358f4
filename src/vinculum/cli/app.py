"""The commands in order of use, each in its own file."""

from __future__ import annotations

from typing import Annotated

import typer

from vinculum.cli.control import equilibrium, stability, stabilize
from vinculum.cli.export import export
from vinculum.cli.files import check, new, schema
from vinculum.cli.motion import derive, simulate
from vinculum.cli.pages import demo, report
from vinculum.cli.study import study
from vinculum.cli.terminal import guarded
from vinculum.cli.workshop import open_

HELP = """Constrained mechanical systems: equations of motion, simulation, stability and control.

\b
Start with a model file and report everything about it:
  vinculum new ball.toml --like ball_and_beam
  vinculum report ball.toml

\b
Exit codes: 0 done; 1 done, but the answer is no; 2 wrong usage or model file;
3 the computation failed; 130 interrupted; 143 terminated.
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,  # rich would add a quarter of a second to help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        from vinculum import __version__

        typer.echo(f"vinculum {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before the command."""


app.command("open")(guarded(open_))
for command in (new, check, derive, simulate, equilibrium, stability, stabilize, study, export, report, demo, schema):
    app.command(command.__name__)(guarded(command))
