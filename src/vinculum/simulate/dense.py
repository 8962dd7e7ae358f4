"""States between the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vinculum.errors import VinculumError
from vinculum.names import variable_name

if TYPE_CHECKING:
    from vinculum.simulate.trajectory import Trajectory


def interpolate(motion: Trajectory, times: np.ndarray | float) -> dict[str, np.ndarray]:
    """Taylor runs: the polynomials of every step. Others: cubics through samples and their rates."""
    if motion.problem is None or not motion.dense:
        raise VinculumError("This run kept no dense output. Run it with simulate(..., dense=True).")
    wanted = np.atleast_1d(np.asarray(times, dtype=float))
    low, high = sorted((motion.t[0], motion.t[-1]))
    if wanted.min() < low or wanted.max() > high:
        raise VinculumError(f"The run covers {low:.6g} to {high:.6g}; times outside cannot be interpolated.")
    names = [variable_name(key) for key in motion.problem.equations.states]
    if any(segment.problem.equations.states != motion.problem.equations.states for segment in motion.segments):
        raise VinculumError("The variables were changed along this run; ask for its samples, or shorten the run.")
    states = _hermite(motion, wanted) if motion.dense[0] == "hermite" else _taylor(motion, wanted)
    return {name: states[:, i] for i, name in enumerate(names)}


def _taylor(motion: Trajectory, times: np.ndarray) -> np.ndarray:
    result = np.empty((len(times), motion.segments[0].states.shape[1]))
    for piece in motion.dense:
        low, high = sorted(piece.bounds)
        inside = (times >= low) & (times <= high)
        if inside.any():
            result[inside] = piece(times[inside])
    return result


def _hermite(motion: Trajectory, times: np.ndarray) -> np.ndarray:
    from scipy.interpolate import CubicHermiteSpline

    states = np.vstack([segment.states for segment in motion.segments])
    rates = motion._rows(lambda problem: problem.rates)
    order = np.argsort(motion.t)
    return CubicHermiteSpline(motion.t[order], states[order], rates[order])(times)
