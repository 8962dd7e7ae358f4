"""The measures of a block of runs that one integrator has made together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vinculum.ensembles.lanes import Lanes, Motions
from vinculum.ensembles.measures import (
    FINAL,
    INTEGRAL,
    REFINED,
    SETTLED,
    Measure,
    at_least,
    bracket,
    curve,
    located,
    unsettled,
)
from vinculum.ensembles.quadrature import MIDDLE, SHARES, integrate, is_wide
from vinculum.ensembles.steps import Steps

if TYPE_CHECKING:
    from vinculum.ensembles.ensemble import Ensemble

_MOST_ROWS = 500_000  # states at which an integrand with corners is evaluated at once


@dataclass(frozen=True, eq=False)
class Block:
    """Some runs with their samples, and what makes their steps."""

    ensemble: Ensemble
    lanes: Lanes | Steps
    t: np.ndarray  # (instants, runs)
    motions: Motions
    p: np.ndarray  # (parameters, runs)

    def measures(self, y: np.ndarray, final: np.ndarray) -> dict[str, np.ndarray]:
        """Every measure, (runs), from samples y, (measures, runs, instants), and values at the end."""
        ensemble, found = self.ensemble, {}
        integrals = iter(range(len(ensemble.state) - len(ensemble.integrals), len(ensemble.state)))
        for k, (name, measure) in enumerate(ensemble.measures.items()):
            if name in ensemble.pieced:
                found[name] = self._integrated(k, y[k])
            elif measure.kind == INTEGRAL:
                found[name] = self.motions.last[next(integrals)]
            elif measure.kind == FINAL:
                found[name] = final[k]
            else:
                value = self._searched(k, measure, y[k])
                found[name] = at_least(measure, value, final[k]) if measure.is_extreme else value
        return found

    def _searched(self, k: int, measure: Measure, y: np.ndarray) -> np.ndarray:
        """An extreme or an instant: bracketed by the samples, then by finer ones that start from a sample."""
        first = fine = curve(measure, y)
        low, high = bracket(measure, first)
        value = located(measure, self.t.T, first)
        use = places = np.flatnonzero((low >= 0) & (high > low) & np.isfinite(first).any(axis=1))
        lo, hi, times, x = low[use], high[use], self.t, self.motions.states
        for _ in range(measure.rounds):
            wide = is_wide(times[lo, places], times[hi, places])
            use, places, lo, hi = use[wide], places[wide], lo[wide], hi[wide]
            if not len(use):
                break
            ends, start = fine[places, [lo, hi]], np.ascontiguousarray(x[lo, :, places].T)
            times = _between(times[lo, places], times[hi, places], np.linspace(0.0, 1.0, REFINED))
            x = self._run(times, start, use)
            fine = curve(measure, self._values(k, times, x, use))
            fine[:, 0], fine[:, -1] = ends
            value[use] = located(measure, times.T, fine)
            lo, hi = bracket(measure, fine)
            lo, hi = np.maximum(lo, 0), np.maximum(hi, 1)
            places = np.arange(len(use))
        return unsettled(measure, first, float(self.t[0, 0]), value) if measure.kind == SETTLED else value

    def _integrated(self, k: int, y: np.ndarray) -> np.ndarray:
        """The integral of an expression with corners, between the samples of some runs at a time."""
        size = max(1, _MOST_ROWS // (len(self.t) * len(SHARES)))
        parts = [np.arange(first, min(first + size, len(y))) for first in range(0, len(y), size)]
        return np.concatenate([self._integrated_part(k, y, runs) for runs in parts])

    def _integrated_part(self, k: int, y: np.ndarray, runs: np.ndarray) -> np.ndarray:
        t, states = self.t[:, runs], self.motions.states[:, :, runs]
        owners, low = np.nonzero(np.isfinite(states[1:]).all(axis=1).T)

        def sample(a: np.ndarray, b: np.ndarray, x: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            times = _between(a, b, SHARES)
            x = self._run(times, np.ascontiguousarray(x), runs[owners])
            return self._values(k, times, x, runs[owners]), x[MIDDLE]

        a, b, x = t[low, owners], t[low + 1, owners], states[low, :, owners].T
        return integrate(a, b, x, y[runs[owners], [low, low + 1]], owners, len(runs), sample)

    def _run(self, times: np.ndarray, x: np.ndarray, runs: np.ndarray) -> np.ndarray:
        """States of some runs, (instants, states, runs), from states x at the first of the times."""
        own = self.p[:, runs]
        return self.lanes.run(times, x, own, stops=self.ensemble.stops_of(own)).states

    def _values(self, k: int, times: np.ndarray, x: np.ndarray, runs: np.ndarray) -> np.ndarray:
        """The expression of measure k, (runs, instants)."""
        return self.ensemble.values_at(times, x, self.p[:, runs])[self.ensemble.first_measure + k]


def _between(a: np.ndarray, b: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Instants at shares of intervals from a to b, (shares, intervals)."""
    times = a + (b - a) * shares[:, None]
    times[-1] = b
    return times
