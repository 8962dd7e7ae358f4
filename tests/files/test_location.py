"""The place of every value of a document is found: the text there is the value."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from files.small import paths_of
from vinculum.model.text.location import Places

TRICKY = '''
a = 1 # [not.a.table]
"b.c" . d = "x # y" # comment "quoted"
e = { f = [1, [2, 3], { g = 'h' }], "i j" = """
two "lines" \" and
more""" }
k = [
    1.5, # one
    "]", # two
    [], {},
]
[t.u]
v = 2020-01-01 00:00:00
[[w]]
x = 1
[[w.y]]
z = '\\'
[[w]]
x = 2
[[w.y]]
z = \'\'\'a
b\'\'\'\'\'
[w.y.deep]
end = true
'''


def documents():
    folder = files("vinculum") / "model" / "library"
    return [TRICKY, *(path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.endswith(".toml"))]


@pytest.mark.parametrize("text", documents())
def test_every_value_has_its_own_place(text):
    data, places = tomllib.loads(text), Places(text)
    assert set(paths_of(data)) == set(places.at)


@pytest.mark.parametrize("text", documents())
def test_the_text_at_a_place_is_the_value(text):
    data, places = tomllib.loads(text), Places(text)
    for path in paths_of(data):
        value = data
        for key in path:
            value = value[key]
        at = text[places.of(path).value :]
        if isinstance(value, bool) or (isinstance(value, (int, float)) and path):
            assert (
                at.startswith(str(value).lower()) or tomllib.loads(f"a = {at.split()[0].rstrip(',]}')}")["a"] == value
            )
        elif isinstance(value, str):
            assert at[0] in "\"'"
            assert at.lstrip("\"'\n").startswith(value[:3].lstrip("\"'\n"))


def test_a_value_that_is_missing_has_the_place_of_its_table():
    places = Places("[a]\nb = 1\n")
    assert places.line(places.of(("a", "c")).value) == 1
