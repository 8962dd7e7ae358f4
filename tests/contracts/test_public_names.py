"""The package gives its public names when they are asked for, and folders never hide functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

import vinculum as vn


@pytest.mark.parametrize("name", vn.__all__)
def test_every_public_name_is_there(name):
    assert getattr(vn, name) is not None
    assert name in dir(vn)


def test_names_are_listed_once():
    assert len(set(vn.__all__)) == len(vn.__all__)


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
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = vn.nonsense
