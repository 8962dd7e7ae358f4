"""The command line. Heavy modules are imported inside the commands, to keep help and completion fast.

Exit codes: 0 done; 1 done, but the answer is no (a run that ended early, not stable with ``--strict``); 2 wrong usage,
an invalid model file, or an output file that exists; 3 the computation failed; 130 interrupted; 143
terminated.
"""

from __future__ import annotations

import atexit
import gc
import os


def main() -> None:
    """Run the command line.

    Matrices of mechanisms are small: the threads of a linear algebra library wait for each other most of the time, and
    the exponential of a 16 x 16 matrix takes two hundred times the processor time of one thread. Importing SymPy makes
    a hundred thousand objects that stay. Looking for garbage among them takes 0.06 s at the start and 0.2 s at the end,
    where Python looks again although the process ends.
    """
    for library in ("OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    gc.set_threshold(300_000, 10, 10)
    atexit.register(gc.freeze)
    from vinculum.cli.signals import take_signals

    take_signals()
    from vinculum.cli.app import app

    app(prog_name="vinculum")
