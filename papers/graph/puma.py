"""The PUMA 560 that the paper names, with the parameters of Corke and Armstrong-Hélouvry (1994)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sympy import pi
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

q = dynamicsymbols("q1:7")
COLUMNS = ("d", "a", "alpha", "mass", "center_of_mass", "inertia", "rotor_inertia", "gear_ratio")
LINKS = [
    (0.672, 0.0, pi / 2, 0.0, (0, 0, 0), (0, 0.35, 0), 2e-4, -62.6111),
    (0.0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), 2e-4, 107.815),
    (0.15005, 0.0203, -pi / 2, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125), 2e-4, -53.7063),
    (0.4318, 0.0, pi / 2, 0.82, (0, 0.019, 0), (0.0018, 0.0013, 0.0018), 3.3e-5, 76.0364),
    (0.0, 0.0, -pi / 2, 0.34, (0, 0, 0), (0.0003, 0.0004, 0.0003), 3.3e-5, 71.923),
    (0.0, 0.0, 0, 0.09, (0, 0, 0.032), (0.00015, 0.00015, 4e-5), 3.3e-5, 76.686),
]
VISCOUS = (0.00148, 0.000817, 0.00138, 7.12e-05, 8.26e-05, 3.67e-05)  # at the motor
COULOMB = [(0.395, 0.435), (0.126, 0.071), (0.132, 0.105), (0.0112, 0.0169), (0.00926, 0.0145), (0.00396, 0.0105)]
NOMINAL = (0, np.pi / 4, np.pi, 0, np.pi / 4, 0)


@cache
def puma(friction: bool = False) -> vn.BodyTree:
    rows: list[dict[str, Any]] = []
    for i, link in enumerate(LINKS):
        row = dict(zip(COLUMNS, link, strict=True))
        G = abs(row["gear_ratio"])
        losses = {"damping": VISCOUS[i] * G**2, "friction": tuple(c * G for c in COULOMB[i])} if friction else {}
        rows.append(row | losses | {"name": f"link{i + 1}", "angle": q[i], "identified": True})
    return vn.BodyTree(vn.bodies.denavit_hartenberg(rows), name="PUMA 560")


@cache
def dynamics(friction: bool = False) -> vn.bodies.Dynamics:
    return vn.bodies.dynamics(puma(friction))
