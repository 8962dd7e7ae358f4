"""No body has a negative inertia: T ≥ 0 for every velocity that the constraints allow, or the model is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import ModelError
from vinculum.names import listed, name_of

_ROUNDING = 1e-9  # a share of the largest inertia, below which a negative one is rounding


def refuse_negative_inertia(mechanics: Mechanics, known: Values, parameters: Mapping[sp.Symbol, float]) -> None:
    """Raise where NᵀM N has a negative eigenvalue at a state, N spanning the velocities with J N = 0."""
    if mechanics.system.bodies is not None:
        return  # bodies are checked one by one
    M, J = numbers(mechanics.M, known), numbers(mechanics.J, known)
    _, sizes, rows = np.linalg.svd(J, full_matrices=True)
    N = rows[int(np.sum(sizes > _ROUNDING * max(sizes.max(initial=0.0), 1e-300))) :].T
    inertias, directions = np.linalg.eigh(N.T @ M @ N)
    if not len(inertias) or inertias[0] >= -_ROUNDING * np.abs(inertias).max():
        return
    motion = np.abs(N @ directions[:, 0])
    moving = [q for q, part in zip(mechanics.system.coordinates, motion, strict=True) if part > 0.1 * motion.max()]
    negative = ", ".join(f"{name_of(p)} = {x:.6g}" for p, x in parameters.items() if x < 0)
    advice = f"Look at {negative}." if negative else "Look at its signs."
    raise ModelError(
        f"the kinetic energy of {mechanics.system.name!r} is negative",
        [f"a motion of {listed(moving)} has less energy than rest at this state, which no masses have. {advice}"],
    )
