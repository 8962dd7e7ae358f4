"""``vinculum open``: edit a model file in the browser, with the page about it next to the text."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vinculum.cli.options import PATH
from vinculum.cli.terminal import DONE, Wrong, say

FILES = click.argument("models", metavar="[MODEL...]", type=PATH, nargs=-1)
PORT = click.option(
    "--port", metavar="NUMBER", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0 takes a free one."
)
BROWSER = click.option("--browser/--no-browser", default=True, help="Open the address in the browser.")


@FILES
@PORT
@BROWSER
def open_(models: tuple[Path, ...], port: int, browser: bool) -> int:
    """Edit model files in the browser, next to their pages.

    Findings appear at their places as you type, and the page follows the text. Without a file, an example to start from
    is opened. The server listens on this machine only, at an address that nobody can guess, and ends with Ctrl-C.

    \b
    Example:
      vinculum open model.toml
    """
    from vinculum.extras import extra

    for path in models:
        if not path.is_file():
            raise Wrong(f"There is no file {path}. To create one: vinculum new {path}")
    for package in ("starlette", "uvicorn"):
        extra(package, "workshop")
    from vinculum.workshop.server import serve

    def opened(address: str) -> None:
        say(f"The workshop is at {address}\nIt ends with Ctrl-C.")
        sys.stdout.flush()  # into a pipe or a log too: the server runs on
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(list(models), port, opened)
    return DONE
