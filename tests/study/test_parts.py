"""The parts of a study on several threads: every run once, errors of any thread, Ctrl-C."""

import threading

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.ensembles import plan_study
from vinculum.ensembles.plan import Study
from vinculum.ensembles.threads import MISSING, Parts, run_threads

theta = dynamicsymbols("theta")


@pytest.fixture
def study():
    pendulum = vn.System([theta], theta.diff() ** 2 / 2, -sp.cos(theta), name="pendulum")
    return plan_study(pendulum, {theta.diff(): 0.0}, (0, 1), over={theta: np.linspace(-1, 1, 500)})


@pytest.mark.parametrize("rate", [0.0, 1e-3, 50.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize(("first", "last", "threads"), [(0, 1, 4), (3, 500, 1), (0, 10_000, 2), (7, 100_000, 64)])
def test_every_run_is_in_one_part(study, rate, first, last, threads):
    study.ensemble.idle.rate = rate
    parts = Parts(study, first, last, threads)
    taken = list(iter(parts.take, None))
    assert [begin for begin, _ in taken] == [first, *(end for _, end in taken[:-1])]
    assert taken[-1][1] == last
    assert parts.take() is None


def test_runs_that_are_made_one_by_one_are_distributed_one_by_one(study):
    study.ensemble.__dict__["in_lanes"] = False
    parts = Parts(study, 0, 6, 3)
    assert parts.workers == 3
    assert [parts.take() for _ in range(3)] == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("where", [0, 1])
def test_an_error_of_any_thread_is_raised_and_ends_the_others(study, where, monkeypatch):
    """Two threads begin together; the one with the wanted number fails."""
    together, numbers, block = threading.Barrier(2), iter(range(1000)), Study.block

    def failing(self, first, last, stop=None):
        number = next(numbers)
        if number < 2:
            together.wait(30)
        if number == where:
            raise ArithmeticError("on purpose")
        return block(self, first, last, stop)

    monkeypatch.setattr(Study, "block", failing)
    with pytest.raises(ArithmeticError, match="on purpose"):
        run_threads(study, 0, 500, 2)


def test_ctrl_c_keeps_what_is_computed(study):
    def interrupt(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="Interrupted after"):
        results = run_threads(study, 0, 500, 2, interrupt, partial=True)
    done = results["outcome"] != MISSING
    assert 0 < done.sum() <= 500
    whole = run_threads(study, 0, 500, 1)
    for name, values in results.items():
        assert np.array_equal(values[done], whole[name][done], equal_nan=True)
    with pytest.raises(KeyboardInterrupt):
        run_threads(study, 0, 500, 2, interrupt)


def test_progress_ends_at_one(study):
    seen: list[float] = []
    run_threads(study, 0, 500, 2, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
