"""The prepared table of units gives what pint gives, for every word that pint reads as one of these units."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pint
import pytest

from vinculum.errors import Refused
from vinculum.units import unit_table
from vinculum.units.units import _named, read_unit

ROOT = Path(__file__).parents[2]
WORDS = [p + unit + s for p in ("", *unit_table.PREFIXES) for unit in unit_table.UNITS for s in ("", "s")]


@pytest.fixture(scope="module")
def registry():
    return pint.UnitRegistry(on_redefinition="ignore")


def test_every_word_is_read_as_pint_reads_it(registry):
    """Twenty thousand words, of which a thousand were compared by size and dimension."""
    known = {registry._units[unit].name for unit in unit_table.UNITS}
    for i, word in enumerate(WORDS):
        readings = registry.parse_unit_name(word) if len(word) <= 30 else ()
        if not readings or readings[0][1] not in known:
            with pytest.raises(Refused, match="unknown unit"):
                _named(word)
        elif i % 20 == 0 or len(word) < 4:
            base = registry.Quantity(1.0, "".join(readings[0][:2])).to_base_units()
            found = _named(word)
            assert found.factor == pytest.approx(float(base.magnitude), rel=4e-16), word
            assert dict(found.dimension) == {k: Fraction(str(v)) for k, v in base.dimensionality.items()}, word


@pytest.mark.parametrize("word", ["k", "c", "Nm", "foo", "yarn", "degC", "eV", "electron_volt", "x" * 31])
def test_other_words_are_refused(word):
    with pytest.raises(Refused, match="unit"):
        read_unit(word)


def test_the_table_is_the_one_that_is_made():
    """After an update of pint: tools/unit_table > src/vinculum/units/unit_table.py."""
    made = subprocess.run([sys.executable, ROOT / "tools" / "unit_table"], capture_output=True, text=True, check=True)
    names: dict = {}
    exec(made.stdout, names)
    for name in ("PREFIXES", "UNITS", "OTHER"):
        assert names[name] == getattr(unit_table, name)
