"""``vinculum --install-completion``: the shell completes commands, options and file names."""

from __future__ import annotations

import os
from pathlib import Path

from vinculum.cli.terminal import Wrong, say

LINES = {
    "bash": (".bashrc", 'eval "$(_VINCULUM_COMPLETE=bash_source vinculum)"'),
    "zsh": (".zshrc", 'eval "$(_VINCULUM_COMPLETE=zsh_source vinculum)"'),
    "fish": (".config/fish/completions/vinculum.fish", "_VINCULUM_COMPLETE=fish_source vinculum | source"),
}


def install_completion() -> None:
    """Append a line to the start-up file of the user's shell, unless it is there."""
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in LINES:
        raise Wrong(f"SHELL names {shell or 'no shell'}; completion needs one of {', '.join(LINES)}.")
    name, line = LINES[shell]
    path = Path.home() / name
    if not path.exists() or line not in path.read_text(encoding="utf-8").splitlines():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    say(f"{path} now has the line\n{line}\nCompletion works in the next {shell} that you start.")
