"""The package gives its public names when they are asked for, and loads no more than they need."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import vinculum as vn
from vinculum.deprecations import MOVED


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", vn.__all__)
def test_every_public_name_is_there(name):
    assert getattr(vn, name) is not None
    assert name in dir(vn)


@pytest.mark.parametrize("part", vn._PARTS)
def test_every_part_has_its_names(part):
    module = getattr(vn, part)
    assert part in dir(vn)
    assert module.__doc__
    assert all(hasattr(module, name) for name in module.__all__)


def test_the_top_is_the_core_of_every_day():
    assert len(set(vn.__all__)) == len(vn.__all__)
    assert 30 < len(vn.__all__) < 60


@pytest.mark.parametrize(
    "lines",
    [
        "import vinculum.simulation, vinculum.derivation.forms.form",
        "from vinculum.simulation import Event; import vinculum.derivation.forms.form",
        "import vinculum; vinculum.simulation; import vinculum.simulation.run, vinculum.derivation.forms.form",
    ],
)
def test_folders_do_not_hide_functions(lines):
    code = f"{lines}\nimport vinculum as vn\nprint(callable(vn.simulate), callable(vn.derive))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == [
        "True",
        "True",
    ]


def test_importing_the_package_imports_no_mathematics():
    code = "import sys, vinculum; print([m for m in ('sympy', 'numpy', 'heyoka') if m in sys.modules])"
    assert fresh(code) == "[]"


@pytest.mark.parametrize("old", MOVED)
def test_every_old_name_warns_with_the_new_one(old):
    path, _, name = f"vinculum.{MOVED[old]}".rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"vinculum\.{old} is now {path}\.{name};") as found:
        value = getattr(vn, old)
    assert value is getattr(import_module(path), name)
    assert found[0].filename == __file__
    assert old not in vn.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = vn.nonsense
