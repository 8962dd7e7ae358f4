"""The mechanisms of the benchmarks, stated once in SymPy for Vinculum and for its peers."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import atan, cos, hypot, pi, sin, sqrt

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

TIME = dynamicsymbols._t


@dataclass(frozen=True)
class Model:
    """Energies and constraints in `dynamicsymbols`, with numbers for the parameters and the start."""

    coordinates: list  # q, (n,) functions of time
    kinetic_energy: sp.Expr  # T(q, qdot)
    potential_energy: sp.Expr  # V(q)
    holonomic: dict = field(default_factory=dict)  # name -> f(q) = 0
    nonholonomic: dict = field(default_factory=dict)  # name -> phi(q, qdot) = 0
    parameters: dict = field(default_factory=dict)  # symbol -> float
    initial: dict = field(default_factory=dict)  # q and qdot -> float, consistent with the constraints

    @cached_property
    def velocities(self) -> list:
        return [q.diff(TIME) for q in self.coordinates]

    @cached_property
    def start(self) -> np.ndarray:
        """The initial state (q, qdot) as one array, (2n,)."""
        return np.array([self.initial[s] for s in (*self.coordinates, *self.velocities)])


def pendulum(links: int) -> Model:
    """Planar chain of point masses on massless rods; theta_i from the downward vertical, absolute.

    x_i = sum_{j<=i} l_j sin theta_j,  y_i = -sum_{j<=i} l_j cos theta_j,
    T = sum m_i (x_i'^2 + y_i'^2) / 2,  V = sum m_i g y_i.
    """
    theta = list(dynamicsymbols(f"theta1:{links + 1}"))
    masses, lengths = sp.symbols(f"m1:{links + 1}"), sp.symbols(f"l1:{links + 1}")
    g = sp.Symbol("g")
    x = _running_sums(length * sp.sin(angle) for length, angle in zip(lengths, theta, strict=True))
    y = _running_sums(-length * sp.cos(angle) for length, angle in zip(lengths, theta, strict=True))
    return Model(
        coordinates=theta,
        kinetic_energy=sum(_point_energy(*point) for point in zip(masses, x, y, strict=True)),
        potential_energy=sum(m * g * height for m, height in zip(masses, y, strict=True)),
        parameters={g: 9.81, **dict.fromkeys(masses, 1.0), **dict.fromkeys(lengths, 1.0 / links)},
        initial={
            **{angle: 0.3 + 0.1 * i for i, angle in enumerate(theta)},
            **{angle.diff(TIME): 0.2 - 0.05 * i for i, angle in enumerate(theta)},
        },
    )


def four_bar() -> Model:
    """Crank, coupler and rocker as uniform bars; absolute angles from the horizontal; ground bar of length d.

    T = sum m_i (x_i'^2 + y_i'^2 + l_i^2 theta_i'^2 / 12) / 2 with (x_i, y_i) the middles of the bars,
    l1 cos theta1 + l2 cos theta2 - l3 cos theta3 - d = 0,  the same with sines and without d.
    """
    theta = list(dynamicsymbols("theta1:4"))
    masses, lengths = sp.symbols("m1:4"), sp.symbols("l1:4")
    d, g = sp.symbols("d g")
    x1, x2, x3 = (length * sp.cos(angle) for length, angle in zip(lengths, theta, strict=True))
    y1, y2, y3 = (length * sp.sin(angle) for length, angle in zip(lengths, theta, strict=True))
    x, y = (x1 / 2, x1 + x2 / 2, d + x3 / 2), (y1 / 2, y1 + y2 / 2, y3 / 2)
    bars = list(zip(masses, lengths, theta, strict=True))
    spins = sum(m * l**2 * angle.diff(TIME) ** 2 / 24 for m, l, angle in bars)
    numbers = dict(zip((d, *lengths, *masses, g), (2.5, 1.0, 2.2, 2.0, 1.0, 2.0, 1.5, 9.81), strict=True))
    return Model(
        coordinates=theta,
        kinetic_energy=sum(_point_energy(*point) for point in zip(masses, x, y, strict=True)) + spins,
        potential_energy=sum(m * g * height for m, height in zip(masses, y, strict=True)),
        holonomic={"loop_x": x1 + x2 - x3 - d, "loop_y": y1 + y2 - y3},
        parameters=numbers,
        initial=_closed_four_bar(theta, (1.0, 2.2, 2.0), ground=2.5, crank=1.0, crank_rate=2.0),
    )


def wheel() -> Model:
    """Hoop with a pendulum at its center, rolling in a gutter h(x, z) = z - p(x) = 0 (Pesterev et al.).

    T = M (x'^2 + z'^2 + r^2 theta'^2)/2 + m [(x' + l phi' cos phi)^2 + (z' + l phi' sin phi)^2]/2,
    V = M g z + m g (z - l cos phi),
    contact  h(x + r cos alpha, z + r sin alpha) = 0,
    rolling  -x' sin alpha + z' cos alpha + r theta' = 0,
    normal   h_x sin alpha - h_z cos alpha = 0 at the contact; the angle alpha to it has no mass.
    """
    x, z, _, phi, alpha = coordinates = list(dynamicsymbols("x z theta phi alpha"))
    xd, zd, thetad, phid, _ = (q.diff(TIME) for q in coordinates)
    M, m, r, l, g = sp.symbols("M m r l g")
    contact_x, contact_z = x + r * sp.cos(alpha), z + r * sp.sin(alpha)
    bob = (xd + l * phid * sp.cos(phi)) ** 2 + (zd + l * phid * sp.sin(phi)) ** 2
    return Model(
        coordinates=coordinates,
        kinetic_energy=M * (xd**2 + zd**2 + r**2 * thetad**2) / 2 + m * bob / 2,
        potential_energy=M * g * z + m * g * (z - l * sp.cos(phi)),
        holonomic={
            "contact": contact_z - gutter(contact_x),
            "normal": -gutter(contact_x, 1) * sp.sin(alpha) - sp.cos(alpha),
        },
        nonholonomic={"rolling": -xd * sp.sin(alpha) + zd * sp.cos(alpha) + r * thetad},
        parameters={M: 1.0, m: 0.5, r: 7 / 40, l: 7 / 50, g: 9.81},
        initial=_rolling_start(coordinates, contact=0.5, speed=1.05, radius=7 / 40),
    )


def nearby(model: Model, velocity: sp.Expr, step: float, count: int) -> list:
    """Copies of a model that start with qdot_i shifted by 0, step, 2 step, ...: samples of a chaotic motion.

    The shifted velocity must be free of the constraints, as phi' of the wheel is.
    """
    value = model.initial[velocity]
    return [replace(model, initial={**model.initial, velocity: value + i * step}) for i in range(count)]


def gutter(x: sp.Expr | float, order: int = 0) -> sp.Expr:
    """p(x) = x^4 + 0.13 x^3 - 0.5 x^2 - 0.13 x - 0.5, or its derivative of the given order."""
    s = sp.Dummy("s")
    p = s**4 + sp.Rational(13, 100) * s**3 - s**2 / 2 - sp.Rational(13, 100) * s - sp.Rational(1, 2)
    return p.diff(s, order).subs(s, x)


def _point_energy(mass: sp.Symbol, x: sp.Expr, y: sp.Expr) -> sp.Expr:
    return mass / 2 * (x.diff(TIME) ** 2 + y.diff(TIME) ** 2)


def _running_sums(terms: Iterable) -> list:
    return list(accumulate(terms))


def _closed_four_bar(theta: list, lengths: tuple, ground: float, crank: float, crank_rate: float) -> dict:
    """Close the loop by the cosine theorem on the triangle of crank pin, rocker pin and rocker pivot."""
    a, b, c = lengths
    gap_x, gap_y = ground - a * cos(crank), -a * sin(crank)
    gap = hypot(gap_x, gap_y)
    coupler = np.arctan2(gap_y, gap_x) + np.arccos((gap**2 + b**2 - c**2) / (2 * gap * b))
    rocker = np.arctan2(b * sin(coupler) - gap_y, b * cos(coupler) - gap_x)
    rates = np.linalg.solve(
        [[-b * sin(coupler), c * sin(rocker)], [b * cos(coupler), -c * cos(rocker)]],
        [a * sin(crank) * crank_rate, -a * cos(crank) * crank_rate],
    )
    states = (*theta, *(angle.diff(TIME) for angle in theta))
    values = map(float, (crank, coupler, rocker, crank_rate, *rates))
    return dict(zip(states, values, strict=True))


def _rolling_start(coordinates: list, contact: float, speed: float, radius: float) -> dict:
    """All of the start from the abscissa xi of the contact and x': with s = 1 + p'^2, G = 1 - r p''/s^(3/2),

    x = xi - r p'/sqrt s,  z = p + r/sqrt s,  alpha = atan p' - pi/2,
    xi' = x'/G,  z' = p' x',  theta' = -x' sqrt(s)/r,  alpha' = p'' xi'/s.
    """
    p, slope, bend = (float(gutter(contact, order)) for order in range(3))
    s = 1 + slope**2
    contact_rate = speed / (1 - radius * bend / s**1.5)
    positions = contact - radius * slope / sqrt(s), p + radius / sqrt(s), 0.0, 3.4, atan(slope) - pi / 2
    rates = speed, slope * speed, -speed * sqrt(s) / radius, -11.5, bend * contact_rate / s
    states = (*coordinates, *(q.diff(TIME) for q in coordinates))
    return dict(zip(states, (*positions, *rates), strict=True))
