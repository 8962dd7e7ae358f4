"""Chains of closed loops, and how deriving and simulating them grows with the number of loops, beside other engines.

    python -m benchmarks.loops             Vinculum, MuJoCo and Exudyn in one run, N = 10 ... 200
    python -m benchmarks.loops --quick     N = 10, 20, 40

N four-bars in a row (IFToMM benchmark A02): cranks from the ground points (i, 0), i = 0 ... N, couplers from crank to
crank, all links with length 1 m and mass 1 kg.
"""

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

GRAVITY = sp.Rational(981, 100)


def angles(loops):
    """The angles of the cranks and of the couplers, from the horizontal."""
    names = (("phi", 0), ("psi", 1))
    return tuple(tuple(dynamicsymbols(f"{name}{first}:{loops + 1}")) for name, first in names)


def four_bars(loops):
    """The system in the angles of all links, two constraints for each loop."""
    cranks, couplers = angles(loops)
    energies = [(v**2 / 6, GRAVITY * sp.sin(q) / 2) for q, v in ((q, q.diff()) for q in cranks)]
    constraints = []
    for i, (a, b, c) in enumerate(zip(cranks, couplers, cranks[1:], strict=False), start=1):
        u, v = a.diff(), b.diff()
        moving = (u**2 + v**2 / 3 + u * v * sp.cos(a - b)) / 2
        energies.append((moving, GRAVITY * (sp.sin(a) + sp.sin(b) / 2)))
        constraints.append(vn.Holonomic(sp.cos(a) + sp.cos(b) - sp.cos(c) - 1, name=f"x{i}"))
        constraints.append(vn.Holonomic(sp.sin(a) + sp.sin(b) - sp.sin(c), name=f"y{i}"))
    kinetic, potential = (sp.Add(*column) for column in zip(*energies, strict=True))
    return vn.System([*cranks, *couplers], kinetic, potential, constraints=constraints, name=f"{loops} four-bars")


def start(loops, angle=sp.pi / 2, speed=1.0):
    """Cranks upright, their ends moving to the right with a speed of 1 m/s."""
    cranks, couplers = angles(loops)
    place = dict.fromkeys(cranks, float(angle)) | dict.fromkeys(couplers, 0.0)
    return place | {q.diff(): -speed for q in cranks} | {q.diff(): 0.0 for q in couplers}
