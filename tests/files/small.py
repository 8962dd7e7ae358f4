"""Small models to spoil in tests, and how they are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import vinculum as vn

PENDULUM = """
name = "pendulum"
[parameters]
m = 1.0
g = 9.81
l = 0.5
[system]
coordinates = ["x", "theta"]
inputs = ["u"]
kinetic_energy = "m*(dot(x)^2 + l^2*dot(theta)^2 + 2*l*dot(x)*dot(theta)*cos(theta))/2"
potential_energy = "-m*g*l*cos(theta)"
forces = { x = "u" }
[constraints.track]
holonomic = "x"
[simulation]
times = [0, 1]
initial = { theta = 0.5 }
inputs = { u = 0 }
"""

ARM = """
[tree.bodies.upper]
axis = [0, 1, 0]
mass = 1
center_of_mass = [0.5, 0, 0]
angle = "s"
torque = "u"
[tree.bodies.lower]
parent = "upper"
axis = [0, 1, 0]
origin = [1, 0, 0]
mass = 1
center_of_mass = [0.5, 0, 0]
angle = "phi"
torque = "v"
"""
TRACK = """
name = "cart on a measured track between buffers"
[parameters]
m = "2 kg"
k = "800 N/m"
g = "9.81 m/s^2"
gap = "40 cm"
push = "3 N"
pause = "1 s"
[splines.height]
points = ["-60 cm", "-40 cm", "-20 cm", 0, "20 cm", "40 cm", "60 cm"]
values = ["9 cm", "4 cm", "1 cm", 0, "1 cm", "4 cm", "9 cm"]
degree = 5
[system]
coordinates = { x = "m", z = "m" }
inputs = { u = "N" }
kinetic_energy = "m*(dot(x)^2 + dot(z)^2)/2"
potential_energy = "m*g*z + piecewise(x > gap, k*(x - gap)^2/2, x < -gap, k*(x + gap)^2/2, 0)"
forces = { x = "u" }
[constraints]
track = "z = height(x)"
[simulation]
times = [0, "3 s"]
initial = { x = "-30 cm", "dot(x)" = 0 }
inputs = { u = "piecewise(not (t > pause) and x < gap, push, 0)" }
[drawing]
points = { cart = ["x", "z"], mast = ["x", "height(x) + 0.1"] }
curves = [{ points = ["s", "height(s)"], along = "s", from = -0.6, to = 0.6 }]
"""


def changed(old: str, new: str) -> str:
    """The pendulum with one part of its text replaced."""
    assert PENDULUM.count(old) == 1, old
    return PENDULUM.replace(old, new)


def refusal(text: str, **options: object) -> vn.model.ModelFileError:
    """The refusal of a file."""
    with pytest.raises(vn.model.ModelFileError) as error:
        vn.model.loads(text, **options)
    return error.value


def paths_of(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value of a document, the document itself first."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in items:
        yield from paths_of(entry, (*path, key))
