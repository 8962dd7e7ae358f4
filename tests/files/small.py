"""Small models to spoil in tests."""

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
points = { cart = ["x", "z"] }
curves = [{ points = ["s", "height(s)"], along = "s", from = -0.6, to = 0.6 }]
"""


def changed(old: str, new: str) -> str:
    """The pendulum with one part of its text replaced."""
    assert PENDULUM.count(old) == 1, old
    return PENDULUM.replace(old, new)
