"""A model file in the place of its Python twin: the names in the twin's module and what takes their place.

A twin's ``run()`` describes its mechanism by ``system()`` or ``tree()``. With those replaced by what the file says, it
computes all its numbers from the file.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import sympy as sp
import tomlkit

import vinculum as vn

MODELS = files("vinculum") / "model" / "library"
EXAMPLES = Path(__file__).parents[2] / "examples"
NO_MECHANISM = ("demo", "paper_figures", "puma_friction")  # the last one fits data of puma560
FURTHER = ("start", "planar_arms_3r", "puma560_on_a_swaying_base")  # files without an example of their name
TWINS = sorted(path.stem for path in EXAMPLES.glob("[a-z]*.py") if path.stem not in NO_MECHANISM)
FILES = sorted(path.name.removesuffix(".toml") for path in MODELS.iterdir() if path.name.endswith(".toml"))
_OF_MOTORS = ("motors", "simulation", "equilibrium", "control", "observer", "closed_loop", "digital", "study")


def text_of(name):
    return (MODELS / f"{name}.toml").read_text(encoding="utf-8")


def loaded(name):
    return vn.load(MODELS / f"{name}.toml")


def without_motors(name):
    """The file before motors take the place of its torques."""
    document = tomlkit.parse(text_of(name))
    for section in _OF_MOTORS:
        document.pop(section, None)
    document.get("drawing", {}).pop("arrows", None)  # torques of motors
    return vn.model.loads(tomlkit.dumps(document))


def replacements(name, example):
    """{name in the twin's module: what the file says instead}."""
    if name in SPECIAL:
        return SPECIAL[name](example)
    model = without_motors(name)
    return {"system": lambda: model.system}


def _wheel(example):
    example.program.cache_clear()
    return {"wheel": lambda: loaded("wheel_with_reactions").system}


def _ellipse(example):
    example.program.cache_clear()
    return {"system": lambda: loaded("program_on_an_ellipse").system}


def _arms(example):
    """The symbols of a file are plain ones."""
    plain = {letter: sp.symbols(f"{letter}1:4") for letter in ("m", "l", "rho", "J")}
    trees = {2: loaded("planar_arms").tree, 3: loaded("planar_arms_3r").tree}
    return plain | {"tree": lambda links=2: trees[links]}


def _puma(example):
    standing, swaying = loaded("puma560").tree, loaded("puma560_on_a_swaying_base").tree
    return {"tree": lambda driven=False, **base: swaying if driven else standing}


def _gyroscope(example):
    """The file with its motor on another axis."""

    def system(motor="rotor"):
        u, axis = example.MOTORS[motor]
        text = text_of("gyroscope_in_gimbals").replace("{ gamma = ", f"{{ {axis.name} = ").replace("u_rotor", u.name)
        return vn.model.loads(text).system

    return {"system": system}


SPECIAL = {
    "wheel_with_reactions": _wheel,
    "program_on_an_ellipse": _ellipse,
    "planar_arms": _arms,
    "puma560": _puma,
    "gyroscope_in_gimbals": _gyroscope,
}
