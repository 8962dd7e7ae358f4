"""The command line. Heavy modules are imported inside the commands, to keep help and completion fast.

Exit codes: 0 done; 1 done, but the answer is no (a run that ended early, not stable with ``--strict``); 2 wrong usage,
an invalid model file, or an output file that exists; 3 the computation failed; 130 interrupted; 143
terminated.
"""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line.

    Importing SymPy makes half a million objects that stay; looking for garbage among them takes a tenth of a second.
    """
    gc.set_threshold(50_000, 10, 10)
    from vinculum.cli.signals import take_signals

    take_signals()
    from vinculum.cli.app import app

    app(prog_name="vinculum")
