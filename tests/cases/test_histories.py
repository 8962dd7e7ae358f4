"""The same model gives the same bits, whatever the process did before."""

import pytest

from cases.histories import differences, in_fresh_process

MODELS = ["four_bar", "arm_on_turntable", "cartesian_pendulum", "wheel_in_gutter", "chaplygin_sleigh", "slider_crank"]


@pytest.fixture(scope="module")
def found() -> dict:
    found = in_fresh_process(MODELS)
    assert all(len(numbers) > 4 for numbers in found.values())
    return found


def test_models_examined_in_another_order_give_the_same_bits(found):
    """In a fresh process, so the text of a formula hashes to other numbers too."""
    assert differences(found, in_fresh_process(MODELS[::-1])) == []


def test_a_model_alone_gives_the_bits_that_it_gives_after_others(found):
    last = MODELS[-1]
    assert differences({last: found[last]}, in_fresh_process([last])) == []
