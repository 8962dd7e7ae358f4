"""The package gives its public names when they are asked for, and loads no more than they need."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

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
    assert 30 < len(vn.__all__) < 55


def test_star_gives_the_public_names():
    names: dict[str, object] = {}
    exec("from vinculum import *", names)
    assert set(vn.__all__) <= set(names)


def test_type_checkers_see_the_same_names_at_the_same_places():
    tree = ast.parse(Path(vn.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert {alias.asname: line.module for line in block.body for alias in line.names} == vn._PLACES


@pytest.mark.parametrize("name", vn.__all__)
def test_no_module_hides_a_public_name(name):
    assert not (Path(vn.__file__).parent / name).exists()
    assert not (Path(vn.__file__).parent / f"{name}.py").exists()


@pytest.mark.parametrize("name", ["System", "Holonomic", "BodyTree", "from_urdf", "AffineSystem"])
def test_describing_loads_the_description_and_no_more(name):
    later = ("derivation", "compile", "simulation", "analyze", "control", "model", "present", "cli")
    heavy = ("llvmlite", "numba", "heyoka", "plotly", "xarray", "scipy", "control", "pint", "sksundae")
    unwanted = (*(f"vinculum.{stage}" for stage in later), *heavy)
    code = f"import sys, vinculum as vn; vn.{name}; print([m for m in {unwanted} if m in sys.modules])"
    assert fresh(code) == "[]"


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
