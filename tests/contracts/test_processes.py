"""Runs and errors come back whole from other processes, forked or spawned."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import vinculum as vn
from simulate.models import hanging, pendulum, x, y
from vinculum.graph.from_sympy import UnknownFunction
from vinculum.model.examine.results import Interrupted

METHODS = {"taylor": {}, "bdf": {}, "rk4": {"step": 1e-3}}


def motion(method: str) -> vn.Trajectory:
    return vn.simulate(pendulum(), hanging(0.7, 0.3), np.linspace(0, 2, 21), method, progress=False, **METHODS[method])


MISTAKES = {
    "a model file": lambda: vn.model.loads("nonsense = 1"),
    "no file": lambda: vn.load("no_such_file.toml"),
    "no robot": lambda: vn.from_urdf("no_such_file.urdf"),
    "no run": lambda: vn.read_trajectory("no_such_file.nc"),
    "times": lambda: vn.simulate(pendulum(), {}, (0, 1j)),
    "constraints": lambda: vn.simulate(pendulum(), {x: 5, y: 0.3}, (0, 1)),
    "a system": lambda: vn.System([x], x.diff() ** 2, y),
}


def mistake(name: str) -> None:
    MISTAKES[name]()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_a_pool_gives_the_same_motions_and_the_same_errors(kind):
    here = {method: motion(method) for method in METHODS}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(kind)) as pool:
        for method, there in zip(METHODS, pool.map(motion, METHODS), strict=True):
            assert np.array_equal(there[x], here[method][x])  # whatever each process did before
            np.testing.assert_allclose(there[y.diff() ** 2], there[y.diff()] ** 2, rtol=1e-14)  # it still computes
            assert (there.method, there.outcome) == (here[method].method, here[method].outcome)
        for name in MISTAKES:
            with pytest.raises(vn.VinculumError) as alone:
                mistake(name)
            with pytest.raises(type(alone.value)) as sent:
                pool.submit(mistake, name).result(timeout=120)
            assert str(sent.value) == str(alone.value)
        assert pool.submit(abs, -1).result(timeout=60) == 1  # the pool is alive


def every_error() -> set[type]:
    """All error classes of the package that have been imported."""
    found = {vn.VinculumError}
    while more := {kind for known in found for kind in known.__subclasses__()} - found:
        found |= more
    return {kind for kind in found if kind.__module__.startswith("vinculum.")}


def test_every_error_class_pickles():
    with pytest.raises(vn.model.ModelFileError) as refused:
        vn.model.loads("nonsense = 1")
    made = {vn.model.ModelFileError: refused.value, vn.ModelError: vn.ModelError("no", ["because"])}
    assert {UnknownFunction, Interrupted} < every_error()
    for kind in every_error():
        error = made.get(kind) or kind("no")
        twin = pickle.loads(pickle.dumps(error))
        assert (type(twin), str(twin), twin.findings) == (kind, str(error), error.findings)
