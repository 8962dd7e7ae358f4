"""The machine code that heyoka keeps is bounded, can be switched off, and needs no folder."""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType

import pytest
from numba import njit
from numba.core import caching

import vinculum as vn
from vinculum.compile.code_cache import IN_MEMORY, ON_DISK, VARIABLE, disk_limit, heyoka
from vinculum.compile.pointer import kept, loop

RUN = """
from sympy.physics.mechanics import dynamicsymbols
import vinculum as vn
from vinculum.compile.code_cache import heyoka
x = dynamicsymbols("x")
motion = vn.simulate(vn.System([x], x.diff() ** 2 / 2, x**2), {x: 1}, (0, 1))
state = heyoka().llvm_state
print(motion.outcome.kind, state.get_diskcache_enabled(), state.get_diskcache_path())
"""


def test_the_limits():
    state = heyoka().llvm_state
    if not hasattr(state, "get_diskcache_limit"):
        pytest.skip("this version of heyoka keeps nothing on disk")
    assert state.get_memcache_limit() == IN_MEMORY * 1_000_000
    assert state.get_diskcache_path().name == "vinculum"
    assert state.get_diskcache_limit() <= ON_DISK * 1_000_000 or os.environ.get(VARIABLE)


@pytest.mark.parametrize(
    ("value", "megabytes"), [("off", 0), ("OFF", 0), ("0", 0), ("50", 50), ("", ON_DISK), ("0.5", 0.5)]
)
def test_the_variable(value, megabytes, monkeypatch):
    monkeypatch.setenv(VARIABLE, value)
    assert disk_limit() == megabytes


@pytest.mark.parametrize("value", ["much", "-1", "nan", "1e99", "inf"])
def test_a_wrong_variable_is_refused(value, monkeypatch):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(vn.VinculumError, match=VARIABLE):
        disk_limit()


@pytest.mark.parametrize("changed", [{VARIABLE: "off"}, {"HOME": "/proc/nothing", "XDG_CACHE_HOME": "/proc/nothing"}])
def test_runs_without_a_cache_say_nothing(changed, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **changed}
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, env=environment, timeout=120)
    kind, enabled, *_ = done.stdout.split()
    assert (kind, enabled, done.stderr) == ("finished", "False", "")


def test_loops_are_compiled_where_no_folder_can_be_written(monkeypatch):
    """A read-only package of a user without a home: Numba refuses to keep the code, and the loop runs all the same."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="cannot cache"):
        njit(cache=True)(_twice)
    assert loop()(_twice)(3.0) == 6.0
    assert kept("float64(float64)")(_twice)(4.0) == 8.0


def test_a_loop_on_the_disk_belongs_to_the_versions_of_its_parts(tmp_path):
    """Numba looks at the file of a loop alone, and would go on with the old code of a part."""
    part = ModuleType("part")
    part.__file__ = str(tmp_path / "part.py")
    names = []
    for text in ("1", "22"):
        (tmp_path / "part.py").write_text(text, encoding="utf-8")

        def own(x):
            return x

        names.append(loop(part)(own).py_func.__qualname__)
    assert names[0] != names[1]


def _twice(x):
    return 2 * x
