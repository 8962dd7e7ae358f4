"""Ctrl-C during an import that cannot be done by halves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from vinculum.interrupts import uninterrupted

# Ctrl-C as the first module of numba is being imported; the second call of simulate imports it again.
INTERRUPTED = """
import os, signal, sys
import vinculum as vn
from sympy.physics.mechanics import dynamicsymbols

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "numba.core":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

x = dynamicsymbols("x")
equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2))
sys.meta_path.insert(0, Finder())
def run():
    return vn.simulate(equations, {x: 1}, (0, 1), method="rk4", step=0.01)
try:
    assert run().outcome.kind == "interrupted"
except KeyboardInterrupt:
    pass
else:
    assert "numba" in sys.modules
print(run().outcome.kind)
"""


def test_an_interrupted_import_of_numba_leaves_a_session_that_works():
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("finished\n", 0), ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_signal_is_heard_at_the_end(number):
    done, before = [], signal.signal(number, signal.default_int_handler)

    def work():
        with uninterrupted():
            os.kill(os.getpid(), number)
            done.append("all")

    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert done == ["all"]


def test_other_threads_leave_signals_alone():
    before, inside = signal.getsignal(signal.SIGINT), []

    def work():
        with uninterrupted():
            inside.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside == [before]
