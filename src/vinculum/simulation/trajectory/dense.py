"""States between the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.names import variable_name
from vinculum.simulation.trajectory.recorder import Segment

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory


def interpolate(motion: Trajectory, times: np.ndarray | float) -> dict[str, np.ndarray]:
    """Taylor runs: the polynomials of every step. Others: cubics through samples and their rates."""
    if motion.problem is None or not motion.dense:
        raise VinculumError("This run kept no dense output. Run it with simulate(..., dense=True).")
    wanted = np.atleast_1d(np.asarray(times, dtype=float))
    low, high = sorted((motion.t[0], motion.t[-1]))
    if wanted.min() < low or wanted.max() > high:
        raise VinculumError(f"The run covers {low:.6g} to {high:.6g}; times outside cannot be interpolated.")
    pieces = motion.dense
    if isinstance(pieces[0], Segment):
        return _hermite(pieces, wanted)
    states = _taylor(motion, wanted)
    names = [variable_name(key) for key in motion.problem.equations.states]
    if any(segment.problem.equations.states != motion.problem.equations.states for segment in motion.segments):
        raise VinculumError("The variables were changed along this run; ask for its samples, or shorten the run.")
    return {name: states[:, i] for i, name in enumerate(names)}


def _taylor(motion: Trajectory, times: np.ndarray) -> np.ndarray:
    """The Taylor polynomials of every step."""
    result = np.empty((len(times), motion.segments[0].states.shape[1]))
    for piece in motion.dense:
        low, high = sorted(piece.bounds)
        inside = (times >= low) & (times <= high)
        if inside.any():
            result[inside] = piece(times[inside])
    return result


def _hermite(segments: Sequence[Segment], times: np.ndarray) -> dict[str, np.ndarray]:
    """Cubics through the steps and their rates, in the user's symbols, whatever the variables were."""
    from scipy.interpolate import CubicHermiteSpline

    equations = segments[0].problem.equations
    keys = equations.user_symbols
    rates = [key.diff(equations.time) for key in keys]
    t, first = np.unique(np.concatenate([s.t for s in segments]), return_index=True)
    values, slopes = (np.vstack([_samples(s, part) for s in segments])[first] for part in (keys, rates))
    found = CubicHermiteSpline(t, values, slopes)(times)
    return {variable_name(key): found[:, i] for i, key in enumerate(keys)}


def _samples(segment: Segment, keys: Sequence[sp.Expr]) -> np.ndarray:
    """The user's symbols at the samples of a stretch, (N, len(keys))."""
    return segment.rows([segment.problem.nodes.node(key, f"motion[{key}]") for key in keys])
