"""A new key of model files needs its row in the layout and its reader; reading, schema and documentation follow."""

from __future__ import annotations

import jsonschema
import numpy as np
import pytest

from files.small import PENDULUM
from vinculum.model import ModelFileError, loads
from vinculum.model.examine import equations_of, motion_of
from vinculum.model.schema import layout
from vinculum.model.schema.schema import reference, schema, with_reference
from vinculum.model.schema.schema_types import Flag
from vinculum.model.sections.form_section import read_plain
from vinculum.model.sections.simulation_sections import MOTION_READERS, READ_WITH_OTHERS
from vinculum.simulation import simulate

WITH_KEY = PENDULUM.replace("times = [0, 1]", "times = [0, 1]\ncompact = true")
ROW = "| `compact` | true or false | Whether to compile a short program that runs slower. |"


def simulation_schema():
    return schema()["properties"]["simulation"]["properties"]


@pytest.fixture
def new_key(monkeypatch):
    """``compact`` of ``simulate`` as a key of [simulation], by the two entries that CONTRIBUTING.md names."""
    monkeypatch.setitem(layout.SIMULATION.keys, "compact", Flag("Whether to compile a short program that runs slower."))
    monkeypatch.setitem(MOTION_READERS, "compact", read_plain)


def test_before_the_key_is_unknown():
    with pytest.raises(ModelFileError, match="compact is not a key of this table"):
        loads(WITH_KEY)
    assert "compact" not in simulation_schema()
    assert ROW not in reference()


def test_the_reader_knows_it(new_key):
    model = loads(WITH_KEY)
    assert model.simulation["compact"] is True
    motion, plain = (motion_of(m, equations_of(m)) for m in (model, loads(PENDULUM)))
    assert motion.outcome
    np.testing.assert_allclose(motion["theta"], plain["theta"], atol=1e-12)
    assert "compact" in simulate.__kwdefaults__  # it arrives as an argument of simulate


def test_a_wrong_value_is_refused_at_its_line(new_key):
    with pytest.raises(ModelFileError, match="true or false is needed") as caught:
        loads(WITH_KEY.replace("compact = true", "compact = 3"))
    assert "compact" in str(caught.value)


def test_the_schema_knows_it(new_key):
    described = simulation_schema()["compact"]
    assert described == {"type": "boolean", "description": "Whether to compile a short program that runs slower."}
    jsonschema.validate({"times": [0, 1], "compact": True}, schema()["properties"]["simulation"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"times": [0, 1], "compact": 3}, schema()["properties"]["simulation"])


def test_the_documentation_knows_it(new_key):
    assert ROW in reference()
    assert ROW in with_reference("<!-- keys -->\n<!-- end of keys -->")


@pytest.mark.parametrize("table", [layout.SIMULATION, layout.CLOSED_LOOP], ids=["simulation", "closed_loop"])
def test_every_key_has_a_reader(table):
    """A row without a reader would be accepted and ignored."""
    assert set(table.keys) <= {*MOTION_READERS, *READ_WITH_OTHERS}
