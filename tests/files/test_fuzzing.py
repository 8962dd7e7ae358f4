"""Mutated model files, a bounded run with a fixed seed; `make fuzz` is the long one."""

from __future__ import annotations

import pytest

from files.carried import carried
from files.fuzz import mutant, run
from files.small import paths_of
from vinculum.model import ModelFileError, loads
from vinculum.model.text.document import parse_document
from vinculum.model.text.location import Places


@pytest.mark.slow
def test_every_mutant_is_accepted_or_refused_with_places():
    tally = run(range(3000))
    assert not tally.failures
    assert sum(tally.counts.values()) == 3000
    assert min(tally.counts["accepted"], tally.counts["refused"]) > 300


def test_every_value_of_a_mutant_has_its_place():
    looked_at = 0
    for number in range(400):
        try:
            document = parse_document(mutant(number), "mutant", "")
        except ModelFileError:
            continue
        assert set(paths_of(document.data)) == set(Places(document.places.text).at), number
        looked_at += 1
    assert looked_at > 100


@pytest.mark.parametrize("number", [438, 1988, 5067, 5426, 5615])
def test_an_accepted_mutant_is_carried_on_to_its_report(number, tmp_path):
    """These have numbers above 1e150 or below 1e-300; `make carried` has a thousand."""
    assert carried(loads(mutant(number)), tmp_path) in ("reported", "refused")
