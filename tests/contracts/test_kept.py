"""What records keep: bounded, the oldest goes first, the same for all threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from vinculum.kept import Kept


def test_what_was_not_used_for_the_longest_time_goes_first():
    kept = Kept(3)
    for key in "abc":
        kept.get(key, key.upper)
    assert kept.get("a", lambda: "made again") == "A"
    kept.get("d", lambda: "D")  # b goes
    assert len(kept) == 3
    assert [kept.get(key, lambda: "made again") for key in "acd"] == ["A", "C", "D"]
    assert kept.get("b", lambda: "made again") == "made again"


def test_none_and_false_are_kept_too():
    kept, made = Kept(), []
    for _ in range(3):
        assert kept.get("nothing", lambda: made.append(1)) is None
    assert made == [1]


def test_threads_that_prepare_the_same_get_the_first_result():
    kept, together = Kept(), Barrier(4)

    def prepare():
        together.wait(30)
        return object()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: kept.get("key", prepare), range(4)))
    assert all(one is found[0] for one in found)
    assert len(kept) == 1
