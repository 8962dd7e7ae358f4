"""Which runs of a block have surely kept their energy and constraints; `simulate` judges the others (see `accuracy`).

Both laws are those of `check_accuracy`, for all runs at once, at fewer samples and so at most with smaller scales.
"""

from __future__ import annotations

import numpy as np

from vinculum.compile.function import function
from vinculum.derivation.integrable import WORK
from vinculum.ensembles.lanes import Motions
from vinculum.simulation.integrators.methods import Method
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.accuracy import LOST, RANGE, largest_share, trial_signs

_MARGIN = 0.5  # of the residual that is allowed


def is_accurate(method: Method, problem: Problem, motions: Motions, p: np.ndarray, kinetic: np.ndarray) -> np.ndarray:
    """(runs); ``kinetic``, (runs, instants), is the kinetic energy at the samples, p is (parameters, runs)."""
    share = largest_share(method, 0)
    energy = _kept_energy(problem, motions, kinetic, min(LOST, share))
    return energy & _kept_constraints(problem, motions, p, min(RANGE, share))


def _kept_energy(problem: Problem, motions: Motions, kinetic: np.ndarray, share: float) -> np.ndarray:
    """|E - w - (E - w)(0)| ≤ share max(T, |w|)."""
    nodes, error = problem.nodes, motions.balance_errors
    assert error is not None
    energy = nodes.integrable.energy
    known = energy is not None and energy.kinetic is not None
    scale = np.abs(kinetic).max(axis=1) if known else np.zeros(len(kinetic))
    if nodes.powers:
        scale = np.maximum(scale, np.abs(motions.states[:, nodes.state.index(WORK)]).max(axis=0))
    return (np.isfinite(scale) & (error <= share * scale)) | (error == 0)


def _kept_constraints(problem: Problem, motions: Motions, p: np.ndarray, share: float) -> np.ndarray:
    """|f| ≤ |Δf| / 2 for every constraint f = 0, Δf by errors of a share of the range of every state."""
    nodes, largest = problem.nodes, motions.residuals
    assert largest is not None
    places = list(nodes.first_levels.values())
    if not places:
        return np.ones(len(largest), dtype=bool)
    f = function(nodes.time, (*nodes.state, *problem.branch.parameters), (), problem.branch.prepared(nodes.residuals))
    n, runs = len(nodes.state), len(largest)
    states = motions.states[:, :n]
    signs = np.vstack([np.zeros(n), trial_signs(n)])
    rows = np.empty((len(signs), runs, n + len(p)))
    rows[:, :, :n] = states[-1].T + signs[:, None, :] * (share * np.ptp(states, axis=0).T)
    rows[:, :, n:] = p.T
    found = f.rows(np.tile(motions.ends, len(signs)), rows.reshape(len(signs) * runs, -1), np.empty(0))
    found = found.reshape(len(signs), runs, -1)
    allowed = np.where(np.isfinite(found).all(axis=0), np.abs(found[1:] - found[0]).max(axis=0), np.inf)
    return np.all(largest[:, places] <= _MARGIN * allowed[:, places], axis=1)
