"""The mechanisms of the benchmarks, stated once in SymPy for Vinculum and for its peers."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import atan, cos, hypot, pi, sin, sqrt

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import four_bar as four_bar_example
from examples import wheel_in_gutter

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
    """The linkage of examples/four_bar.py without its torque: three uniform bars, two constraints."""
    system, lengths = (
        four_bar_example.system(),
        (four_bar_example.CRANK, four_bar_example.COUPLER, four_bar_example.ROCKER),
    )
    start = _closed_four_bar(system.coordinates, lengths, ground=four_bar_example.GROUND, crank=1.0, crank_rate=2.0)
    return _of_example(system, start)


def wheel() -> Model:
    """The wheel of examples/wheel_in_gutter.py: two holonomic constraints, one of rolling, and a massless angle α."""
    system = wheel_in_gutter.system()
    return _of_example(
        system, _rolling_start(system.coordinates, contact=0.5, speed=1.05, radius=wheel_in_gutter.RADIUS)
    )


def _of_example(system: vn.System, start: dict) -> Model:
    """The energies and constraints of an example, its forces left out."""
    used = set().union(*(e.free_symbols for e in (system.kinetic_energy, system.potential_energy)))
    used |= set().union(*(c.expression.free_symbols for c in system.constraints))
    return Model(
        coordinates=list(system.coordinates),
        kinetic_energy=system.kinetic_energy,
        potential_energy=system.potential_energy,
        holonomic={c.name: c.expression for c in system.constraints if isinstance(c, vn.Holonomic)},
        nonholonomic={c.name: c.expression for c in system.constraints if isinstance(c, vn.Nonholonomic)},
        parameters={p: value for p, value in system.parameters.items() if p in used},
        initial=start,
    )


def nearby(model: Model, velocity: sp.Expr, step: float, count: int) -> list:
    """Copies of a model that start with qdot_i shifted by 0, step, 2 step, ...: samples of a chaotic motion.

    The shifted velocity must be free of the constraints, as phi' of the wheel is.
    """
    value = model.initial[velocity]
    return [replace(model, initial={**model.initial, velocity: value + i * step}) for i in range(count)]


def gutter(place: float, order: int = 0) -> float:
    """p(x) of the wheel's gutter, or its derivative of the given order."""
    s = sp.Dummy("s")
    return float(wheel_in_gutter.gutter(s).diff(s, order).subs(s, place))


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
    p, slope, bend = (gutter(contact, order) for order in range(3))
    s = 1 + slope**2
    contact_rate = speed / (1 - radius * bend / s**1.5)
    positions = contact - radius * slope / sqrt(s), p + radius / sqrt(s), 0.0, 3.4, atan(slope) - pi / 2
    rates = speed, slope * speed, -speed * sqrt(s) / radius, -11.5, bend * contact_rate / s
    states = (*coordinates, *(q.diff(TIME) for q in coordinates))
    return dict(zip(states, (*positions, *rates), strict=True))
