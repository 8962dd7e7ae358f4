"""The commands in order of use, each in its own file."""

from __future__ import annotations

from typing import Any

import click

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


def _version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from vinculum import __version__

        click.echo(f"vinculum {__version__}")
        context.exit()


def _completion(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from vinculum.cli.completion import install_completion

        guarded(install_completion)()


def _before_the_command(name: str, what: Any, about: str) -> Any:
    """An option of ``vinculum`` itself that does something and ends."""
    return click.option(name, is_flag=True, is_eager=True, expose_value=False, callback=what, help=about)


class InOrder(click.Group):
    """Commands listed in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=InOrder,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@_before_the_command("--version", _version, "Print the version.")
@_before_the_command("--install-completion", _completion, "Let your shell complete commands, options and file names.")
def app() -> None:
    """All commands."""


app.command("open")(guarded(open_))
for command in (new, check, derive, simulate, equilibrium, stability, stabilize, study, export, report, demo, schema):
    app.command(command.__name__)(guarded(command))
