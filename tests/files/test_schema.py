"""The published schema is the one by which files are read, and it accepts and refuses the same shapes."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from files.small import PENDULUM
from vinculum.model.schema.layout import MODEL
from vinculum.model.schema.schema import FILE, schema, schema_text, with_reference

LIBRARY = files("vinculum") / "model" / "library"
MODELS = sorted((path for path in LIBRARY.iterdir() if path.name.endswith(".toml")), key=str)
RENEW = "run: python -m vinculum.model.schema.schema docs/model_files.md"
WRONG = {
    "unknown key": ("coordinates = [", "coordinats = ["),
    "number for a list": ('coordinates = ["x", "theta"]', "coordinates = 3"),
    "unknown method": ("times = [0, 1]", 'times = [0, 1]\nmethod = "rk5"'),
    "flag for a formula": ('holonomic = "x"', "holonomic = true"),
    "missing key": ("times = [0, 1]", ""),
    "list of numbers": ('["u"]', "[1]"),
    "half a quantity": ("m = 1.0", 'm = { unit = "kg" }'),
    "unknown table": ("[constraints.track]", "[constraint.track]"),
    "two mechanisms": ("[simulation]", '[affine]\nstates = ["y"]\nrates = { y = 1 }\n[simulation]'),
}


def accepted(data):
    return jsonschema.Draft202012Validator(schema()).is_valid(data)


def test_the_published_schema_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m vinculum.model.schema.schema docs/model_files.md"
    )


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_model_files_fit(path):
    jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), schema())


@pytest.mark.parametrize(("old", "new"), WRONG.values(), ids=WRONG)
def test_wrong_files_do_not_fit(old, new):
    text = PENDULUM.replace(old, new, 1)
    assert text != PENDULUM
    data = tomllib.loads(text)
    assert not accepted(data)


def values(shape):
    """Values of all kinds, to be put in the place of a shape."""
    return ["x", 1, 1.5, True, [], ["x"], [1, 2, 3], {}, {"x": 1}, {"value": 1, "unit": "m"}, [[1, 2, 3]] * 3, [{}]]


def test_reading_and_schema_agree_on_every_key():
    for section, shape in MODEL.keys.items():
        for key, inner in getattr(shape, "keys", {}).items():
            for value in values(inner):
                read = not list(inner.complaints(value, ()))
                checked = jsonschema.Draft202012Validator(inner.schema()).is_valid(value)
                assert read == checked, (section, key, value)


def test_the_reference_in_the_documentation_is_up_to_date():
    page = (Path(__file__).parents[2] / "docs" / "model_files.md").read_text(encoding="utf-8")
    assert page == with_reference(page), RENEW
