"""``vinculum open``: edit a model file in the browser, with the page about it next to the text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from vinculum.cli.terminal import DONE, Wrong, say

Files = Annotated[
    list[Path] | None, typer.Argument(metavar="MODEL...", help="Model files, such as model.toml.", show_default=False)
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
Browser = Annotated[bool, typer.Option(help="Open the address in the browser.")]


def open_(models: Files = None, port: Port = 0, browser: Browser = True) -> int:
    """Edit model files in the browser, with the page about them next to the text.

    Findings appear at their places as you type, and the page follows the text. Without a file, an example to start from
    is opened. The server listens on this machine only, at an address that nobody can guess, and ends with Ctrl-C.

    \b
    Example:
      vinculum open model.toml
    """
    from vinculum.extras import extra

    for path in models or ():
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

    serve(list(models or ()), port, opened)
    return DONE
