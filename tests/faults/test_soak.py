"""The soak finds leaks, and nothing else; `make soak` runs it."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from faults.flat import FEWEST, LIMITS, WARM_UP, Lap, judge
from faults.soak import ROUNDS, leaking, soak

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses /proc")
LAPS = WARM_UP + FEWEST
NOISE = 1.0  # megabytes, three times that of a busy machine


def laps(memory, files=None, seconds=None):
    """Laps with some series of megabytes, open files and seconds; nothing else changes."""
    constant = dict.fromkeys(LIMITS, 100.0)
    files = np.full(len(memory), 9) if files is None else files
    seconds = np.ones(len(memory)) if seconds is None else seconds
    rows = zip(memory, files, seconds, strict=True)
    return [Lap(constant | {"resident memory": m, "open files": f}, 50.0, s) for m, f, s in rows]


def noise(seed, count):
    return np.random.default_rng(seed).normal(0.0, NOISE, count)


def test_noise_is_not_growth():
    verdicts = [judge(laps(450 + noise(seed, count)), ROUNDS) for seed in range(100) for count in (LAPS, 30)]
    assert not any(grows for grows, _ in verdicts)
    assert not any(undecided for _, undecided in verdicts[1::2])


def test_a_leak_of_a_third_of_a_megabyte_is_found_in_the_shortest_soak():
    leak = 0.3 * ROUNDS * np.arange(LAPS)
    for seed in range(100):
        grows, undecided = judge(laps(450 + leak + noise(seed, LAPS)), ROUNDS)
        assert len(grows) == 1
        assert "resident memory: 0." in grows[0]
        assert not undecided


def test_a_leak_near_the_limit_never_passes():
    """Twice the limit is found or undecided; with three times as many laps it is found."""
    leak = 2 * LIMITS["resident memory"][0] * ROUNDS * np.arange(3 * LAPS)
    for seed in range(100):
        series = 450 + leak + noise(seed, 3 * LAPS)
        assert any(judge(laps(series[:LAPS]), ROUNDS))
        assert judge(laps(series), ROUNDS)[0]


@pytest.mark.parametrize("lap", range(2 * LAPS))
def test_one_jump_of_a_hundred_megabytes_is_not_a_leak(lap):
    """A cache or a pool that is filled at once; more laps decide."""
    series = 450 + noise(lap, 200) + 100.0 * (np.arange(200) >= lap)
    assert not judge(laps(series[: 2 * LAPS]), ROUNDS)[0]
    assert judge(laps(series), ROUNDS) == ([], [])


def test_a_cache_that_fills_up_to_its_bound_is_not_a_leak():
    series = 450 + noise(1, 200) + np.minimum(100.0, 10.0 * np.arange(200))
    assert judge(laps(series), ROUNDS) == ([], [])


def test_few_laps_decide_nothing():
    grows, undecided = judge(laps(450.0 + 100 * np.arange(LAPS - 1)), ROUNDS)
    assert not grows
    assert undecided == [f"{FEWEST - 1} laps after the warm-up; {FEWEST} are needed"]


def test_open_files_are_counted_exactly():
    steady, still = np.full(20, 450.0), np.full(20, 9)
    once = still + (np.arange(20) == 12)  # a file that was open during one measurement
    lost = still + ROUNDS * np.arange(20) // 20
    rarely = still + np.arange(20) // 9
    assert judge(laps(steady, once), ROUNDS) == ([], [])
    assert "open files" in judge(laps(steady, lost), ROUNDS)[0][0]
    assert any(judge(laps(steady, rarely), ROUNDS))


def test_time_counts_only_by_a_wide_margin():
    steady = np.full(20, 450.0)
    busy = 1.0 + np.abs(noise(3, 20))
    assert judge(laps(steady, seconds=busy), ROUNDS) == ([], [])
    assert "takes" in judge(laps(steady, seconds=np.where(np.arange(20) < 12, 1.0, 4.0)), ROUNDS)[0][0]


def test_caches_have_a_bound():
    full = [Lap(lap.held, 700.0, 1.0) for lap in laps(np.full(20, 450.0))]
    assert judge(full, ROUNDS)[0] == ["caches: 700 MB, limit 600"]


def idle(r, number, folder):
    """A round that does nothing."""


@linux
@pytest.mark.parametrize(
    ("kind", "told"), [("memory", "resident memory"), ("files", "open files"), ("nodes", "graph nodes")]
)
def test_a_process_that_leaks_is_found(kind, told):
    lost = []
    found = soak(0.0, work=leaking(kind, lost, idle))
    if kind == "files":
        [os.close(number) for number in lost[::20]]
    assert any(problem.startswith(told) for problem in found)


@linux
def test_a_process_that_does_nothing_is_flat():
    assert not soak(0.0, work=idle)
