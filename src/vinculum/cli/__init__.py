"""The command line. Everything heavy is imported inside the commands, so that help and completion are quick.

Exit codes: 0 done; 1 done, but the answer is a no (a run that ended early, a verdict refused with ``--strict``);
2 wrong usage, a model file with problems, or a file in the way; 3 refused by the mathematics; 130 interrupted.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from vinculum.cli.app import app

    app(prog_name="vinculum")
