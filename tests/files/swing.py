"""A damped pendulum as a model file, for tests of studies."""

from __future__ import annotations

SWING = """
name = "swing"
parameters = { g = 9.81, l = 1, c = 0.1 }
[system]
coordinates = ["theta"]
kinetic_energy = "l^2*dot(theta)^2/2"
potential_energy = "-g*l*cos(theta)"
dissipation = "c*l^2*dot(theta)^2/2"
[simulation]
times = [0, 3]
initial = { theta = 0.5 }
"""
