"""A small model to spoil in tests."""

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


def changed(old: str, new: str) -> str:
    """The pendulum with one part of its text replaced."""
    assert PENDULUM.count(old) == 1, old
    return PENDULUM.replace(old, new)
